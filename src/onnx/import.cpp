#include "onnx/import.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "network/fold.hpp"
#include "network/primitives/checks.hpp"
#include "onnx/operators.hpp"

namespace sightline::nn {

// A batch normalisation that may become part of a convolution.
struct BatchNorm {
  int x = kNone, made = kNone;
  std::vector<int> parameters;  // scale, bias, mean, variance
  float epsilon = 0;
};

// What is imported so far.
struct Import {
  explicit Import(std::int64_t memory_limit) : folder(graph, memory_limit) {}

  Graph graph;
  Folder folder;
  int opset = 0;
  std::vector<int> convolved;  // outputs of Conv
  std::vector<BatchNorm> norms;

  // Imports the nodes of a graph. @param tensors  of its first values. Returns those of its outputs.
  std::vector<int> add_nodes(const OnnxGraph& from, std::vector<int> tensors);
  void add_node(const OnnxNode& node, const OnnxGraph& from, std::vector<int>& tensors);
  std::vector<int> lower(const OnnxNode& node, const std::vector<int>& inputs);
};

namespace {

Made lower_branch(Lowering& c) {
  const Tensor* const condition = c.constant(c.in(0));
  if (!condition)
    throw Problem(
        "branches by what is not known when the network is loaded, which is not supported; simplify the "
        "network (onnxsim) or export it without its last steps");
  if (condition->size() != 1) throw Problem("has a condition of " + text_of(condition->shape()));
  const bool is_met = c.constant(c.cast(c.in(0), DataType::boolean))->as<bool>()[0];
  const SharedOnnxGraph branch = c.node.graph(is_met ? "then_branch" : "else_branch");
  if (!branch) throw Problem("lacks a branch");
  if (branch->outputs.size() < c.node.outputs.size()) throw Problem("has branches with too few results");
  std::vector<int> made = c.run(*branch);
  made.resize(c.node.outputs.size());
  return made;
}

constexpr std::size_t kMostOperands = 8, kMostBranchInputs = 1 << 16, kMostBranchResults = 64;

constexpr OnnxOperator kOthers[] = {
    {"Einsum", 1, kMostOperands, lower_einsum},
    {"If", 1, kMostBranchInputs, lower_branch, kMostBranchResults},
};

const std::map<std::string_view, const OnnxOperator*>& operators() {
  static const std::map<std::string_view, const OnnxOperator*> all = [] {
    std::map<std::string_view, const OnnxOperator*> map;
    for (const std::span<const OnnxOperator> part :
         {elementwise_operators(), shape_operators(), compute_operators(), norm_operators(),
          resize_operators(), quantised_operators(), std::span<const OnnxOperator>(kOthers)}) {
      for (const OnnxOperator& one : part) map[one.name] = &one;
    }
    return map;
  }();
  return all;
}

const OnnxOperator& operator_of(const OnnxNode& node) {
  const auto found = operators().find(node.op);
  const bool is_known =
      found != operators().end() && (node.domain.empty() || node.domain == found->second->domain);
  if (!is_known) throw Problem(why_unknown(node, onnx_operator_names()));
  return *found->second;
}

// Whether a node would give its first input again.
bool is_copy(const Primitive& primitive, const Shape& from, std::size_t inputs, const Shape& to) {
  if (const auto* const map = std::get_if<Map>(&primitive)) {
    const Expression& expression = map->expression;
    const auto result = static_cast<std::size_t>(expression.results()[0]);
    return inputs == 1 && expression.results().size() == 1 &&
           expression.nodes()[result].function == Function::operand;
  }
  if (const auto* const transpose = std::get_if<Transpose>(&primitive))
    return std::ranges::is_sorted(transpose->order);
  if (std::holds_alternative<Concat>(primitive)) return inputs == 1;
  if (!is_known(from) || from != to) return false;
  if (const auto* const slice = std::get_if<Slice>(&primitive))
    return std::ranges::all_of(slice->step, [](std::int64_t step) { return step == 1; });
  return std::holds_alternative<Reshape>(primitive) || std::holds_alternative<Expand>(primitive) ||
         std::holds_alternative<Pad>(primitive);
}

// Copies a graph without nodes that nobody needs, and with batch normalisations in the weights before them.
class Normaliser {
 public:
  explicit Normaliser(const Import& import) : from_(import.graph), numbers_(from_.tensors().size(), kNone) {
    nodes_ = needed_nodes(from_);
    std::vector<int> readers(numbers_.size(), 0);
    for (const int node : nodes_) {
      for (const int input : from_.node(node).inputs) ++readers[static_cast<std::size_t>(input)];
    }
    for (const BatchNorm& norm : import.norms) {
      const int maker = from_.tensor(norm.x).maker;
      if (maker == kNone || !std::holds_alternative<Convolve>(from_.node(maker).primitive)) continue;
      const bool is_conv = std::ranges::find(import.convolved, norm.x) != import.convolved.end();
      const bool is_output = std::ranges::find(from_.outputs(), norm.x) != from_.outputs().end();
      std::vector<int> constants = norm.parameters;
      constants.insert(constants.end(), from_.node(maker).inputs.begin() + 1, from_.node(maker).inputs.end());
      const bool are_constant =
          std::ranges::all_of(constants, [&](int one) { return from_.constant(one) != nullptr; });
      if (is_conv && !is_output && are_constant && readers[static_cast<std::size_t>(norm.x)] == 1)
        norms_[norm.x] = &norm;
    }
  }

