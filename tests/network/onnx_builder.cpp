#include "network/onnx_builder.hpp"

#include <fstream>

#include "onnx/file.hpp"
#include "onnx/import.hpp"

namespace sightline::test {

OnnxBuilder::OnnxBuilder(int opset) {
  model_.set_ir_version(7);
  model_.add_opset_import()->set_version(opset);
  model_.mutable_graph()->set_name("network");
}

namespace {

void describe(onnx::ValueInfoProto& info, const std::string& name, const std::vector<std::int64_t>& shape,
              int type) {
  info.set_name(name);
  auto* const tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto* const dims = tensor->mutable_shape();
  for (const std::int64_t side : shape) {
    auto* const dim = dims->add_dim();
    side < 0 ? dim->set_dim_param("free") : dim->set_dim_value(side);
  }
}

}  // namespace

std::string OnnxBuilder::input(const std::string& name, const std::vector<std::int64_t>& shape, int type) {
  describe(*model_.mutable_graph()->add_input(), name, shape, type);
  return name;
}
std::string OnnxBuilder::output(const std::string& name, const std::vector<std::int64_t>& shape, int type) {
  describe(*model_.mutable_graph()->add_output(), name, shape, type);
  return name;
}

std::string OnnxBuilder::reals(const std::string& name, const std::vector<std::int64_t>& shape,
                               const std::vector<float>& values) {
  onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t side : shape) tensor.add_dims(side);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
  return name;
}

std::string OnnxBuilder::weights(const std::string& name, const std::vector<std::int64_t>& shape, float scale,
                                 unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(nn::elements_of(shape)));
  std::uint32_t state = seed * 2654435761U + 12345U;
  for (float& one : values) {
    state = state * 1664525U + 1013904223U;
    one = (static_cast<float>(state >> 8) / 16777216.0F - 0.5F) * scale;
  }
  return reals(name, shape, values);
}

std::string OnnxBuilder::wholes(const std::string& name, const std::vector<std::int64_t>& shape,
                                const std::vector<std::int64_t>& values) {
  onnx::TensorProto& tensor = *model_.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  for (const std::int64_t side : shape) tensor.add_dims(side);
  for (const std::int64_t one : values) tensor.add_int64_data(one);
  return name;
}

OnnxAttribute::OnnxAttribute(const std::string& name, const std::vector<std::int64_t>& values) {
  proto.set_name(name);
  proto.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t one : values) proto.add_ints(one);
}

onnx::NodeProto& OnnxBuilder::node(const std::string& op, const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs,
                                   const std::vector<OnnxAttribute>& attributes) {
  onnx::NodeProto& node = *model_.mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_name(outputs.front());
  for (const std::string& one : inputs) node.add_input(one);
  for (const std::string& one : outputs) node.add_output(one);
  for (const OnnxAttribute& one : attributes) *node.add_attribute() = one.proto;
  return node;
}

void OnnxBuilder::branch(const std::string& condition, const OnnxBuilder& then, const OnnxBuilder& otherwise,
                         const std::string& output) {
  onnx::NodeProto& added = node("If", {condition}, {output});
  for (const auto& [name, taken] : {std::pair{"then_branch", &then}, {"else_branch", &otherwise}}) {
    onnx::AttributeProto& attribute = *added.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    *attribute.mutable_g() = taken->proto().graph();
  }
}

std::string OnnxBuilder::convolution(const std::string& name, const std::string& input, std::int64_t inputs,
                                     std::int64_t outputs, std::int64_t kernel, std::int64_t stride,
                                     std::int64_t groups) {
  const auto seed = static_cast<unsigned>(model_.graph().node_size() + 1);
  const float scale = 3.0F / static_cast<float>(kernel * kernel * inputs / groups);
  const std::string w = weights(name + "_w", {outputs, inputs / groups, kernel, kernel}, 4 * scale, seed);
  const std::string b = weights(name + "_b", {outputs}, 0.5F, seed + 100);
  const std::int64_t pad = kernel / 2;
  node("Conv", {input, w, b}, {name},
       {{"kernel_shape", {kernel, kernel}},
        {"strides", {stride, stride}},
        {"pads", {pad, pad, pad, pad}},
        {"group", groups}});
  return name;
}

