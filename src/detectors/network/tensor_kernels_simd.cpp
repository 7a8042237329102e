// The kernels on plain tensors, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "detectors/network/tensor_kernels_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "detectors/network/functions.hpp"
#include "detectors/network/tensor_kernels.hpp"
#include "network/cpu/functions_simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::network::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using nn::HWY_NAMESPACE::constant;
using nn::HWY_NAMESPACE::Floats;
using nn::HWY_NAMESPACE::Vector;

HWY_INLINE Vector exponential_of(Vector x) {
  return nn::HWY_NAMESPACE::functions::exponential(nn::HWY_NAMESPACE::Reals<1>{{x}}).v[0];
}

constexpr std::int64_t kStep = HWY_LANES(float);

// The first of a vector's lanes, of which `count` are there: all, or those alone, as masks are slow.
HWY_INLINE hn::Mask<Floats> rest_of(std::int64_t count) {
  return hn::FirstN(Floats(), static_cast<std::size_t>(count));
}
HWY_INLINE Vector load_rest(const float* from, std::int64_t count) {
  return count >= kStep ? hn::LoadU(Floats(), from) : hn::MaskedLoad(rest_of(count), Floats(), from);
}
HWY_INLINE void store_rest(Vector x, float* to, std::int64_t count) {
  if (count >= kStep) return hn::StoreU(x, Floats(), to);
#if HWY_ARCH_X86
  hn::BlendedStore(x, rest_of(count), Floats(), to);
#else
  // Elsewhere, that writes what is behind, too, which may be another thread's.
  HWY_ALIGN float lanes[kStep];
  hn::Store(x, Floats(), lanes);
  std::copy_n(lanes, count, to);
#endif
}

// --- sums and softmax of rows

// The lanes of tree_sum.
struct Lanes {
  static constexpr std::int64_t kCount = kSumLanes / kStep;
  Vector lanes[kCount];

  HWY_INLINE Lanes() {
    for (Vector& one : lanes) one = hn::Zero(Floats());
  }
  // `x` begins with number i, a multiple of kStep, and has zeros behind the last number.
  HWY_INLINE void add(std::int64_t i, Vector x) {
    Vector& lane = lanes[i / kStep % kCount];
    lane = hn::Add(lane, x);
  }
  HWY_INLINE float total() {
    for (std::int64_t half = kCount / 2; half > 0; half /= 2) {
      for (std::int64_t l = 0; l < half; ++l) lanes[l] = hn::Add(lanes[l], lanes[l + half]);
    }
    HWY_ALIGN float sums[kStep];
    hn::Store(lanes[0], Floats(), sums);
#pragma GCC unroll 4
    for (std::int64_t half = kStep / 2; half > 0; half /= 2) {
      for (std::int64_t l = 0; l < half; ++l) sums[l] += sums[l + half];
    }
    return sums[0];
  }
};

// tree_sum for rows side by side: `at(i)` gives the numbers i of a vector's rows.
template <typename At>
HWY_INLINE Vector sum_across(std::int64_t count, const At& at) {
  Vector lanes[kSumLanes];
  for (Vector& one : lanes) one = hn::Zero(Floats());
  for (std::int64_t i = 0; i < count; ++i) {
    Vector& lane = lanes[static_cast<std::size_t>(i) % kSumLanes];
    lane = hn::Add(lane, at(i));
  }
  for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] = hn::Add(lanes[l], lanes[l + half]);
  }
  return lanes[0];
}

// Calls f(place of the first number, row, count) for each vector of rows side by side.
template <typename F>
HWY_INLINE void for_rows_beside(const AxisRows& rows, const F& f) {
  for (std::int64_t r = rows.first; r < rows.last;) {
    const std::int64_t j = r % rows.step, there = std::min({kStep, rows.step - j, rows.last - r});
    f((r - j) * rows.count + j, r, there);
    r += there;
  }
}

void sum_each_row(const AxisRows& rows, const float* from, float* to) {
  const std::int64_t count = rows.count;
  if (rows.step > 1) {
    return for_rows_beside(rows, [&](std::int64_t at, std::int64_t row, std::int64_t there) HWY_ATTR {
      const auto number = [&](std::int64_t i)
                              HWY_ATTR { return load_rest(from + at + i * rows.step, there); };
      store_rest(sum_across(count, number), to + row, there);
    });
  }
  for (std::int64_t r = rows.first; r < rows.last; ++r) {
    Lanes lanes;
    for (std::int64_t i = 0; i < count; i += kStep) lanes.add(i, load_rest(from + r * count + i, count - i));
    to[r] = lanes.total();
  }
}

