#pragma once
/// How devices compute the steps of groups.

#include "network/opencl/tasks.hpp"

namespace sightline::nn {

/// A group as one task. Throws Problem where a node has no kernel.
Task task_of(const Graph& graph, const Stored& stored, const StepGroup& group);

}  // namespace sightline::nn
