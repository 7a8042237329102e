#pragma once
/// A network's place in its model's file; see model.hpp for the format.

#include <cstdint>

#include "detectors/filterbank/network/network.hpp"
#include "model/header.hpp"
#include "model/safetensors.hpp"

namespace sightline::filterbank {

bool has_network(const ModelHeader& header);

/// Whether it has any part of a network's heads of boxes.
bool has_boxes(const Safetensors& file, const ModelHeader& header);

/// Reads and validates the network of a file that must have one. Throws Error (model) naming the file, the
/// field and what is wrong with it.
/// @param window      the model's, pixels
/// @param with_boxes  whether it must have heads of boxes; otherwise they are not read
Network read_network(const Safetensors& file, const ModelHeader& header, Size window, bool with_boxes);

/// Adds a non-empty network to a file's content. Throws std::invalid_argument if it is invalid or its numbers
/// do not fit its shapes.
void write_network(const Network& network, Safetensors& file);

/// Bytes that its arrays take in memory.
std::uint64_t bytes_of(const Network& network);

}  // namespace sightline::filterbank
