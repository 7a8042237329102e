#include "detectors/network/onnx_file.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/input_file.hpp"
#include "detectors/network/external_data.hpp"
#include "detectors/network/lowering.hpp"
#include "detectors/network/onnx_parts.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {
namespace {

constexpr int kMostNodes = 20'000;
constexpr int kMostValues = 100'000;
constexpr int kMostEnds = 256;  // inputs or outputs of the network

// A half-precision number is one in single precision, exactly.
float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7FFFU;
  float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  if (magnitude >= 0x7C00U) value = std::bit_cast<float>(magnitude << 13 | 0x7F800000U);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

bool is_real(int type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::FLOAT16 ||
         type == onnx::TensorProto::DOUBLE;
}
bool is_whole(int type) {
  return type == onnx::TensorProto::INT64 || type == onnx::TensorProto::INT32 ||
         type == onnx::TensorProto::UINT8 || type == onnx::TensorProto::INT8 ||
         type == onnx::TensorProto::BOOL;
}

using RawData = std::optional<std::span<const char>>;

// Elements of a tensor, from its raw bytes as numbers of type T or from a list of numbers, through `convert`.
template <typename T, typename List, typename To, typename Convert>
void read_elements(const RawData& raw, const List& list, std::int64_t count, To* to, const Convert& convert) {
  const std::size_t there = raw ? raw->size() : static_cast<std::size_t>(list.size());
  const std::size_t wanted = static_cast<std::size_t>(count) * (raw ? sizeof(T) : 1);
  if (there != wanted)
    throw Problem("has " + std::to_string(there) + (raw ? " bytes of data" : " numbers") + ", not " +
                  std::to_string(wanted));
  for (std::int64_t i = 0; i < count; ++i) {
    if (raw) {
      T value;
      std::memcpy(&value, raw->data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
      to[i] = convert(value);
    } else {
      to[i] = convert(list.Get(static_cast<int>(i)));
    }
  }
}

std::size_t bytes_of_element(int type) {
  using Proto = onnx::TensorProto;
  if (type == Proto::DOUBLE || type == Proto::INT64) return 8;
  if (type == Proto::FLOAT || type == Proto::INT32) return 4;
  return type == Proto::FLOAT16 ? 2 : 1;
}

RawData raw_data_of(const onnx::TensorProto& proto, std::int64_t count, ExternalData& external) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return external.read(proto, static_cast<std::uint64_t>(count) * bytes_of_element(proto.data_type()));
  if (proto.has_raw_data()) return proto.raw_data();
  return {};
}

SharedTensor read_tensor(const onnx::TensorProto& proto, ExternalData& external) {
  const int type = proto.data_type();
  if (!is_real(type) && !is_whole(type))
    throw Problem("has data of the type " + std::to_string(type) + ", which is not supported");
  Shape shape(proto.dims().begin(), proto.dims().end());
  const std::int64_t count = elements_of(shape);
  // Before memory is taken, the data must be there.
  const RawData raw = raw_data_of(proto, count, external);
  const std::size_t there = (raw ? raw->size() : 0) + static_cast<std::size_t>(proto.float_data_size()) +
                            static_cast<std::size_t>(proto.int32_data_size()) +
                            static_cast<std::size_t>(proto.int64_data_size()) +
                            static_cast<std::size_t>(proto.double_data_size());
  if (there < static_cast<std::size_t>(count)) throw Problem("has less data than its shape needs");
  auto tensor = std::make_shared<Tensor>(is_real(type) ? Kind::real : Kind::whole, std::move(shape));
  float* const reals = tensor->reals();
  std::int64_t* const wholes = tensor->wholes();
  const auto real = [](auto x) { return static_cast<float>(x); };
  const auto half = [](auto x) { return from_half(static_cast<std::uint16_t>(x)); };
  const auto whole = [](auto x) { return static_cast<std::int64_t>(x); };
  const auto truth = [](auto x) { return static_cast<std::int64_t>(x != 0); };
  using Proto = onnx::TensorProto;
  if (type == Proto::FLOAT) read_elements<float>(raw, proto.float_data(), count, reals, real);
  if (type == Proto::DOUBLE) read_elements<double>(raw, proto.double_data(), count, reals, real);
  if (type == Proto::FLOAT16) read_elements<std::uint16_t>(raw, proto.int32_data(), count, reals, half);
  if (type == Proto::INT64) read_elements<std::int64_t>(raw, proto.int64_data(), count, wholes, whole);
  if (type == Proto::INT32) read_elements<std::int32_t>(raw, proto.int32_data(), count, wholes, whole);
  if (type == Proto::UINT8) read_elements<std::uint8_t>(raw, proto.int32_data(), count, wholes, whole);
  if (type == Proto::INT8) read_elements<std::int8_t>(raw, proto.int32_data(), count, wholes, whole);
  if (type == Proto::BOOL) read_elements<std::uint8_t>(raw, proto.int32_data(), count, wholes, truth);
  return tensor;
}

Attribute read_attribute(const onnx::AttributeProto& proto, ExternalData& external) {
  switch (proto.type()) {
    case onnx::AttributeProto::FLOAT:
      return proto.f();
    case onnx::AttributeProto::INT:
      return std::int64_t{proto.i()};
    case onnx::AttributeProto::STRING:
      return proto.s();
    case onnx::AttributeProto::TENSOR:
      return read_tensor(proto.t(), external);
    case onnx::AttributeProto::FLOATS:
      return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    default:
      throw Problem("has an attribute '" + short_name(proto.name()) + "' of a kind that is not supported");
  }
}

// Operators of ONNX, and those of ONNX Runtime that are of their kind.
bool is_standard(const onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx" ||
         (node.domain() == "com.microsoft" && node.op_type().starts_with("QLinear"));
}

// Why an operator is not known, where that can be told.
std::string why_unknown(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, op) != names.end();
  };
  if (is_one_of({"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "DynamicQuantizeLSTM"}))
    return "is quantised dynamically, which is not supported; export the network in float32, or quantise it "
           "statically";
  if (is_one_of({"Loop", "Scan"}))
    return "loops, which is not supported; simplify the network (onnxsim) or export it without "
           "its last steps";
  if (!is_standard(node))
    return "is an operator of '" + short_name(node.domain()) +
           "', not of ONNX, which is not supported; export the network without it";
  std::string known;
  for (const std::string_view name : operator_names())
    known += (known.empty() ? "" : ", ") + std::string(name);
  return "has an operator that is not supported; supported are: " + known;
}

class Builder {
 public:
  Builder(const onnx::GraphProto& proto, ExternalData& external) : proto_(proto), external_(external) {}

  Graph build(int opset) {
    graph_.opset = opset;
    add_constants();
    for (const onnx::ValueInfoProto& one : proto_.input()) add_input(one);
    add_nodes();
    check_ends(proto_.output_size(), "outputs");
    for (const onnx::ValueInfoProto& one : proto_.output()) {
      const auto found = numbers_.find(one.name());
      if (found == numbers_.end())
        throw Problem("has the output '" + short_name(one.name()) + "', which no node makes");
      graph_.outputs.push_back(found->second);
      const onnx::TensorShapeProto& shape = one.type().tensor_type().shape();
      const bool has_last = shape.dim_size() > 0 && shape.dim(shape.dim_size() - 1).dim_value() > 0;
      graph_.columns.push_back(has_last ? shape.dim(shape.dim_size() - 1).dim_value() : -1);
    }
    if (graph_.outputs.empty()) throw Problem("has no outputs");
    return std::move(graph_);
  }

  // A branch of a node: its first values are the node's inputs, which have these names outside.
  Graph build_branch(const Builder& outside, const std::vector<std::string>& inputs) {
    graph_.opset = outside.graph_.opset;
    for (const std::string& name : inputs) {
      add_value(name);
      if (const auto found = outside.types_.find(name); found != outside.types_.end()) types_.insert(*found);
    }
    add_constants();
    add_nodes();
    for (const onnx::ValueInfoProto& one : proto_.output()) {
      Node copy;
      copy.name = short_name(one.name());
      copy.op = "Identity";
      copy.opset = graph_.opset;
      copy.code = find_operator(copy.op);
      copy.inputs = {number_of(one.name())};
      copy.outputs = {static_cast<int>(graph_.values.size())};
      graph_.values.push_back({copy.name, nullptr, false, {}});
      graph_.outputs.push_back(copy.outputs[0]);
      graph_.nodes.push_back(std::move(copy));
    }
    return std::move(graph_);
  }

 private:
  void add_constants() {
    if (proto_.sparse_initializer_size() > 0) throw Problem("has sparse weights, which are not supported");
    for (const onnx::ValueInfoProto& one : proto_.value_info()) note_type(one);
    for (const onnx::TensorProto& one : proto_.initializer()) add_initializer(one);
  }
  void add_nodes() {
    if (proto_.node_size() > kMostNodes)
      throw Problem("has " + std::to_string(proto_.node_size()) + " nodes, more than the limit of " +
                    std::to_string(kMostNodes));
    for (int i = 0; i < proto_.node_size(); ++i) add_node(proto_.node(i), i);
  }

  int number_of(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end())
      throw Problem("reads '" + short_name(name) + "', which nothing before it makes");
    return found->second;
  }

  // Gives a node its branches, and what they read from here as inputs behind its own.
  void read_branches(const onnx::NodeProto& proto, Node& node) {
    std::set<std::string> reads;
    for (const onnx::AttributeProto& one : proto.attribute()) note_reads(one.g(), reads);
    reads.erase(proto.input(0));
    std::vector<std::string> names{proto.input(0)};
    for (const std::string& name : reads) {
      names.push_back(name);
      node.inputs.push_back(number_of(name));
    }
    for (const onnx::AttributeProto& one : proto.attribute())
      node.attributes.insert_or_assign(
          one.name(), std::make_shared<const Graph>(Builder(one.g(), external_).build_branch(*this, names)));
  }
  // Adds the names of values of this graph that a branch reads, also in branches of its own.
  void note_reads(const onnx::GraphProto& branch, std::set<std::string>& names) const {
    const auto note = [&](const std::string& name) {
      if (numbers_.contains(name)) names.insert(name);
    };
    for (const onnx::NodeProto& node : branch.node()) {
      std::ranges::for_each(node.input(), note);
      for (const onnx::AttributeProto& one : node.attribute()) note_reads(one.g(), names);
    }
    for (const onnx::ValueInfoProto& one : branch.output()) note(one.name());
  }

  static void check_ends(int count, const char* what) {
    if (count > kMostEnds)
      throw Problem("has " + std::to_string(count) + " " + what + ", more than the limit of " +
                    std::to_string(kMostEnds));
  }

  void note_type(const onnx::ValueInfoProto& proto) {
    types_[proto.name()] = proto.type().tensor_type().elem_type();
  }

  int add_value(const std::string& name) {
    if (graph_.values.size() >= kMostValues) throw Problem("has too many values");
    const auto number = static_cast<int>(graph_.values.size());
    if (!numbers_.emplace(name, number).second)
      throw Problem("makes the value '" + short_name(name) + "' twice");
    graph_.values.push_back({short_name(name), nullptr, false, {}});
    return number;
  }

  void add_initializer(const onnx::TensorProto& proto) {
    try {
      const SharedTensor tensor = read_tensor(proto, external_);
      types_[proto.name()] = proto.data_type();
      Value& value = graph_.value(add_value(proto.name()));
      value.constant = tensor;
      value.is_typed = true;
      value.type = tensor->type();
    } catch (const Problem& problem) {
      throw Problem("initialiser '" + short_name(proto.name()) + "' " + problem.what());
    }
  }

  // Weights may be listed as inputs, too: they are defaults that nobody replaces.
  void add_input(const onnx::ValueInfoProto& proto) {
    if (numbers_.contains(proto.name())) return;
    note_type(proto);
    const std::string title = "input '" + short_name(proto.name()) + "' ";
    if (!proto.type().has_tensor_type()) throw Problem(title + "is no tensor");
    const onnx::TypeProto::Tensor& tensor = proto.type().tensor_type();
    const int type = tensor.elem_type();
    if (!is_real(type) && !is_whole(type))
      throw Problem(title + "has the type " + std::to_string(type) + ", which is not supported");
    GraphInput input;
    input.type.kind = is_real(type) ? Kind::real : Kind::whole;
    if (!tensor.has_shape() || tensor.shape().dim_size() > static_cast<int>(kMaxRank))
      throw Problem(title + "has no shape that is supported");
    for (const auto& dim : tensor.shape().dim()) {
      const bool is_fixed = dim.has_dim_value() && dim.dim_value() > 0;
      if (is_fixed && dim.dim_value() > kMaxElements) throw Problem(title + "is too large");
      input.type.shape.push_back(is_fixed ? dim.dim_value() : -1);
    }
    check_ends(static_cast<int>(graph_.inputs.size()) + 1, "inputs");
    input.value = add_value(proto.name());
    graph_.inputs.push_back(std::move(input));
  }

  void add_node(const onnx::NodeProto& proto, int index) {
    Node node;
    node.op = short_name(proto.op_type());
    node.name = proto.name().empty() ? "#" + std::to_string(index + 1) : short_name(proto.name());
    node.opset = graph_.opset;
    try {
      node.code = is_standard(proto) ? find_operator(proto.op_type()) : nullptr;
      if (!node.code) throw Problem(why_unknown(proto));
      read_links(proto, node);
      if (node.op == "If") read_branches(proto, node);
      for (const onnx::AttributeProto& one : proto.attribute()) {
        if (node.op != "If") node.attributes.insert_or_assign(one.name(), read_attribute(one, external_));
      }
      note_type(proto, node);
      if (node.op == "CastLike") make_cast(proto, node);
      if (const auto point = zero_point_of_result(node.op))
        node.attributes.insert_or_assign(std::string(kLevelType), level_type(proto, node, *point));
    } catch (const Problem& problem) {
      throw Problem("node " + node.title() + " " + problem.what());
    }
    graph_.nodes.push_back(std::move(node));
  }

  // The type of what a node makes, where the file does not list it.
  void note_type(const onnx::NodeProto& proto, const Node& node) {
    int type = onnx::TensorProto::UNDEFINED;
    if (node.op == "Cast") type = static_cast<int>(std::clamp<std::int64_t>(node.integer("to", 0), 0, 1000));
    if (node.op == "Shape" || node.op == "Size") type = onnx::TensorProto::INT64;
    for (const onnx::AttributeProto& one : proto.attribute()) {
      if (node.op == "Constant" && one.name() == "value") type = one.t().data_type();
      if (node.op == "Constant" && one.name().starts_with("value_int")) type = onnx::TensorProto::INT64;
    }
    if (type != onnx::TensorProto::UNDEFINED) types_[proto.output(0)] = type;
  }

  // Where the file tells the type of CastLike's second input, it is a Cast to that type: whole numbers in
  // memory no longer tell how many bits they have.
  void make_cast(const onnx::NodeProto& proto, Node& node) const {
    const auto found = types_.find(proto.input(1));
    if (found == types_.end() || found->second == onnx::TensorProto::UNDEFINED) return;
    node.op = "Cast";
    node.code = find_operator(node.op);
    node.inputs.resize(1);
    node.attributes["to"] = std::int64_t{found->second};
  }

  // The input that is the zero point of a node's result, where that is quantised.
  static std::optional<int> zero_point_of_result(std::string_view op) {
    if (op == "QuantizeLinear") return 2;
    if (!op.starts_with("QLinear")) return {};
    if (op == "QLinearConcat") return 1;
    const bool has_pair =
        op == "QLinearConv" || op == "QLinearMatMul" || op == "QLinearAdd" || op == "QLinearMul";
    return has_pair ? 7 : 4;
  }
  // Whole numbers in memory do not tell the type of levels.
  std::int64_t level_type(const onnx::NodeProto& proto, const Node& node, int zero_point) const {
    constexpr std::int64_t kUsual = onnx::TensorProto::UINT8;
    const std::int64_t given = node.integer("output_dtype", 0);
    if (proto.input_size() <= zero_point || proto.input(zero_point).empty())
      return given == 0 ? kUsual : given;
    const auto found = types_.find(proto.input(zero_point));
    return found == types_.end() ? 0 : found->second;
  }

  void read_links(const onnx::NodeProto& proto, Node& node) {
    std::vector<std::string> names(proto.input().begin(), proto.input().end());
    while (!names.empty() && names.back().empty()) names.pop_back();
    if (names.size() < node.code->least_inputs || names.size() > node.code->most_inputs)
      throw Problem("has " + std::to_string(names.size()) + " inputs");
    if (proto.output_size() < 1 || static_cast<std::size_t>(proto.output_size()) > node.code->most_outputs)
      check_outputs(proto, node);
    for (const std::string& name : names) {
      if (name.empty()) {
        node.inputs.push_back(kAbsent);
        continue;
      }
      node.inputs.push_back(number_of(name));
    }
    const int outputs = std::min(proto.output_size(), static_cast<int>(node.code->most_outputs));
    for (int i = 0; i < outputs; ++i)
      node.outputs.push_back(proto.output(i).empty() ? kAbsent : add_value(proto.output(i)));
    if (node.outputs.front() == kAbsent && node.outputs.size() == 1) throw Problem("has no output");
  }

  // Masks and statistics for training are left out, unless somebody reads them.
  static void check_outputs(const onnx::NodeProto& proto, const Node& node) {
    constexpr int kMostIgnored = 5;
    if (proto.output_size() < 1 || (node.op != "Dropout" && node.op != "BatchNormalization") ||
        proto.output_size() > kMostIgnored)
      throw Problem("has " + std::to_string(proto.output_size()) + " outputs");
  }

  const onnx::GraphProto& proto_;
  ExternalData& external_;
  Graph graph_;
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, int> types_;  // of ONNX, as far as they are known
};

Graph build_graph(std::span<const char> bytes, ExternalData& external) {
  google::protobuf::SetLogHandler(nullptr);  // what is wrong is said once, by us
  onnx::ModelProto model;
  constexpr std::size_t kLargest = std::size_t{1} << 31;
  if (std::string_view(bytes.data(), bytes.size()).starts_with("version https://git-lfs"))
    throw Problem("is only a pointer of Git LFS; get the file itself with `git lfs pull`");
  if (bytes.size() >= kLargest) throw Problem("is larger than 2 GiB");
  check_parts(bytes);
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Problem("is damaged, or not an ONNX file");
  if (!model.has_graph() || model.graph().node_size() == 0) throw Problem("has no network in it");
  if (model.functions_size() > 0)
    throw Problem("has functions of its own, which are not supported; simplify the network (onnxsim)");
  int opset = 0;
  for (const onnx::OperatorSetIdProto& one : model.opset_import()) {
    if (one.domain().empty() || one.domain() == "ai.onnx")
      opset = static_cast<int>(std::clamp<std::int64_t>(one.version(), 0, 1 << 20));
  }
  if (opset < kOldestOpset || opset > kNewestOpset)
    throw Problem("uses opset " + std::to_string(opset) + "; export it with an opset from " +
                  std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
  Graph graph = Builder(model.graph(), external).build(opset);
  graph.data_files = external.files();
  graph.producer = short_name(model.producer_name());
  for (const onnx::StringStringEntryProto& one : model.metadata_props())
    graph.metadata[one.key()] = one.value();
  return graph;
}

Graph parse_with(ExternalData external, std::span<const char> bytes, const std::string& name) {
  try {
    return build_graph(bytes, external);
  } catch (const Problem& problem) {
    throw network_error(name, problem);
  }
}

}  // namespace

Graph parse_onnx(std::span<const char> bytes, const std::string& name) {
  return parse_with({}, bytes, name);
}

Graph read_onnx(const std::filesystem::path& file, std::uint64_t max_bytes) {
  refuse_special_file(file, ExitCode::model);
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  if (!stream || std::filesystem::is_directory(file, error))
    throw Error(ExitCode::model, "cannot open the network '" + file.string() + "'",
                "check the name and the path");
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (!error && size > max_bytes)
    throw Error(ExitCode::model,
                "the network '" + file.string() + "' has " + std::to_string(size >> 20) +
                    " MiB, more than the limit of " + std::to_string(max_bytes >> 20) + " MiB",
                "raise it with --max-model-size"_message);
  std::vector<char> bytes(error ? 0 : static_cast<std::size_t>(size));
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (stream.gcount() != static_cast<std::streamsize>(bytes.size()))
    throw Error(ExitCode::model, "cannot read the network '" + file.string() + "'");
  return parse_with(ExternalData(file, max_bytes - size), bytes, file.string());
}

Error network_error(const std::string& name, const Problem& problem) {
  const std::string_view what = problem.what();
  const bool names_part =
      what.starts_with("node ") || what.starts_with("input ") || what.starts_with("initialiser ");
  return Error(ExitCode::model,
               "cannot use the network '" + name + "': " + (names_part ? "" : "it ") + problem.message())
      .about(name);
}

bool looks_like_onnx(const std::string& file) {
  return file.ends_with(".onnx");
}

}  // namespace sightline::network
