#pragma once
/// Where the tensors of a plan for the CPU lie.

#include <span>
#include <vector>

#include "network/plan/group_steps.hpp"
#include "network/plan/operand.hpp"

namespace sightline::nn {

struct CpuMemory {
  std::int64_t arena_bytes = 0;
  std::int64_t scratch_bytes = 0;  ///< of a thread
};

/// Gives each stored tensor its storage. What only later steps of its own group read lies in scratch. Outputs
/// are written where they belong: by the kernels of the tensors that they show, where nothing else reads
/// these.
/// @param last_nodes  that run after the waves
CpuMemory place_tensors(const Fusion& fusion, const std::vector<StepGroup>& groups,
                        std::span<const int> last_nodes, Stored& stored);

}  // namespace sightline::nn
