#include "onnx/file.hpp"

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
#include "onnx/external_data.hpp"
#include "onnx/parts.hpp"

namespace sightline::nn {
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

// The type in memory of elements of one of ONNX's types; none if that is not supported.
std::optional<DataType> data_type_of(int type) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::DOUBLE:
      return DataType::f32;
    case onnx::TensorProto::INT64:
      return DataType::i64;
    case onnx::TensorProto::INT32:
      return DataType::i32;
    case onnx::TensorProto::UINT8:
      return DataType::u8;
    case onnx::TensorProto::INT8:
      return DataType::i8;
    case onnx::TensorProto::BOOL:
      return DataType::boolean;
    default:
      return {};
  }
}

using RawData = std::optional<std::span<const char>>;

// Elements of a tensor, from its raw bytes as numbers of type T or from a list of numbers, through `convert`.
template <typename T, typename List, typename To, typename Convert>
void read_elements(const RawData& raw, const List& list, std::span<To> to, const Convert& convert) {
  const std::size_t there = raw ? raw->size() : static_cast<std::size_t>(list.size());
  const std::size_t wanted = to.size() * (raw ? sizeof(T) : 1);
  if (there != wanted)
    throw Problem("has " + std::to_string(there) + (raw ? " bytes of data" : " numbers") + ", not " +
                  std::to_string(wanted));
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (raw) {
      T value;
      std::memcpy(&value, raw->data() + i * sizeof(T), sizeof(T));
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
  const std::optional<DataType> data = data_type_of(type);
  if (!data) throw Problem("has data of the type " + std::to_string(type) + ", which is not supported");
  Shape shape(proto.dims().begin(), proto.dims().end());
  const std::int64_t count = elements_of(shape);
  // Before memory is taken, the data must be there.
  const RawData raw = raw_data_of(proto, count, external);
  const std::size_t there = (raw ? raw->size() : 0) + static_cast<std::size_t>(proto.float_data_size()) +
                            static_cast<std::size_t>(proto.int32_data_size()) +
                            static_cast<std::size_t>(proto.int64_data_size()) +
                            static_cast<std::size_t>(proto.double_data_size());
  if (there < static_cast<std::size_t>(count)) throw Problem("has less data than its shape needs");
  auto tensor = std::make_shared<Tensor>(*data, std::move(shape));
  const auto real = [](auto x) { return static_cast<float>(x); };
  const auto half = [](auto x) { return from_half(static_cast<std::uint16_t>(x)); };
  using Proto = onnx::TensorProto;
  if (type == Proto::DOUBLE) {
    read_elements<double>(raw, proto.double_data(), tensor->as<float>(), real);
  } else if (type == Proto::FLOAT16) {
    read_elements<std::uint16_t>(raw, proto.int32_data(), tensor->as<float>(), half);
  } else if (type == Proto::FLOAT) {
    read_elements<float>(raw, proto.float_data(), tensor->as<float>(), real);
  } else if (type == Proto::INT64) {
    const auto same = [](std::int64_t x) { return x; };
    read_elements<std::int64_t>(raw, proto.int64_data(), tensor->as<std::int64_t>(), same);
  } else if (type == Proto::BOOL) {
    const auto truth = [](auto x) { return x != 0; };
    read_elements<std::uint8_t>(raw, proto.int32_data(), tensor->as<bool>(), truth);
  } else {
    with_type(*data, [&]<typename T>() {
      const auto element = [](auto x) { return static_cast<T>(x); };
      read_elements<T>(raw, proto.int32_data(), tensor->as<T>(), element);
    });
  }
  return tensor;
}

OnnxAttribute read_attribute(const onnx::AttributeProto& proto, ExternalData& external) {
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
      return {};
  }
}

class OnnxReader {
 public:
  OnnxReader(const onnx::GraphProto& proto, ExternalData& external) : proto_(proto), external_(external) {}

