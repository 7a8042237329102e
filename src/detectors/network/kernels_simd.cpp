// The kernels, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/network/kernels_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "detectors/network/functions_simd.hpp"
#include "detectors/network/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::network::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Kind = Activation::Kind;

constexpr int kLanes = HWY_LANES(float) < 16 ? HWY_LANES(float) : 16;
constexpr int kVectors = 16 / kLanes;  // of a block
// Output pixels of a tile with one and with two blocks: as many sums as registers hold.
constexpr int kPixels1 = kVectors == 1 ? 14 : kVectors == 2 ? 6 : 3;
constexpr int kPixels2 = kVectors == 1 ? 13 : 0;

bool has_fused() {
  return HWY_NATIVE_FMA != 0;
}

// --- activations

HWY_INLINE Vector hard_sigmoid_of(Vector x, float alpha, float beta) {
  const Vector zero = hn::Zero(Floats()), one = constant(1.0F);
  const Vector y = hn::MulAdd(constant(alpha), x, constant(beta));
  return hn::IfThenElse(hn::Lt(y, zero), zero, hn::IfThenElse(hn::Gt(y, one), one, y));
}

template <Kind kind>
HWY_INLINE Vector activated(Vector x, const Activation& activation) {
  const Vector zero = hn::Zero(Floats());
  if constexpr (kind == Kind::relu) return hn::IfThenElse(hn::Lt(x, zero), zero, x);
  if constexpr (kind == Kind::leaky_relu)
    return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(constant(activation.a), x), x);
  if constexpr (kind == Kind::clip) {
    const Vector low = constant(activation.a), high = constant(activation.b);
    return hn::IfThenElse(hn::Lt(x, low), low, hn::IfThenElse(hn::Gt(x, high), high, x));
  }
  if constexpr (kind == Kind::sigmoid) return hn::IfThenElse(hn::Eq(x, x), logistic_of(x), x);
  if constexpr (kind == Kind::silu) return hn::Mul(x, logistic_of(x));
  if constexpr (kind == Kind::hard_sigmoid) return hard_sigmoid_of(x, activation.a, activation.b);
  if constexpr (kind == Kind::hard_swish) return hn::Mul(x, hard_sigmoid_of(x, 1.0F / 6, 0.5F));
  return x;
}

// Calls `work` with the kind as a constant.
template <typename Work>
HWY_INLINE void with_kind(Kind kind, const Work& work) {
  switch (kind) {
    case Kind::relu:
      return work(std::integral_constant<Kind, Kind::relu>());
    case Kind::leaky_relu:
      return work(std::integral_constant<Kind, Kind::leaky_relu>());
    case Kind::clip:
      return work(std::integral_constant<Kind, Kind::clip>());
    case Kind::sigmoid:
      return work(std::integral_constant<Kind, Kind::sigmoid>());
    case Kind::silu:
      return work(std::integral_constant<Kind, Kind::silu>());
    case Kind::hard_sigmoid:
      return work(std::integral_constant<Kind, Kind::hard_sigmoid>());
    case Kind::hard_swish:
      return work(std::integral_constant<Kind, Kind::hard_swish>());
    case Kind::none:
      return work(std::integral_constant<Kind, Kind::none>());
  }
}

// Finishes pixels of a row whose sums are in `out`. @param added  may be null
HWY_NOINLINE void finish_pixels(float* out, const float* added, int pixels, const Finish& finish) {
  const Floats d;
  const std::ptrdiff_t count = pixels * kBlock;
  if (finish.activation.kind == Kind::none && !added) return;
  with_kind(finish.activation.kind, [&](auto kind) HWY_ATTR {
    if (!added) {
      for (std::ptrdiff_t i = 0; i < count; i += kLanes)
        hn::StoreU(activated<kind>(hn::LoadU(d, out + i), finish.activation), d, out + i);
    } else if (finish.adds_first) {
      for (std::ptrdiff_t i = 0; i < count; i += kLanes)
        hn::StoreU(
            activated<kind>(hn::Add(hn::LoadU(d, out + i), hn::LoadU(d, added + i)), finish.activation), d,
            out + i);
    } else {
      for (std::ptrdiff_t i = 0; i < count; i += kLanes)
        hn::StoreU(
            hn::Add(activated<kind>(hn::LoadU(d, out + i), finish.activation), hn::LoadU(d, added + i)), d,
            out + i);
    }
  });
}

