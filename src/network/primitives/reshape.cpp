#include <algorithm>

#include "network/primitives/checks.hpp"

namespace sightline::nn {
namespace {

// The shape with what is left as its unknown side, if the elements are known.
Shape completed(Shape shape, const Shape& from) {
  const auto unknown = std::ranges::find(shape, kUnknown);
  if (!is_known(from) || unknown == shape.end()) return shape;
  *unknown = 1;
  const std::int64_t all = elements_of(from), others = elements_of(shape);
  *unknown = others == 0 ? 0 : all / others;
  return shape;
}

void check_elements(const Shape& from, const Shape& shape) {
  if (is_known(from) && is_known(shape) && elements_of(from) != elements_of(shape))
    throw Problem("makes " + text_of(shape) + " of " + text_of(from));
}

}  // namespace

Types Reshape::infer(InputTypes inputs) const {
  check_count(inputs, 1, 2);
  if (inputs.size() > 1) check_index(inputs, 1);
  if (inputs.size() == 1 && std::ranges::count(shape, kUnknown) > 1)
    throw Problem("has several unknown sides: " + text_of(shape));
  const Shape whole = inputs.size() == 1 ? completed(shape, inputs[0].shape) : shape;
  check_elements(inputs[0].shape, whole);
  return {{inputs[0].data, whole}};
}

void Reshape::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  if (inputs.size() > 1) outputs[0] = Tensor(x.data(), filled(shape, *inputs[1]));
  check_elements(x.shape(), outputs[0].shape());
  std::ranges::copy(x.bytes(), outputs[0].bytes().begin());
}

}  // namespace sightline::nn
