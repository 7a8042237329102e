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
constexpr int kGroup = kVectors == 1 ? 4 : 3;  // vectors whose activations are computed together

bool has_fused() {
  return HWY_NATIVE_FMA != 0;
}

// --- activations

HWY_INLINE Vector hard_sigmoid_of(Vector x, float alpha, float beta) {
  const Vector zero = hn::Zero(Floats()), one = constant(1.0F);
  const Vector y = hn::MulAdd(constant(alpha), x, constant(beta));
  return hn::IfThenElse(hn::Lt(y, zero), zero, hn::IfThenElse(hn::Gt(y, one), one, y));
}

// An activation of N vectors.
template <Kind kind, int N>
HWY_INLINE void activate_all(Vector (&x)[N], const Activation& activation) {
  const Vector zero = hn::Zero(Floats()), a = constant(activation.a), b = constant(activation.b);
  if constexpr (kind == Kind::sigmoid || kind == Kind::silu) {
    Vector y[N];
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) y[n] = x[n];
    logistic_of(y);
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n)
      x[n] = kind == Kind::silu ? hn::Mul(x[n], y[n]) : hn::IfThenElse(hn::Eq(x[n], x[n]), y[n], x[n]);
    return;
  }
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) {
    if constexpr (kind == Kind::relu) x[n] = hn::IfThenElse(hn::Lt(x[n], zero), zero, x[n]);
    if constexpr (kind == Kind::leaky_relu) x[n] = hn::IfThenElse(hn::Lt(x[n], zero), hn::Mul(a, x[n]), x[n]);
    if constexpr (kind == Kind::clip) {
      x[n] = hn::IfThenElse(hn::Lt(x[n], a), a, x[n]);
      x[n] = hn::IfThenElse(hn::Gt(x[n], b), b, x[n]);
    }
    if constexpr (kind == Kind::hard_sigmoid) x[n] = hard_sigmoid_of(x[n], activation.a, activation.b);
    if constexpr (kind == Kind::hard_swish) x[n] = hn::Mul(x[n], hard_sigmoid_of(x[n], 1.0F / 6, 0.5F));
  }
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

// out[i] = after(i, activation(before(i))), for N vectors.
template <Kind kind, int N, typename Before, typename After>
HWY_INLINE void activate_group(std::ptrdiff_t i, const Activation& activation, float* out,
                               const Before& before, const After& after) {
  Vector x[N];
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) x[n] = before(i + n * kLanes);
  activate_all<kind>(x, activation);
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) hn::StoreU(after(i + n * kLanes, x[n]), Floats(), out + i + n * kLanes);
}

// The same for whole vectors.
template <typename Before, typename After>
HWY_INLINE void activate_vectors(std::ptrdiff_t count, const Activation& activation, float* out,
                                 const Before& before, const After& after) {
  with_kind(activation.kind, [&](auto kind) HWY_ATTR {
    std::ptrdiff_t i = 0;
    for (; i + kGroup * kLanes <= count; i += kGroup * kLanes)
      activate_group<kind, kGroup>(i, activation, out, before, after);
    for (; i < count; i += kLanes) activate_group<kind, 1>(i, activation, out, before, after);
  });
}

// Finishes pixels of a row whose sums are in `out`. @param added  may be null
HWY_NOINLINE void finish_pixels(float* out, const float* added, int pixels, const Finish& finish) {
  const Floats d;
  const std::ptrdiff_t count = pixels * kBlock;
  const auto sums = [&](std::ptrdiff_t i) HWY_ATTR { return hn::LoadU(d, out + i); };
  const auto as_is = [](std::ptrdiff_t, Vector y) HWY_ATTR { return y; };
  if (!added) {
    if (finish.activation.kind == Kind::none) return;
    activate_vectors(count, finish.activation, out, sums, as_is);
  } else if (finish.adds_first) {
    const auto both = [&](std::ptrdiff_t i) HWY_ATTR { return hn::Add(sums(i), hn::LoadU(d, added + i)); };
    activate_vectors(count, finish.activation, out, both, as_is);
  } else {
    const auto add = [&](std::ptrdiff_t i, Vector y) HWY_ATTR { return hn::Add(y, hn::LoadU(d, added + i)); };
    activate_vectors(count, finish.activation, out, sums, add);
  }
}

