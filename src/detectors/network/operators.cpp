#include "detectors/network/operators.hpp"

#include <algorithm>
#include <map>

#include "detectors/network/broadcast.hpp"

namespace sightline::network {
namespace {

const std::map<std::string_view, const Operator*>& all_operators() {
  static const std::map<std::string_view, const Operator*> all = [] {
    std::map<std::string_view, const Operator*> map;
    for (const auto part :
         {elementwise_operators(), shape_operators(), index_operators(), convolution_operators(),
          pooling_operators(), resize_operators(), reduction_operators(), normalisation_operators(),
          selection_operators(), lowered_operators(), quantised_operators()}) {
      for (const Operator& one : part) map[one.name] = &one;
    }
    return map;
  }();
  return all;
}

template <typename T>
const T* attribute_of(const Node& node, std::string_view name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  throw Problem("the attribute '" + std::string(name) + "' has a wrong type");
}

}  // namespace

std::int64_t Node::integer(std::string_view attribute, std::int64_t fallback) const {
  const auto* value = attribute_of<std::int64_t>(*this, attribute);
  return value ? *value : fallback;
}
float Node::real(std::string_view attribute, float fallback) const {
  const auto* value = attribute_of<float>(*this, attribute);
  return value ? *value : fallback;
}
std::string Node::text(std::string_view attribute, std::string_view fallback) const {
  const auto* value = attribute_of<std::string>(*this, attribute);
  return value ? *value : std::string(fallback);
}
std::vector<std::int64_t> Node::integers(std::string_view attribute) const {
  const auto* value = attribute_of<std::vector<std::int64_t>>(*this, attribute);
  return value ? *value : std::vector<std::int64_t>();
}
SharedTensor Node::tensor(std::string_view attribute) const {
  const auto* value = attribute_of<SharedTensor>(*this, attribute);
  return value ? *value : nullptr;
}
SharedGraph Node::graph(std::string_view attribute) const {
  const auto* value = attribute_of<SharedGraph>(*this, attribute);
  return value ? *value : nullptr;
}

const Tensor& Call::in(std::size_t i) const {
  if (!has(i)) throw Problem("input " + std::to_string(i + 1) + " is missing");
  return *inputs[i];
}
const Tensor& Call::data(std::size_t i) const {
  const Tensor& tensor = in(i);
  if (!tensor.has_data()) throw NotKnownYet();
  return tensor;
}
const Tensor& Call::real(std::size_t i) const {
  const Tensor& tensor = in(i);
  if (tensor.kind() != Kind::real)
    throw Problem("input " + std::to_string(i + 1) + " must have real numbers");
  return tensor;
}

std::vector<std::int64_t> Call::wholes(std::size_t i, std::string_view attribute) const {
  constexpr std::size_t kMost = 1024;  // of a list of axes, pads or sides
  if (!has(i)) {
    std::vector<std::int64_t> list = node.integers(attribute);
    if (list.size() > kMost) throw Problem("has a list of " + std::to_string(list.size()) + " numbers");
    return list;
  }
  const Tensor& tensor = data(i);
  if (tensor.kind() != Kind::whole)
    throw Problem("input " + std::to_string(i + 1) + " must have whole numbers");
  if (static_cast<std::size_t>(tensor.size()) > kMost)
    throw Problem("input " + std::to_string(i + 1) + " is too long");
  return {tensor.whole_span().begin(), tensor.whole_span().end()};
}

std::size_t Call::axis(std::int64_t number, std::size_t rank) {
  const auto sides = static_cast<std::int64_t>(rank);
  if (number < -sides || number >= sides)
    throw Problem("axis " + std::to_string(number) + " of a tensor of " + std::to_string(rank) +
                  " dimensions");
  return static_cast<std::size_t>(number < 0 ? number + sides : number);
}

Call call_of(const Graph& graph, const Node& node, const std::vector<Tensor>& values) {
  Call call{node, {}};
  for (const int input : node.inputs) {
    const Tensor* const constant = input == kAbsent ? nullptr : graph.value(input).constant.get();
    call.inputs.push_back(input == kAbsent || constant ? constant : &values[static_cast<std::size_t>(input)]);
  }
  return call;
}

Error node_error(const Node& node, const Problem& problem) {
  return {ExitCode::failed, "the network's node " + node.title() + " " + problem.what()};
}

void copy_all(const Call& call, std::span<Tensor> outputs) {
  with_elements([&](const auto* from, auto* to) { std::copy_n(from, call.in(0).size(), to); }, call.in(0),
                outputs[0]);
}

const Operator* find_operator(std::string_view name) {
  const auto found = all_operators().find(name);
  return found == all_operators().end() ? nullptr : found->second;
}

std::vector<std::string_view> operator_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, code] : all_operators()) names.push_back(name);
  return names;
}

void allocate_outputs(const Call& call, std::vector<Tensor>& outputs) {
  std::vector<TensorType> types = call.node.code->infer(call);
  outputs.resize(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) outputs[i].allocate(std::move(types[i]));
}

void run_node(const Call& call, std::vector<Tensor>& outputs) {
  allocate_outputs(call, outputs);
  call.node.code->run(call, outputs);
}

}  // namespace sightline::network
