#include "network/plan/rewrite.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "network/plan/merge_products.hpp"
#include "network/plan/merge_windows.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kMostPieces = 16;  // strides of a head are fewer; each takes nodes of its own

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
    const int made = tensor.constant ? to_.graph.add_constant(tensor.name, tensor.constant)
                                     : to_.graph.add_input(tensor.name, tensor.type);
    to_.tensors.push_back(planned_source(to_.graph, made));
    return made;
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
    merge_windows(to_.graph, primitive, inputs);
    const std::vector<int> outputs = add_node(node.name, primitive, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) value(node.outputs[i]).tensor = outputs[i];
  }

  std::vector<int> add_node(const std::string& name, const Primitive& primitive,
                            const std::vector<int>& inputs) {
    const std::vector<int> outputs = to_.graph.add(name, primitive, inputs);
    for (const int output : outputs) to_.tensors.push_back(planned_output(to_.graph, to_.tensors, output));
    return outputs;
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
    if (joined.pieces.size() > kMostPieces) return false;
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

  const Graph& from_;
  Rewritten to_;
  std::vector<Value> values_;  ///< by tensor of the old graph
};

}  // namespace

Rewritten rewritten(const Graph& graph) {
  // Each turn merges convolutions that read what the last one merged.
  std::optional<Graph> merged = merged_products(graph);
  while (merged) {
    std::optional<Graph> next = merged_products(*merged);
    if (!next) break;
    merged = std::move(next);
  }
  return Rewriting(merged ? *merged : graph).run();
}

}  // namespace sightline::nn
