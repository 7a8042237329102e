#include "detectors/network/onnx_file.hpp"

#include <algorithm>
#include <optional>

#include "detectors/network/lowering.hpp"
#include "detectors/network/operators.hpp"
#include "onnx/parts.hpp"

namespace sightline::network {
namespace {

// Operators of ONNX, and those of ONNX Runtime that are of their kind.
bool is_standard(const nn::OnnxNode& node) {
  return node.domain.empty() || (node.domain == "com.microsoft" && node.op.starts_with("QLinear"));
}

std::string known_operators() {
  std::string names;
  for (const std::string_view name : operator_names())
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

SharedTensor tensor_from(const nn::Tensor& tensor) {
  const bool is_real = tensor.data() == nn::DataType::f32;
  auto made = std::make_shared<Tensor>(is_real ? Kind::real : Kind::whole, tensor.shape());
  nn::with_type(tensor.data(), [&]<typename T>() {
    if constexpr (std::is_same_v<T, float>) {
      std::ranges::copy(tensor.as<T>(), made->reals());
    } else {
      std::ranges::copy(tensor.as<T>(), made->wholes());
    }
  });
  return made;
}

// Turns what a file has into a graph of operators.
class Builder {
 public:
  Builder(nn::OnnxGraph from, int opset) : from_(std::move(from)) { graph_.opset = opset; }

  Graph build() {
    add_values();
    for (const nn::OnnxInput& input : from_.inputs)
      graph_.inputs.push_back(
          {input.value, {input.type.data == nn::DataType::f32 ? Kind::real : Kind::whole, input.type.shape}});
    for (const nn::OnnxNode& node : from_.nodes) add_node(node);
    for (const int output : from_.outputs) {
      check_made(output);
      graph_.outputs.push_back(output);
    }
    graph_.columns = from_.columns;
    return std::move(graph_);
  }

  // A branch of a node: its first values are the node's inputs, of these types.
  Graph build_branch(const std::vector<std::int64_t>& types) {
    add_values();
    for (std::size_t i = 0; i < types.size(); ++i) {
      types_[i] = types[i];
      is_made_[i] = true;
    }
    for (const nn::OnnxNode& node : from_.nodes) add_node(node);
    for (const int output : from_.outputs) add_copy(output);
    return std::move(graph_);
  }

 private:
  void add_values() {
    for (nn::OnnxValue& value : from_.values) {
      Value made{value.name, nullptr, false, {}};
      if (value.constant) {
        made.constant = tensor_from(*std::exchange(value.constant, nullptr));
        made.is_typed = true;
        made.type = made.constant->type();
      }
      is_made_.push_back(made.is_typed);
      types_.push_back(value.type);
      graph_.values.push_back(std::move(made));
    }
    for (const nn::OnnxInput& input : from_.inputs) is_made_[static_cast<std::size_t>(input.value)] = true;
  }

  void check_made(int value) const {
    if (value != kAbsent && !is_made_[static_cast<std::size_t>(value)])
      throw Problem("reads '" + from_.value(value).name + "', which nothing before it makes");
  }

  void add_copy(int value) {
    check_made(value);
    Node copy;
    copy.name = from_.value(value).name;
    copy.op = "Identity";
    copy.opset = graph_.opset;
    copy.code = find_operator(copy.op);
    copy.inputs = {value};
    copy.outputs = {static_cast<int>(graph_.values.size())};
    graph_.values.push_back({copy.name, nullptr, false, {}});
    graph_.outputs.push_back(copy.outputs[0]);
    graph_.nodes.push_back(std::move(copy));
  }

  void add_node(const nn::OnnxNode& from) {
    Node node;
    node.op = from.op;
    node.name = from.name;
    node.opset = graph_.opset;
    try {
      node.code = is_standard(from) ? find_operator(from.op) : nullptr;
      if (!node.code) throw Problem(nn::why_unknown(from, known_operators()));
      add_links(from, node);
      for (const auto& [name, value] : from.attributes) node.attributes[name] = attribute(name, value, node);
      note_type(from, node);
      if (node.op == "CastLike") make_cast(node);
      if (const auto point = zero_point_of_result(node.op))
        node.attributes.insert_or_assign(std::string(kLevelType), level_type(node, *point));
    } catch (const Problem& problem) {
      throw Problem("node " + node.title() + " " + problem.what());
    } catch (const nn::Problem& problem) {
      throw Problem("node " + node.title() + " " + problem.what());
    }
    graph_.nodes.push_back(std::move(node));
  }

  void add_links(const nn::OnnxNode& from, Node& node) {
    // A branch's inputs are no inputs of the operator.
    const std::size_t count =
        node.op == "If" ? std::min<std::size_t>(1, from.inputs.size()) : from.inputs.size();
    if (count < node.code->least_inputs || count > node.code->most_inputs)
      throw Problem("has " + std::to_string(count) + " inputs");
    std::ranges::for_each(from.inputs, [&](int input) { check_made(input); });
    node.inputs = from.inputs;
    node.outputs = from.outputs;
    if (node.outputs.size() > node.code->most_outputs) drop_outputs(node);
    for (const int output : node.outputs) {
      if (output != kAbsent) is_made_[static_cast<std::size_t>(output)] = true;
    }
  }

  // Masks and statistics for training are left out, unless somebody reads them.
  static void drop_outputs(Node& node) {
    constexpr std::size_t kMostIgnored = 5;
    if ((node.op != "Dropout" && node.op != "BatchNormalization") || node.outputs.size() > kMostIgnored)
      throw Problem("has " + std::to_string(node.outputs.size()) + " outputs");
    node.outputs.resize(node.code->most_outputs);
  }

  Attribute attribute(const std::string& name, const nn::OnnxAttribute& value, const Node& node) const {
    return std::visit(
        [&]<typename T>(const T& one) -> Attribute {
          if constexpr (std::is_same_v<T, std::monostate>) {
            throw Problem("has an attribute '" + nn::short_name(name) + "' of a kind that is not supported");
          } else if constexpr (std::is_same_v<T, nn::SharedTensor>) {
            return tensor_from(*one);
          } else if constexpr (std::is_same_v<T, nn::SharedOnnxGraph>) {
            std::vector<std::int64_t> types;
            for (const int input : node.inputs)
              types.push_back(input == kAbsent ? 0 : types_[static_cast<std::size_t>(input)]);
            return std::make_shared<const Graph>(Builder(*one, graph_.opset).build_branch(types));
          } else {
            return one;
          }
        },
        value);
  }

  // The type of what a node makes, where the file does not list it.
  void note_type(const nn::OnnxNode& from, const Node& node) {
    std::int64_t type = nn::kOnnxUnknown;
    if (node.op == "Cast") type = std::clamp<std::int64_t>(node.integer("to", 0), 0, 1000);
    if (node.op == "Shape" || node.op == "Size" || node.has("value_int") || node.has("value_ints"))
      type = nn::kOnnxInt64;
    if (const nn::SharedTensor value = node.op == "Constant" ? from.tensor("value") : nullptr)
      type = onnx_type_of(value->data());
    if (type != nn::kOnnxUnknown && node.outputs[0] != kAbsent)
      types_[static_cast<std::size_t>(node.outputs[0])] = type;
  }

  static std::int64_t onnx_type_of(nn::DataType type) {
    constexpr std::int64_t kTypes[] = {nn::kOnnxFloat, nn::kOnnxInt64, nn::kOnnxInt32,
                                       nn::kOnnxUint8, nn::kOnnxInt8,  nn::kOnnxBool};
    return kTypes[static_cast<std::size_t>(type)];
  }

  std::int64_t type_of(const Node& node, std::size_t input) const {
    const bool is_there = input < node.inputs.size() && node.inputs[input] != kAbsent;
    return is_there ? types_[static_cast<std::size_t>(node.inputs[input])] : nn::kOnnxUnknown;
  }

  // Where the file tells the type of CastLike's second input, it is a Cast to that type: whole numbers in
  // memory no longer tell how many bits they have.
  void make_cast(Node& node) const {
    const std::int64_t type = type_of(node, 1);
    if (type == nn::kOnnxUnknown) return;
    node.op = "Cast";
    node.code = find_operator(node.op);
    node.inputs.resize(1);
    node.attributes["to"] = type;
  }

  // The input that is the zero point of a node's result, where that is quantised.
  static std::optional<std::size_t> zero_point_of_result(std::string_view op) {
    if (op == "QuantizeLinear") return 2;
    if (!op.starts_with("QLinear")) return {};
    if (op == "QLinearConcat") return 1;
    const bool has_pair =
        op == "QLinearConv" || op == "QLinearMatMul" || op == "QLinearAdd" || op == "QLinearMul";
    return has_pair ? 7 : 4;
  }
  // Whole numbers in memory do not tell the type of levels.
  std::int64_t level_type(const Node& node, std::size_t zero_point) const {
    if (zero_point < node.inputs.size() && node.inputs[zero_point] != kAbsent)
      return type_of(node, zero_point);
    const std::int64_t given = node.integer("output_dtype", 0);
    return given == 0 ? nn::kOnnxUint8 : given;
  }

  nn::OnnxGraph from_;
  Graph graph_;
  std::vector<std::int64_t> types_;  // of ONNX, by value, as far as they are known
  std::vector<bool> is_made_;        // by value: whether it is an input, a constant, or made by a node so far
};

Graph graph_of(nn::OnnxModel model, const std::string& name, bool keeps_model) {
  try {
    const auto kept = keeps_model ? std::make_shared<const nn::OnnxModel>(model) : nullptr;
    Graph graph = Builder(std::move(model.graph), model.opset).build();
    graph.producer = std::move(model.producer);
    graph.metadata = std::move(model.metadata);
    graph.data_files = std::move(model.data_files);
    graph.model = kept;
    return graph;
  } catch (const Problem& problem) {
    throw network_error(name, problem);
  }
}

}  // namespace

Graph parse_onnx(std::span<const char> bytes, const std::string& name, bool keeps_model) {
  return graph_of(nn::parse_onnx(bytes, name), name, keeps_model);
}

Graph read_onnx(const std::filesystem::path& file, std::uint64_t max_bytes, bool keeps_model) {
  return graph_of(nn::read_onnx(file, max_bytes), file.string(), keeps_model);
}

Error network_error(const std::string& name, const Problem& problem) {
  return nn::onnx_error(name, problem.message());
}

bool looks_like_onnx(const std::string& file) {
  return file.ends_with(".onnx");
}

}  // namespace sightline::network
