#include "network/plan/cpu_plan.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "network/cpu/epilogue.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/plan/channel_order.hpp"
#include "network/plan/cpu_storages.hpp"
#include "network/plan/cpu_works.hpp"
#include "network/plan/find_softmax.hpp"
#include "network/plan/finish.hpp"

namespace sightline::nn {
namespace {

class CpuPlanBuilder {
 public:
  explicit CpuPlanBuilder(Fusion fusion)
      : fusion_(std::move(fusion)), graph_(fusion_.graph), stored_(graph_, fusion_.tensors) {}

  CpuPlan build() {
    for (const int node : needed_nodes(graph_)) {
      if (planned(graph_.node(node).outputs[0]).is_last) plan_.last_nodes.push_back(node);
    }
    groups_ = groups_of(fusion_, [&](const GraphNode& node, const GraphNode& map) {
      const bool is_product =
          std::holds_alternative<Convolve>(node.primitive) || std::holds_alternative<Product>(node.primitive);
      return is_product && finish_of(graph_, map, node.outputs[0]).has_value();
    });
    choose_channel_orders(fusion_, groups_);
    if (has_fused_multiply_add()) join_softmaxes();
    const CpuMemory memory = place_tensors(fusion_, groups_, plan_.last_nodes, stored_);
    plan_.arena_bytes = memory.arena_bytes;
    plan_.scratch_bytes = memory.scratch_bytes;
    add_groups();
    add_copies();
    plan_.storages = std::move(stored_).storages();
    plan_.tensors = std::move(fusion_.tensors);
    plan_.graph = std::move(fusion_.graph);
    return std::move(plan_);
  }

 private:
  const PlannedTensor& planned(int tensor) const { return stored_.planned(tensor); }

  // The nodes of a softmax over channels that lie side by side become one step, in the last one's place.
  void join_softmaxes() {
    const std::vector<std::vector<int>> readers = readers_of(graph_);
    for (StepGroup& group : groups_) {
      std::vector<int> joined;
      for (GroupStep& step : group.steps) {
        if (step.nodes.size() > 1) continue;
        const auto found = softmax_before(graph_, readers, step.nodes[0]);
        const int y = step.outputs()[0];
        const bool is_here =
            found && std::ranges::all_of(found->inner, [&](int node) {
              const auto computes = [&](const GroupStep& one) { return one.nodes[0] == node; };
              return std::ranges::any_of(group.steps, computes);
            });
        if (!is_here || !can_normalise_by_tiles(planned(y).layout, graph_.shape(y), found->axis)) continue;
        step.softmax = graph_.shape(y)[found->axis];
        step.node.inputs = {found->x};
        joined.insert(joined.end(), found->inner.begin(), found->inner.end());
      }
      std::erase_if(group.steps, [&](const GroupStep& one) {
        return std::ranges::find(joined, one.nodes[0]) != joined.end();
      });
    }
  }

  void add_groups() {
    std::vector<CpuGroup> made(groups_.size());
    parallel_for_isolated(groups_.size(),
                          [&](std::size_t g) { made[g] = make_group(graph_, stored_, groups_[g]); });
    plan_.waves.resize(to_size(fusion_.waves));
    plan_.multiply_adds.resize(to_size(fusion_.waves), 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t wave = to_size(groups_[g].wave - 1);
      plan_.zero_floats = std::max(plan_.zero_floats, made[g].zero_floats);
      plan_.waves[wave].push_back(std::move(made[g].work));
      for (const GroupStep& step : groups_[g].steps)
        plan_.multiply_adds[wave] += multiply_adds_of(graph_, step.node);
    }
  }

  void add_copies() {
    std::vector<int> needed;
    for (const int output : graph_.outputs()) {
      const bool is_written =
          graph_.tensor(output).maker != kNone && stored_[output].memory == Memory::caller;
      plan_.written_outputs.push_back(is_written ? output : kNone);
      if (!is_written && !planned(output).is_last) needed.push_back(output);
    }
    for (const int node : plan_.last_nodes) {
      for (const int input : graph_.node(node).inputs) {
        if (!planned(input).is_last) needed.push_back(input);
      }
    }
    for (const int tensor : needed) {
      if (std::ranges::find(plan_.copied, tensor) != plan_.copied.end()) continue;
      const auto output = std::ranges::find(graph_.outputs(), tensor);
      plan_.copied_outputs.push_back(
          output == graph_.outputs().end() ? kNone : static_cast<int>(output - graph_.outputs().begin()));
      const int target = static_cast<int>(graph_.tensors().size() + plan_.copied.size());
      plan_.copied.push_back(tensor);
      plan_.copies.push_back(make_copy(graph_, stored_, tensor, target));
    }
  }

  Fusion fusion_;
  const Graph& graph_;
  Stored stored_;
  std::vector<StepGroup> groups_;
  CpuPlan plan_;
};

}  // namespace

std::int64_t CpuPlan::frame_bytes() const {
  std::int64_t bytes = arena_bytes + scratch_bytes + zero_floats * static_cast<std::int64_t>(sizeof(float));
  const auto add = [&](int tensor) {
    if (is_known(graph.shape(tensor))) bytes += bytes_of(graph.type(tensor));
  };
  std::ranges::for_each(graph.inputs(), add);
  std::ranges::for_each(graph.outputs(), add);
  for (std::size_t i = 0; i < copied.size(); ++i) {
    if (copied_outputs[i] == kNone) add(copied[i]);
  }
  return bytes;
}

Fusion fuse_for_cpu(const Graph& graph, const CpuPlanOptions& options) {
  return fuse(graph, [&](const Graph& of, std::span<const PlannedTensor> tensors, int node) {
    return options.all_alone || !has_tile_kernel(of, tensors, node);
  });
}

void check_frame_bytes(const Graph& graph, std::int64_t bytes, std::int64_t memory_limit) {
  if (bytes > memory_limit)
    throw Problem(
        "needs " + std::to_string(bytes >> 20) + " MiB of memory for each frame, more than the limit of " +
        std::to_string(memory_limit >> 20) + " MiB; its largest tensor is " + largest_tensor(graph));
}

CpuPlan plan_for_cpu(const Graph& graph, const CpuPlanOptions& options) {
  if (graph.nodes().size() > kMostPlannedNodes)
    throw Problem("has " + std::to_string(graph.nodes().size()) + " nodes, more than a plan takes");
  CpuPlan plan = CpuPlanBuilder(fuse_for_cpu(graph, options)).build();
  check_frame_bytes(graph, plan.frame_bytes(), options.memory_limit);
  return plan;
}

}  // namespace sightline::nn
