#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types Map::infer(InputTypes inputs) const {
  const std::vector<DataType>& operands = expression.operands();
  check_count(inputs, operands.size(), operands.size());
  Shape shape;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_type(inputs, i, operands[i]);
    shape = broadcast(shape, inputs[i].shape);
  }
  Types types;
  for (const int result : expression.results()) types.push_back({expression.type_of(result), shape});
  return types;
}

void Map::evaluate(Inputs inputs, Outputs outputs) const {
  const Shape& shape = outputs[0].shape();
  std::vector<Tensor> repeated(inputs.size());
  std::vector<const std::byte*> operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* operand = inputs[i];
    if (operand->size() != outputs[0].size()) {
      repeated[i] = Tensor(operand->data(), shape);
      copy_strided(shape, *operand, {broadcast_strides(operand->shape(), shape)}, repeated[i],
                   {strides_of(shape)});
      operand = &repeated[i];
    }
    operands.push_back(operand->bytes().data());
  }
  std::vector<std::byte*> results;
  for (Tensor& output : outputs) results.push_back(output.bytes().data());
  expression.evaluate(operands, results, static_cast<std::size_t>(outputs[0].size()));
}

}  // namespace sightline::nn