// Hides where an address comes from: otherwise GCC keeps a register for each constant that is added to it.
HWY_INLINE const float* one_register(const float* address) {
#if defined(__GNUC__)
  __asm__("" : "+r"(address));
#endif
  return address;
}

// --- convolution

// Sums of P pixels from `first` on and of B blocks. Step: floats from pixel to pixel; 0: as the row says.
template <int P, int B, int Step>
void convolve_tile(const ConvolutionRow& row, int block, int first) {
  const Floats d;
  const std::ptrdiff_t step = Step > 0 ? Step : row.pixel_step;
  const std::ptrdiff_t depth = std::ptrdiff_t{row.kernel_rows} * row.kernel_columns * row.inputs;
  constexpr int V = kVectors;
  Vector sums[P][B * V];
  for (int v = 0; v < B * V; ++v) {
    const Vector bias = hn::LoadU(d, row.bias + block * kBlock + v * kLanes);
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) sums[p][v] = bias;
  }
  const float* weights = row.weights + block * depth * kBlock;
  const float* const* taps = row.taps;
  for (int ky = 0; ky < row.kernel_rows; ++ky, taps += row.inputs) {
    for (int kx = 0; kx < row.kernel_columns; ++kx) {
      const std::ptrdiff_t offset = kx * row.column_step + first * step;
      for (int c = 0; c < row.inputs; ++c, weights += kBlock) {
        const float* const in = one_register(taps[c] + offset);
        Vector w[B * V];
#pragma GCC unroll 4
        for (int v = 0; v < B * V; ++v)
          w[v] = hn::LoadU(d, weights + (v / V) * depth * kBlock + (v % V) * kLanes);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) {
          const Vector x = constant(in[p * step]);
#pragma GCC unroll 4
          for (int v = 0; v < B * V; ++v) sums[p][v] = hn::MulAdd(x, w[v], sums[p][v]);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < B * V; ++v) {
    float* const out = row.out[block + v / V] + first * kBlock + (v % V) * kLanes;
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) hn::StoreU(sums[p][v], d, out + p * kBlock);
  }
}

using Tile = void (*)(const ConvolutionRow&, int, int);
template <int B, int Step, std::size_t... P>
constexpr std::array<Tile, sizeof...(P)> tiles_of(std::index_sequence<P...>) {
  return {&convolve_tile<static_cast<int>(P) + 1, B, Step>...};
}

template <int B, int Step>
void convolve_blocks(const ConvolutionRow& row, int block) {
  constexpr int kMost = B == 2 ? kPixels2 : kPixels1;
  static constexpr auto kTiles = tiles_of<B, Step>(std::make_index_sequence<kMost>());
  // Tiles of as equal sizes as can be.
  const int tiles = (row.width + kMost - 1) / kMost;
  for (int i = 0; i < tiles; ++i) {
    const int first = row.width * i / tiles, pixels = row.width * (i + 1) / tiles - first;
    kTiles[static_cast<std::size_t>(pixels - 1)](row, block, first);
  }
  for (int b = block; b < block + B; ++b)
    finish_pixels(row.out[b], row.added ? row.added[b] : nullptr, row.width, row.finish);
}

template <int Step>
void convolve_step(const ConvolutionRow& row) {
  int block = 0;
  if constexpr (kPixels2 > 0) {
    for (; block + 2 <= row.blocks; block += 2) convolve_blocks<2, Step>(row, block);
  }
  for (; block < row.blocks; ++block) convolve_blocks<1, Step>(row, block);
}

void convolve(const ConvolutionRow& row) {
  if (row.pixel_step == kBlock) return convolve_step<16>(row);
  if (row.pixel_step == 2 * kBlock) return convolve_step<32>(row);
  if (row.pixel_step == 2) return convolve_step<2>(row);  // of planes
  convolve_step<0>(row);
}

// --- depthwise

