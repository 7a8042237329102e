#include "network/plan/planned_tensor.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace sightline::nn {

bool is_view(const Primitive& primitive) {
  return std::holds_alternative<Reshape>(primitive) || std::holds_alternative<Transpose>(primitive) ||
         std::holds_alternative<Slice>(primitive) || std::holds_alternative<Expand>(primitive) ||
         std::holds_alternative<Concat>(primitive);
}

Types types_of(const Graph& graph, const std::vector<int>& tensors) {
  Types types;
  for (const int tensor : tensors) types.push_back(graph.type(tensor));
  return types;
}

namespace {

std::optional<Layout> layout_of_slice(const Layout& x, const Slice& slice, const Shape& shape) {
  Layout layout{x.points, {}, x.repeats};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool is_whole = slice.step[i] == 1 && side_of(x.axes[i]) == shape[i];
    if (!is_whole && x.has_points(i)) return {};
    layout.axes.push_back(is_whole        ? x.axes[i]
                          : shape[i] == 1 ? FactoredAxis{}
                                          : FactoredAxis{{shape[i], 0}});
  }
  return layout;
}

// The layout of what a view of one tensor shows. Nothing if the points are not all there.
std::optional<Layout> layout_of_view(const Layout& x, const Primitive& view, const Shape& shape) {
  if (const auto* const one = std::get_if<Slice>(&view)) return layout_of_slice(x, *one, shape);
  if (const auto* const one = std::get_if<Transpose>(&view))
    return Layout{x.points, transposed(x.axes, one->order), x.repeats};
  if (std::holds_alternative<Expand>(view)) {
    FactoredAxes axes = expanded(x.axes, shape);
    const bool adds = shape.size() > x.axes.size();
    bool repeats = x.repeats;
    for (std::size_t i = 0; i < shape.size() && !adds; ++i)
      repeats = repeats || side_of(x.axes[i]) != shape[i];
    return Layout{x.points, std::move(axes), repeats};
  }
  const auto axes = reshaped(x.axes, shape);
  return axes ? std::optional(Layout{x.points, *axes, x.repeats}) : std::nullopt;
}

// Whether two layouts are equal but on an axis that has no points.
bool differ_within(const Layout& a, const Layout& b, std::size_t axis) {
  if (a.points != b.points || a.repeats || b.repeats) return false;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    if (i == axis ? a.has_points(i) || b.has_points(i) : normalised(a.axes[i]) != normalised(b.axes[i]))
      return false;
  }
  return true;
}

using Known = std::span<const PlannedTensor>;

const PlannedTensor& at(Known known, int tensor) {
  return known[static_cast<std::size_t>(tensor)];
}

PlannedTensor shown_by_view(const Primitive& view, const PlannedTensor& input, const Shape& shape) {
  PlannedTensor shown = input;
  const auto layout = layout_of_view(input.layout, view, shape);
  shown.layout = layout ? *layout : Layout::of(shape);
  for (Source& source : shown.sources) source.is_aligned = source.is_aligned && layout.has_value();
  return shown;
}

// The layout of the operand that has most points, if the axis has none.
Layout layout_of_concat(Known known, const std::vector<int>& inputs, std::size_t axis, const Shape& shape) {
  const PlannedTensor* best = nullptr;
  for (const int input : inputs) {
    const PlannedTensor& one = at(known, input);
    if (one.sources.empty() || one.layout.repeats || one.layout.has_points(axis)) continue;
    if (!best || one.layout.points > best->layout.points) best = &one;
  }
  if (!best) return Layout::of(shape);
  Layout layout = best->layout;
  layout.axes[axis] = {{shape[axis], 0}};
  return layout;
}

PlannedTensor shown_by_concat(Known known, const std::vector<int>& inputs, std::size_t axis,
                              const Shape& shape) {
  PlannedTensor shown{layout_of_concat(known, inputs, axis, shape), {}, false};
  std::map<int, bool> are_aligned;  // by stored tensor, which may be shown several times
  for (const int input : inputs) {
    const bool is_aligned = differ_within(shown.layout, at(known, input).layout, axis);
    for (const Source& source : at(known, input).sources) {
      bool& all = are_aligned.try_emplace(source.tensor, true).first->second;
      all = all && source.is_aligned && is_aligned;
    }
  }
  for (const auto& [tensor, is_aligned] : are_aligned) shown.sources.push_back({tensor, is_aligned});
  return shown;
}

Layout computed_layout(const Graph& graph, Known known, const GraphNode& node, const Shape& shape) {
  const Types types = types_of(graph, node.inputs);
  std::optional<Layout> best;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const PlannedTensor& operand = at(known, node.inputs[i]);
    if (operand.sources.empty()) continue;
    auto layout = inherited(followed_axes(node.primitive, types, i, shape), operand.layout, shape);
    if (layout && (!best || layout->points > best->points)) best = std::move(layout);
  }
  return best ? *best : Layout::of(shape);
}

}  // namespace

PlannedTensor planned_source(const Graph& graph, int tensor) {
  const Shape& shape = graph.shape(tensor);
  if (graph.constant(tensor)) return {Layout::of(shape), {}, false};
  return {is_known(shape) ? Layout::of(shape) : Layout(), {{tensor, true}}, !is_known(shape)};
}

PlannedTensor planned_output(const Graph& graph, std::span<const PlannedTensor> known, int tensor) {
  const GraphNode& node = graph.node(graph.tensor(tensor).maker);
  const Shape& shape = graph.shape(tensor);
  const bool reads_last =
      std::ranges::any_of(node.inputs, [&](int input) { return at(known, input).is_last; });
  if (reads_last || !is_known(shape)) return {Layout(), {{tensor, true}}, true};
  if (const auto* const concat = std::get_if<Concat>(&node.primitive))
    return shown_by_concat(known, node.inputs, concat->axis, shape);
  if (is_view(node.primitive)) return shown_by_view(node.primitive, at(known, node.inputs[0]), shape);
  return {computed_layout(graph, known, node, shape), {{tensor, true}}, false};
}

}  // namespace sightline::nn
