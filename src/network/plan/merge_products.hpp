#pragma once
/// Convolutions that are computed as one, since their outputs fit into fewer blocks together.

#include <optional>

#include "network/graph.hpp"

namespace sightline::nn {

/// The graph with each set of convolutions of one window and one input as one convolution, whose slices their
/// outputs are, and likewise depthwise ones of such slices. All bits stay the same. Nothing if there is no
/// set.
std::optional<Graph> merged_products(const Graph& graph);

}  // namespace sightline::nn
