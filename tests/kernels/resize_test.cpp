// The pyramid's two steps.
#include <algorithm>
#include <cmath>

#include "image/pyramid.hpp"
#include "kernels/kernel_test.hpp"

namespace sightline {
namespace {

using test::first_difference;
using test::GuardedImage;
using test::Numbers;
using test::Pattern;

KERNEL_TEST_SUITE(ResizeKernel);
KERNEL_TEST_SUITE(HalveKernel);

// A frame without a byte of slack, so that a sanitizer sees every read outside; top-down or bottom-up.
struct Frame {
  Frame(Size s, Pattern pattern, unsigned seed)
      : size(s), pixels(static_cast<std::size_t>(s.width) * s.height) {
    Numbers numbers(seed);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] =
          test::pixel_of(pattern, static_cast<int>(i) % s.width, static_cast<int>(i) / s.width, numbers);
    }
  }
  GrayView view() const { return {pixels.data(), size.width, size.height, size.width}; }
  GrayView bottom_up() const {
    return {pixels.data() + static_cast<std::ptrdiff_t>(size.height - 1) * size.width, size.width,
            size.height, -size.width};
  }
  Size size;
  std::vector<std::uint8_t> pixels;
};

std::vector<int> resized(const std::vector<std::uint8_t>& pixels, Size source, Size target, double ratio,
                         int border = 0) {
  GuardedImage<std::uint8_t> result(target);
  Resizer(source, target, ratio, border)
      .run({pixels.data(), source.width, source.height, source.width}, result.view(), 0, target.height);
  std::vector<int> values;
  for (int y = 0; y < target.height; ++y) {
    for (int x = 0; x < target.width; ++x) values.push_back(result.view().at(x, y));
  }
  return values;
}

TEST_P(ResizeKernel, HandWorked) {
  // Positions -0.25, 0.25, 0.75 and 1.25, the outer two clamped.
  EXPECT_EQ(resized({0, 100}, {2, 1}, {4, 1}, 0.5), (std::vector{0, 25, 75, 100}));
  EXPECT_EQ(resized({0, 100}, {1, 2}, {1, 4}, 0.5), (std::vector{0, 25, 75, 100}));
  // Position 0.5 in both directions: the mean.
  EXPECT_EQ(resized({10, 20, 30, 40}, {2, 2}, {1, 1}, 2.0), (std::vector{25}));
  // One pixel gives flat pictures.
  EXPECT_EQ(resized({77}, {1, 1}, {3, 2}, 0.3), std::vector<int>(6, 77));
}

TEST_P(ResizeKernel, HandWorkedInVectors) {
  // 32 columns, 0, 8, 16, ..., sampled at the mean of two neighbours: 4, 20, 36, ...
  std::vector<std::uint8_t> row(32);
  for (int x = 0; x < 32; ++x) row[x] = static_cast<std::uint8_t>(8 * x);
  std::vector<int> expected(16);
  for (int x = 0; x < 16; ++x) expected[x] = 16 * x + 4;
  EXPECT_EQ(resized(row, {32, 1}, {16, 1}, 2.0), expected);
}

// A border repeats the source's edge, whatever the ratio: as if the source were larger.
TEST_P(ResizeKernel, BorderRepeatsTheEdge) {
  EXPECT_EQ(resized({10, 20, 30}, {3, 1}, {9, 1}, 1.0, 3), (std::vector{10, 10, 10, 10, 20, 30, 30, 30, 30}));
  constexpr int kBeyond = 24;
  const Frame frame({61, 23}, Pattern::noise, 3);
  const Size enlarged{61 + 2 * kBeyond, 23 + 2 * kBeyond};
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < enlarged.height; ++y) {
    for (int x = 0; x < enlarged.width; ++x)
      pixels.push_back(frame.view().at(std::clamp(x - kBeyond, 0, 60), std::clamp(y - kBeyond, 0, 22)));
  }
  for (const int border : {1, 8, 12}) {  // of the target, in which two pixels of the source are one
    const Size target{30 + 2 * border, 11 + 2 * border};
    const std::vector<int> all = resized(pixels, enlarged, {54, 35}, 2.0),
                           found = resized(frame.pixels, frame.size, target, 2.0, border);
    for (int y = 0; y < target.height; ++y) {
      for (int x = 0; x < target.width; ++x)
        ASSERT_EQ(found[y * target.width + x],
                  all[(y - border + kBeyond / 2) * 54 + x - border + kBeyond / 2])
            << x << " " << y << ", border " << border;
    }
  }
}

TEST_P(ResizeKernel, RatioOneCopies) {
  const Frame frame({67, 5}, Pattern::noise, 1);
  const std::vector<int> same(frame.pixels.begin(), frame.pixels.end());
  EXPECT_EQ(resized(frame.pixels, frame.size, frame.size, 1.0), same);
}

