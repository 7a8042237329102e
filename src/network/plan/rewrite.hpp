#pragma once
/// Rewriting of a graph for fusion, with the domains of its tensors. It keeps all bits.

#include <vector>

#include "network/graph.hpp"
#include "network/plan/domain.hpp"

namespace sightline::nn {

/// A stored tensor that another one shows.
struct Source {
  int tensor = kNone;
  bool is_aligned = true;  ///< whether the points of the layout are those of this tensor's domain
};

struct PlannedTensor {
  Layout layout;
  std::vector<Source> sources;  ///< itself, unless it is made by a view; none of constants
  bool is_last = false;         ///< whether the frame decides its sizes, or those of what it is made of
};

struct Rewritten {
  Graph graph;
  std::vector<PlannedTensor> tensors;  ///< by tensor
};

/// See fuse().
Rewritten rewritten(const Graph& graph);

/// Reshape, Transpose, Slice, Expand and Concat.
bool is_view(const Primitive& primitive);
Types types_of(const Graph& graph, const std::vector<int>& tensors);

}  // namespace sightline::nn
