// Local binary patterns of a circle: SIMD against the definition, and the definition against hand-worked
// values.
#include "image/circular_lbp.hpp"

#include <numeric>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline {
namespace {

using test::Guarded;
using test::kPatterns;
using test::Numbers;
using test::Pattern;
using test::Picture;

constexpr int kPoints[] = {8, 16, 24};
constexpr double kRadii[] = {1, 1.5, 2, 3, 5, 32};

KERNEL_TEST_SUITE(CircularLbpKernel);

template <typename Code>
void expect_row(const Picture& picture, const CircularLbp& circle) {
  const int reach = circle.reach();
  const int count = picture.size.width - 2 * reach;
  for (int y = reach; y < picture.size.height - reach; ++y) {
    Guarded<Code> codes(static_cast<std::size_t>(count));
    circular_lbp_row(picture.view(), circle, y, reach, reach + count, codes.data());
    ASSERT_TRUE(codes.untouched_outside(0, count));
    for (int x = 0; x < count; ++x)
      ASSERT_EQ(std::uint32_t{codes.data()[x]}, circle.code(picture.view(), reach + x, y)) << x << ", " << y;
  }
}

TEST_P(CircularLbpKernel, RowsAreTheDefinition) {
  for (const int points : kPoints) {
    for (const double radius : kRadii) {
      const CircularLbp circle(points, radius);
      const int reach = circle.reach();
      for (const int count : {1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130}) {
        for (const Pattern pattern : kPatterns) {
          SCOPED_TRACE(std::to_string(points) + " points, radius " + std::to_string(radius) + ", " +
                       std::to_string(count) + " pixels, pattern " +
                       std::to_string(static_cast<int>(pattern)));
          const Picture picture({count + 2 * reach, 2 * reach + 2}, pattern);
          if (points == 8) expect_row<std::uint8_t>(picture, circle);
          if (points <= 16) expect_row<std::uint16_t>(picture, circle);
          expect_row<std::uint32_t>(picture, circle);
        }
      }
    }
  }
}

TEST(CircularLbp, HandWorked) {
  // East and north are pixels; north-east, at (1.414, -1.414), is a mix.
  const CircularLbp circle(8, 2);
  EXPECT_EQ(circle.reach(), 2);
  EXPECT_EQ(circle.samples()[0], (LbpSample{2, 0, {128, 0, 0, 0}}));
  EXPECT_EQ(circle.samples()[1], (LbpSample{1, -2, {31, 22, 44, 31}}));
  EXPECT_EQ(circle.samples()[2], (LbpSample{0, -2, {128, 0, 0, 0}}));
  // A single bright pixel at (1, -1) of the middle gives 44 / 128 of itself to north-east.
  std::vector<std::uint8_t> pixels(25, 0);
  pixels[1 * 5 + 3] = 128;
  const GrayView view(pixels.data(), 5, 5, 5);
  for (const int middle : {43, 44, 45}) {
    pixels[12] = static_cast<std::uint8_t>(middle);
    EXPECT_EQ(circle.code(view, 2, 2), middle <= 44 ? 2U : 0U) << middle;
  }
}

TEST(CircularLbp, AllBitsAreSetWherePixelsAreEqual) {
  for (const int points : kPoints) {
    for (const double radius : kRadii) {
      const CircularLbp circle(points, radius);
      const int side = 2 * circle.reach() + 1;
      const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(side * side), 77);
      EXPECT_EQ(circle.code({pixels.data(), side, side, side}, side / 2, side / 2), (1U << points) - 1);
      for (const LbpSample& s : circle.samples()) {
        EXPECT_EQ(std::accumulate(s.weights.begin(), s.weights.end(), 0), kLbpSampleOne);
        EXPECT_LE(std::abs(s.x), circle.reach());
        EXPECT_LE(std::abs(s.y), circle.reach());
      }
    }
  }
}

