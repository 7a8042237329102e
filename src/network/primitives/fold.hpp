#pragma once
/// Folds of numbers, for Reduce, WindowFold and Scan.

#include <limits>

#include "network/functions.hpp"
#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// What a fold of nothing is.
template <typename T>
T initial(Fold fold) {
  using Limits = std::numeric_limits<T>;
  constexpr T kLargest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  constexpr T kSmallest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  switch (fold) {
    case Fold::sum:
      return 0;
    case Fold::product:
      return 1;
    case Fold::minimum:
      return kLargest;
    case Fold::maximum:
      break;
  }
  return kSmallest;
}

/// The fold of what was folded and one more element.
template <typename T>
T folded(Fold fold, T all, T one) {
  switch (fold) {
    case Fold::sum:
      return functions::add(all, one);
    case Fold::product:
      return functions::multiply(all, one);
    case Fold::minimum:
      return functions::minimum(all, one);
    case Fold::maximum:
      break;
  }
  return functions::maximum(all, one);
}

/// As with_type, for numbers alone.
template <typename F>
void with_number(DataType type, const F& f) {
  with_type(type, [&]<typename T>() {
    if constexpr (!std::is_same_v<T, bool>) f.template operator()<T>();
  });
}

}  // namespace sightline::nn
