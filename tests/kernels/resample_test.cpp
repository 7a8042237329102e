// Exact bilinear resampling: SIMD against the scalar reference.
#include "image/resample.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/kernel_test.hpp"

namespace sightline {
namespace {

using test::Pattern;

KERNEL_TEST_SUITE(ResampleKernel);

// Where the two forms first differ; "" where nowhere, and the SIMD form wrote nothing but its rows.
std::string difference(GrayView source, Size target, int y_begin, int y_end) {
  test::GuardedImage<std::uint8_t> found(target), expected(target);
  resample_rows(source, SamplePlan(source.size(), target), y_begin, y_end, found.view());
  resample_rows_reference(source, SampleAxis(source.width(), target.width),
                          SampleAxis(source.height(), target.height), y_begin, y_end, expected.view());
  if (!found.columns_untouched_outside(y_begin, y_end)) return "written outside";
  return test::first_difference(found.view(), expected.view(), y_begin, y_end);
}

TEST_P(ResampleKernel, EqualsReference) {
  for (const Size size : {Size{33, 40}, {161, 97}, {320, 200}, {15, 90}, {1000, 61}, {1, 1}, {16, 1}}) {
    for (const Pattern pattern : {Pattern::noise, Pattern::checkerboard, Pattern::flat_areas}) {
      PaddedImage frame = test::padded_image(size, pattern, 3);
      frame.view().at(0, 0) = frame.view().at(size.width - 1, size.height - 1) = 255;
      for (const double scale : {1.0, 1.1, 1.5, 1.99, 2.0, 2.6, 3.9, 4.7, 9.0}) {
        const Size small{std::max(static_cast<int>(size.width / scale), 1),
                         std::max(static_cast<int>(size.height / scale), 1)};
        ASSERT_EQ(difference(frame.view(), small, 0, small.height), "")
            << size.width << "x" << size.height << ", scale " << scale;
      }
    }
  }
}

// The extremes, where sums of products are largest.
TEST_P(ResampleKernel, OfBlackAndWhiteEqualsReference) {
  Image<std::uint8_t> frame(200, 150);
  test::Numbers numbers(1);
  for (int y = 0; y < 150; ++y)
    for (int x = 0; x < 200; ++x) frame.view().at(x, y) = numbers(0, 3) == 0 ? 0 : 255;
  EXPECT_EQ(difference(frame.view(), {137, 111}, 0, 111), "");
}

TEST_P(ResampleKernel, WritesItsRowsOnly) {
  const PaddedImage frame = test::padded_image({50, 20}, Pattern::noise, 4);
  for (int begin = 0; begin <= 15; ++begin) {
    for (int end = begin; end <= 15; ++end) ASSERT_EQ(difference(frame.view(), {38, 15}, begin, end), "");
  }
}

TEST(SampleAxis, HandWorked) {
  // Positions 0.25, 1.75, of three: 64 / 256 between the first two, 192 / 256 between the last two.
  const SampleAxis axis(3, 2);
  EXPECT_EQ(axis.first, (std::vector{0, 1}));
  EXPECT_EQ(axis.second, (std::vector{1, 2}));
  EXPECT_EQ(axis.weight, (std::vector<std::uint16_t>{64, 192}));
  // Enlarged, the outer positions, -0.25 and 1.25, are clamped.
  const SampleAxis larger(2, 4);
  EXPECT_EQ(larger.first, (std::vector{0, 0, 0, 1}));
  EXPECT_EQ(larger.weight, (std::vector<std::uint16_t>{0, 64, 192, 0}));
}

}  // namespace
}  // namespace sightline
