#pragma once
/// Outputs of the network that steps write where they belong.

#include <optional>
#include <utility>
#include <vector>

#include "network/opencl/task_source.hpp"

namespace sightline::nn {

/// The places in an output of the elements of the stored tensors that it shows, by tensor. Nothing where
/// addresses by point and by channel do not add up, or an element has no place or several: then a copy is
/// needed. Bases are 0.
std::optional<std::vector<std::pair<int, OutputPlace>>> places_in_output(const Graph& graph,
                                                                         const Stored& stored, int output);

}  // namespace sightline::nn
