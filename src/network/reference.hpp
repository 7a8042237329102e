#pragma once
/// The reference: runs a graph node by node. Its results are what every other way to run the graph must
/// equal.

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "network/graph.hpp"

namespace sightline::nn {

/// Computes a graph's outputs.
/// @param inputs        in the graph's order, of its types
/// @param memory_limit  bytes of all tensors that are needed at once, without constants and inputs
/// Throws Error (ExitCode::failed) that names the node if values do not fit or the limit is reached;
/// std::logic_error if the inputs are of other types.
std::vector<Tensor> run_reference(const Graph& graph, Inputs inputs,
                                  std::int64_t memory_limit = std::int64_t{1} << 36);

/// Error (ExitCode::failed) that names a node that fails.
Error node_failure(const GraphNode& node, const Problem& problem);

}  // namespace sightline::nn
