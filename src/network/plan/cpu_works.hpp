#pragma once
/// The work of a plan for the CPU: groups, nodes that run alone, and copies.

#include <cstdint>
#include <memory>

#include "network/cpu/work.hpp"
#include "network/plan/group_steps.hpp"
#include "network/plan/operand.hpp"

namespace sightline::nn {

/// A group's work, and what it needs.
struct CpuGroup {
  std::unique_ptr<Work> work;
  std::int64_t zero_floats = 0;  ///< of WorkMemory::zeros
};
/// Kernels that compute a group tile by tile, or the reference for a node that runs alone.
CpuGroup make_group(const Graph& graph, const Stored& stored, const StepGroup& group);

/// A copy of a tensor in row-major order. @param target  number of its memory in WorkMemory::tensors
std::unique_ptr<Work> make_copy(const Graph& graph, const Stored& stored, int tensor, int target);

}  // namespace sightline::nn