template <int P, int Step>
void depthwise_tile(const DepthwiseRow& row, int first) {
  const Floats d;
  const std::ptrdiff_t step = Step > 0 ? Step : row.pixel_step;
  for (int v = 0; v < kVectors; ++v) {
    Vector sums[P];
    const Vector bias = hn::LoadU(d, row.bias + v * kLanes);
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) sums[p] = bias;
    const float* weights = row.weights + v * kLanes;
    for (int ky = 0; ky < row.kernel_rows; ++ky) {
      const float* in = row.rows[ky] + first * step + v * kLanes;
      for (int kx = 0; kx < row.kernel_columns; ++kx, in += row.column_step, weights += kBlock) {
        const Vector w = hn::LoadU(d, weights);
#pragma GCC unroll 16
        for (int p = 0; p < P; ++p) sums[p] = hn::MulAdd(hn::LoadU(d, in + p * step), w, sums[p]);
      }
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) hn::StoreU(sums[p], d, row.out + (first + p) * kBlock + v * kLanes);
  }
}

using DepthwiseTile = void (*)(const DepthwiseRow&, int);
constexpr int kDepthwisePixels = kVectors == 1 ? 14 : 10;
template <int Step, std::size_t... P>
constexpr std::array<DepthwiseTile, sizeof...(P)> depthwise_tiles_of(std::index_sequence<P...>) {
  return {&depthwise_tile<static_cast<int>(P) + 1, Step>...};
}

template <int Step>
void depthwise_step(const DepthwiseRow& row) {
  static constexpr auto kTiles = depthwise_tiles_of<Step>(std::make_index_sequence<kDepthwisePixels>());
  const int tiles = (row.width + kDepthwisePixels - 1) / kDepthwisePixels;
  for (int i = 0; i < tiles; ++i) {
    const int first = row.width * i / tiles, pixels = row.width * (i + 1) / tiles - first;
    kTiles[static_cast<std::size_t>(pixels - 1)](row, first);
  }
  finish_pixels(row.out, row.added, row.width, row.finish);
}

void depthwise(const DepthwiseRow& row) {
  if (row.pixel_step == kBlock) return depthwise_step<16>(row);
  depthwise_step<0>(row);
}

// --- elementwise

void binary(Binary op, const float* a, const float* b, std::ptrdiff_t b_step, int width,
            const Activation& activation, float* out) {
  const Floats d;
  with_kind(activation.kind, [&](auto kind) HWY_ATTR {
    for (int x = 0; x < width; ++x) {
      for (int v = 0; v < 16; v += kLanes) {
        const Vector p = hn::LoadU(d, a + x * kBlock + v), q = hn::LoadU(d, b + x * b_step + v);
        const Vector y = op == Binary::add        ? hn::Add(p, q)
                         : op == Binary::subtract ? hn::Sub(p, q)
                                                  : hn::Mul(p, q);
        hn::StoreU(activated<kind>(y, activation), d, out + x * kBlock + v);
      }
    }
  });
}

void activate(const float* a, int width, const Activation& activation, float* out) {
  const Floats d;
  with_kind(activation.kind, [&](auto kind) HWY_ATTR {
    for (std::ptrdiff_t i = 0; i < width * kBlock; i += kLanes)
      hn::StoreU(activated<kind>(hn::LoadU(d, a + i), activation), d, out + i);
  });
}

// --- pooling, resizing, sums

// The larger one: NaN before numbers, 0 before -0; see larger_value.
HWY_INLINE Vector larger(Vector a, Vector b) {
  // Comparisons are false for NaN; Ne is so, too, on some processors.
  const Vector one = hn::IfThenElse(hn::AndNot(hn::Gt(a, b), hn::Eq(a, a)), b, a);
  return hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), one);
}