// Hides where an address comes from: otherwise GCC keeps a register for each constant that is added to it.
HWY_INLINE const float* one_register(const float* address) {
#if defined(__GNUC__)
  __asm__("" : "+r"(address));
#endif
  return address;
}

// Whether a finish costs so little that sums get it while they are in registers.
bool is_simple(const Finish& finish, bool is_added) {
  const Kind kind = finish.activation.kind;
  return !is_added &&
         (kind == Kind::none || kind == Kind::relu || kind == Kind::clip || kind == Kind::leaky_relu);
}

// x < low ? low : x and x > high ? high : x: NaN stays, and so does -0 beside 0.
HWY_INLINE Vector at_least(Vector x, Vector low) {
#if HWY_ARCH_X86
  return hn::Max(low, x);  // the second one unless the first is greater
#else
  return hn::IfThenElse(hn::Lt(x, low), low, x);
#endif
}
HWY_INLINE Vector at_most(Vector x, Vector high) {
#if HWY_ARCH_X86
  return hn::Min(high, x);
#else
  return hn::IfThenElse(hn::Gt(x, high), high, x);
#endif
}

// Stores a tile's sums of one vector a pixel, finished if the finish is simple.
template <int P>
HWY_INLINE void store_sums(const Vector (&sums)[P], const Finish& finish, bool is_added, float* out) {
  const Kind kind = is_simple(finish, is_added) ? finish.activation.kind : Kind::none;
  const auto store = [&](const auto& finished) HWY_ATTR {
#pragma GCC unroll 16
    for (int p = 0; p < P; ++p) hn::StoreU(finished(sums[p]), Floats(), out + p * kBlock);
  };
  if (kind == Kind::none) return store([](Vector x) HWY_ATTR { return x; });
  const Vector a = constant(finish.activation.a);
  if (kind == Kind::leaky_relu)
    return store([&](Vector x)
                     HWY_ATTR { return hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), hn::Mul(a, x), x); });
  const Vector low = kind == Kind::clip ? a : hn::Zero(Floats());
  const Vector high =
      constant(kind == Kind::clip ? finish.activation.b : std::numeric_limits<float>::infinity());
  store([&](Vector x) HWY_ATTR { return at_most(at_least(x, low), high); });
}

// --- convolution

// Sums of tiles of P pixels and B blocks, side by side from pixel `first` on. Step: floats from pixel to
// pixel; 0: as the row says.
template <int P, int B, int Step>
void convolve_tiles(const ConvolutionRow& row, int block, int first, int tiles) {
  const Floats d;
  const std::ptrdiff_t step = Step > 0 ? Step : row.pixel_step;
  const std::ptrdiff_t depth = std::ptrdiff_t{row.kernel_rows} * row.kernel_columns * row.inputs;
  constexpr int V = kVectors;
  for (const int end = first + tiles * P; first < end; first += P) {
    Vector sums[B * V][P];
    for (int v = 0; v < B * V; ++v) {
      const Vector bias = hn::LoadU(d, row.bias + block * kBlock + v * kLanes);
#pragma GCC unroll 16
      for (int p = 0; p < P; ++p) sums[v][p] = bias;
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
            for (int v = 0; v < B * V; ++v) sums[v][p] = hn::MulAdd(x, w[v], sums[v][p]);
          }
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < B * V; ++v)
      store_sums<P>(sums[v], row.finish, row.added != nullptr,
                    row.out[block + v / V] + first * kBlock + (v % V) * kLanes);
  }
}

// Cuts a row into tiles of as equal sizes as can be, and calls `run(size, first pixel, count)` for those of a
// size.
template <typename Run>
HWY_INLINE void cut_into_tiles(int width, int most, const Run& run) {
  const int tiles = (width + most - 1) / most, size = width / tiles, larger = width % tiles;
  if (larger > 0) run(size + 1, 0, larger);
  run(size, larger * (size + 1), tiles - larger);
}

