#pragma once
/// Plans: how the CPU runs a graph, wave by wave.

#include <memory>
#include <vector>

#include "network/cpu/work.hpp"
#include "network/plan/fuse.hpp"
#include "network/plan/operand.hpp"

namespace sightline::nn {

/// A plan keeps its graph and constants, and is not changed by runs: many runners may share one.
struct CpuPlan {
  Graph graph;                         ///< as fuse() has rewritten it
  std::vector<PlannedTensor> tensors;  ///< by tensor
  std::vector<Storage> storages;       ///< by tensor; without memory of those that are not stored
  std::vector<std::vector<std::unique_ptr<Work>>> waves;
  std::vector<int> last_nodes;                ///< that run after the waves, by the reference, in this order
  std::vector<std::unique_ptr<Work>> copies;  ///< of outputs and operands of last nodes, in their own wave
  std::vector<int> copied;                    ///< tensors that they copy
  std::vector<int> copied_outputs;            ///< by copied tensor: the output that it is; kNone
  std::vector<int> written_outputs;           ///< by output: tensor that kernels write in place; kNone
  std::vector<std::int64_t> multiply_adds;    ///< by wave
  std::int64_t arena_bytes = 0, scratch_bytes = 0, zero_floats = 0;

  /// Memory of a frame with one thread, without results of last nodes.
  std::int64_t frame_bytes() const;
};

/// Nodes of a graph that has a plan: placing memory compares all tensors with each other.
inline constexpr std::size_t kMostPlannedNodes = 20'000;

/// How a plan is made.
struct CpuPlanOptions {
  bool all_alone = false;                             ///< every node runs alone, as the reference: for tests
  std::int64_t memory_limit = std::int64_t{1} << 36;  ///< bytes of a frame
};

/// The waves and groups of a graph's plan.
Fusion fuse_for_cpu(const Graph& graph, const CpuPlanOptions& options = {});

/// Throws Problem, which names the largest tensor, if a frame needs more memory than the limit.
void check_frame_bytes(const Graph& graph, std::int64_t bytes, std::int64_t memory_limit);

/// Plans on the threads of the calling TBB arena.
/// @param graph  its inputs may have sides that are not known; what depends on them comes last
/// Throws Problem if the graph is too large for a plan, or a frame needs more memory than the limit.
CpuPlan plan_for_cpu(const Graph& graph, const CpuPlanOptions& options = {});

}  // namespace sightline::nn
