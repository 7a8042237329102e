#pragma once
/// Rewriting of a graph for fusion, with the domains of its tensors. It keeps all bits.

#include <vector>

#include "network/graph.hpp"
#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

struct Rewritten {
  Graph graph;
  std::vector<PlannedTensor> tensors;  ///< by tensor
};

/// See fuse().
Rewritten rewritten(const Graph& graph);

}  // namespace sightline::nn
