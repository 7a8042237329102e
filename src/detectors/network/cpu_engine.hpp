#pragma once
/// Networks on the CPU by the network engine (src/network), beside the plan that devices need (plan.hpp).
/// Both give the same bits.

#include <cstdint>
#include <memory>

#include "detectors/network/graph.hpp"
#include "detectors/network/runner.hpp"
#include "network/plan/cpu_plan.hpp"
#include "onnx/model.hpp"

namespace sightline::network {

/// The network engine's graph of a file. Throws nn::Problem where it cannot import the file.
/// @param model         of the file
/// @param graph         of the same file, with the sizes of all inputs
/// @param memory_limit  bytes of folded constants
nn::Graph engine_graph(const nn::OnnxModel& model, const Graph& graph, std::int64_t memory_limit);

/// A network's plan. Null where the engine cannot import the file or has no plan for it: then plan.hpp's runs
/// it. The log says why.
/// @param memory_limit  bytes of a frame
std::unique_ptr<const nn::CpuPlan> make_cpu_plan(const nn::OnnxModel& model, const Graph& graph,
                                                 std::int64_t memory_limit);

/// Runs a plan on the threads of the calling TBB arena. The whole network is one segment.
/// @param plan          outlives the runner
/// @param memory_limit  bytes of values whose sizes a frame decides
std::unique_ptr<Runner> make_cpu_runner(const nn::CpuPlan& plan, std::int64_t memory_limit);

}  // namespace sightline::network
