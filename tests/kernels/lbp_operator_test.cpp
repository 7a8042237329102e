// Codes against scikit-image's, and against samples that are mixed in floating point.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <vector>

#include "image/lbp_operator.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline {
namespace {

// A picture of 14x12 pixels, and what scikit-image 0.19's local_binary_pattern makes of those of its pixels
// whose neighbours are all inside: (points, radius, method).
constexpr int kWidth = 14, kHeight = 12;
std::vector<std::uint8_t> drawn_pixels() {
  std::vector<std::uint8_t> pixels;
  std::uint32_t state = 2;
  for (int i = 0; i < kWidth * kHeight; ++i) {
    state = (state * 1103515245U + 12345U) & 0x7fffffffU;
    pixels.push_back(static_cast<std::uint8_t>(state >> 16));
  }
  return pixels;
}
// (8, 1, default)
constexpr int kDefault8[] = {
    0,   52,  255, 0,   28,  219, 0,   255, 0,   117, 0,   254, 4,   125, 131, 198, 255, 3,   4,   16,
    255, 0,   255, 0,   14,  24,  191, 1,   0,   95,  142, 255, 42,  255, 0,   255, 255, 140, 255, 230,
    255, 8,   255, 64,  189, 131, 228, 251, 234, 255, 0,   80,  176, 247, 99,  0,   255, 231, 0,   114,
    144, 243, 103, 0,   157, 1,   0,   255, 65,  0,   191, 0,   47,  0,   16,  255, 239, 207, 237, 64,
    16,  254, 255, 4,   94,  255, 141, 0,   251, 67,  1,   0,   191, 0,   48,  255, 136, 251, 38,  31,
    11,  0,   255, 238, 255, 4,   252, 187, 247, 0,   63,  142, 255, 239, 64,  249, 194, 245, 96,  255};
// (8, 1, ror)
constexpr int kRor8[] = {
    0,   13,  255, 0,   7,   111, 0,   255, 0,   87,  0,   127, 1,   95,  7,  27,  255, 3,   1,   1,
    255, 0,   255, 0,   7,   3,   127, 1,   0,   95,  29,  255, 21,  255, 0,  255, 255, 25,  255, 55,
    255, 1,   255, 1,   111, 7,   39,  127, 87,  255, 0,   5,   11,  127, 27, 0,   255, 63,  0,   39,
    9,   63,  59,  0,   59,  1,   0,   255, 5,   0,   127, 0,   47,  0,   1,  255, 127, 63,  111, 1,
    1,   127, 255, 1,   47,  255, 27,  0,   127, 13,  1,   0,   127, 0,   3,  255, 17,  127, 19,  31,
    11,  0,   255, 119, 255, 1,   63,  119, 127, 0,   63,  29,  255, 127, 1,  63,  11,  95,  3,   255};
// (8, 1, uniform)
constexpr int kUniform8[] = {0, 9, 8, 0, 3, 9, 0, 8, 0, 9, 0, 7, 1, 9, 3, 9, 8, 2, 1, 1, 8, 0, 8, 0,
                             3, 2, 7, 1, 0, 9, 9, 8, 9, 8, 0, 8, 8, 9, 8, 9, 8, 1, 8, 1, 9, 3, 9, 7,
                             9, 8, 0, 9, 9, 7, 9, 0, 8, 6, 0, 9, 9, 6, 9, 0, 9, 1, 0, 8, 9, 0, 7, 0,
                             9, 0, 1, 8, 7, 6, 9, 1, 1, 7, 8, 1, 9, 8, 9, 0, 7, 9, 1, 0, 7, 0, 2, 8,
                             9, 7, 9, 5, 9, 0, 8, 9, 8, 1, 6, 9, 7, 0, 6, 9, 8, 7, 1, 6, 9, 9, 2, 8};
// (16, 2, uniform)
constexpr int kUniform16[] = {17, 17, 5,  15, 17, 1,  17, 17, 0,  16, 17, 17, 1,  0,  17, 17, 17, 17, 16, 17,
                              17, 15, 15, 16, 17, 15, 0,  17, 17, 17, 16, 0,  17, 17, 15, 1,  0,  15, 17, 0,
                              17, 17, 17, 17, 2,  2,  16, 17, 1,  17, 0,  2,  16, 16, 17, 17, 1,  1,  17, 15,
                              16, 17, 0,  13, 17, 0,  0,  15, 17, 17, 17, 17, 17, 17, 0,  15, 16, 16, 1,  17};
// (24, 3, uniform)
constexpr int kUniform24[] = {22, 25, 0,  25, 25, 25, 25, 24, 24, 25, 24, 25, 23, 1,  25, 25,
                              1,  25, 25, 25, 25, 2,  23, 25, 25, 25, 25, 1,  0,  24, 25, 25,
                              1,  25, 25, 25, 25, 0,  1,  25, 25, 1,  25, 25, 0,  0,  25, 25};

// By the definition, of all pixels inside: (operator, what becomes of a code).
template <typename Mapped>
void expect_codes(const LbpOperator& one, std::span<const int> expected, const Mapped& mapped) {
  const std::vector<std::uint8_t> pixels = drawn_pixels();
  const GrayView view(pixels.data(), kWidth, kHeight, kWidth);
  const int reach = one.reach();
  std::size_t next = 0;
  for (int y = reach; y < kHeight - reach; ++y) {
    for (int x = reach; x < kWidth - reach; ++x)
      ASSERT_EQ(mapped(one.code(view, x, y)), expected[next++]) << one.name() << " at " << x << ", " << y;
  }
  ASSERT_EQ(next, expected.size());
}

int least_rotation(std::uint32_t code) {
  int least = static_cast<int>(code);
  for (int i = 1; i < 8; ++i) least = std::min(least, static_cast<int>((code >> i | code << (8 - i)) & 255U));
  return least;
}

TEST(LbpOperator, CodesAreScikitImages) {
  expect_codes(LbpOperator(8, 1), kDefault8, [](std::uint32_t code) { return static_cast<int>(code); });
  expect_codes(LbpOperator(8, 1), kRor8, least_rotation);
  const auto riu2 = [](int points) {
    return
        [bins = LbpBins(points, LbpMapping::rotation_uniform)](std::uint32_t code) { return bins.bin(code); };
  };
  expect_codes(LbpOperator(8, 1), kUniform8, riu2(8));
  expect_codes(LbpOperator(16, 2), kUniform16, riu2(16));
  expect_codes(LbpOperator(24, 3), kUniform24, riu2(24));
}

// Bins by rotation are in the order of the least rotations.
TEST(LbpOperator, BinsByRotationAreInTheOrderOfScikitImagesCodes) {
  const LbpBins bins(8, LbpMapping::rotation);
  std::map<int, int> bin_of;
  for (std::uint32_t code = 0; code < 256; ++code) bin_of[least_rotation(code)] = 0;
  int next = 0;
  for (auto& [least, bin] : bin_of) bin = next++;
  EXPECT_EQ(next, bins.count());
  for (std::uint32_t code = 0; code < 256; ++code) EXPECT_EQ(bins.bin(code), bin_of[least_rotation(code)]);
}

// A bit may be another than with exact mixing only where the mixed sample is within 2.5 gray levels of the
// pixel: weights are off by 1/128 at most, offsets by 1/512 of a pixel, of a difference of 255 levels at
// most.
TEST(LbpOperator, MixedSamplesAreExactButForTheirPrecision) {
  constexpr double kPrecision = 2.5;
  const std::vector<std::uint8_t> pixels = drawn_pixels();
  const GrayView view(pixels.data(), kWidth, kHeight, kWidth);
  for (const auto& [points, radius] :
       {std::pair{8, 1.0}, {8, 1.5}, {16, 2.0}, {16, 3.5}, {24, 3.0}, {24, 4.5}}) {
    const LbpOperator one(points, radius);
    const int reach = one.reach();
    for (int y = reach; y < kHeight - reach; ++y) {
      for (int x = reach; x < kWidth - reach; ++x) {
        const std::uint32_t code = one.code(view, x, y);
        for (int p = 0; p < points; ++p) {
          const double angle = 2 * std::numbers::pi * p / points;
          const double at_x = x + radius * std::cos(angle), at_y = y - radius * std::sin(angle);
          const int left = std::clamp(static_cast<int>(std::floor(at_x)), 0, kWidth - 2);
          const int top = std::clamp(static_cast<int>(std::floor(at_y)), 0, kHeight - 2);
          const double u = at_x - left, v = at_y - top;
          const double sample = (1 - v) * ((1 - u) * view.at(left, top) + u * view.at(left + 1, top)) +
                                v * ((1 - u) * view.at(left, top + 1) + u * view.at(left + 1, top + 1));
          const double apart = sample - view.at(x, y);
          if (std::abs(apart) < kPrecision) continue;
          ASSERT_EQ((code >> p & 1U) != 0, apart > 0)
              << one.name() << ", point " << p << " at " << x << ", " << y << ": " << apart;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sightline
