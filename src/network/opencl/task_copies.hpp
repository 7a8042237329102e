#pragma once
/// Steps that copy elements from places that are known.

#include "network/opencl/tasks.hpp"

namespace sightline::nn {

/// Lets a step pad its node's operand. Stored tensors have their places.
/// @param weights  the padding is added to them
void set_padding(const Graph& graph, const Stored& stored, TaskStep& step, std::vector<float>& weights);

/// The step that writes an output of the network in row-major order. @param target  its first float in a
/// frame
/// @param weights  constants that the output shows are added to them
TaskStep copy_of_output(const Graph& graph, const Stored& stored, int output, std::int64_t target,
                        std::vector<float>& weights);

}  // namespace sightline::nn
