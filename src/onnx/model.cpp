#include "onnx/model.hpp"

#include <algorithm>

namespace sightline::nn {
namespace {

template <typename T>
const T* attribute_of(const OnnxNode& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  throw Problem("the attribute '" + std::string(name) + "' has a wrong type");
}

template <typename T>
T attribute_or(const OnnxNode& node, std::string_view name, T fallback) {
  const T* const value = attribute_of<T>(node, name);
  return value ? *value : fallback;
}

}  // namespace

std::int64_t OnnxNode::integer(std::string_view attribute, std::int64_t fallback) const {
  return attribute_or(*this, attribute, fallback);
}
float OnnxNode::real(std::string_view attribute, float fallback) const {
  return attribute_or(*this, attribute, fallback);
}
std::string OnnxNode::text(std::string_view attribute, std::string_view fallback) const {
  return attribute_or(*this, attribute, std::string(fallback));
}
std::vector<std::int64_t> OnnxNode::integers(std::string_view attribute) const {
  return attribute_or(*this, attribute, std::vector<std::int64_t>());
}
std::vector<float> OnnxNode::reals(std::string_view attribute) const {
  return attribute_or(*this, attribute, std::vector<float>());
}
SharedTensor OnnxNode::tensor(std::string_view attribute) const {
  return attribute_or(*this, attribute, SharedTensor());
}
SharedOnnxGraph OnnxNode::graph(std::string_view attribute) const {
  return attribute_or(*this, attribute, SharedOnnxGraph());
}

std::string why_unknown(const OnnxNode& node, const std::string& known) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, node.op) != names.end();
  };
  if (is_one_of({"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "DynamicQuantizeLSTM"}))
    return "is quantised dynamically, which is not supported; export the network in float32, or quantise it "
           "statically";
  if (is_one_of({"Loop", "Scan"}))
    return "loops, which is not supported; simplify the network (onnxsim) or export it without "
           "its last steps";
  if (!node.domain.empty() && !(node.domain == "com.microsoft" && node.op.starts_with("QLinear")))
    return "is an operator of '" + node.domain +
           "', not of ONNX, which is not supported; export the network without it";
  return "has an operator that is not supported; supported are: " + known;
}

}  // namespace sightline::nn
