#include "detectors/network/functions.hpp"

namespace sightline::network {
namespace {

// Sine and cosine of |r| <= pi/4 by their series, which needs no more terms in double precision.
double sine_series(double r) {
  const double s = r * r;
  double p = 1;
  for (int n = 8; n > 0; --n) p = std::fma(-s * p, 1.0 / ((2 * n) * (2 * n + 1)), 1.0);
  return r * p;
}
double cosine_series(double r) {
  const double s = r * r;
  double p = 1;
  for (int n = 8; n > 0; --n) p = std::fma(-s * p, 1.0 / ((2 * n - 1) * (2 * n)), 1.0);
  return p;
}

// @param quarter  number of quarters of a circle that are added
float turned_sine(float x, std::int64_t quarter) {
  constexpr double kQuarterHigh = 1.57079632673412561417, kQuarterLow = 6.07710050650619224932e-11;
  if (!(std::fabs(x) < 1073741824.0F)) return std::numeric_limits<float>::quiet_NaN();
  const double n = std::floor(double{x} / (kQuarterHigh + kQuarterLow) + 0.5);
  const double r = std::fma(-n, kQuarterLow, std::fma(-n, kQuarterHigh, double{x}));
  const std::int64_t turn = (static_cast<std::int64_t>(n) + quarter) & 3;
  const double y = turn % 2 == 0 ? sine_series(r) : cosine_series(r);
  return static_cast<float>(turn >= 2 ? -y : y);
}

}  // namespace

float power(float a, float b) {
  if (b == 0.5F) return std::sqrt(a);
  if (b == std::floor(b) && std::fabs(b) <= 8) {
    float product = 1;
    for (int i = 0; i < static_cast<int>(std::fabs(b)); ++i) product *= a;
    return b < 0 ? 1 / product : product;
  }
  return exponential(b * logarithm(a));
}

float sine(float x) {
  return turned_sine(x, 0);
}
float cosine(float x) {
  return turned_sine(x, 1);
}

}  // namespace sightline::network