void OnnxBuilder::metadata(const std::string& key, const std::string& value) {
  onnx::StringStringEntryProto& entry = *model_.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
}

std::string OnnxBuilder::bytes() const {
  return model_.SerializeAsString();
}
void OnnxBuilder::save(const std::filesystem::path& file) const {
  std::ofstream(file, std::ios::binary) << bytes();
}
nn::OnnxModel OnnxBuilder::model() const {
  return nn::parse_onnx(bytes(), "test.onnx");
}
nn::Graph OnnxBuilder::imported(std::int64_t memory_limit) const {
  return nn::import_onnx(model(), memory_limit);
}

nn::Tensor tensor_of(const onnx::TensorProto& proto) {
  // As an initialiser, which the reader takes.
  OnnxBuilder builder;
  *builder.proto().mutable_graph()->add_initializer() = proto;
  builder.proto().mutable_graph()->mutable_initializer(0)->set_name("tensor");
  builder.node("Identity", {"tensor"}, {"copy"});
  builder.output("copy");
  return *builder.model().graph.values[0].constant;
}

namespace {

// Cumulative sums are for the CPU alone.
std::string divide_into_parts(OnnxBuilder& builder, const std::string& x) {
  builder.node("CumSum", {x, builder.wholes("vertical", {}, {2})}, {"down"});
  builder.node("CumSum", {x, builder.wholes("horizontal", {}, {3})}, {"across"});
  builder.node("TopK", {"across", builder.wholes("none", {1}, {0})}, {"nothing", "places"}, {{"axis", 1}});
  builder.node("Concat", {builder.convolution("d", "down", 16, 16, 3), "nothing"}, {"all"}, {{"axis", 1}});
  builder.node("Add",
               {builder.convolution("e", "all", 16, 16, 1), builder.convolution("f", "across", 16, 16, 1)},
               {"sum"});
  builder.node("Sigmoid", {"sum"}, {"joined"});
  return "joined";
}

}  // namespace

OnnxBuilder small_yolox(int side, int classes, bool in_parts) {
  OnnxBuilder builder;
  std::string x = builder.input("images", {1, 3, side, side});
  std::int64_t channels = 3;
  std::vector<std::string> heads;
  for (const int stride : {2, 4, 8, 16, 32}) {
    const std::string name = "s" + std::to_string(stride);
    x = builder.convolution(name, x, channels, 16, 3, 2);
    channels = 16;
    builder.node("Sigmoid", {x}, {x + "_sig"});
    builder.node("Mul", {x, x + "_sig"}, {x + "_silu"});
    x += "_silu";
    if (stride == 2 && in_parts) x = divide_into_parts(builder, x);
    if (stride < 8) continue;
    const std::string box = builder.convolution(name + "_box", x, 16, 4, 1);
    const std::string object = builder.convolution(name + "_obj", x, 16, 1, 1);
    const std::string label = builder.convolution(name + "_cls", x, 16, classes, 1);
    builder.node("Sigmoid", {object}, {object + "_p"});
    builder.node("Sigmoid", {label}, {label + "_p"});
    builder.node("Concat", {box, object + "_p", label + "_p"}, {name + "_all"}, {{"axis", 1}});
    builder.node("Reshape", {name + "_all", builder.wholes(name + "_shape", {3}, {1, 5 + classes, -1})},
                 {name + "_flat"});
    heads.push_back(name + "_flat");
  }
  builder.node("Concat", heads, {"flat"}, {{"axis", 2}});
  builder.node("Transpose", {"flat"}, {"output"}, {{"perm", {0, 2, 1}}});
  builder.output("output");
  return builder;
}

}  // namespace sightline::test
