#include "network/opencl/task_steps.hpp"

#include <algorithm>

#include "network/opencl/device_kernels.hpp"
#include "network/plan/within_points.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

// Channels that fill up a row have any values.
void fill_terms(TaskStep& made) {
  for (std::vector<int>& terms : made.terms) {
    if (terms.empty()) terms = made.terms[0];
  }
}

/// Makes the step of a task that computes a group's step by tiles.
class TileStep {
 public:
  /// @param width  of a row of the task's map; 0: it has none
  TileStep(const Graph& graph, const Stored& stored, const GroupStep& step, std::int64_t width)
      : graph_(graph),
        stored_(stored),
        node_(step.node),
        y_(step.node.outputs[0]),
        width_(width),
        planned_{graph, stored.planned(), step.node} {
    made_.step = step;
    made_.channels = channel_count(planned_.layout());
  }

  TaskStep make() && {
    std::visit([&](const auto& one) { set_kind(one); }, node_.primitive);
    if (!made_.step.finish) return std::move(made_);
    for (const int input : made_.step.finish->inputs)
      made_.finish_operands.push_back(input == y_ ? DeviceOperand() : point_operand(input));
    return std::move(made_);
  }

 private:
  const Shape& shape() const { return graph_.shape(y_); }
  int x() const { return node_.inputs[0]; }

  // An operand by the points and channels of the output.
  DeviceOperand point_operand(int input) const {
    return device_operand(graph_, stored_, input, shape(), planned_.layout(), width_);
  }
  // The first one by its own points and channels.
  DeviceOperand own_operand() const {
    return device_operand(graph_, stored_, x(), graph_.shape(x()), stored_.planned(x()).layout, width_);
  }
  // The first one as a map.
  void set_map(StepKind kind) {
    const Shape& shape = graph_.shape(x());
    made_.kind = kind;
    made_.height = shape[2];
    made_.width = shape[3];
    made_.operands = {device_operand(graph_, stored_, x(), shape, Layout::of(shape), shape[3])};
  }

  void set_kind(const Map&) {
    for (const int input : node_.inputs) made_.operands.push_back(point_operand(input));
  }
  void set_kind(const Convolve& one) {
    made_.window = one.window;
    if (map_width(planned_.layout(), shape()) == 0) return set_point_product();
    const bool is_depthwise = one.groups == made_.channels && graph_.shape(x())[1] == made_.channels;
    set_map(one.groups == 1 ? StepKind::product : is_depthwise ? StepKind::depthwise : StepKind::grouped);
  }
  void set_kind(const Product&) { set_point_product(); }
  void set_kind(const WindowFold& one) {
    made_.window = one.window;
    set_map(StepKind::window_fold);
  }
  void set_kind(const Resample&) { set_map(StepKind::resample); }
  void set_kind(const Reduce&) {
    if (!planned_.reads_at_points()) return set_map(StepKind::map_fold);
    made_.kind = StepKind::point_fold;
    made_.operands = {own_operand()};
    made_.terms = folded_channels(planned_);
    fill_terms(made_);
  }
  template <typename Other>
  void set_kind(const Other&) {
    throw Problem("has no kernel for devices: " + node_.name);
  }

  void set_point_product() {
    const PointProduct product = point_product(planned_);
    made_.operands = {own_operand()};
    made_.terms.resize(to_size(made_.channels));
    made_.weight_rows.resize(to_size(made_.channels));
    for (const PointRows& rows : product.rows) {
      for (std::size_t o = 0; o < rows.outputs.size(); ++o) {
        made_.terms[to_size(rows.outputs[o])] = rows.inputs;
        made_.weight_rows[to_size(rows.outputs[o])] =
            rows.group * product.outputs + static_cast<std::int64_t>(o);
      }
    }
    fill_terms(made_);
    const bool is_dense = product.rows.size() == 1 && made_.channels == product.outputs &&
                          made_.operands[0].count == product.depth && are_in_order(product.rows[0].inputs) &&
                          are_in_order(product.rows[0].outputs);
    made_.kind = is_dense ? StepKind::product : StepKind::grouped;
  }

  const Graph& graph_;
  const Stored& stored_;
  const GraphNode& node_;
  const int y_;  ///< the output
  const std::int64_t width_;
  const PlannedNode planned_;
  TaskStep made_;
};

// Whether all work-items of a group compare elements of one row.
bool has_many_ranks(const Shape& x, const TopK& top) {
  constexpr std::int64_t kMany = 256;
  const std::int64_t side = x[top.axis];
  return side > kMany && elements_between(x, top.axis + 1, x.size()) == 1 &&
         (side % kRankedTogether == 0 || elements_of(x) == side);
}

StepKind kind_of_whole(const Graph& graph, const GraphNode& node) {
  if (std::holds_alternative<Product>(node.primitive)) return StepKind::product_of_tensors;
  if (std::holds_alternative<GridSample>(node.primitive)) return StepKind::grid_sample;
  if (std::holds_alternative<Gather>(node.primitive)) return StepKind::gather;
  const auto* const top = std::get_if<TopK>(&node.primitive);
  if (!top) return StepKind::copy;  // Pad
  return has_many_ranks(graph.shape(node.inputs[0]), *top) ? StepKind::top_k_of_many : StepKind::top_k;
}

// Operands of products are repeated along the axes in front.
Shape whole_shape(const Graph& graph, const GraphNode& node, std::size_t input) {
  const Shape& shape = graph.shape(node.inputs[input]);
  if (!std::holds_alternative<Product>(node.primitive)) return shape;
  const Shape& all = graph.shape(node.outputs[0]);
  if (input == 2) return all;
  Shape repeated(all.begin(), all.end() - 2);
  repeated.insert(repeated.end(), shape.end() - 2, shape.end());
  return repeated;
}

Task whole_task(const Graph& graph, const Stored& stored, const GroupStep& step) {
  const GraphNode& node = step.node;
  if (!has_device_whole(graph, stored.planned(), step.nodes[0]))
    throw Problem("has no kernel for devices: " + node.name);
  TaskStep made;
  made.step = step;
  made.channels = 1;
  made.kind = kind_of_whole(graph, node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Shape shape = whole_shape(graph, node, i);
    made.operands.push_back(
        device_operand(graph, stored, node.inputs[i], shape, Layout::of_elements(shape), 0));
  }
  const int counted = std::holds_alternative<TopK>(node.primitive) ? node.inputs[0] : node.outputs[0];
  return {{std::move(made)}, elements_of(graph.shape(counted)), 0, 0, false};
}

}  // namespace

Task task_of(const Graph& graph, const Stored& stored, const StepGroup& group) {
  if (group.is_alone) return whole_task(graph, stored, group.steps[0]);
  const auto layout = [&](const GroupStep& step) -> const Layout& {
    return stored.planned(step.outputs()[0]).layout;
  };
  Task task{{}, layout(group.steps[0]).points, 0, 0, false};
  for (const GroupStep& step : group.steps)
    task.width = std::max(task.width, map_width(layout(step), graph.shape(step.outputs()[0])));
  for (const GroupStep& step : group.steps)
    task.steps.push_back(TileStep(graph, stored, step, task.width).make());
  return task;
}

}  // namespace sightline::nn
