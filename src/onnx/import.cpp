#include "onnx/import.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>

#include "onnx/operators.hpp"

namespace sightline::nn {
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
      if (readers[static_cast<std::size_t>(norm.x)] == 1 && is_foldable(import, norm)) norms_[norm.x] = &norm;
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
  // Whether a batch normalisation is needed, and behind a Conv, and all but the picture is constant.
  bool is_foldable(const Import& import, const BatchNorm& norm) const {
    const int maker = from_.tensor(norm.x).maker;
    if (maker == kNone || !std::holds_alternative<Convolve>(from_.node(maker).primitive)) return false;
    const auto contains = [](const std::vector<int>& all, int one) {
      return std::ranges::find(all, one) != all.end();
    };
    std::vector<int> constants = norm.parameters;
    constants.insert(constants.end(), from_.node(maker).inputs.begin() + 1, from_.node(maker).inputs.end());
    return contains(import.convolved, norm.x) && !contains(from_.outputs(), norm.x) &&
           contains(nodes_, from_.tensor(norm.made).maker) &&
           std::ranges::all_of(constants, [&](int one) { return from_.constant(one) != nullptr; });
  }

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
    keep_origin(node, inputs, made);
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (node.outputs[i] != kNone) tensors[static_cast<std::size_t>(node.outputs[i])] = made[i];
    }
  } catch (const Problem& problem) {
    const std::string what = problem.what();
    throw Problem(what.starts_with("node ") ? what : "node " + node.title() + " " + what);
  }
}

void Import::keep_origin(const OnnxNode& node, const std::vector<int>& inputs, const std::vector<int>& made) {
  // Of a branch that is taken, the nodes are kept.
  const auto is_told = [&](int tensor) {
    return tensor == kNone || graph.constant(tensor) || std::ranges::find(inputs, tensor) != inputs.end();
  };
  if (node.op == "If" || std::ranges::all_of(made, is_told)) return;
  OnnxNode& kept = nodes.emplace_back(node);
  kept.inputs = inputs;
  kept.outputs = made;
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

namespace {

void remove_unneeded(std::vector<OnnxNode>& nodes, const std::vector<int>& outputs) {
  std::set<int> needed(outputs.begin(), outputs.end());
  std::vector<OnnxNode> kept;
  for (OnnxNode& node : std::views::reverse(nodes)) {
    const auto is_needed = [&](int output) { return needed.contains(output); };
    if (std::ranges::none_of(node.outputs, is_needed)) continue;
    needed.insert(node.inputs.begin(), node.inputs.end());
    kept.push_back(std::move(node));
  }
  std::ranges::reverse(kept);
  nodes = std::move(kept);
}

}  // namespace

Graph import_onnx(const OnnxModel& model, std::int64_t memory_limit, const Types& inputs,
                  OnnxOrigins* origins) {
  Import import(memory_limit);
  import.opset = model.opset;
  std::vector<int> tensors(model.graph.values.size(), kNone);
  for (std::size_t i = 0; i < model.graph.inputs.size(); ++i) {
    const auto& [value, type] = model.graph.inputs[i];
    tensors[static_cast<std::size_t>(value)] =
        import.graph.add_input(model.graph.value(value).name, inputs.empty() ? type : inputs[i]);
  }
  for (const int output : import.add_nodes(model.graph, tensors)) import.graph.add_output(output);
  Graph graph = Normaliser(import).normalised();
  if (!origins) return graph;
  remove_unneeded(import.nodes, import.graph.outputs());
  *origins = {std::move(import.graph), std::move(import.nodes)};
  return graph;
}

std::string onnx_operator_names() {
  std::string names;
  for (const auto& [name, row] : operators()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace sightline::nn
