#include "network/functions.hpp"

namespace sightline::nn::functions {
namespace {

// Sine and cosine of |r| <= pi/4 by their series, which needs no more terms in double precision.
// @param odd  1: sine, 0: cosine
double series(double r, int odd) {
  const double s = r * r;
  double p = 1;
  for (int n = 8; n > 0; --n) p = std::fma(-s * p, 1.0 / ((2 * n - 1 + odd) * (2 * n + odd)), 1.0);
  return odd == 1 ? r * p : p;
}

// The sine of x and a number of quarters of a circle.
float turned_sine(float x, std::int64_t quarter) {
  constexpr double kQuarterHigh = 1.57079632673412561417, kQuarterLow = 6.07710050650619224932e-11;
  if (!(std::fabs(x) < 1073741824.0F)) return std::numeric_limits<float>::quiet_NaN();
  const double n = std::floor(double{x} / (kQuarterHigh + kQuarterLow) + 0.5);
  const double r = std::fma(-n, kQuarterLow, std::fma(-n, kQuarterHigh, double{x}));
  const std::int64_t turn = (static_cast<std::int64_t>(n) + quarter) & 3;
  const double y = series(r, turn % 2 == 0 ? 1 : 0);
  return static_cast<float>(turn >= 2 ? -y : y);
}

}  // namespace

float sine(float x) {
  return turned_sine(x, 0);
}
float cosine(float x) {
  return turned_sine(x, 1);
}

}  // namespace sightline::nn::functions
