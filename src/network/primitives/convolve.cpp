#include <algorithm>
#include <cmath>

#include "network/primitives/checks.hpp"
#include "network/primitives/window.hpp"
#include "network/strided.hpp"

namespace sightline::nn {

Types Convolve::infer(InputTypes inputs) const {
  check_count(inputs, 2, 3);
  for (std::size_t i = 0; i < inputs.size(); ++i) check_type(inputs, i, DataType::f32);
  check_rank(inputs, 0, 4, 4);
  check_rank(inputs, 1, 4, 4);
  const Shape &x = inputs[0].shape, &weights = inputs[1].shape;
  const std::int64_t channels = x[1], kernels = weights[0];
  if (!is_known(weights)) throw Problem("has weights whose sides are not known: " + text_of(weights));
  if (groups < 1 || kernels % groups != 0 || !may_equal(channels, weights[1] * groups))
    throw Problem("has weights of " + text_of(weights) + " in " + std::to_string(groups) +
                  " groups, which do not fit an input of " + text_of(x));
  check_shape(inputs, 1, {kernels, weights[1], window.kernel[0], window.kernel[1]});
  if (inputs.size() > 2) check_shape(inputs, 2, {kernels});
  return {{DataType::f32, windowed_shape(window, {x[0], kernels, x[2], x[3]})}};
}

void Convolve::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor &x = *inputs[0], &weights = *inputs[1];
  const float* const start = inputs.size() > 2 ? inputs[2]->as<float>().data() : nullptr;
  const std::int64_t height = x.dim(2), width = x.dim(3);
  const std::int64_t kernels = weights.dim(0), depth = weights.dim(1), per_group = kernels / groups;
  const Strides to_weights = strides_of(weights.shape());
  float* sums = outputs[0].as<float>().data();  // a row of them
  for_each_pair({x.dim(0) * kernels, window.out[0]}, [&](std::int64_t plane, std::int64_t y) {
    const std::int64_t kernel = plane % kernels, picture = plane / kernels;
    const float* const maps =
        x.as<float>().data() + (picture * x.dim(1) + kernel / per_group * depth) * height * width;
    std::fill_n(sums, window.out[1], start ? start[kernel] : 0.0F);
    for_each_pair(window.kernel, [&](std::int64_t ky, std::int64_t kx) {
      const std::int64_t row = window.position(0, y, ky);
      for (std::int64_t c = 0; c < depth; ++c) {
        const float weight =
            weights.as<float>()[kernel * to_weights[0] + c * to_weights[1] + ky * to_weights[2] + kx];
        for (std::int64_t i = 0; i < window.out[1]; ++i) {
          const std::int64_t column = window.position(1, i, kx);
          const bool is_inside = row >= 0 && row < height && column >= 0 && column < width;
          sums[i] = std::fma(is_inside ? maps[(c * height + row) * width + column] : 0.0F, weight, sums[i]);
        }
      }
    });
    sums += window.out[1];
  });
}

}  // namespace sightline::nn
