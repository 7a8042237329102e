// Functions of the network engine against those of the interpreter, to the bit.
#include "network/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "detectors/network/functions.hpp"

namespace sightline::network {
namespace {

bool is_same(float a, float b) {
  return float_as_bits(a) == float_as_bits(b) || (std::isnan(a) && std::isnan(b));
}

// Calls `f` with every 16,411th float, and with all near the limits of the functions' branches.
template <typename F>
void for_many_floats(const F& f) {
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 16411)
    f(bits_as_float(static_cast<std::uint32_t>(bits)));
  for (const float limit : {0.0F, 1.17549435e-38F, 0.5F, 0.625F, 0.927734375F, 1.0F, 1.41421356F, 4.0F, 87.0F,
                            89.0F, 104.0F, 1073741824.0F, std::numeric_limits<float>::infinity()}) {
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const float near = bits_as_float(float_as_bits(limit) - 1000 + i);
      f(near);
      f(-near);
    }
  }
}

template <typename Ours, typename Theirs>
void expect_same(const char* name, const Ours& ours, const Theirs& theirs) {
  int different = 0;
  for_many_floats([&](float x) {
    if (!is_same(ours(x), theirs(x)) && ++different == 1) ADD_FAILURE() << name << " of " << x;
  });
  EXPECT_EQ(different, 0) << name;
}

TEST(NetworkEngineFunctions, EqualTheInterpretersToTheBit) {
  namespace ours = nn::functions;
  expect_same("exponential", ours::exponential, exponential);
  expect_same("logarithm", ours::logarithm, logarithm);
  expect_same("sigmoid", ours::sigmoid, sigmoid);
  expect_same("hyperbolic_tangent", ours::hyperbolic_tangent, hyperbolic_tangent);
  expect_same("error_function", ours::error_function, error_function);
  expect_same("sine", ours::sine, sine);
  expect_same("cosine", ours::cosine, cosine);
  for (const float y : {-8.0F, -1.0F, 0.0F, 0.5F, 2.0F, 3.0F, 7.0F, 8.0F, 9.0F, 0.3F, -2.5F, NAN})
    expect_same(
        "power", [&](float x) { return static_cast<float (*)(float, float)>(ours::power)(x, y); },
        [&](float x) { return power(x, y); });
  for (const float y : {-INFINITY, -1.0F, -0.0F, 0.0F, 1.0F, NAN})
    expect_same(
        "maximum", [&](float x) { return static_cast<float (*)(float, float)>(ours::maximum)(x, y); },
        [&](float x) { return larger_value(x, y); });
}

}  // namespace
}  // namespace sightline::network
