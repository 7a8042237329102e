// Elementwise operations, windows and sums of rows, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/rows_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "network/cpu/epilogue_simd.hpp"
#include "network/cpu/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

constexpr std::size_t kSumLanes = 16;

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

// The larger one: NaN before numbers, 0 before -0.
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

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(binary);
HWY_EXPORT(activate);
HWY_EXPORT(max_pool);
HWY_EXPORT(resize);
HWY_EXPORT(sum_all);

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

}  // namespace sightline::nn
#endif  // HWY_ONCE
