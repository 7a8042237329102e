// The operations of folds on vectors. Included by *_simd.cpp once for each instruction set.
#if defined(SIGHTLINE_NN_FOLD_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef SIGHTLINE_NN_FOLD_SIMD
#undef SIGHTLINE_NN_FOLD_SIMD
#else
#define SIGHTLINE_NN_FOLD_SIMD
#endif

#include <hwy/highway.h>

#include <limits>

#include "network/cpu/rest_simd.hpp"
#include "network/primitives/primitive.hpp"

HWY_BEFORE_NAMESPACE();
namespace sightline::nn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Operations have: kInitial, the fold of nothing; `seen`, which numbers pass before they are folded, and
// results afterwards; `both`, the fold of two.
struct Sum {
  static constexpr float kInitial = 0;
  HWY_INLINE Vector seen(Vector x) const { return x; }
  HWY_INLINE Vector both(Vector a, Vector b) const { return hn::Add(a, b); }
};
struct Multiplication {
  static constexpr float kInitial = 1;
  HWY_INLINE Vector seen(Vector x) const { return x; }
  HWY_INLINE Vector both(Vector a, Vector b) const { return hn::Mul(a, b); }
};
// The maximum is the minimum of numbers whose signs are flipped, with its sign flipped.
struct Extreme {
  static constexpr float kInitial = std::numeric_limits<float>::infinity();
  Vector flip;
  HWY_INLINE explicit Extreme(bool is_maximum) : flip(is_maximum ? constant(-0.0F) : hn::Zero(Floats())) {}
  HWY_INLINE Vector seen(Vector x) const { return hn::Xor(x, flip); }
  // functions::minimum: a NaN before numbers, and -0 below +0.
  HWY_INLINE Vector both(Vector a, Vector b) const {
#if HWY_ARCH_X86
    // Min gives the second operand if one is NaN or both are zeros: then, the bits of both together are those
    // of a NaN, or of the zero with the sign.
    return hn::Or(hn::Min(a, b), hn::Min(b, a));
#else
    const Vector other = hn::IfThenElse(hn::Eq(a, a), hn::IfThenElse(hn::Lt(a, b), a, b), a);
    return hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), other);
#endif
  }
};

// Calls `run` with a fold's operations.
template <typename Run>
HWY_INLINE void with_fold(Fold fold, const Run& run) {
  switch (fold) {
    case Fold::sum:
      return run(Sum());
    case Fold::product:
      return run(Multiplication());
    default:
      return run(Extreme(fold == Fold::maximum));
  }
}

}  // namespace sightline::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
