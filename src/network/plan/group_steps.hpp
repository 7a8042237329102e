#pragma once
/// Steps of fusion groups: what a kernel computes for all points of a tile before it goes on.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "network/plan/fuse.hpp"

namespace sightline::nn {

/// A node, and a Map of its output that is computed with it.
struct GroupStep {
  GraphNode node;                   ///< a Map may be one of several Maps
  std::optional<GraphNode> finish;  ///< its first inputs are any; one or more are the node's output
  std::vector<int> nodes;           ///< of the graph: all that the step computes, the last one first
  std::int64_t softmax = 0;         ///< not 0: `nodes` are a softmax of the input over so many channels

  const std::vector<int>& outputs() const { return finish ? finish->outputs : node.outputs; }
  /// Tensors that the step reads, without its own.
  std::vector<int> reads() const;
};

/// A fusion group.
struct StepGroup {
  std::vector<GroupStep> steps;  ///< in an order in which they can run
  int wave = 0;
  bool is_alone = false;  ///< whether its only node runs alone
};

/// Whether a node can compute a Map of its output. The Map's output has the node's shape and layout.
using CanFinish = std::function<bool(const GraphNode& node, const GraphNode& map)>;

/// The groups with their steps. A Map that another step alone reads is part of that step.
std::vector<StepGroup> groups_of(const Fusion& fusion, const CanFinish& can_finish);

/// As "convolve 1x1, 64 to 64 with sigmoid".
std::string text_of(const Graph& graph, const GroupStep& step);

}  // namespace sightline::nn
