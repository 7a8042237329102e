// The kernels on plain tensors, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/network/tensor_kernels_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "detectors/network/functions_simd.hpp"
#include "detectors/network/tensor_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::network::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kStep = HWY_LANES(float);
constexpr std::int64_t kTileRows = kStep == 16 ? 12 : kStep == 8 ? 6 : 4;

// R rows and V vectors of columns from (i, j) on; the last `count` columns alone are there.
template <int R, int V>
void multiply_tile(const MatrixProduct& m, std::int64_t i, std::int64_t j, std::int64_t count) {
  const Floats d;
  const auto there = hn::FirstN(d, static_cast<std::size_t>(std::min(count, kStep)));
  const bool is_whole = count >= V * kStep;
  const auto load = [&](const float* from)
                        HWY_ATTR { return is_whole ? hn::LoadU(d, from) : hn::MaskedLoad(there, d, from); };
  Vector sums[R][V];
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) sums[r][v] = load(m.out + (i + r) * m.columns + j + v * kStep);
  }
  const float* a = m.a + i * m.a_row;
  const float* b = m.b + j;
  for (std::int64_t k = 0; k < m.depth; ++k, a += m.a_column, b += m.b_row) {
    Vector w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) w[v] = load(b + v * kStep);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector x = constant(a[r * m.a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
    }
  }
  for (int r = 0; r < R; ++r) {
    for (int v = 0; v < V; ++v) {
      float* const to = m.out + (i + r) * m.columns + j + v * kStep;
      is_whole ? hn::StoreU(sums[r][v], d, to) : hn::BlendedStore(sums[r][v], there, d, to);
    }
  }
}

template <int R>
void multiply_rows(const MatrixProduct& m, std::int64_t i) {
  std::int64_t j = 0;
  for (; j + 2 * kStep <= m.columns; j += 2 * kStep) multiply_tile<R, 2>(m, i, j, 2 * kStep);
  for (; j < m.columns; j += kStep) multiply_tile<R, 1>(m, i, j, m.columns - j);
}

void multiply(const MatrixProduct& m) {
  std::int64_t i = 0;
  for (; i + kTileRows <= m.rows; i += kTileRows) multiply_rows<kTileRows>(m, i);
  for (; i + 4 <= m.rows; i += 4) multiply_rows<4>(m, i);
  for (; i < m.rows; ++i) multiply_rows<1>(m, i);
}

void softmax(const float* from, float* to, std::int64_t count) {
  const Floats d;
  const auto part = [&](std::int64_t i) HWY_ATTR {
    return hn::FirstN(d, static_cast<std::size_t>(std::min(count - i, kStep)));
  };
  // Which of equal numbers is the largest does not matter; with a NaN, all becomes NaN by the sum.
  float largest = from[0];
  for (std::int64_t i = 1; i < count; ++i) largest = greater(from[i], largest);
  const Vector top = constant(largest);
  Vector lanes[16 / kStep];
  for (Vector& one : lanes) one = hn::Zero(d);
  for (std::int64_t i = 0; i < count; i += kStep) {
    const auto there = part(i);
    const Vector e = exponential_of(hn::Sub(hn::MaskedLoad(there, d, from + i), top));
    hn::BlendedStore(e, there, d, to + i);
    Vector& lane = lanes[static_cast<std::size_t>(i / kStep) % (16 / kStep)];
    lane = hn::Add(lane, hn::IfThenElseZero(there, e));
  }
  HWY_ALIGN float sums[16];
  for (std::int64_t l = 0; l < 16 / kStep; ++l) hn::Store(lanes[l], d, sums + l * kStep);
  for (std::size_t half = 8; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
  const Vector sum = constant(sums[0]);
  for (std::int64_t i = 0; i < count; i += kStep) {
    const auto there = part(i);
    hn::BlendedStore(hn::Div(hn::MaskedLoad(there, d, to + i), sum), there, d, to + i);
  }
}

void binary_elements(char op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
                     std::int64_t count, float* out) {
  const Floats d;
  const auto combine = [op](auto x, auto y) HWY_ATTR {
    return op == '+' ? hn::Add(x, y) : op == '-' ? hn::Sub(x, y) : op == '*' ? hn::Mul(x, y) : hn::Div(x, y);
  };
  std::int64_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const Vector x = a_step ? hn::LoadU(d, a + i) : constant(*a),
                 y = b_step ? hn::LoadU(d, b + i) : constant(*b);
    hn::StoreU(combine(x, y), d, out + i);
  }
  if (i == count) return;
  const auto there = hn::FirstN(d, static_cast<std::size_t>(count - i));
  const Vector x = a_step ? hn::MaskedLoad(there, d, a + i) : constant(*a);
  const Vector y = b_step ? hn::MaskedLoad(there, d, b + i) : constant(*b);
  hn::BlendedStore(combine(x, y), there, d, out + i);
}

}  // namespace sightline::network::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::network {

HWY_EXPORT(multiply);
HWY_EXPORT(softmax);
HWY_EXPORT(binary_elements);

void multiply_matrices(const MatrixProduct& product) {
  HWY_DYNAMIC_DISPATCH(multiply)(product);
}
void softmax_row(const float* from, float* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(softmax)(from, to, count);
}
void binary_run(char op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
                std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(binary_elements)(op, a, a_step, b, b_step, count, out);
}

}  // namespace sightline::network
#endif  // HWY_ONCE
