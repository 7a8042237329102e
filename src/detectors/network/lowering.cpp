#include "detectors/network/lowering.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace sightline::network {
namespace {

// --- convolutions and pooling along one axis

constexpr std::int64_t kRowAxis = 2;  // of the row that is added in front of the columns

// An attribute for rows and columns, of one for columns.
std::vector<std::int64_t> with_row(const Call& call, const std::string& name) {
  const std::vector<std::int64_t> given = call.node.integers(name);
  if (name == "pads") {
    if (given.size() != 2) throw Problem("has pads that do not fit");
    return {0, given[0], 0, given[1]};
  }
  const bool has_channels = name == "output_shape" && given.size() == 3;
  if (given.size() != 1 && !has_channels) throw Problem("has " + name + " that do not fit");
  return {name == "output_padding" ? 0 : 1, given.back()};
}

// --- powers and their sums

// |x|^p, and the p-th root of sums of them.
class Powers {
 public:
  Powers(Lowering& body, const Call& call) : body_(body), p_(exponent_of(call)) {}

  int of(int x) {
    if (p_ == 2) return body_.add("Mul", {x, x});
    const int size = body_.add("Abs", {x});
    return p_ == 1 ? size : body_.add("Pow", {size, number(p_)});
  }
  int root(int sum) {
    if (p_ == 1) return sum;
    return p_ == 2 ? body_.add("Sqrt", {sum}) : body_.add("Pow", {sum, number(1 / p_)});
  }

 private:
  static float exponent_of(const Call& call) {
    const auto p = static_cast<float>(call.node.integer("p", 2));
    if (p < 1) throw Problem("has the exponent " + std::to_string(p));
    return p;
  }
  int number(float value) { return body_.constant(Tensor::scalar(value)); }

  Lowering& body_;
  float p_;
};

// Sums of windows are convolutions with ones.
std::optional<Graph> lower_norm_pool(const Call& call) {
  const Shape& x = call.real(0).shape();
  const std::vector<std::int64_t> kernel = call.node.integers("kernel_shape");
  if (x.size() < 3 || kernel.size() != x.size() - 2) throw Problem("has an input of " + text_of(x));
  if (call.node.integer("ceil_mode", 0) != 0) throw Problem("rounds sizes up, which is not supported");
  Shape shape{x[1], 1};
  for (const std::int64_t side : kernel) shape.push_back(side);
  Tensor ones = constant_of(shape);
  std::fill_n(ones.reals(), ones.size(), 1.0F);
  Lowering body(call);
  Powers powers(body, call);
  Lowering::Attributes attributes = call.node.attributes;
  attributes.erase("p");
  attributes.insert_or_assign("group", x[1]);
  const int sums = body.add("Conv", {powers.of(body.input(0)), body.constant(std::move(ones))}, attributes);
  return body.done(powers.root(sums));
}

std::optional<Graph> lower_global_norm_pool(const Call& call) {
  const std::size_t rank = call.real(0).rank();
  if (rank < 3) throw Problem("has an input of " + text_of(call.in(0).shape()));
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 2; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  Lowering body(call);
  Powers powers(body, call);
  return body.done(powers.root(body.add("ReduceSum", {powers.of(body.input(0)), body.wholes(axes)})));
}

// Numbers in parts of their norm along an axis; 0 where all are 0.
std::optional<Graph> lower_norm(const Call& call) {
  const std::size_t axis = Call::axis(call.node.integer("axis", -1), call.real(0).rank());
  Lowering body(call);
  Powers powers(body, call);
  const int x = body.input(0), axes = body.wholes({static_cast<std::int64_t>(axis)});
  const int norm = powers.root(body.add("ReduceSum", {powers.of(x), axes}));
  const int zero = body.constant(Tensor::scalar(0));
  return body.done(body.add("Where", {body.add("Equal", {norm, zero}), zero, body.add("Div", {x, norm})}));
}

// --- branches

// The nodes of the branch that is taken. A condition that is computed from shapes is known.
std::optional<Graph> lower_branches(const Call& call) {
  const Tensor& condition = call.data(0);
  if (condition.size() != 1) throw Problem("has a condition of " + text_of(condition.shape()));
  const SharedGraph branch = call.node.graph(condition.as<float>(0) != 0 ? "then_branch" : "else_branch");
  if (!branch) throw Problem("lacks a branch");
  if (branch->outputs.size() < call.node.outputs.size()) throw Problem("has branches with too few results");
  return *branch;
}

std::vector<TensorType> refuse_branches(const Call& /*call*/) {
  throw Problem(
      "branches by what is not known when the network is loaded, which is not supported; simplify the "
      "network (onnxsim) or export it without its last steps");
}

constexpr std::size_t kMostOperands = 8, kMostBranchResults = 64;

constexpr Operator kLowered[] = {
    {"Einsum", 1, kMostOperands, 1, refuse_unknown_sizes, nullptr, lower_einsum},
    {"GlobalLpPool", 1, 1, 1, refuse_unknown_sizes, nullptr, lower_global_norm_pool},
    {"If", 1, 1, kMostBranchResults, refuse_branches, nullptr, lower_branches},
    {"LpNormalization", 1, 1, 1, refuse_unknown_sizes, nullptr, lower_norm},
    {"LpPool", 1, 1, 1, refuse_unknown_sizes, nullptr, lower_norm_pool},
};

}  // namespace

