// Rows of dense convolutions, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/product_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <array>
#include <utility>

#include "network/cpu/epilogue_simd.hpp"
#include "network/cpu/product.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

bool has_fused() {
  return HWY_NATIVE_FMA != 0;
}

// Output pixels of a tile of `blocks` blocks: as many sums as registers hold beside the weights.
constexpr int most_pixels(int blocks) {
  constexpr int kSums[] = {0, 28, 13, 9};
  if (kVectors == 1) return blocks <= 3 ? kSums[blocks] : 1;
  if (kVectors == 2) return blocks == 1 ? 6 : 1;
  return blocks == 1 ? 3 : 1;
}

// Blocks that a tile of one pixel has: with fewer, each multiply-add would wait for the last one.
constexpr int kBlocksOfOne = kVectors == 1 ? 8 : kVectors == 2 ? 4 : 2;

// The sums' first values.
template <int P>
HWY_INLINE void start_sums(const ConvolutionRow& row, int block, int lane, Vector (&sums)[P]) {
  const Floats d;
  const Vector bias = row.bias ? hn::LoadU(d, row.bias + block * kBlock + lane) : hn::Zero(d);
#pragma GCC unroll 32
  for (int p = 0; p < P; ++p) sums[p] = bias;
}

// Sums of tiles of P pixels and B blocks, side by side from pixel `first` on. Step: floats from pixel to
// pixel; 0: as the row says.
template <int P, int B, int Step>
void convolve_tiles(const ConvolutionRow& row, int block, int first, int tiles) {
  const Floats d;
  const std::ptrdiff_t step = Step > 0 ? Step : row.pixel_step;
  constexpr int V = kVectors;
  for (const int end = first + tiles * P; first < end; first += P) {
    Vector sums[B * V][P];
#pragma GCC unroll 8
    for (int v = 0; v < B * V; ++v) start_sums<P>(row, block + v / V, v % V * kLanes, sums[v]);
    const float* weights = row.weights + block * row.weights_step;
    const float* const* taps = row.taps;
    for (int ky = 0; ky < row.kernel_rows; ++ky, taps += row.inputs) {
      for (int kx = 0; kx < row.kernel_columns; ++kx) {
        const std::ptrdiff_t offset = kx * row.column_step + first * step;
        for (int c = 0; c < row.inputs; ++c, weights += kBlock) {
          const float* const in = one_register(taps[c] + offset);
          Vector w[B * V];
#pragma GCC unroll 8
          for (int v = 0; v < B * V; ++v)
            w[v] = hn::LoadU(d, weights + (v / V) * row.weights_step + (v % V) * kLanes);
#pragma GCC unroll 32
          for (int p = 0; p < P; ++p) {
            const Vector x = constant(in[p * step]);
#pragma GCC unroll 8
            for (int v = 0; v < B * V; ++v) sums[v][p] = hn::MulAdd(x, w[v], sums[v][p]);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < B * V; ++v)
      store_sums<P>(sums[v], row.finish, row.added != nullptr,
                    row.out[block + v / V] + first * kBlock + (v % V) * kLanes);
  }
}

using Tiles = void (*)(const ConvolutionRow&, int, int, int);
template <int B, int Step, std::size_t... P>
constexpr std::array<Tiles, sizeof...(P)> tiles_of(std::index_sequence<P...>) {
  return {&convolve_tiles<static_cast<int>(P) + 1, B, Step>...};
}

// Computes B blocks from number `block` on.
template <int B, int Step>
void convolve_blocks(const ConvolutionRow& row, int block) {
  constexpr int kMost = most_pixels(B);
  static constexpr auto kTiles = tiles_of<B, Step>(std::make_index_sequence<kMost>());
  cut_into_tiles(row.width, kMost, [&](int size, int first, int count) {
    kTiles[static_cast<std::size_t>(size - 1)](row, block, first, count);
  });
  if (is_simple(row.finish, row.added != nullptr)) return;
  for (int b = block; b < block + B; ++b)
    finish_pixels(row.out[b], row.added ? row.added[b] : nullptr, row.width, row.finish);
}

template <int Step>
void convolve_step(const ConvolutionRow& row) {
  int block = 0;
  if (row.width == 1) {
    for (; block + kBlocksOfOne <= row.blocks; block += kBlocksOfOne)
      convolve_blocks<kBlocksOfOne, 0>(row, block);
  }
  if constexpr (kVectors == 1) {
    for (; block + 4 <= row.blocks || block + 2 == row.blocks; block += 2)
      convolve_blocks<2, Step>(row, block);
    if (block + 3 == row.blocks) return convolve_blocks<3, Step>(row, block);
  }
  for (; block < row.blocks; ++block) convolve_blocks<1, Step>(row, block);
}

void convolve(ConvolutionRow row) {
  if (row.weights_step == 0)
    row.weights_step = std::ptrdiff_t{row.kernel_rows} * row.kernel_columns * row.inputs * kBlock;
  row.pixel_step == kBlock ? convolve_step<16>(row) : convolve_step<0>(row);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(has_fused);
HWY_EXPORT(finish_pixels);
HWY_EXPORT(convolve);

bool has_fused_multiply_add() {
  return HWY_DYNAMIC_DISPATCH(has_fused)();
}
void finish_row(float* out, const float* added, int pixels, const Finish& finish) {
  HWY_DYNAMIC_DISPATCH(finish_pixels)(out, added, pixels, finish);
}
void convolve_row(const ConvolutionRow& row) {
  HWY_DYNAMIC_DISPATCH(convolve)(row);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