void softmax(const float* from, float* to, std::int64_t count) {
  const Floats d;
  // Which of equal numbers is the largest does not matter; with a NaN, all becomes NaN by the sum.
  const Vector lowest = constant(-std::numeric_limits<float>::infinity());
  const auto only_rest = [&](Vector x, std::int64_t i, Vector other) HWY_ATTR {
    return count - i >= kStep ? x : hn::IfThenElse(rest_of(count - i), x, other);
  };
  Vector largest = lowest;
  for (std::int64_t i = 0; i < count; i += kStep)
    largest = hn::Max(largest, only_rest(load_rest(from + i, count - i), i, lowest));
  const Vector top = hn::MaxOfLanes(d, largest);
  Lanes lanes;
  for (std::int64_t i = 0; i < count; i += kStep) {
    const Vector e = exponential_of(hn::Sub(load_rest(from + i, count - i), top));
    store_rest(e, to + i, count - i);
    lanes.add(i, only_rest(e, i, hn::Zero(d)));
  }
  const Vector sum = constant(lanes.total());
  for (std::int64_t i = 0; i < count; i += kStep)
    store_rest(hn::Div(load_rest(to + i, count - i), sum), to + i, count - i);
}

// The other half of each group of 2 * Half lanes.
template <int Half>
HWY_INLINE Vector other_half(Vector x) {
  if constexpr (Half == 1) return hn::Shuffle2301(x);
  if constexpr (Half == 2) return hn::Shuffle1032(x);
  return hn::SwapAdjacentBlocks(x);
}

// Softmax of a vector's rows of Count numbers each. Lanes of tree_sum that have no number are 0.
template <int Count>
HWY_INLINE Vector softmax_within(Vector x) {
  Vector top = hn::Max(x, other_half<Count / 2>(x));
  if constexpr (Count >= 4) top = hn::Max(top, other_half<Count / 4>(top));
  if constexpr (Count >= 8) top = hn::Max(top, other_half<Count / 8>(top));
  const Vector e = exponential_of(hn::Sub(x, top));
  Vector sum = hn::Add(e, other_half<Count / 2>(e));
  if constexpr (Count >= 4) sum = hn::Add(sum, other_half<Count / 4>(sum));
  if constexpr (Count >= 8) sum = hn::Add(sum, other_half<Count / 8>(sum));
  return hn::Div(e, sum);
}

template <int Count>
void softmax_short(const float* from, float* to, std::int64_t size) {
  for (std::int64_t i = 0; i < size; i += kStep)
    store_rest(softmax_within<Count>(load_rest(from + i, size - i)), to + i, size - i);
}

// Softmax of `there` rows side by side, at most a vector.
void softmax_across(const float* from, float* to, std::int64_t count, std::int64_t step, std::int64_t there) {
  Vector top = constant(-std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < count; ++i) top = hn::Max(top, load_rest(from + i * step, there));
  const Vector sum = sum_across(count, [&](std::int64_t i) HWY_ATTR {
    const Vector e = exponential_of(hn::Sub(load_rest(from + i * step, there), top));
    store_rest(e, to + i * step, there);
    return e;
  });
  for (std::int64_t i = 0; i < count; ++i)
    store_rest(hn::Div(load_rest(to + i * step, there), sum), to + i * step, there);
}

void softmax_each_row(const AxisRows& rows, const float* from, float* to) {
  const std::int64_t count = rows.count, step = rows.step;
  if (step > 1) {
    return for_rows_beside(rows, [&](std::int64_t at, std::int64_t /*row*/, std::int64_t there)
                                     HWY_ATTR { softmax_across(from + at, to + at, count, step, there); });
  }
  from += rows.first * count;
  to += rows.first * count;
  const std::int64_t many = rows.last - rows.first;
  if constexpr (kStep >= 8) {
    if (count == 2) return softmax_short<2>(from, to, many * count);
    if (count == 4) return softmax_short<4>(from, to, many * count);
    if (count == 8) return softmax_short<8>(from, to, many * count);
  }
  for (std::int64_t r = 0; r < many; ++r) softmax(from + r * count, to + r * count, count);
}

// --- element by element

void exponentials(const float* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; i += kStep)
    store_rest(exponential_of(load_rest(from + i, count - i)), to + i, count - i);
}

void binary_elements(char op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
                     std::int64_t count, float* out) {
  const auto combine = [op](auto x, auto y) HWY_ATTR {
    return op == '+' ? hn::Add(x, y) : op == '-' ? hn::Sub(x, y) : op == '*' ? hn::Mul(x, y) : hn::Div(x, y);
  };
  for (std::int64_t i = 0; i < count; i += kStep) {
    const Vector x = a_step ? load_rest(a + i, count - i) : constant(*a),
                 y = b_step ? load_rest(b + i, count - i) : constant(*b);
    store_rest(combine(x, y), out + i, count - i);
  }
}

}  // namespace sightline::network::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::network {

HWY_EXPORT(sum_each_row);
HWY_EXPORT(softmax_each_row);
HWY_EXPORT(exponentials);
HWY_EXPORT(binary_elements);

void sum_rows(const AxisRows& rows, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(sum_each_row)(rows, from, to);
}
void softmax_rows(const AxisRows& rows, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(softmax_each_row)(rows, from, to);
}
void exponential_run(const float* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(exponentials)(from, count, to);
}
void binary_run(char op, const float* a, std::int64_t a_step, const float* b, std::int64_t b_step,
                std::int64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(binary_elements)(op, a, a_step, b, b_step, count, out);
}

}  // namespace sightline::network
#endif  // HWY_ONCE