TEST_P(ResizeKernel, EqualsReference) {
  for (const Size source : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 2}, Size{8, 8}, Size{15, 4},
                            Size{16, 5}, Size{17, 9}, Size{31, 8}, Size{33, 31}, Size{129, 20}}) {
    for (const double ratio : {0.3, 0.5, 0.77, 0.999, 1.0, 1.1, 1.3, 1.5, 1.77, 1.99, 2.0, 2.7, 9.1}) {
      const Size natural{std::max(1, static_cast<int>(std::lround(source.width / ratio))),
                         std::max(1, static_cast<int>(std::lround(source.height / ratio)))};
      // Also targets that end early, and ones that reach far past the source.
      for (const Size target : {natural, Size{7, 3}, {8, 1}, {9, 2}, {17, 40}}) {
        for (const Pattern pattern : {Pattern::noise, Pattern::white, Pattern::checkerboard}) {
          const Frame frame(source, pattern, static_cast<unsigned>(source.width));
          const Resizer resizer(source, target, ratio, target.width % 3 * 5);  // a border for some
          for (const GrayView view : {frame.view(), frame.bottom_up()}) {
            GuardedImage<std::uint8_t> result(target), expected(target);
            resizer.run(view, result.view(), 0, target.height);
            resizer.run_reference(view, expected.view(), 0, target.height);
            ASSERT_EQ(first_difference(result.view(), expected.view(), 0, target.height), "")
                << source.width << "x" << source.height << " to " << target.width << "x" << target.height
                << " at " << ratio;
            ASSERT_TRUE(result.columns_untouched_outside(0, target.height));
          }
        }
      }
    }
  }
}

TEST_P(ResizeKernel, BottomUpIsTheSamePicture) {
  const Frame frame({45, 21}, Pattern::noise, 3);
  Frame flipped = frame;
  for (int y = 0; y < 21; ++y) std::copy_n(frame.view().row(y), 45, flipped.pixels.begin() + (20 - y) * 45);
  const Resizer resizer({45, 21}, {32, 15}, 1.4);
  GuardedImage<std::uint8_t> a({32, 15}), b({32, 15});
  resizer.run(frame.view(), a.view(), 0, 15);
  resizer.run(flipped.bottom_up(), b.view(), 0, 15);
  EXPECT_EQ(first_difference(a.view(), b.view(), 0, 15), "");
}

TEST_P(ResizeKernel, WritesItsRowsOnly) {
  const Frame frame({50, 20}, Pattern::noise, 4);
  const Size target{38, 15};
  const Resizer resizer(frame.size, target, 1.3);
  GuardedImage<std::uint8_t> expected(target);
  resizer.run_reference(frame.view(), expected.view(), 0, target.height);
  for (int begin = 0; begin <= target.height; ++begin) {
    for (int end = begin; end <= target.height; ++end) {
      GuardedImage<std::uint8_t> result(target);
      resizer.run(frame.view(), result.view(), begin, end);
      ASSERT_EQ(first_difference(result.view(), expected.view(), begin, end), "");
      ASSERT_TRUE(result.columns_untouched_outside(begin, end));
    }
  }
}

TEST_P(HalveKernel, HandWorked) {
  // 10 / 4 = 2.5 rounds up to 3, 1 / 4 down, 2 / 4 up; the odd column and row are dropped.
  const std::vector<std::uint8_t> source{1, 2, 0, 0, 0, 0, 99,  //
                                         3, 4, 0, 1, 1, 1, 99,  //
                                         9, 9, 9, 9, 9, 9, 99};
  GuardedImage<std::uint8_t> target({3, 1});
  halve({source.data(), 7, 3, 7}, target.view(), 0, 1);
  EXPECT_EQ(target.view().at(0, 0), 3);
  EXPECT_EQ(target.view().at(1, 0), 0);
  EXPECT_EQ(target.view().at(2, 0), 1);
}

TEST_P(HalveKernel, EqualsReference) {
  for (int width = 1; width <= 140; ++width) {
    for (const Pattern pattern : {Pattern::noise, Pattern::white, Pattern::stripes}) {
      const Frame frame({width, 7}, pattern, static_cast<unsigned>(width));
      const Size half{width / 2, 3};
      for (const GrayView view : {frame.view(), frame.bottom_up()}) {
        for (const int begin : {0, 1, 3}) {
          GuardedImage<std::uint8_t> result(half), expected(half);
          halve(view, result.view(), begin, 3);
          halve_reference(view, expected.view(), begin, 3);
          ASSERT_EQ(first_difference(result.view(), expected.view(), begin, 3), "") << width;
          ASSERT_TRUE(result.columns_untouched_outside(begin, 3)) << width;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sightline
