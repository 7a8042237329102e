// Elementwise operations on rows, compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/cpu/rows_simd.cpp"
#include <hwy/foreach_target.h>  // compiles this file once per instruction set
#include <hwy/highway.h>

#include "network/cpu/epilogue_simd.hpp"
#include "network/cpu/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace {

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
  const auto finish = [&](const auto& combined) HWY_ATTR {
    const Floats d;
    const auto both = [&](std::ptrdiff_t i) HWY_ATTR {
      return combined(hn::LoadU(d, a + i), hn::LoadU(d, b + (b_step > 0 ? i : i % kBlock)));
    };
    activate_vectors(width * kBlock, activation, out, both,
                     [](std::ptrdiff_t, Vector y) HWY_ATTR { return y; });
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
    case Binary::add:
      return finish([](Vector p, Vector q) HWY_ATTR { return hn::Add(p, q); });
    case Binary::subtract:
      return finish([](Vector p, Vector q) HWY_ATTR { return hn::Sub(p, q); });
    case Binary::multiply:
      return finish([](Vector p, Vector q) HWY_ATTR { return hn::Mul(p, q); });
  }
  if (activation.kind != Activation::Kind::none) activate(out, width, activation, out);
}

}  // namespace
}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sightline::nn {

HWY_EXPORT(binary);
HWY_EXPORT(activate);

void binary_row(Binary op, const float* a, const float* b, std::ptrdiff_t b_step, int width,
                const Activation& activation, float* out) {
  HWY_DYNAMIC_DISPATCH(binary)(op, a, b, b_step, width, activation, out);
}
void activate_row(const float* a, int width, const Activation& activation, float* out) {
  HWY_DYNAMIC_DISPATCH(activate)(a, width, activation, out);
}

}  // namespace sightline::nn
#endif  // HWY_ONCE
