#pragma once
/// Random operators with attributes that few networks have: windows with other sides, strides, dilations and
/// pads along each axis, axes from behind, negative steps, empty or lower-dimensional operands.

#include "network/onnx_builder.hpp"

namespace sightline::test {

/// A chain of one to four operators on tensors of one to five dimensions; the same one for the same seed.
OnnxBuilder random_chain(std::uint64_t seed);

}  // namespace sightline::test
