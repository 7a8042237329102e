#pragma once
/// Domains of a graph's tensors, and what they show of stored ones.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/graph.hpp"
#include "network/plan/domain.hpp"

namespace sightline::nn {

/// A number that is not negative, as an index.
inline std::size_t to_size(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

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

/// An input or a constant.
PlannedTensor planned_source(const Graph& graph, int tensor);
/// An output of a node of the graph. It has the domain of that operand that has most points, if it can be
/// kept.
/// @param known  by tensor, of all before this one
PlannedTensor planned_output(const Graph& graph, std::span<const PlannedTensor> known, int tensor);

/// Reshape, Transpose, Slice, Expand and Concat.
bool is_view(const Primitive& primitive);
Types types_of(const Graph& graph, const std::vector<int>& tensors);

}  // namespace sightline::nn
