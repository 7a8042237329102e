#include "network/plan/rewrite.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "network/strided.hpp"

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

// --- layouts of views

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

// --- nodes

/// A tensor, or pieces of one along an axis, each with a domain of its own.
struct Value {
  int tensor = kNone;  ///< kNone: not joined of the pieces yet
  std::size_t axis = 0;
  std::vector<int> pieces;
};

class Rewriting {
 public:
  explicit Rewriting(const Graph& graph) : from_(graph), values_(graph.tensors().size()) {}

  Rewritten run() {
    for (std::size_t t = 0; t < from_.tensors().size(); ++t) {
      if (from_.tensors()[t].maker == kNone) values_[t].tensor = copied(from_.tensors()[t]);
    }
    for (const int node : needed_nodes(from_)) add(from_.node(node));
    for (const int output : from_.outputs()) to_.graph.add_output(whole(output));
    return std::move(to_);
  }

 private:
  Value& value(int tensor) { return values_[static_cast<std::size_t>(tensor)]; }
  PlannedTensor& planned(int tensor) { return to_.tensors[static_cast<std::size_t>(tensor)]; }

  int copied(const GraphTensor& tensor) {
    const bool known = is_known(tensor.type.shape);
    if (tensor.constant) {
      to_.tensors.push_back({Layout::of(tensor.type.shape), {}, false});
      return to_.graph.add_constant(tensor.name, tensor.constant);
    }
    const int input = to_.graph.add_input(tensor.name, tensor.type);
    to_.tensors.push_back({known ? Layout::of(tensor.type.shape) : Layout(), {{input, true}}, !known});
    return input;
  }

  // A tensor of the new graph for one of the old graph.
  int whole(int tensor) {
    Value& one = value(tensor);
    if (one.tensor == kNone)
      one.tensor = add_node(from_.tensor(tensor).name, Concat{one.axis}, one.pieces).front();
    return one.tensor;
  }

  void add(const GraphNode& node) {
    if (keeps_pieces(node) || distribute(node)) return;
    std::vector<int> inputs;
    for (const int input : node.inputs) inputs.push_back(whole(input));
    Primitive primitive = node.primitive;
    read_source_of_pool(primitive, inputs);
    take_padding(primitive, inputs);
    const std::vector<int> outputs = add_node(node.name, primitive, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) value(node.outputs[i]).tensor = outputs[i];
  }

  // --- domains

  std::vector<int> add_node(const std::string& name, const Primitive& primitive,
                            const std::vector<int>& inputs) {
    const std::vector<int> outputs = to_.graph.add(name, primitive, inputs);
    for (const int output : outputs) {
      const bool is_last = !is_known(to_.graph.shape(output)) ||
                           std::ranges::any_of(inputs, [&](int input) { return planned(input).is_last; });
      to_.tensors.push_back({{}, {{output, true}}, is_last});
      if (is_last) continue;
      if (is_view(primitive)) {
        planned(output) = std::holds_alternative<Concat>(primitive)
                              ? shown_by_concat(primitive, inputs, output)
                              : shown_by_view(primitive, inputs[0], output);
      } else {
        planned(output).layout = computed_layout(primitive, inputs, to_.graph.shape(output));
      }
    }
    return outputs;
  }

  PlannedTensor shown_by_view(const Primitive& view, int input, int output) {
    const Shape& shape = to_.graph.shape(output);
    PlannedTensor shown = planned(input);
    const auto layout = layout_of_view(shown.layout, view, shape);
    shown.layout = layout ? *layout : Layout::of(shape);
    for (Source& source : shown.sources) source.is_aligned = source.is_aligned && layout.has_value();
    return shown;
  }