using Tiles = void (*)(const ConvolutionRow&, int, int, int);
template <int B, int Step, std::size_t... P>
constexpr std::array<Tiles, sizeof...(P)> tiles_of(std::index_sequence<P...>) {
  return {&convolve_tiles<static_cast<int>(P) + 1, B, Step>...};
}

template <int B, int Step>
void convolve_blocks(const ConvolutionRow& row, int block) {
  constexpr int kMost = B == 2 ? kPixels2 : kPixels1;
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

// --- elementwise

void activate(const float* a, int width, const Activation& activation, float* out) {
  const Floats d;
  activate_vectors(
      width * kBlock, activation, out, [&](std::ptrdiff_t i) HWY_ATTR { return hn::LoadU(d, a + i); },
      [](std::ptrdiff_t, Vector y) HWY_ATTR { return y; });
}

// The first one if it is better or NaN, else the second.
template <typename Mask>
HWY_INLINE Vector first_if(Mask is_better, Vector a, Vector b) {
  // Comparisons are false for NaN; Ne is so, too, on some processors.
  return hn::IfThenElse(hn::AndNot(is_better, hn::Eq(a, a)), b, a);
}

template <typename Combine>
HWY_INLINE void combine(const float* a, const float* b, std::ptrdiff_t b_step, int width, float* out,
                        const Combine& combined) {
  const Floats d;
  for (std::ptrdiff_t i = 0; i < width * kBlock; i += kLanes)
    hn::StoreU(combined(hn::LoadU(d, a + i), hn::LoadU(d, b + (b_step > 0 ? i : i % kBlock))), d, out + i);
}

void binary(Binary op, const float* a, const float* b, std::ptrdiff_t b_step, int width,
            const Activation& activation, float* out) {
  const Floats d;
  const auto both = [&](std::ptrdiff_t i) HWY_ATTR {
    const Vector p = hn::LoadU(d, a + i), q = hn::LoadU(d, b + (b_step > 0 ? i : i % kBlock));
    return op == Binary::add ? hn::Add(p, q) : op == Binary::subtract ? hn::Sub(p, q) : hn::Mul(p, q);
  };
  // Only the frequent operations take the activation into their loop.
  switch (op) {
    case Binary::divide:
      combine(a, b, b_step, width, out, [](Vector p, Vector q) HWY_ATTR { return hn::Div(p, q); });
      break;
    case Binary::maximum:
      combine(a, b, b_step, width, out,
              [](Vector p, Vector q) HWY_ATTR { return first_if(hn::Gt(p, q), p, q); });
      break;
    case Binary::minimum:
      combine(a, b, b_step, width, out,
              [](Vector p, Vector q) HWY_ATTR { return first_if(hn::Lt(p, q), p, q); });
      break;
    default:
      return activate_vectors(width * kBlock, activation, out, both,
                              [](std::ptrdiff_t, Vector y) HWY_ATTR { return y; });
  }
  if (activation.kind != Activation::Kind::none) activate(out, width, activation, out);
}

// --- pooling, resizing, sums

// The larger one: NaN before numbers, 0 before -0; see larger_value.
HWY_INLINE Vector larger(Vector a, Vector b) {
  return hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), first_if(hn::Gt(a, b), a, b));
}

void max_pool(const float* const* rows, int count, int in_width, int before, int kernel, int stride,
              float* column, float* out, int width) {
  const Floats d;
  const Vector lowest = constant(-std::numeric_limits<float>::infinity());
  for (std::ptrdiff_t i = 0; i < in_width * kBlock; i += kLanes) {
    Vector largest = count > 0 ? hn::LoadU(d, rows[0] + i) : lowest;
    for (int r = 1; r < count; ++r) largest = larger(largest, hn::LoadU(d, rows[r] + i));
    hn::StoreU(largest, d, column + i);
  }
  for (int x = 0; x < width; ++x) {
    const int first = std::max(0, x * stride - before),
              end = std::min(in_width, x * stride - before + kernel);
    for (int v = 0; v < 16; v += kLanes) {
      Vector largest = first < end ? hn::LoadU(d, column + first * kBlock + v) : lowest;
      for (int k = first + 1; k < end; ++k) largest = larger(largest, hn::LoadU(d, column + k * kBlock + v));
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
