#include "network/plan/group_steps.hpp"

#include <algorithm>

#include "network/plan/merge_maps.hpp"
#include "network/plan/node_text.hpp"

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

bool contains(const std::vector<int>& all, int one) {
  return std::ranges::find(all, one) != all.end();
}

bool is_map(const GroupStep& step) {
  return std::holds_alternative<Map>(step.node.primitive);
}

class StepBuilder {
 public:
  StepBuilder(const Fusion& fusion, const CanFinish& can_finish)
      : fusion_(fusion), graph_(fusion.graph), can_finish_(can_finish), readers_(readers_of(fusion.graph)) {}

  std::vector<StepGroup> build() const {
    std::vector<StepGroup> groups(to_size(fusion_.groups));
    for (const int node : needed_nodes(graph_)) {
      if (fusion_.group[to_size(node)] == kNone) continue;
      StepGroup& own = groups[to_size(fusion_.group[to_size(node)])];
      own.steps.push_back({graph_.node(node), {}, {node}});
      own.wave = fusion_.wave[to_size(node)];
      own.is_alone = fusion_.is_alone[to_size(node)];
    }
    for (StepGroup& group : groups) {
      join(group.steps, [&](const GroupStep& a, GroupStep& b) { return merge(a, b); });
      join(group.steps, [&](const GroupStep& a, GroupStep& b) { return add_finish(a, b); });
    }
    return groups;
  }

 private:
  // Joins steps with the only one that reads what they make, in its place.
  template <typename Join>
  void join(std::vector<GroupStep>& steps, const Join& join_steps) const {
    for (auto step = steps.begin(); step != steps.end();) {
      const auto reader = reader_of(steps, step);
      if (reader != steps.end() && join_steps(*step, *reader)) {
        reader->nodes.insert(reader->nodes.end(), step->nodes.begin(), step->nodes.end());
        step = steps.erase(step);
      } else {
        ++step;
      }
    }
  }

  // The step that alone reads another one's output; the end: there is none.
  std::vector<GroupStep>::iterator reader_of(std::vector<GroupStep>& steps,
                                             std::vector<GroupStep>::iterator step) const {
    const int made = step->outputs()[0];
    const std::vector<int>& readers = readers_[to_size(made)];
    if (step->outputs().size() != 1 || graph_.is_output(made) || readers.empty()) return steps.end();
    return std::find_if(step + 1, steps.end(), [&](const GroupStep& one) {
      return std::ranges::all_of(readers, [&](int node) { return contains(one.nodes, node); });
    });
  }

  bool merge(const GroupStep& a, GroupStep& b) const {
    const bool can = is_map(a) && is_map(b) &&
                     a.node.inputs.size() + b.node.inputs.size() <= kMostMapOperands &&
                     graph_.shape(a.node.outputs[0]) == graph_.shape(b.node.outputs[0]);
    if (can) merge_map(b.node, a.node.outputs[0], a.node);
    return can;
  }
  bool add_finish(const GroupStep& a, GroupStep& b) const {
    if (is_map(a) || a.finish || b.finish || !is_map(b)) return false;
    const int from = a.node.outputs[0], to = b.node.outputs[0];
    const Layout &one = fusion_.tensors[to_size(from)].layout, &other = fusion_.tensors[to_size(to)].layout;
    if (graph_.shape(from) != graph_.shape(to) || one.points != other.points || one.axes != other.axes ||
        !can_finish_(a.node, b.node))
      return false;
    b.finish = std::move(b.node);
    b.node = a.node;
    return true;
  }

  const Fusion& fusion_;
  const Graph& graph_;
  const CanFinish& can_finish_;
  const std::vector<std::vector<int>> readers_;
};

}  // namespace

std::vector<StepGroup> groups_of(const Fusion& fusion, const CanFinish& can_finish) {
  return StepBuilder(fusion, can_finish).build();
}

std::string text_of(const Graph& graph, const GroupStep& step) {
  if (step.softmax > 0) return "softmax";
  return text_of(graph, step.node) + (step.finish ? " with " + text_of(graph, *step.finish) : "");
}

}  // namespace sightline::nn
