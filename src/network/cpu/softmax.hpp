#pragma once
/// Kernel of softmax over few elements, SIMD, dispatched at run time: exp(x - largest) / sum, with the bits
/// of the nodes that an ONNX graph's Softmax becomes (Reduce, Map, Reduce, Map), but for those of NaN. It is
/// for processors with fused multiply-adds alone. Thread-safety: no shared data.

#include "network/cpu/epilogue.hpp"

namespace sightline::nn {

/// Computes softmax over each `count` lanes of a block that lie side by side, at points one behind the other.
/// @param count  2, 4, 8 or 16
/// @param x, y   [points][16], with no alignment; they may be the same
void softmax_lanes(int count, const float* x, int points, float* y);

}  // namespace sightline::nn