  Graph normalised() {
    for (const int input : from_.inputs())
      numbers_[static_cast<std::size_t>(input)] = to_.add_input(from_.tensor(input).name, from_.type(input));
    for (const int node : nodes_) add(from_.node(node));
    for (const int output : from_.outputs()) to_.add_output(number_of(output));
    return std::move(to_);
  }

 private:
  int number_of(int tensor) {
    int& number = numbers_[static_cast<std::size_t>(tensor)];
    if (number == kNone) number = to_.add_constant(from_.tensor(tensor).name, from_.tensor(tensor).constant);
    return number;
  }

  void add(const GraphNode& node) {
    const auto norm = norms_.find(node.outputs[0]);
    if (numbers_[static_cast<std::size_t>(node.outputs[0])] != kNone) return;  // a batch normalisation
    std::vector<int> inputs;
    if (norm != norms_.end()) {
      inputs = {number_of(node.inputs[0])};
      for (Tensor& one : normalised_weights(node, *norm->second))
        inputs.push_back(to_.add_constant(node.name, std::move(one)));
    } else {
      for (const int input : node.inputs) inputs.push_back(number_of(input));
    }
    const std::vector<int> made = to_.add(node.name, node.primitive, inputs);
    for (std::size_t i = 0; i < made.size(); ++i)
      numbers_[static_cast<std::size_t>(node.outputs[i])] = made[i];
    if (norm != norms_.end()) numbers_[static_cast<std::size_t>(norm->second->made)] = made[0];
  }

  // Weights and start of a convolution with a batch normalisation behind it: in double precision, rounded
  // once.
  std::vector<Tensor> normalised_weights(const GraphNode& node, const BatchNorm& norm) const {
    const auto numbers = [&](int tensor) { return from_.constant(tensor)->as<float>(); };
    const Tensor& weights = *from_.constant(node.inputs[1]);
    Tensor scaled(weights.type()), moved(DataType::f32, {weights.dim(0)});
    const auto outputs = static_cast<std::size_t>(weights.dim(0));
    const std::size_t count = weights.as<float>().size() / std::max<std::size_t>(1, outputs);
    for (std::size_t m = 0; m < outputs; ++m) {
      const double scale = numbers(norm.parameters[0])[m] /
                           std::sqrt(double{numbers(norm.parameters[3])[m]} + double{norm.epsilon});
      const double old = node.inputs.size() > 2 ? numbers(node.inputs[2])[m] : 0.0;
      moved.as<float>()[m] =
          static_cast<float>((old - numbers(norm.parameters[2])[m]) * scale + numbers(norm.parameters[1])[m]);
      for (std::size_t i = m * count; i < (m + 1) * count; ++i)
        scaled.as<float>()[i] = static_cast<float>(weights.as<float>()[i] * scale);
    }
    std::vector<Tensor> both;
    both.push_back(std::move(scaled));
    both.push_back(std::move(moved));
    return both;
  }

