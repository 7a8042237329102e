#pragma once
/// What nodes compute within each point: which channels of an operand make which channels of the output.

#include <vector>

#include "network/plan/planned_node.hpp"

namespace sightline::nn {

/// By channel of a Reduce's output, the channels of the operand in the fold's order; {}: a channel fills up a
/// row to whole blocks.
std::vector<std::vector<int>> folded_channels(const PlannedNode& reduce);

/// A matrix of weights that is applied to some channels of the operand, and gives some of the output.
struct PointRows {
  std::int64_t group = 0;
  std::vector<int> inputs, outputs;
};
/// A convolution of 1x1 or a product with a constant right side.
struct PointProduct {
  std::int64_t groups = 1;
  std::int64_t depth = 0, outputs = 0;  ///< of a group's matrix
  std::vector<PointRows> rows;          ///< attention's heads have one each
};
PointProduct point_product(const PlannedNode& product);

/// Whether channels are 0, 1, 2 and so on.
bool are_in_order(const std::vector<int>& channels);

}  // namespace sightline::nn