Lowering::Lowering(const Call& call) : call_(call) {
  graph_.values.resize(call.inputs.size());
}

int Lowering::input(std::size_t i) const {
  return call_.has(i) ? static_cast<int>(i) : kAbsent;
}

int Lowering::add_value(std::string_view what, SharedTensor tensor) {
  Value value{call_.node.name + " " + std::string(what), std::move(tensor), false, {}};
  graph_.values.push_back(std::move(value));
  return static_cast<int>(graph_.values.size()) - 1;
}

int Lowering::constant(Tensor tensor) {
  return add_value("constant", std::make_shared<const Tensor>(std::move(tensor)));
}

int Lowering::add(std::string_view op, std::vector<int> inputs, Attributes attributes) {
  constexpr int kOpset = 18;  // that the nodes are written for
  while (!inputs.empty() && inputs.back() == kAbsent) inputs.pop_back();
  const int output = add_value(op, nullptr);
  graph_.nodes.push_back({call_.node.name,
                          std::string(op),
                          std::move(inputs),
                          {output},
                          std::move(attributes),
                          kOpset,
                          find_operator(op)});
  return output;
}

Graph Lowering::done(int output) {
  const bool is_made = !graph_.nodes.empty() && graph_.nodes.back().outputs[0] == output;
  graph_.outputs = {is_made ? output : add("Identity", {output})};
  return std::move(graph_);
}

Tensor constant_of(Shape shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (elements_of(shape) > kMost) throw Problem("would need a constant of " + text_of(shape));
  return Tensor(Kind::real, std::move(shape));
}

std::vector<TensorType> refuse_unknown_sizes(const Call& /*call*/) {
  throw Problem("has inputs whose sizes are not known when the network is loaded, which is not supported");
}

std::optional<Graph> lower_one_axis(const Call& call) {
  constexpr std::size_t kRank = 3;  // pictures, channels and places
  const auto has_one_axis = [&](std::size_t i) { return call.real(i).rank() == kRank; };
  const bool has_weights = call.inputs.size() > 1;
  if (!has_one_axis(0) || (has_weights && !has_one_axis(1)) || call.node.outputs.size() > 1) return {};
  Lowering body(call);
  Lowering::Attributes attributes = call.node.attributes;
  for (const char* name :
       {"kernel_shape", "strides", "dilations", "pads", "output_padding", "output_shape"}) {
    if (call.node.has(name)) attributes.insert_or_assign(name, with_row(call, name));
  }
  const int axes = body.wholes({kRowAxis});
  std::vector<int> inputs{body.add("Unsqueeze", {body.input(0), axes})};
  if (has_weights) inputs.push_back(body.add("Unsqueeze", {body.input(1), axes}));
  if (call.has(2)) inputs.push_back(body.input(2));
  return body.done(body.add("Squeeze", {body.add(call.node.op, inputs, attributes), axes}));
}

std::span<const Operator> lowered_operators() {
  return kLowered;
}

}  // namespace sightline::network
