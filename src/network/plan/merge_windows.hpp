#pragma once
/// Windows that take the place of two nodes.

#include <vector>

#include "network/graph.hpp"

namespace sightline::nn {

/// Lets a node read what its operand's maker reads, where a larger window gives the same bits: a maximum of
/// windows of maxima, and a convolution of a map that was padded with zeros.
/// @param inputs  of the graph, which has no such node yet
void merge_windows(const Graph& graph, Primitive& primitive, std::vector<int>& inputs);

}  // namespace sightline::nn