// A picture that is turned by a quarter has its codes turned by a quarter; one that is mirrored, mirrored.
TEST(CircularLbp, TurnsAndMirrorsWithThePicture) {
  for (const int points : kPoints) {
    for (const double radius : kRadii) {
      const CircularLbp circle(points, radius);
      const int side = 2 * circle.reach() + 1, middle = circle.reach();
      const Picture picture({side, side}, Pattern::noise);
      std::vector<std::uint8_t> turned(picture.pixels.size()), mirrored(picture.pixels.size());
      for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
          turned[static_cast<std::size_t>((side - 1 - x) * side + y)] = picture.view().at(x, y);
          mirrored[static_cast<std::size_t>(y * side + side - 1 - x)] = picture.view().at(x, y);
        }
      }
      const std::uint32_t code = circle.code(picture.view(), middle, middle);
      std::uint32_t turned_code = 0, mirrored_code = 0;
      for (int p = 0; p < points; ++p) {
        const std::uint32_t bit = code >> p & 1;
        turned_code |= bit << (p + points / 4) % points;
        mirrored_code |= bit << (points / 2 - p + points) % points;
      }
      EXPECT_EQ(circle.code({turned.data(), side, side, side}, middle, middle), turned_code);
      EXPECT_EQ(circle.code({mirrored.data(), side, side, side}, middle, middle), mirrored_code);
    }
  }
}

TEST(CircularLbp, WhatDoesNotExistIsRefused) {
  EXPECT_THROW(CircularLbp(12, 2), Error);
  EXPECT_THROW(CircularLbp(8, 0.5), Error);
  EXPECT_THROW(CircularLbp(8, 33), Error);
  EXPECT_THROW(CircularLbp(8, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(LbpBins(16, LbpMapping::plain), Error);
  EXPECT_THROW(LbpBins(24, LbpMapping::plain), Error);
  EXPECT_THROW(LbpBins(24, LbpMapping::rotation), Error);
}

TEST(LbpBins, AreAsManyAsThereAre) {
  EXPECT_EQ(LbpBins(8, LbpMapping::plain).count(), 256);
  EXPECT_EQ(LbpBins(8, LbpMapping::uniform).count(), 59);
  EXPECT_EQ(LbpBins(16, LbpMapping::uniform).count(), 243);
  EXPECT_EQ(LbpBins(24, LbpMapping::uniform).count(), 555);
  EXPECT_EQ(LbpBins(8, LbpMapping::rotation).count(), 36);
  EXPECT_EQ(LbpBins(16, LbpMapping::rotation).count(), 4116);
  EXPECT_EQ(LbpBins(8, LbpMapping::rotation_uniform).count(), 10);
  EXPECT_EQ(LbpBins(16, LbpMapping::rotation_uniform).count(), 18);
  EXPECT_EQ(LbpBins(24, LbpMapping::rotation_uniform).count(), 26);
}

TEST(LbpBins, UniformCodesRiseAndOthersShareTheLast) {
  for (const int points : kPoints) {
    const LbpBins bins(points, LbpMapping::uniform), turned(points, LbpMapping::rotation_uniform);
    const std::uint32_t all = (1U << points) - 1;
    std::set<std::uint32_t> uniform{0, all};
    for (int ones = 1; ones < points; ++ones) {
      for (int at = 0; at < points; ++at) {
        const std::uint64_t block = ((std::uint64_t{1} << ones) - 1) << at;
        const auto code = static_cast<std::uint32_t>((block | block >> points) & all);
        uniform.insert(code);
        EXPECT_EQ(turned.bin(code), ones);
      }
    }
    ASSERT_EQ(static_cast<int>(uniform.size()), bins.count() - 1);
    int next = 0;
    for (const std::uint32_t code : uniform) EXPECT_EQ(bins.bin(code), next++) << points << ", " << code;
    EXPECT_EQ(bins.bin(5), bins.count() - 1);
    EXPECT_EQ(turned.bin(5), points + 1);
  }
}

TEST(LbpBins, ByRotationAreTheSameForAllRotations) {
  for (const int points : {8, 16}) {
    const LbpBins bins(points, LbpMapping::rotation);
    std::set<int> found;
    for (std::uint32_t code = 0; code < 1U << points; ++code) {
      EXPECT_EQ(bins.bin(code), bins.bin((code >> 1) | ((code & 1) << (points - 1))));
      found.insert(bins.bin(code));
    }
    EXPECT_EQ(static_cast<int>(found.size()), bins.count());
    EXPECT_EQ(*found.rbegin(), bins.count() - 1);
  }
}

TEST(LbpMapping, HasNames) {
  for (const LbpMapping mapping :
       {LbpMapping::plain, LbpMapping::uniform, LbpMapping::rotation, LbpMapping::rotation_uniform})
    EXPECT_EQ(parse_lbp_mapping(to_string(mapping)), mapping);
  EXPECT_FALSE(parse_lbp_mapping("u3"));
}

}  // namespace
}  // namespace sightline
