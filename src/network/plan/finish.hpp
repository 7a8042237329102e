#pragma once
/// Maps as the last part of a product: functions of sums while they are in registers.

#include <optional>

#include "network/cpu/epilogue.hpp"
#include "network/graph.hpp"

namespace sightline::nn {

/// What a convolution or product does to its sums.
struct SumFinish {
  Finish finish;
  int added = kNone;  ///< a computed tensor of their shape that is added to the sums, or to their activation
};

/// The finish that gives all bits of a Map, but for those of NaN. Nothing if there is none.
/// @param sums  the Map's operand that the product makes
std::optional<SumFinish> finish_of(const Graph& graph, const GraphNode& map, int sums);

}  // namespace sightline::nn
