// Pooling.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "detectors/network/functions.hpp"
#include "detectors/network/lowering.hpp"
#include "detectors/network/window.hpp"

namespace sightline::network {
namespace {

using Types = std::vector<TensorType>;

WindowPlan pool_plan(const Call& call) {
  const Tensor& x = call.real(0);
  if (x.rank() != 4) throw Problem("has an input of " + text_of(x.shape()) + ", not a batch of pictures");
  return window_plan(call.node, {x.dim(2), x.dim(3)}, {0, 0});
}

Types pool_type(const Call& call) {
  const WindowPlan plan = pool_plan(call);
  if (call.node.outputs.size() > 1) throw Problem("reports indices, which is not supported");
  const Tensor& x = call.in(0);
  return {{Kind::real, {x.dim(0), x.dim(1), plan.out[0], plan.out[1]}}};
}

// Calls `window(plane, y, x)` for all windows of all planes.
template <typename Window>
void for_each_window(const Call& call, const WindowPlan& plan, Tensor& out, const Window& window) {
  const Tensor& x = call.in(0);
  float* to = out.reals();
  for (std::int64_t p = 0; p < x.dim(0) * x.dim(1); ++p) {
    const float* plane = x.reals() + p * x.dim(2) * x.dim(3);
    for (std::int64_t row = 0; row < plan.out[0]; ++row) {
      for (std::int64_t column = 0; column < plan.out[1]; ++column)
        *to++ =
            window(plane, row * plan.stride[0] - plan.before[0], column * plan.stride[1] - plan.before[1]);
    }
  }
}

// Calls `f(value)` for the elements of a window that are in the picture.
template <typename F>
void for_each_tap(const WindowPlan& plan, Pair sides, const float* plane, std::int64_t top, std::int64_t left,
                  const F& f) {
  for (std::int64_t ky = 0; ky < plan.kernel[0]; ++ky) {
    const std::int64_t row = top + ky * plan.dilation[0];
    if (row < 0 || row >= sides[0]) continue;
    for (std::int64_t kx = 0; kx < plan.kernel[1]; ++kx) {
      const std::int64_t column = left + kx * plan.dilation[1];
      if (column >= 0 && column < sides[1]) f(plane[row * sides[1] + column]);
    }
  }
}

// A NaN in the window is the result.
void run_max_pool(const Call& call, std::span<Tensor> out) {
  const WindowPlan plan = pool_plan(call);
  const Pair sides{call.in(0).dim(2), call.in(0).dim(3)};
  for_each_window(call, plan, out[0], [&](const float* plane, std::int64_t top, std::int64_t left) {
    float largest = -std::numeric_limits<float>::infinity();
    for_each_tap(plan, sides, plane, top, left, [&](float x) { largest = larger_value(largest, x); });
    return largest;
  });
}

// Sums go over the window's rows.
void run_average_pool(const Call& call, std::span<Tensor> out) {
  const WindowPlan plan = pool_plan(call);
  const Pair sides{call.in(0).dim(2), call.in(0).dim(3)};
  const WindowCounts counts = average_counts(plan, sides, call.node.integer("count_include_pad", 0) != 0);
  const auto count = [&](const std::vector<float>& all, std::size_t axis, std::int64_t first) {
    return all[static_cast<std::size_t>((first + plan.before[axis]) / plan.stride[axis])];
  };
  for_each_window(call, plan, out[0], [&](const float* plane, std::int64_t top, std::int64_t left) {
    float sum = 0;
    for_each_tap(plan, sides, plane, top, left, [&](float x) { sum += x; });
    return sum / std::max(1.0F, count(counts.rows, 0, top) * count(counts.columns, 1, left));
  });
}

Types global_pool_type(const Call& call) {
  const Shape& x = call.real(0).shape();
  if (x.size() < 3) throw Problem("has an input of " + text_of(x));
  Shape shape(x.size(), 1);
  shape[0] = x[0];
  shape[1] = x[1];
  return {{Kind::real, shape}};
}

// Reduces each plane to `f(elements, count)`.
template <typename F>
void reduce_planes(const Call& call, std::span<Tensor> out, const F& f) {
  const std::int64_t count = out[0].size() > 0 ? call.in(0).size() / out[0].size() : 0;
  for (std::int64_t p = 0; p < out[0].size(); ++p)
    out[0].reals()[p] = f(call.in(0).reals() + p * count, count);
}

void run_global_average(const Call& call, std::span<Tensor> out) {
  reduce_planes(call, out, [](const float* plane, std::int64_t count) {
    return tree_sum(count, [&](std::int64_t i) { return plane[i]; }) / static_cast<float>(count);
  });
}

void run_global_max(const Call& call, std::span<Tensor> out) {
  reduce_planes(call, out, [](const float* plane, std::int64_t count) {
    return std::accumulate(plane, plane + count, -std::numeric_limits<float>::infinity(), larger_value);
  });
}

constexpr Operator kPooling[] = {
    {"AveragePool", 1, 1, 1, pool_type, run_average_pool, lower_one_axis},
    {"GlobalAveragePool", 1, 1, 1, global_pool_type, run_global_average},
    {"GlobalMaxPool", 1, 1, 1, global_pool_type, run_global_max},
    {"MaxPool", 1, 1, 2, pool_type, run_max_pool, lower_one_axis},
};

}  // namespace

WindowCounts average_counts(const WindowPlan& plan, Pair sides, bool with_padding) {
  const auto counts = [&](std::size_t axis) {
    std::vector<float> all;
    for (std::int64_t i = 0; i < plan.out[axis]; ++i) {
      std::int64_t count = 0;
      for (std::int64_t k = 0; k < plan.kernel[axis]; ++k) {
        const std::int64_t place = i * plan.stride[axis] - plan.before[axis] + k * plan.dilation[axis];
        count += with_padding ? place < sides[axis] + plan.behind[axis] : place >= 0 && place < sides[axis];
      }
      all.push_back(static_cast<float>(count));
    }
    return all;
  };
  return {counts(0), counts(1)};
}

std::span<const Operator> pooling_operators() {
  return kPooling;
}

}  // namespace sightline::network
