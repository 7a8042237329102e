#include <algorithm>
#include <set>

#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types Transpose::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  if (order.size() != inputs[0].shape.size() || std::set(order.begin(), order.end()).size() != order.size())
    throw Problem("orders " + std::to_string(order.size()) + " axes of " + text_of(inputs[0].shape));
  Shape shape;
  for (const std::size_t axis : order) {
    check_axis(inputs, axis);
    shape.push_back(inputs[0].shape[axis]);
  }
  return {{inputs[0].data, shape}};
}

void Transpose::evaluate(Inputs inputs, Outputs outputs) const {
  const Strides all = strides_of(inputs[0]->shape());
  Strides strides;
  for (const std::size_t axis : order) strides.push_back(all[axis]);
  const Shape& shape = outputs[0].shape();
  copy_strided(shape, *inputs[0], {strides}, outputs[0], {strides_of(shape)});
}

}  // namespace sightline::nn