  PlannedTensor shown_by_concat(const Primitive& view, const std::vector<int>& inputs, int output) {
    const std::size_t axis = std::get<Concat>(view).axis;
    PlannedTensor shown{Layout::of(to_.graph.shape(output)), {}, false};
    // As the operand with most points.
    for (const int input : inputs) {
      const Layout& layout = planned(input).layout;
      if (planned(input).sources.empty() || layout.repeats || layout.has_points(axis)) continue;
      if (shown.sources.empty() || layout.points > shown.layout.points) {
        shown.layout = layout;
        shown.layout.axes[axis] = {{to_.graph.shape(output)[axis], 0}};
        shown.sources = planned(input).sources;
      }
    }
    shown.sources.clear();
    for (const int input : inputs) {
      const bool is_aligned = differ_within(shown.layout, planned(input).layout, axis);
      for (Source source : planned(input).sources) {
        source.is_aligned = source.is_aligned && is_aligned;
        shown.sources.push_back(source);
      }
    }
    return shown;
  }

  // The domain of the operand that has most points, if it can be kept.
  Layout computed_layout(const Primitive& primitive, const std::vector<int>& inputs, const Shape& shape) {
    const Types types = types_of(to_.graph, inputs);
    std::optional<Layout> best;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const PlannedTensor& operand = planned(inputs[i]);
      if (operand.sources.empty()) continue;
      auto layout = inherited(followed_axes(primitive, types, i, shape), operand.layout, shape);
      if (layout && (!best || layout->points > best->points)) best = std::move(layout);
    }
    return best ? *best : Layout::of(shape);
  }

  // --- pieces

  // A concatenation along points stays in pieces.
  bool keeps_pieces(const GraphNode& node) {
    const auto* const concat = std::get_if<Concat>(&node.primitive);
    if (!concat || node.inputs.size() < 2) return false;
    Value joined{kNone, concat->axis, {}};
    for (const int input : node.inputs) {
      const Value& part = value(input);
      if (!part.pieces.empty()) {
        if (part.axis != concat->axis) return false;
        joined.pieces.insert(joined.pieces.end(), part.pieces.begin(), part.pieces.end());
        continue;
      }
      const PlannedTensor& one = planned(whole(input));
      if (one.sources.empty() || one.is_last || !one.layout.has_points(concat->axis)) return false;
      joined.pieces.push_back(whole(input));
    }
    value(node.outputs[0]) = std::move(joined);
    return true;
  }

  std::int64_t side_of_piece(const Value& pieces, std::size_t p) const {
    return to_.graph.shape(pieces.pieces[p])[pieces.axis];
  }

  // Computes a node for each piece of an operand. Returns whether that is possible.
  bool distribute(const GraphNode& node) {
    const auto is_pieces = [&](int input) { return !value(input).pieces.empty(); };
    const auto first = std::ranges::find_if(node.inputs, is_pieces);
    if (first == node.inputs.end()) return false;
    const Types types = types_of(from_, node.inputs);
    const Shape& shape = from_.shape(node.outputs[0]);
    const auto followed = [&](std::size_t i) { return followed_axes(node.primitive, types, i, shape); };
    const Value pieces = value(*first);
    const int axis = followed(static_cast<std::size_t>(first - node.inputs.begin()))[pieces.axis];
    if (axis < 0 || !is_known(shape)) return false;
    std::vector<Value> made(node.outputs.size(), Value{kNone, static_cast<std::size_t>(axis), {}});
    std::int64_t begin = 0;
    for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
      const std::int64_t side = side_of_piece(pieces, p);
      std::vector<int> inputs;
      for (std::size_t i = 0; i < node.inputs.size(); ++i)
        inputs.push_back(piece_of(node.inputs[i], followed(i), axis, pieces, p, begin));
      const std::vector<int> outputs =
          add_node(node.name, of_side(node.primitive, static_cast<std::size_t>(axis), side), inputs);
      for (std::size_t i = 0; i < outputs.size(); ++i) made[i].pieces.push_back(outputs[i]);
      begin += side;
    }
    for (std::size_t i = 0; i < made.size(); ++i) value(node.outputs[i]) = std::move(made[i]);
    return true;
  }

  // What a piece of the output reads of an operand.
  int piece_of(int input, const std::vector<int>& followed, int axis, const Value& pieces, std::size_t p,
               std::int64_t begin) {
    const Shape& shape = from_.shape(input);
    const auto found = std::ranges::find(followed, axis);
    const auto at = static_cast<std::size_t>(found - followed.begin());
    if (found == followed.end() || shape[at] == 1) return whole(input);
    const Value& own = value(input);
    const std::int64_t side = side_of_piece(pieces, p);
    const bool fits =
        own.axis == at && own.pieces.size() == pieces.pieces.size() && side_of_piece(own, p) == side;
    if (fits) return own.pieces[p];
    Slice slice{Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
    slice.first[at] = begin;
    slice.shape[at] = side;
    return add_node(from_.tensor(input).name, slice, {whole(input)}).front();
  }

  // The primitive whose output has another side.
  static Primitive of_side(Primitive primitive, std::size_t axis, std::int64_t side) {
    const auto replace = [&](Shape& shape) { shape[axis] = shape[axis] == 1 ? 1 : side; };
    if (auto* const one = std::get_if<Reshape>(&primitive)) replace(one->shape);
    if (auto* const one = std::get_if<Expand>(&primitive)) replace(one->shape);
    if (auto* const one = std::get_if<Slice>(&primitive)) replace(one->shape);
    if (auto* const one = std::get_if<Convolve>(&primitive); one && axis >= 2)
      one->window.out[axis - 2] = side;
    return primitive;
  }

  // --- windows

  static bool is_centred_pool(const WindowFold& pool) {
    const Window& window = pool.window;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      if (window.step[axis] != 1 || window.tap_step[axis] != 1 ||
          window.kernel[axis] != 2 * window.before[axis] + 1)
        return false;
    }
    return pool.fold == Fold::maximum;
  }

  const GraphNode* maker_of(int tensor) const {
    const int maker = to_.graph.tensor(tensor).maker;
    return maker == kNone ? nullptr : &to_.graph.node(maker);
  }

  // A k x k maximum of m x m ones is that of k + m - 1.
  void read_source_of_pool(Primitive& primitive, std::vector<int>& inputs) const {
    auto* const pool = std::get_if<WindowFold>(&primitive);
    const GraphNode* const maker = pool ? maker_of(inputs[0]) : nullptr;
    const auto* const other = maker ? std::get_if<WindowFold>(&maker->primitive) : nullptr;
    if (!other || !is_centred_pool(*pool) || !is_centred_pool(*other)) return;
    const Shape &from = to_.graph.shape(maker->inputs[0]), &to = to_.graph.shape(inputs[0]);
    const Shape out(pool->window.out.begin(), pool->window.out.end());
    if (from != to || !std::equal(out.begin(), out.end(), to.end() - 2)) return;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      pool->window.kernel[axis] += other->window.kernel[axis] - 1;
      pool->window.before[axis] += other->window.before[axis];
    }
    inputs[0] = maker->inputs[0];
  }

  // Zeros around a map are what a convolution reads there anyway.
  void take_padding(Primitive& primitive, std::vector<int>& inputs) const {
    auto* const convolve = std::get_if<Convolve>(&primitive);
    const GraphNode* const maker = convolve ? maker_of(inputs[0]) : nullptr;
    const auto* const pad = maker ? std::get_if<Pad>(&maker->primitive) : nullptr;
    if (!pad || pad->mode != Padding::constant || pad->value != Scalar(0.0F) || pad->before[0] != 0 ||
        pad->before[1] != 0 || pad->behind[0] != 0 || pad->behind[1] != 0)
      return;
    for (std::size_t axis = 0; axis < 2; ++axis) convolve->window.before[axis] += pad->before[axis + 2];
    inputs[0] = maker->inputs[0];
  }

  const Graph& from_;
  Rewritten to_;
  std::vector<Value> values_;  ///< by tensor of the old graph
};

}  // namespace

Rewritten rewritten(const Graph& graph) {
  return Rewriting(graph).run();
}

}  // namespace sightline::nn
