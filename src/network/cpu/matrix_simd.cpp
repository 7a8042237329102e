// Products of matrices, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/matrix_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <cmath>

#include "network/cpu/matrix.hpp"
#include "network/cpu/rest_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kTileRows = kLanes == 16 ? 12 : kLanes == 8 ? 6 : 4;

// R rows and V vectors of columns from (i, j) on; without Whole, the last `count` columns alone are there.
template <int R, int V, bool Whole>
void multiply_tile(const MatrixProduct& m, std::int64_t i, std::int64_t j, std::int64_t count) {
  const Floats d;
  const auto load = [&](const float* from)
                        HWY_ATTR { return Whole ? hn::LoadU(d, from) : load_first(from, count); };
  Vector sums[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) sums[r][v] = load(m.out + (i + r) * m.columns + j + v * kLanes);
  }
  const float* a = m.a + i * m.a_row;
  const float* b = m.b + j;
  for (std::int64_t k = 0; k < m.depth; ++k, a += m.a_column, b += m.b_row) {
    Vector w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) w[v] = load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector x = constant(a[r * m.a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      float* const to = m.out + (i + r) * m.columns + j + v * kLanes;
      Whole ? hn::StoreU(sums[r][v], d, to) : store_first(sums[r][v], to, count);
    }
  }
}

template <int R>
void multiply_rows(const MatrixProduct& m, std::int64_t i) {
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= m.columns; j += 2 * kLanes) multiply_tile<R, 2, true>(m, i, j, kLanes);
  for (; j + kLanes <= m.columns; j += kLanes) multiply_tile<R, 1, true>(m, i, j, kLanes);
  if (j < m.columns) multiply_tile<R, 1, false>(m, i, j, m.columns - j);
}

// R rows of a product with one column.
template <int R>
void multiply_column(const MatrixProduct& m, std::int64_t i) {
  float sums[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) sums[r] = m.out[i + r];
  for (std::int64_t k = 0; k < m.depth; ++k) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sums[r] = std::fma(m.a[(i + r) * m.a_row + k * m.a_column], m.b[k * m.b_row], sums[r]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) m.out[i + r] = sums[r];
}

void multiply(const MatrixProduct& m) {
  std::int64_t i = 0;
  if (m.columns == 1) {
    for (; i + 8 <= m.rows; i += 8) multiply_column<8>(m, i);
    for (; i < m.rows; ++i) multiply_column<1>(m, i);
    return;
  }
  for (; i + kTileRows <= m.rows; i += kTileRows) multiply_rows<kTileRows>(m, i);
  for (; i + 4 <= m.rows; i += 4) multiply_rows<4>(m, i);
  for (; i < m.rows; ++i) multiply_rows<1>(m, i);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(multiply);

void multiply_matrices(const MatrixProduct& product) {
  HWY_DYNAMIC_DISPATCH(multiply)(product);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