  const Graph& from_;
  Graph to_;
  std::vector<int> nodes_;
  std::vector<int> numbers_;               // in the new graph, by tensor
  std::map<int, const BatchNorm*> norms_;  // by their input
};

}  // namespace

// --- terms

int Term::node_like(const Term& typed) const {
  if (expression_) return node_;
  const Scalar value =
      with_type(typed.type(), [&]<typename T>() -> Scalar { return static_cast<T>(number_); });
  return typed.expression_->constant(value);
}

Term Term::call(Function function, std::initializer_list<Term> arguments) {
  const Term& typed =
      *std::ranges::find_if(arguments, [](const Term& one) { return one.expression_ != nullptr; });
  std::vector<int> nodes;
  for (const Term& one : arguments) nodes.push_back(one.node_like(typed));
  Expression& expression = *typed.expression_;
  if (nodes.size() == 1) return {expression, expression.call(function, {nodes[0]})};
  if (nodes.size() == 2) return {expression, expression.call(function, {nodes[0], nodes[1]})};
  return {expression, expression.call(function, {nodes[0], nodes[1], nodes[2]})};
}

Term Term::select(const Term& condition, const Term& a, const Term& b) {
  const Term& typed = a.expression_ ? a : b;
  Expression& expression = *condition.expression_;
  return {expression, expression.select(condition.node_, a.node_like(typed), b.node_like(typed))};
}

// --- inputs and attributes of a node

int Lowering::opset() const {
  return import_.opset;
}
int Lowering::in(std::size_t i) const {
  if (!has(i)) throw Problem("input " + std::to_string(i + 1) + " is missing");
  return inputs_[i];
}
Shape Lowering::shape(int tensor) const {
  return import_.graph.shape(tensor);
}
DataType Lowering::data(int tensor) const {
  return import_.graph.type(tensor).data;
}
Shape Lowering::known_shape(int tensor) const {
  if (!is_known(shape(tensor)))
    throw Problem("has inputs whose sizes are not known when the network is loaded, which is not supported");
  return shape(tensor);
}
const Tensor* Lowering::constant(int tensor) const {
  return import_.graph.constant(tensor);
}
const Tensor& Lowering::known(std::size_t i) const {
  if (const Tensor* const value = constant(in(i))) return *value;
  throw Problem("has an input " + std::to_string(i + 1) +
                " that is not known when the network is loaded, which is not supported");
}

std::vector<std::int64_t> Lowering::integers(std::size_t i, std::string_view attribute) const {
  constexpr std::size_t kMost = 1024;  // of a list of axes, pads or sides
  std::vector<std::int64_t> list = has(i) ? known(i).integers() : node.integers(attribute);
  if (list.size() > kMost) throw Problem("has a list of " + std::to_string(list.size()) + " numbers");
  return list;
}

std::string Lowering::choice(std::string_view attribute, std::string_view fallback,
                             std::initializer_list<std::string_view> known) const {
  std::string value = node.text(attribute, fallback);
  if (std::ranges::find(known, value) == known.end())
    throw Problem("has the " + std::string(attribute) + " '" + value + "', which is not supported");
  return value;
}

std::size_t Lowering::axis(std::int64_t number, std::size_t rank) {
  const auto sides = static_cast<std::int64_t>(rank);
  if (number < -sides || number >= sides)
    throw Problem("axis " + std::to_string(number) + " of a tensor of " + std::to_string(rank) +
                  " dimensions");
  return static_cast<std::size_t>(number < 0 ? number + sides : number);
}

Axes Lowering::axes_from(std::size_t first, std::size_t rank) {
  Axes axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// --- adding primitives

std::vector<int> Lowering::add_all(Primitive primitive, std::vector<int> tensors) {
  constexpr std::size_t kMostNodes = 200'000;
  if (import_.graph.nodes().size() > kMostNodes) throw Problem("consists of too many nodes");
  if (!tensors.empty()) {
    Types types;
    for (const int tensor : tensors) types.push_back(import_.graph.type(tensor));
    if (is_copy(primitive, types[0].shape, tensors.size(), infer(primitive, types)[0].shape))
      return {tensors[0]};
  }
  return import_.folder.add(node.title(), std::move(primitive), std::move(tensors));
}

int Lowering::add(Primitive primitive, std::vector<int> tensors) {
  return add_all(std::move(primitive), std::move(tensors)).front();
}

int Lowering::constant(Tensor tensor) {
  return import_.graph.add_constant(node.title(), std::move(tensor));
}

std::vector<int> Lowering::map_all(const std::vector<int>& tensors,
                                   const std::function<std::vector<Term>(const std::vector<Term>&)>& f) {
  // Constants of one element that do not matter for the shape.
  std::size_t rank_of_others = 0;
  bool has_others = false;
  const auto is_single = [&](int tensor) { return constant(tensor) && constant(tensor)->size() == 1; };
  for (const int tensor : tensors) {
    if (is_single(tensor)) continue;
    has_others = true;
    rank_of_others = std::max(rank_of_others, rank(tensor));
  }
  const auto is_part = [&](int tensor) {
    return has_others && is_single(tensor) && rank(tensor) <= rank_of_others;
  };
  std::vector<int> operands;
  std::vector<DataType> types;
  for (const int tensor : tensors) {
    if (is_part(tensor)) continue;
    operands.push_back(tensor);
    types.push_back(data(tensor));
  }
  Expression expression(types);
  std::vector<Term> terms;
  std::size_t next = 0;
  for (const int tensor : tensors) {
    if (is_part(tensor)) {
      const Scalar value =
          with_type(data(tensor), [&]<typename T>() -> Scalar { return constant(tensor)->as<T>()[0]; });
      terms.emplace_back(expression, expression.constant(value));
    } else {
      terms.emplace_back(expression, expression.operand(next++));
    }
  }
  for (const Term& result : f(terms)) expression.add_result(result.node());
  return add_all(Map{std::move(expression)}, operands);
}

int Lowering::map(Function function, const std::vector<int>& tensors, std::initializer_list<float> numbers) {
  const auto call = [&](const std::vector<Term>& x) {
    std::vector<Term> all = x;
    all.insert(all.end(), numbers.begin(), numbers.end());
    if (all.size() == 1) return std::vector{Term::call(function, {all[0]})};
    if (all.size() == 2) return std::vector{Term::call(function, {all[0], all[1]})};
    return std::vector{Term::call(function, {all.at(0), all.at(1), all.at(2)})};
  };
  return map_all(tensors, call).front();
}

int Lowering::cast(int x, DataType type) {
  return map([=](const Term& one) { return one.cast(type); }, x);
}

int Lowering::slice(int x, std::size_t axis, std::int64_t first, std::int64_t count, std::int64_t step) {
  const std::size_t all = rank(x);
  Slice part{Shape(all, 0), Shape(all, 1), shape(x)};
  part.first[axis] = first;
  part.shape[axis] = count;
  part.step[axis] = step;
  return add(part, {x});
}

int Lowering::swap_axes(int x, std::size_t a, std::size_t b) {
  Axes order = axes_from(0, rank(x));
  std::swap(order.at(a), order.at(b));
  return transpose(x, order);
}

int Lowering::element(int x, std::int64_t i) {
  const Shape from = known_shape(x);
  if (i >= elements_of(from)) throw Problem("needs single numbers");
  return reshape(from.size() == 1 ? slice(x, 0, i, 1) : x, {});
}

int Lowering::sizes(int x) {
  const Shape sides = shape(x);
  if (is_known(sides)) return vector(sides);
  std::vector<int> all;
  for (std::size_t axis = 0; axis < sides.size(); ++axis)
    all.push_back(reshape(add(Dimension{axis}, {x}), {1}));
  return concat(all, 0);
}

int Lowering::along(int vector, std::size_t axis, std::size_t rank) {
  Shape sides(rank - axis, 1);
  sides[0] = shape(vector).at(0);
  return reshape(vector, sides);
}

int Lowering::mean(int x, const Axes& axes) {
  int count = scalar(std::int64_t{1});
  for (const std::size_t axis : axes)
    count = map(Function::multiply, {count, element(sizes(x), static_cast<std::int64_t>(axis))});
  const int sum = reduce(Fold::sum, x, axes);
  if (data(x) != DataType::f32)
    count = map([](const Term& all) { return Term::call(Function::maximum, {all, 1}); }, count);
  return map(Function::divide, {sum, cast(count, data(x))});
}

int Lowering::run(std::string_view op, std::vector<int> tensors) {
  Lowering other(import_, node, std::move(tensors));
  return operators().at(op)->lower(other).tensors.front();
}

std::vector<int> Lowering::run(const OnnxGraph& branch) {
  return import_.add_nodes(branch, inputs_);
}

// --- nodes

std::vector<int> Import::lower(const OnnxNode& node, const std::vector<int>& inputs) {
  const OnnxOperator& row = operator_of(node);
  if (inputs.size() < row.least_inputs || inputs.size() > row.most_inputs)
    throw Problem("has " + std::to_string(inputs.size()) + " inputs");
  if (node.outputs.size() > row.most_outputs)
    throw Problem("has " + std::to_string(node.outputs.size()) + " outputs");
  Lowering lowering(*this, node, inputs);
  std::vector<int> made = row.lower(lowering).tensors;
  if (node.op == "Conv") convolved.push_back(made[0]);
  if (node.op == "BatchNormalization")
    norms.push_back({inputs[0], made[0], {inputs.begin() + 1, inputs.end()}, node.real("epsilon", 1e-5F)});
  made.resize(node.outputs.size(), kNone);  // masks and statistics for training are left out
  return made;
}

void Import::add_node(const OnnxNode& node, const OnnxGraph& from, std::vector<int>& tensors) {
  try {
    std::vector<int> inputs;
    for (const int input : node.inputs) {
      inputs.push_back(input == kNone ? kNone : tensors[static_cast<std::size_t>(input)]);
      if (input != kNone && inputs.back() == kNone)
        throw Problem("reads '" + from.value(input).name + "', which nothing before it makes");
    }
    const std::vector<int> made = lower(node, inputs);
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (node.outputs[i] != kNone) tensors[static_cast<std::size_t>(node.outputs[i])] = made[i];
    }
  } catch (const Problem& problem) {
    const std::string what = problem.what();
    throw Problem(what.starts_with("node ") ? what : "node " + node.title() + " " + what);
  }
}

std::vector<int> Import::add_nodes(const OnnxGraph& from, std::vector<int> tensors) {
  tensors.resize(from.values.size(), kNone);
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    if (from.values[i].constant)
      tensors[i] = graph.add_constant(from.values[i].name, from.values[i].constant);
  }
  for (const OnnxNode& node : from.nodes) add_node(node, from, tensors);
  std::vector<int> outputs;
  for (const int output : from.outputs) {
    outputs.push_back(tensors[static_cast<std::size_t>(output)]);
    if (outputs.back() == kNone)
      throw Problem("has the output '" + from.value(output).name + "', which no node makes");
  }
  return outputs;
}

Graph import_onnx(const OnnxModel& model, std::int64_t memory_limit) {
  Import import(memory_limit);
  import.opset = model.opset;
  std::vector<int> tensors(model.graph.values.size(), kNone);
  for (const OnnxInput& input : model.graph.inputs)
    tensors[static_cast<std::size_t>(input.value)] =
        import.graph.add_input(model.graph.value(input.value).name, input.type);
  for (const int output : import.add_nodes(model.graph, tensors)) import.graph.add_output(output);
  return Normaliser(import).normalised();
}

std::string onnx_operator_names() {
  std::string names;
  for (const auto& [name, row] : operators()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace sightline::nn
