#pragma once
/// Which nodes devices can compute.

#include <span>

#include "network/plan/planned_tensor.hpp"

namespace sightline::nn {

/// Whether there is a kernel that computes a node by tiles of its group. @param tensors  by tensor
bool has_device_tiles(const Graph& graph, std::span<const PlannedTensor> tensors, int node);
/// Whether there is one that computes the node alone, of whole tensors.
bool has_device_whole(const Graph& graph, std::span<const PlannedTensor> tensors, int node);

/// Points of a row, if a tensor is one map whose points are the pixels; else 0.
std::int64_t map_width(const Layout& layout, const Shape& shape);

}  // namespace sightline::nn
