#include "network/plan/channel_order.hpp"

#include <algorithm>

#include "network/plan/storage.hpp"

namespace sightline::nn {
namespace {

class OrderChoice {
 public:
  OrderChoice(Fusion& fusion, const std::vector<StepGroup>& groups)
      : fusion_(fusion),
        graph_(fusion.graph),
        readers_(readers_of(graph_)),
        steps_(graph_.nodes().size(), nullptr) {
    for (const StepGroup& group : groups) {
      for (const GroupStep& step : group.steps) {
        for (const int node : step.nodes) steps_[to_size(node)] = &step;
      }
    }
  }

  void choose(const GroupStep& step) {
    constexpr std::int64_t kFew = 16;
    const auto* const reduce = std::get_if<Reduce>(&step.node.primitive);
    if (!reduce || reduce->axes.size() != 1) return;
    const int x = step.node.inputs[0];
    const std::size_t axis = reduce->axes[0];
    const std::int64_t side = graph_.shape(x)[axis];
    if (side > 1 && side < kFew && channel_count(layout(step.node.outputs[0])) >= kLanes)
      put_first(x, axis, side);
    if (side >= kFew) {
      const std::vector<std::size_t> inner = axes_within(x, axis + 1);
      if (inner.size() == 1) put_first_in_maps(x, inner[0]);
    }
  }

 private:
  Layout& layout(int tensor) { return fusion_.tensors[to_size(tensor)].layout; }
  // A node as its step computes it.
  const GraphNode& computing(int node) const {
    const GroupStep* const step = steps_[to_size(node)];
    return step ? step->node : graph_.node(node);
  }
  static bool is_map(const GraphNode& node) {
    return std::holds_alternative<Map>(node.primitive) && node.outputs.size() == 1;
  }

  // The axes from number `first` on that lie within a point.
  std::vector<std::size_t> axes_within(int tensor, std::size_t first) {
    std::vector<std::size_t> axes;
    for (std::size_t i = first; i < graph_.shape(tensor).size(); ++i) {
      if (graph_.shape(tensor)[i] > 1 && !layout(tensor).has_points(i)) axes.push_back(i);
    }
    return axes;
  }

  // For a tensor, and for all maps of its shape beside it.
  void put_first_in_maps(int tensor, std::size_t axis) {
    std::vector<int> open{tensor};
    while (!open.empty()) {
      const int one = open.back();
      open.pop_back();
      std::optional<std::size_t>& outermost = layout(one).outermost;
      if (outermost || graph_.shape(one) != graph_.shape(tensor) || !is_ordered_alone(one, axis)) continue;
      outermost = axis;
      const GraphNode& by = computing(graph_.tensor(one).maker);
      if (is_map(by)) open.insert(open.end(), by.inputs.begin(), by.inputs.end());
      for (const int reader : readers_[to_size(one)]) {
        const GraphNode& map = computing(reader);
        if (is_map(map)) open.push_back(map.outputs[0]);
      }
    }
  }
  // Whether the order of a tensor matters to its group alone.
  bool is_ordered_alone(int tensor, std::size_t axis) {
    const int maker = graph_.tensor(tensor).maker;
    if (maker == kNone || graph_.is_output(tensor) || layout(tensor).has_points(axis)) return false;
    if (is_view(graph_.node(maker).primitive)) return true;
    return !fusion_.is_alone[to_size(maker)] && is_map(computing(maker)) &&
           std::ranges::all_of(readers_[to_size(tensor)], [&](int reader) {
             return fusion_.group[to_size(reader)] == fusion_.group[to_size(maker)];
           });
  }

  // For a tensor that one node alone reads, and what it is made of.
  void put_first(int tensor, std::size_t axis, std::int64_t side) {
    const int maker = graph_.tensor(tensor).maker;
    if (maker == kNone || graph_.shape(tensor)[axis] != side || readers_[to_size(tensor)].size() != 1 ||
        graph_.is_output(tensor) || layout(tensor).has_points(axis))
      return;
    const GraphNode& by = computing(maker);
    const bool is_concat = std::holds_alternative<Concat>(by.primitive),
               is_sample = std::holds_alternative<GridSample>(by.primitive);
    if (!is_concat && (fusion_.is_alone[to_size(maker)] || (!is_map(by) && !is_sample))) return;
    layout(tensor).outermost = axis;
    if (is_sample) return;
    for (const int input : by.inputs) {
      const Shape& shape = graph_.shape(input);
      if (shape.size() == graph_.shape(tensor).size()) put_first(input, axis, shape[axis]);
    }
  }

  Fusion& fusion_;
  const Graph& graph_;
  const std::vector<std::vector<int>> readers_;
  std::vector<const GroupStep*> steps_;  ///< by node; null: of views, and of nodes that come last
};

}  // namespace

void choose_channel_orders(Fusion& fusion, const std::vector<StepGroup>& groups) {
  OrderChoice choice(fusion, groups);
  for (const StepGroup& group : groups) {
    for (const GroupStep& step : group.steps) {
      if (!group.is_alone) choice.choose(step);
    }
  }
}

}  // namespace sightline::nn
