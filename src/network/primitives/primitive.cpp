#include "network/primitives/primitive.hpp"

namespace sightline::nn {

std::string_view name_of(const Primitive& primitive) {
  return std::visit([](const auto& one) { return one.kName; }, primitive);
}

Types infer(const Primitive& primitive, InputTypes inputs) {
  Types types = std::visit([&](const auto& one) { return one.infer(inputs); }, primitive);
  for (const TensorType& type : types) {
    if (is_known(type.shape)) elements_of(type.shape);  // which checks the size
  }
  return types;
}

std::vector<Tensor> evaluate(const Primitive& primitive, Inputs inputs) {
  Types given;
  for (const Tensor* const input : inputs) given.push_back(input->type());
  std::vector<Tensor> outputs;
  for (TensorType& type : infer(primitive, given))
    outputs.push_back(is_known(type.shape) ? Tensor(std::move(type)) : Tensor(type.data, {0}));
  std::visit([&](const auto& one) { one.evaluate(inputs, outputs); }, primitive);
  return outputs;
}

}  // namespace sightline::nn
