// Rows of depthwise convolutions, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/depthwise_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <array>
#include <utility>

#include "network/cpu/depthwise.hpp"
#include "network/cpu/epilogue_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

// P pixels from `first` on. Columns: of the kernel, Stride: pixels from one output's input to the
// next one's, with columns side by side; 0: as the row says.
template <int P, int Columns, int Stride>
void depthwise_tile(const DepthwiseRow& row, int first) {
  const Floats d;
  for (int lane = 0; lane < kBlock; lane += kLanes) {
    Vector sums[P];
    const Vector bias = hn::LoadU(d, row.bias + lane);
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) sums[p] = bias;
    const float* weights = row.weights + lane;
    for (int ky = 0; ky < row.kernel_rows; ++ky) {
      const float* in = row.rows[ky] + first * row.pixel_step + lane;
      if constexpr (Columns > 0) {
        // Each input is loaded once, for all outputs that it belongs to.
        Vector w[Columns];
#pragma GCC unroll 8
        for (int kx = 0; kx < Columns; ++kx, weights += kBlock) w[kx] = hn::LoadU(d, weights);
#pragma GCC unroll 64
        for (int k = 0; k < (P - 1) * Stride + Columns; ++k) {
          const Vector x = hn::LoadU(d, in);
          in = one_register(in + kBlock);
#pragma GCC unroll 8
          for (int kx = Columns - 1; kx >= 0; --kx) {
            const int p = (k - kx) / Stride;
            if (k >= kx && p * Stride == k - kx && p < P) sums[p] = hn::MulAdd(x, w[kx], sums[p]);
          }
        }
      } else {
        for (int kx = 0; kx < row.kernel_columns; ++kx, in += row.column_step, weights += kBlock) {
          const Vector w = hn::LoadU(d, weights);
#pragma GCC unroll 16
          for (int p = 0; p < P; ++p) sums[p] = hn::MulAdd(hn::LoadU(d, in + p * row.pixel_step), w, sums[p]);
        }
      }
    }
    store_sums<P>(sums, row.finish, row.added != nullptr, row.out + first * kBlock + lane);
  }
}

using DepthwiseTile = void (*)(const DepthwiseRow&, int);
constexpr int kDepthwisePixels = kVectors == 1 ? 14 : 8;
template <int Columns, int Stride, std::size_t... P>
constexpr std::array<DepthwiseTile, sizeof...(P)> depthwise_tiles_of(std::index_sequence<P...>) {
  return {&depthwise_tile<static_cast<int>(P) + 1, Columns, Stride>...};
}

template <int Columns, int Stride>
void depthwise_of(const DepthwiseRow& row) {
  static constexpr auto kTiles =
      depthwise_tiles_of<Columns, Stride>(std::make_index_sequence<kDepthwisePixels>());
  cut_into_tiles(row.width, kDepthwisePixels, [&](int size, int first, int count) {
    for (const int end = first + count * size; first < end; first += size)
      kTiles[static_cast<std::size_t>(size - 1)](row, first);
  });
  if (!is_simple(row.finish, row.added != nullptr)) finish_pixels(row.out, row.added, row.width, row.finish);
}

void depthwise(const DepthwiseRow& row) {
  const bool is_dense = row.column_step == kBlock;
  if (is_dense && row.kernel_columns == 3 && row.pixel_step == kBlock) return depthwise_of<3, 1>(row);
  if (is_dense && row.kernel_columns == 3 && row.pixel_step == 2 * kBlock) return depthwise_of<3, 2>(row);
  if (is_dense && row.kernel_columns == 5 && row.pixel_step == kBlock) return depthwise_of<5, 1>(row);
  depthwise_of<0, 0>(row);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(depthwise);

void depthwise_row(const DepthwiseRow& row) {
  HWY_DYNAMIC_DISPATCH(depthwise)(row);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
