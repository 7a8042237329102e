// Tiles of a row, and operations on its sums. Included by *_simd.cpp once for
// each instruction set.
#if defined(SIGHTLINE_NN_EPILOGUE_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_NN_EPILOGUE_SIMD
#undef SIGHTLINE_NN_EPILOGUE_SIMD
#else
#define SIGHTLINE_NN_EPILOGUE_SIMD
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <limits>
#include <type_traits>

#include "network/cpu/epilogue.hpp"
#include "network/cpu/functions_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

using Kind = Activation::Kind;

constexpr int kGroup = kVectors == 1 ? 4 : 3;  // vectors whose activations are computed together

// --- activations

// An activation of N vectors.
template <Kind kind, int N>
HWY_INLINE Reals<N> activated(Reals<N> x, const Activation& activation) {
  const Reals<N> a = functions::constants<N>(activation.a), b = functions::constants<N>(activation.b);
  if constexpr (kind == Kind::relu) return functions::relu(x);
  if constexpr (kind == Kind::leaky_relu) return functions::leaky_relu(x, a);
  if constexpr (kind == Kind::clip) return functions::clip(x, a, b);
  if constexpr (kind == Kind::sigmoid) return functions::sigmoid(x);
  if constexpr (kind == Kind::silu) return functions::multiply(x, functions::logistic(x));
  if constexpr (kind == Kind::hard_sigmoid) return functions::hard_sigmoid(x, a, b);
  if constexpr (kind == Kind::hard_swish) return functions::hard_swish(x);
  if constexpr (kind == Kind::scaled) return functions::add(functions::multiply(x, a), b);
  if constexpr (kind == Kind::scaled_relu)
    return functions::add(functions::multiply(functions::relu(x), a), b);
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
    case Kind::scaled:
      return work(std::integral_constant<Kind, Kind::scaled>());
    case Kind::scaled_relu:
      return work(std::integral_constant<Kind, Kind::scaled_relu>());
    case Kind::none:
      return work(std::integral_constant<Kind, Kind::none>());
  }
}

// out[i] = after(i, activation(before(i))), for N vectors.
template <Kind kind, int N, typename Before, typename After>
HWY_INLINE void activate_group(std::ptrdiff_t i, const Activation& activation, float* out,
                               const Before& before, const After& after) {
  const auto x = each<Reals, N>([&](int n) HWY_ATTR { return before(i + n * kLanes); });
  const Reals<N> y = activated<kind>(x, activation);
#pragma GCC unroll 8
  for (int n = 0; n < N; ++n) hn::StoreU(after(i + n * kLanes, y.v[n]), Floats(), out + i + n * kLanes);
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
[[maybe_unused]] HWY_NOINLINE void finish_pixels(float* out, const float* added, int pixels,
                                                 const Finish& finish) {
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
inline bool is_simple(const Finish& finish, bool is_added) {
  switch (finish.activation.kind) {
    case Kind::none:
    case Kind::relu:
    case Kind::leaky_relu:
    case Kind::clip:
    case Kind::scaled:
    case Kind::scaled_relu:
      return !is_added;
    default:
      return false;
  }
}

// Stores a tile's sums of one vector a pixel, finished if the finish is simple.
template <int P>
HWY_INLINE void store_sums(const Vector (&sums)[P], const Finish& finish, bool is_added, float* out) {
  const Kind kind = is_simple(finish, is_added) ? finish.activation.kind : Kind::none;
  const auto store = [&](const auto& finished) HWY_ATTR {
#pragma GCC unroll 32
    for (int p = 0; p < P; ++p) hn::StoreU(finished(sums[p]), Floats(), out + p * kBlock);
  };
  if (kind == Kind::none) return store([](Vector x) HWY_ATTR { return x; });
  const Reals<1> a = functions::constants<1>(finish.activation.a);
  if (kind == Kind::leaky_relu)
    return store([&](Vector x) HWY_ATTR { return functions::leaky_relu(Reals<1>{{x}}, a).v[0]; });
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Reals<1> b = functions::constants<1>(finish.activation.b);
  if (kind == Kind::scaled || kind == Kind::scaled_relu) {
    const Reals<1> low = functions::constants<1>(kind == Kind::scaled ? -kInfinity : 0.0F);
    return store([&](Vector x) HWY_ATTR {
      return functions::add(functions::multiply(functions::greater(low, Reals<1>{{x}}), a), b).v[0];
    });
  }
  const bool is_clip = kind == Kind::clip;
  const Reals<1> low = is_clip ? a : functions::constants<1>(0.0F);
  const Reals<1> high = is_clip ? b : functions::constants<1>(kInfinity);
  store([&](Vector x) HWY_ATTR { return functions::clip(Reals<1>{{x}}, low, high).v[0]; });
}

// Cuts a row into tiles of as equal sizes as can be, and calls `run(size, first pixel, count)` for those of a
// size.
template <typename Run>
HWY_INLINE void cut_into_tiles(int width, int most, const Run& run) {
  const int tiles = (width + most - 1) / most, size = width / tiles, larger = width % tiles;
  if (larger > 0) run(size + 1, 0, larger);
  run(size, larger * (size + 1), tiles - larger);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
