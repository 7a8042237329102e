#pragma once
/// Random networks of what detectors consist of: convolutions of all kinds, activations in one or several
/// nodes, pooling, resizing, parts of channels, joined and shuffled channels, gates, sums, and other nodes in
/// between.

#include "network/onnx_builder.hpp"

namespace sightline::test {

/// The same one for the same seed on every machine.
OnnxBuilder random_network(std::uint64_t seed);

/// Its nodes, one a line.
std::string text_of(const OnnxBuilder& network);

}  // namespace sightline::test