void max_pool(const float* const* rows, int count, int in_width, int before, int kernel, int stride,
              float* column, float* out, int width) {
  const Floats d;
  const Vector lowest = constant(-std::numeric_limits<float>::infinity());
  for (std::ptrdiff_t i = 0; i < in_width * kBlock; i += kLanes) {
    Vector largest = lowest;
    for (int r = 0; r < count; ++r) largest = larger(largest, hn::LoadU(d, rows[r] + i));
    hn::StoreU(largest, d, column + i);
  }
  for (int x = 0; x < width; ++x) {
    const int first = std::max(0, x * stride - before),
              end = std::min(in_width, x * stride - before + kernel);
    for (int v = 0; v < 16; v += kLanes) {
      Vector largest = lowest;
      for (int k = first; k < end; ++k) largest = larger(largest, hn::LoadU(d, column + k * kBlock + v));
      hn::StoreU(largest, d, out + x * kBlock + v);
    }
  }
}

void resize(const float* upper, const float* lower, float weight, const std::int32_t* first,
            const std::int32_t* second, const float* weights, bool linear, int width, float* out) {
  const Floats d;
  const auto mix = [](Vector a, Vector b, Vector w) HWY_ATTR { return hn::MulAdd(hn::Sub(b, a), w, a); };
  const Vector below = constant(weight);
  for (int x = 0; x < width; ++x) {
    const std::ptrdiff_t left = first[x] * kBlock, right = second[x] * kBlock;
    const Vector w = constant(weights[x]);
    for (int v = 0; v < 16; v += kLanes) {
      Vector y = hn::LoadU(d, upper + left + v);
      if (linear) {
        y = mix(mix(y, hn::LoadU(d, upper + right + v), w),
                mix(hn::LoadU(d, lower + left + v), hn::LoadU(d, lower + right + v), w), below);
      }
      hn::StoreU(y, d, out + x * kBlock + v);
    }
  }
}

void sum_all(const float* block, std::ptrdiff_t row_step, int height, int width, float* sums) {
  const Floats d;
  for (int v = 0; v < 16; v += kLanes) {
    Vector lanes[kSumLanes];
    for (Vector& one : lanes) one = hn::Zero(d);
    std::size_t i = 0;
    for (int y = 0; y < height; ++y) {
      const float* const row = block + y * row_step + v;
      for (int x = 0; x < width; ++x, ++i)
        lanes[i % kSumLanes] = hn::Add(lanes[i % kSumLanes], hn::LoadU(d, row + x * kBlock));
    }
    for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lanes[l] = hn::Add(lanes[l], lanes[l + half]);
    }
    hn::StoreU(lanes[0], d, sums + v);
  }
}

}  // namespace sightline::network::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::network {

HWY_EXPORT(has_fused);
HWY_EXPORT(convolve);
HWY_EXPORT(depthwise);
HWY_EXPORT(binary);
HWY_EXPORT(activate);
HWY_EXPORT(max_pool);
HWY_EXPORT(resize);
HWY_EXPORT(sum_all);

bool has_fused_multiply_add() {
  return HWY_DYNAMIC_DISPATCH(has_fused)();
}
void convolve_row(const ConvolutionRow& row) {
  HWY_DYNAMIC_DISPATCH(convolve)(row);
}
void depthwise_row(const DepthwiseRow& row) {
  HWY_DYNAMIC_DISPATCH(depthwise)(row);
}
void binary_row(Binary op, const float* a, const float* b, std::ptrdiff_t b_step, int width,
                const Activation& activation, float* out) {
  HWY_DYNAMIC_DISPATCH(binary)(op, a, b, b_step, width, activation, out);
}
void activate_row(const float* a, int width, const Activation& activation, float* out) {
  HWY_DYNAMIC_DISPATCH(activate)(a, width, activation, out);
}
void max_pool_row(const float* const* rows, int count, int in_width, int before, int kernel, int stride,
                  float* column, float* out, int width) {
  HWY_DYNAMIC_DISPATCH(max_pool)(rows, count, in_width, before, kernel, stride, column, out, width);
}
void resize_row(const float* upper, const float* lower, float weight, const std::int32_t* first,
                const std::int32_t* second, const float* weights, bool linear, int width, float* out) {
  HWY_DYNAMIC_DISPATCH(resize)(upper, lower, weight, first, second, weights, linear, width, out);
}
void global_sum(const float* block, std::ptrdiff_t row_step, int height, int width, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_all)(block, row_step, height, width, sums);
}

}  // namespace sightline::network
#endif  // HWY_ONCE
