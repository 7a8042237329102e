#pragma once
/// What a node is in a plan: facts that decide which kernel computes it.

#include <span>

#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

struct PlannedNode {
  const Graph& graph;
  std::span<const PlannedTensor> tensors;  ///< by tensor
  const GraphNode& node;

  const PlannedTensor& planned(int tensor) const { return tensors[to_size(tensor)]; }
  const Shape& shape() const { return graph.shape(node.outputs[0]); }
  const Layout& layout() const { return planned(node.outputs[0]).layout; }

  /// Whether the node reads an operand for each of its points at the same point alone.
  bool reads_at_points(std::size_t operand = 0) const;
  /// Whether all operands but the first are constants.
  bool has_constants() const;
  /// Whether the output is a batch of maps whose points are the pixels.
  bool is_map() const { return is_map_layout(layout(), shape()); }
  /// Whether a Product multiplies all points by the same constant matrix.
  bool is_point_product() const;
};

}  // namespace sightline::nn
