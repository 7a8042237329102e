#include <cmath>

#include "network/primitives/checks.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types Product::infer(InputTypes inputs) const {
  check_count(inputs, 2, 3);
  for (std::size_t i = 0; i < inputs.size(); ++i) check_type(inputs, i, DataType::f32);
  check_rank(inputs, 0, 2);
  check_rank(inputs, 1, 2);
  const Shape &a = inputs[0].shape, &b = inputs[1].shape;
  if (!may_equal(a[a.size() - 1], b[b.size() - 2]))
    throw Problem("multiplies " + text_of(a) + " by " + text_of(b));
  Shape shape = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  shape.insert(shape.end(), {a[a.size() - 2], b[b.size() - 1]});
  if (inputs.size() > 2 && !may_equal(broadcast(inputs[2].shape, shape), shape))
    throw Problem("starts " + text_of(shape) + " from " + text_of(inputs[2].shape));
  return {{DataType::f32, shape}};
}

void Product::evaluate(Inputs inputs, Outputs outputs) const {
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
  // Rows of the result, each with its row of `a` and its matrix of `b`.
  const Shape rows = with_ones(shape, std::array{shape.size() - 1});
  Shape places_of_b = b.shape();
  places_of_b[b.rank() - 2] = 1;
  Strides a_strides = broadcast_strides(a.shape(), shape), b_strides = broadcast_strides(b.shape(), shape);
  if (a.dim(a.rank() - 2) == 1) a_strides[shape.size() - 2] = depth;
  b_strides[shape.size() - 2] = 0;
  for_each_place<3>(rows, {a_strides, b_strides, strides_of(shape)},
                    [&](std::int64_t row, std::int64_t matrix, std::int64_t to) {
                      for (std::int64_t k = 0; k < depth; ++k) {
                        const float factor = a.as<float>()[row + k];
                        const float* const from = b.as<float>().data() + matrix + k * columns;
                        for (std::int64_t i = 0; i < columns; ++i)
                          sums[to + i] = std::fma(factor, from[i], sums[to + i]);
                      }
                    });
}

}  // namespace sightline::nn