  OnnxGraph read() {
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
      graph_.columns.push_back(has_last ? shape.dim(shape.dim_size() - 1).dim_value() : kUnknown);
    }
    if (graph_.outputs.empty()) throw Problem("has no outputs");
    return std::move(graph_);
  }

  // A branch of a node, whose inputs have these names outside.
  OnnxGraph read_branch(const OnnxReader& outside, const std::vector<std::string>& inputs) {
    for (const std::string& name : inputs)
      graph_.values[static_cast<std::size_t>(add_value(name))].type =
          outside.graph_.value(outside.number_of(name)).type;
    add_constants();
    add_nodes();
    for (const onnx::ValueInfoProto& one : proto_.output()) graph_.outputs.push_back(number_of(one.name()));
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
  void read_branches(const onnx::NodeProto& proto, OnnxNode& node) {
    if (proto.input_size() == 0) throw Problem("has 0 inputs");
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
          one.name(),
          std::make_shared<const OnnxGraph>(OnnxReader(one.g(), external_).read_branch(*this, names)));
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
    const auto type = types_.find(name);
    graph_.values.push_back({short_name(name), nullptr, type == types_.end() ? kOnnxUnknown : type->second});
    return number;
  }

  void add_initializer(const onnx::TensorProto& proto) {
    try {
      SharedTensor tensor = read_tensor(proto, external_);
      types_[proto.name()] = proto.data_type();
      graph_.values[static_cast<std::size_t>(add_value(proto.name()))].constant = std::move(tensor);
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
    const std::optional<DataType> data = data_type_of(tensor.elem_type());
    if (!data)
      throw Problem(title + "has the type " + std::to_string(tensor.elem_type()) +
                    ", which is not supported");
    OnnxInput input{0, {*data, {}}};
    if (!tensor.has_shape() || tensor.shape().dim_size() > static_cast<int>(kMaxRank))
      throw Problem(title + "has no shape that is supported");
    for (const auto& dim : tensor.shape().dim()) {
      const bool is_fixed = dim.has_dim_value() && dim.dim_value() > 0;
      if (is_fixed && dim.dim_value() > kMaxElements) throw Problem(title + "is too large");
      input.type.shape.push_back(is_fixed ? dim.dim_value() : kUnknown);
    }
    check_ends(static_cast<int>(graph_.inputs.size()) + 1, "inputs");
    input.value = add_value(proto.name());
    graph_.inputs.push_back(std::move(input));
  }

  void add_node(const onnx::NodeProto& proto, int index) {
    OnnxNode node;
    node.op = short_name(proto.op_type());
    node.domain = proto.domain() == "ai.onnx" ? "" : short_name(proto.domain());
    node.name = proto.name().empty() ? "#" + std::to_string(index + 1) : short_name(proto.name());
    try {
      read_links(proto, node);
      if (node.op == "If") {
        read_branches(proto, node);
      } else {
        for (const onnx::AttributeProto& one : proto.attribute())
          node.attributes.insert_or_assign(one.name(), read_attribute(one, external_));
      }
    } catch (const Problem& problem) {
      throw Problem("node " + node.title() + " " + problem.what());
    }
    graph_.nodes.push_back(std::move(node));
  }

  void read_links(const onnx::NodeProto& proto, OnnxNode& node) {
    for (const std::string& name : proto.input())
      node.inputs.push_back(name.empty() ? kNone : number_of(name));
    while (!node.inputs.empty() && node.inputs.back() == kNone) node.inputs.pop_back();
    for (const std::string& name : proto.output())
      node.outputs.push_back(name.empty() ? kNone : add_value(name));
    if (std::ranges::all_of(node.outputs, [](int output) { return output == kNone; }))
      throw Problem("has no output");
  }

  const onnx::GraphProto& proto_;
  ExternalData& external_;
  OnnxGraph graph_;
  std::unordered_map<std::string, int> numbers_;
  std::unordered_map<std::string, std::int64_t> types_;  // of ONNX, as far as the file declares them
};

OnnxModel read_model(std::span<const char> bytes, ExternalData& external) {
  google::protobuf::SetLogHandler(nullptr);  // what is wrong is said once, by us
  onnx::ModelProto proto;
  constexpr std::size_t kLargest = std::size_t{1} << 31;
  if (std::string_view(bytes.data(), bytes.size()).starts_with("version https://git-lfs"))
    throw Problem("is only a pointer of Git LFS; get the file itself with `git lfs pull`");
  if (bytes.size() >= kLargest) throw Problem("is larger than 2 GiB");
  check_parts(bytes);
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw Problem("is damaged, or not an ONNX file");
  if (!proto.has_graph() || proto.graph().node_size() == 0) throw Problem("has no network in it");
  if (proto.functions_size() > 0)
    throw Problem("has functions of its own, which are not supported; simplify the network (onnxsim)");
  OnnxModel model;
  for (const onnx::OperatorSetIdProto& one : proto.opset_import()) {
    if (one.domain().empty() || one.domain() == "ai.onnx")
      model.opset = static_cast<int>(std::clamp<std::int64_t>(one.version(), 0, 1 << 20));
  }
  if (model.opset < kOldestOpset || model.opset > kNewestOpset)
    throw Problem("uses opset " + std::to_string(model.opset) + "; export it with an opset from " +
                  std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
  model.graph = OnnxReader(proto.graph(), external).read();
  model.data_files = external.files();
  model.producer = short_name(proto.producer_name());
  for (const onnx::StringStringEntryProto& one : proto.metadata_props())
    model.metadata[one.key()] = one.value();
  return model;
}

OnnxModel read_model(ExternalData external, std::span<const char> bytes, const std::string& name) {
  try {
    return read_model(bytes, external);
  } catch (const Problem& problem) {
    throw onnx_error(name, problem.what());
  }
}

}  // namespace

OnnxModel parse_onnx(std::span<const char> bytes, const std::string& name) {
  return read_model(ExternalData(), bytes, name);
}

OnnxModel read_onnx(const std::filesystem::path& file, std::uint64_t max_bytes) {
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
  return read_model(ExternalData(file, max_bytes - size), bytes, file.string());
}

Error onnx_error(const std::string& name, const Message& problem) {
  const std::string what = problem.text(Words::command_line);
  const bool names_part =
      what.starts_with("node ") || what.starts_with("input ") || what.starts_with("initialiser ");
  return Error(ExitCode::model,
               "cannot use the network '" + name + "': " + (names_part ? "" : "it ") + problem)
      .about(name);
}

}  // namespace sightline::nn
