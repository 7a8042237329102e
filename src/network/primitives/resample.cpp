#include <algorithm>
#include <cmath>

#include "network/primitives/checks.hpp"
#include "network/primitives/window.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

void check_taps(const Taps& taps, std::int64_t side) {
  const auto is_inside = [&](std::int64_t at) { return at >= 0 && (side == kUnknown || at < side); };
  if (taps.second.size() != taps.first.size() || taps.weight.size() != taps.first.size() ||
      !std::ranges::all_of(taps.first, is_inside) || !std::ranges::all_of(taps.second, is_inside))
    throw Problem("has taps that do not fit a side of " + std::to_string(side));
}

float mixed(float a, float b, float weight) {
  return std::fma(b - a, weight, a);
}

}  // namespace

Types Resample::infer(InputTypes inputs) const {
  check_count(inputs, 1, 1);
  check_type(inputs, 0, DataType::f32);
  check_rank(inputs, 0, 2);
  Shape shape = inputs[0].shape;
  std::size_t axis = shape.size() - 2;
  for (const Taps* const taps : {&rows, &columns}) {
    check_taps(*taps, shape[axis]);
    shape[axis++] = static_cast<std::int64_t>(taps->first.size());
  }
  return {{DataType::f32, shape}};
}

void Resample::evaluate(Inputs inputs, Outputs outputs) const {
  const Tensor &x = *inputs[0], &y = outputs[0];
  const std::int64_t width = x.shape().back(), plane = x.dim(x.rank() - 2) * width;
  const Pair sides{y.dim(y.rank() - 2), y.shape().back()};
  float* to = outputs[0].as<float>().data();
  for (std::int64_t p = 0; p < elements_between(x.shape(), 0, x.rank() - 2); ++p) {
    for_each_pair(sides, [&](std::int64_t row, std::int64_t column) {
      const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
      const auto in_row = [&](std::int64_t at) {
        const float* const from = x.as<float>().data() + p * plane + at * width;
        return mixed(from[columns.first[c]], from[columns.second[c]], columns.weight[c]);
      };
      *to++ = mixed(in_row(rows.first[r]), in_row(rows.second[r]), rows.weight[r]);
    });
  }
}

}  // namespace sightline::nn
