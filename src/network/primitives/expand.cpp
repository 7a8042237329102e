#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types Expand::infer(InputTypes inputs) const {
  check_count(inputs, 1, 2);
  if (inputs.size() > 1) check_index(inputs, 1);
  return {{inputs[0].data, broadcast(inputs[0].shape, shape)}};
}

void Expand::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor& x = *inputs[0];
  if (inputs.size() > 1) outputs[0] = Tensor(x.data(), broadcast(x.shape(), filled(shape, *inputs[1])));
  const Shape& to = outputs[0].shape();
  copy_strided(to, x, {broadcast_strides(x.shape(), to)}, outputs[0], {strides_of(to)});
}

}  // namespace sightline::nn
