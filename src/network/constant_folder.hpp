#pragma once
/// Folding: nodes whose inputs are constants are computed while a graph is built.

#include <cstdint>
#include <string>
#include <vector>

#include "network/graph.hpp"

namespace sightline::nn {

/// Adds nodes to a graph, or the constants that they compute. What would take too long or too much memory is
/// added as a node instead.
class ConstantFolder {
 public:
  /// @param memory_limit  bytes of all constants that are computed
  ConstantFolder(Graph& graph, std::int64_t memory_limit) : graph_(graph), memory_(memory_limit) {}

  /// As Graph::add. A Dimension that is known is computed, too, whatever its input.
  std::vector<int> add(std::string name, Primitive primitive, std::vector<int> inputs);
  int add_single(std::string name, Primitive primitive, std::vector<int> inputs);

 private:
  std::vector<int> add_folded(std::string name, Primitive primitive, std::vector<int> inputs);

  Graph& graph_;
  std::int64_t memory_;
  std::int64_t work_ = std::int64_t{1} << 28;  ///< elements and multiply-adds that are left
};

/// Cost of a node in elements that it reads and writes, and multiply-adds; at most 2^60. 0 where a side is
/// not known.
std::int64_t work_of(const Graph& graph, const GraphNode& node);

}  // namespace sightline::nn
