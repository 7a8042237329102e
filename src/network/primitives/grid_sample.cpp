#include <algorithm>
#include <cmath>

#include "network/primitives/checks.hpp"
#include "network/primitives/sample.hpp"
#include "network/primitives/window.hpp"

namespace sightline::nn {
namespace {

// The first product, then fma(weight, value, sum) for the others.
float mixed_sample(const GridSample& how, const Sample& sample, const float* plane) {
  const auto value = [&](std::size_t k) { return sample.offset[k] < 0 ? 0.0F : plane[sample.offset[k]]; };
  if (how.nearest) return value(0);
  float sum = sample.weight[0] * value(0);
  for (std::size_t k = 1; k < 4; ++k) sum = std::fma(sample.weight[k], value(k), sum);
  return sum;
}

}  // namespace

Types GridSample::infer(InputTypes inputs) const {
  check_count(inputs, 2, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    check_type(inputs, i, DataType::f32);
    check_rank(inputs, i, 4, 4);
  }
  const Shape &x = inputs[0].shape, &grid = inputs[1].shape;
  check_shape(inputs, 1, {x[0], grid[1], grid[2], 2});
  if (std::ranges::find(x, 0) != x.end()) throw Problem("samples an empty map of " + text_of(x));
  return {{DataType::f32, {x[0], x[1], grid[1], grid[2]}}};
}

void GridSample::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor &x = *inputs[0], &grid = *inputs[1];
  const SampledMap map{x.dim(2), x.dim(3), x.dim(3)};
  const std::int64_t plane = map.height * map.width, places = grid.dim(1) * grid.dim(2), channels = x.dim(1);
  for_each_pair({x.dim(0), places}, [&](std::int64_t picture, std::int64_t i) {
    const Sample sample = sample_at(*this, grid.as<float>().data() + (picture * places + i) * 2, map);
    for (std::int64_t c = picture * channels; c < (picture + 1) * channels; ++c)
      outputs[0].as<float>()[c * places + i] = mixed_sample(*this, sample, x.as<float>().data() + c * plane);
  });
}

}  // namespace sightline::nn
