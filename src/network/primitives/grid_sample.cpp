#include <algorithm>
#include <cmath>

#include "network/primitives/checks.hpp"
#include "network/primitives/window.hpp"

namespace sightline::nn {
namespace {

// A place in -1..1 in elements.
float in_elements(float at, std::int64_t side, bool aligned) {
  const auto sides = static_cast<float>(side);
  return aligned ? (at + 1) * 0.5F * (sides - 1) : std::fma(at + 1, sides, -1.0F) * 0.5F;
}

// Elements that a sample mixes, and their weights. Offsets of those outside are -1; their values are 0.
struct Sample {
  std::array<std::int64_t, 4> offset{-1, -1, -1, -1};
  std::array<float, 4> weight{};
};

Sample sample_at(const GridSample& how, const float* place, const Shape& map) {
  const std::int64_t height = map[2], width = map[3];
  const auto offset = [&](float row, float column) -> std::int64_t {
    if (how.border == Border::edge) {
      row = std::clamp(row, 0.0F, static_cast<float>(height - 1));
      column = std::clamp(column, 0.0F, static_cast<float>(width - 1));
    }
    // Written so that a NaN is outside, too.
    const bool is_inside =
        row >= 0 && column >= 0 && row < static_cast<float>(height) && column < static_cast<float>(width);
    return is_inside ? static_cast<std::int64_t>(row) * width + static_cast<std::int64_t>(column) : -1;
  };
  const float column = in_elements(place[0], width, how.aligned),
              row = in_elements(place[1], height, how.aligned);
  if (how.nearest) return {{offset(std::nearbyint(row), std::nearbyint(column)), -1, -1, -1}, {1, 0, 0, 0}};
  const float top = std::floor(row), left = std::floor(column);
  const float down = row - top, right = column - left;
  return {{offset(top, left), offset(top, left + 1), offset(top + 1, left), offset(top + 1, left + 1)},
          {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right}};
}

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
  const std::int64_t plane = x.dim(2) * x.dim(3), places = grid.dim(1) * grid.dim(2), channels = x.dim(1);
  for_each_pair({x.dim(0), places}, [&](std::int64_t picture, std::int64_t i) {
    const Sample sample = sample_at(*this, grid.as<float>().data() + (picture * places + i) * 2, x.shape());
    for (std::int64_t c = picture * channels; c < (picture + 1) * channels; ++c)
      outputs[0].as<float>()[c * places + i] = mixed_sample(*this, sample, x.as<float>().data() + c * plane);
  });
}

}  // namespace sightline::nn
