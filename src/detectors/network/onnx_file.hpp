#pragma once
/// Reads networks from ONNX files.

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "detectors/network/graph.hpp"
#include "onnx/file.hpp"

namespace sightline::network {

using nn::kNewestOpset;
using nn::kOldestOpset;
/// MiB of a file unless asked otherwise (see detection/keys.hpp).
inline constexpr int kMaxModelSize = 512;

/// Reads a file, and the data of tensors that it keeps in other files of its folder (ExternalData). All of it
/// is checked. Types of inputs are as the file has them, and no other types are inferred yet.
/// @param max_bytes    limit of the file and its external data together
/// @param keeps_model  whether the graph keeps the file's model
/// Throws Error (model) for what is no network, is damaged, lacks data, or has nodes that are not supported;
/// the message names the node.
Graph read_onnx(const std::filesystem::path& file, std::uint64_t max_bytes, bool keeps_model = false);
/// The same from memory, without external data: no file is read. @param name  of the file, for messages
Graph parse_onnx(std::span<const char> bytes, const std::string& name, bool keeps_model = false);

/// Error (model) that says what is wrong with a network. @param name  of its file
Error network_error(const std::string& name, const Problem& problem);

/// Whether a name ends like that of an ONNX file.
bool looks_like_onnx(const std::string& file);

}  // namespace sightline::network
