#pragma once
/// Steps of fusion groups: what a kernel computes for all points of a tile before it goes on.

#include <functional>
#include <optional>
#include <vector>

#include "network/plan/fuse.hpp"

namespace sightline::nn {

/// A node, and a Map of its output that is computed with it.
struct GroupStep {
  GraphNode node;                   ///< a Map may be one of several Maps
  std::optional<GraphNode> finish;  ///< its first inputs are any; one or more are the node's output

  const std::vector<int>& outputs() const { return finish ? finish->outputs : node.outputs; }
  /// Tensors that the step reads, without its own.
  std::vector<int> reads() const;
};

/// Whether a node can compute a Map of its output. The Map's output has the node's shape and layout.
using CanFinish = std::function<bool(const GraphNode& node, const GraphNode& map)>;

/// Steps of each group, in an order in which they can run.
std::vector<std::vector<GroupStep>> steps_of(const Fusion& fusion, const CanFinish& can_finish);

}  // namespace sightline::nn
