#include "network/cpu/matrix.hpp"

#include <algorithm>
#include <array>

#include "network/strided.hpp"

namespace sightline::nn {

void multiply_tensors(Inputs inputs, Outputs outputs) {
  const Tensor &a = *inputs[0], &b = *inputs[1];
  const Shape& shape = outputs[0].shape();
  const std::int64_t depth = a.shape().back(), columns = shape.back();
  float* const sums = outputs[0].as<float>().data();
  if (inputs.size() > 2) {
    copy_strided(shape, *inputs[2], {broadcast_strides(inputs[2]->shape(), shape)}, outputs[0],
                 {strides_of(shape)});
  } else {
    std::fill_n(sums, outputs[0].size(), 0.0F);
  }
  // All matrices of the result, each with those of `a` and `b`. Their strides along rows and columns do not
  // count.
  const Shape matrices = with_ones(shape, std::array{shape.size() - 2, shape.size() - 1});
  for_each_place<3>(
      matrices, {broadcast_strides(a.shape(), shape), broadcast_strides(b.shape(), shape), strides_of(shape)},
      [&](std::int64_t from_a, std::int64_t from_b, std::int64_t to) {
        MatrixProduct product;
        product.a = a.as<float>().data() + from_a;
        product.a_row = depth;
        product.b = b.as<float>().data() + from_b;
        product.b_row = columns;
        product.out = sums + to;
        product.rows = shape[shape.size() - 2];
        product.depth = depth;
        product.columns = columns;
        multiply_matrices(product);
      });
}

}  // namespace sightline::nn
