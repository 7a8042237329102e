#pragma once
/// Reads ONNX files, opsets 9 to 24.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "base/error.hpp"
#include "onnx/model.hpp"

namespace sightline::nn {

inline constexpr int kOldestOpset = 9;
inline constexpr int kNewestOpset = 24;

/// Reads a file, and the data of tensors that it keeps in other files of its folder (ExternalData). All of it
/// is checked, but for what depends on operators.
/// @param max_bytes  limit of the file and its external data together
/// Throws Error (model) for what is no network, is damaged, or lacks data.
OnnxModel read_onnx(const std::filesystem::path& file, std::uint64_t max_bytes);
/// The same from memory, without external data: no file is read. @param name  of the file, for messages
OnnxModel parse_onnx(std::span<const char> bytes, const std::string& name);

/// Error (model) that says what is wrong with a network. @param name  of its file
Error onnx_error(const std::string& name, const Message& problem);

}  // namespace sightline::nn
