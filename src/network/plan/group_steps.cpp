#include "network/plan/group_steps.hpp"

#include <algorithm>
#include <map>

#include "network/plan/merge_maps.hpp"

namespace sightline::nn {

std::vector<int> GroupStep::reads() const {
  std::vector<int> all = node.inputs;
  if (!finish) return all;
  for (const int input : finish->inputs) {
    if (input != node.outputs[0]) all.push_back(input);
  }
  return all;
}

namespace {

constexpr std::size_t kMostMapOperands = 8;  // of a Map

class StepBuilder {
 public:
  StepBuilder(const Fusion& fusion, const CanFinish& can_finish)
      : fusion_(fusion), graph_(fusion.graph), can_finish_(can_finish), readers_(readers_of(fusion.graph)) {}

  std::vector<std::vector<GroupStep>> build() {
    std::vector<std::vector<GroupStep>> groups(static_cast<std::size_t>(fusion_.groups));
    for (const int node : needed_nodes(graph_)) {
      const int group = fusion_.group[to_size(node)];
      if (group != kNone) groups[to_size(group)].push_back({graph_.node(node), std::nullopt});
    }
    for (std::vector<GroupStep>& group : groups) {
      join(group, [&](const GroupStep& a, GroupStep& b) { return merge(a, b); });
      join(group, [&](const GroupStep& a, GroupStep& b) { return add_finish(a, b); });
    }
    return groups;
  }

 private:
  // Joins steps with the only one that reads what they make, in its place.
  template <typename Join>
  void join(std::vector<GroupStep>& group, const Join& join_steps) const {
    for (std::size_t i = 0; i < group.size();) {
      const auto reader = reader_of(group, i);
      if (reader != kNone && join_steps(group[i], group[to_size(reader)])) {
        group.erase(group.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  // The step that alone reads a step's output, and reads it as it is; kNone: there is none.
  int reader_of(const std::vector<GroupStep>& group, std::size_t step) const {
    const GroupStep& one = group[step];
    const int made = one.outputs()[0];
    if (one.outputs().size() != 1 || std::ranges::find(graph_.outputs(), made) != graph_.outputs().end())
      return kNone;
    int reader = kNone;
    for (std::size_t i = step + 1; i < group.size(); ++i) {
      if (std::ranges::find(group[i].node.inputs, made) == group[i].node.inputs.end()) continue;
      if (reader != kNone) return kNone;
      reader = static_cast<int>(i);
    }
    if (reader == kNone) return kNone;
    const auto is_in_reader = [&](int node) { return group_contains(group[to_size(reader)], node); };
    return std::ranges::all_of(readers_[to_size(made)], is_in_reader) ? reader : kNone;
  }
  // Whether a node of the graph is part of a step.
  bool group_contains(const GroupStep& step, int node) const {
    const auto computed = computed_by_.find(graph_.node(node).outputs[0]);
    const int made = computed == computed_by_.end() ? graph_.node(node).outputs[0] : computed->second;
    return made == step.outputs()[0];
  }

  bool merge(const GroupStep& a, GroupStep& b) {
    const bool can = is_map(a) && is_map(b) && is_tiled(a) && is_tiled(b) &&
                     a.node.inputs.size() + b.node.inputs.size() <= kMostMapOperands &&
                     graph_.shape(a.node.outputs[0]) == graph_.shape(b.node.outputs[0]);
    if (!can) return false;
    merge_map(b.node, a.node.outputs[0], a.node);
    note(a, b);
    return true;
  }
  bool add_finish(const GroupStep& a, GroupStep& b) {
    if (is_map(a) || a.finish || b.finish || !is_map(b) || !is_tiled(a) || !is_tiled(b)) return false;
    const int from = a.node.outputs[0], to = b.node.outputs[0];
    const Layout &one = fusion_.tensors[to_size(from)].layout, &other = fusion_.tensors[to_size(to)].layout;
    if (graph_.shape(from) != graph_.shape(to) || one.points != other.points || one.axes != other.axes ||
        !can_finish_(a.node, b.node))
      return false;
    note(a, b);
    b.finish = std::move(b.node);
    b.node = a.node;
    return true;
  }
  // Tells that b computes what a computed.
  void note(const GroupStep& a, const GroupStep& b) {
    const int to = b.node.outputs[0];
    for (auto& [tensor, step] : computed_by_) {
      if (step == a.node.outputs[0]) step = to;
    }
    computed_by_[a.node.outputs[0]] = to;
  }

  static bool is_map(const GroupStep& step) { return std::holds_alternative<Map>(step.node.primitive); }
  bool is_tiled(const GroupStep& step) const {
    return !fusion_.is_alone[to_size(graph_.tensor(step.node.outputs[0]).maker)];
  }

  const Fusion& fusion_;
  const Graph& graph_;
  const CanFinish& can_finish_;
  const std::vector<std::vector<int>> readers_;
  std::map<int, int> computed_by_;  ///< by tensor that is no step's any more: the first output of the step
};

}  // namespace

std::vector<std::vector<GroupStep>> steps_of(const Fusion& fusion, const CanFinish& can_finish) {
  return StepBuilder(fusion, can_finish).build();
}

}  // namespace sightline::nn
