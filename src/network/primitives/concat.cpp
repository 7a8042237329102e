#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types Concat::infer(InputTypes inputs) const {
  check_count(inputs, 1, static_cast<std::size_t>(kMaxElements));
  check_axis(inputs, axis);
  Shape shape = inputs[0].shape;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    check_type(inputs, i, inputs[0].data);
    Shape wanted = shape;
    if (inputs[i].shape.size() == shape.size()) wanted[axis] = inputs[i].shape[axis];
    check_shape(inputs, i, wanted);
    const bool known = shape[axis] != kUnknown && wanted[axis] != kUnknown;
    shape[axis] = known ? shape[axis] + wanted[axis] : kUnknown;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (k != axis && shape[k] == kUnknown) shape[k] = inputs[i].shape[k];
    }
  }
  return {{inputs[0].data, shape}};
}

void Concat::evaluate(Inputs inputs, Outputs outputs) const {
  StridedElements target{strides_of(outputs[0].shape())};
  for (const Tensor* const input : inputs) {
    copy_strided(input->shape(), *input, {strides_of(input->shape())}, outputs[0], target);
    target.start += input->dim(axis) * target.strides[axis];
  }
}

}  // namespace sightline::nn
