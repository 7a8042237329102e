#pragma once
/// Softmax as a graph has it: Reduce, Map, Reduce, Map.

#include <array>
#include <optional>

#include "network/graph.hpp"

namespace sightline::nn {

struct SoftmaxNodes {
  int x = kNone;  ///< tensor
  std::size_t axis = 0;
  std::array<int, 3>
      inner;  ///< nodes that nothing else reads: the largest element, the powers, and their sum
};

/// The nodes of exp(x - largest) / sum along one axis, of which a Map is the last one; nothing if it is not.
/// @param readers  by tensor, as readers_of() lists them
std::optional<SoftmaxNodes> softmax_before(const Graph& graph, const std::vector<std::vector<int>>& readers,
                                           int map);

}  // namespace sightline::nn
