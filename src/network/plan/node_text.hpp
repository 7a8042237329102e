#pragma once
/// Nodes in few words, for people.

#include <string>

#include "network/graph.hpp"

namespace sightline::nn {

/// As "convolve 3x3 by 2x2, 3 to 16", "sigmoid", "map of 4 functions", "maximum over axis 1".
std::string text_of(const Graph& graph, const GraphNode& node);

}  // namespace sightline::nn
