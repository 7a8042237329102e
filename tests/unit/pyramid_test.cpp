#include "image/pyramid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/filterbank.hpp"

namespace sightline {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Size kWindow{64, 128};

TEST(PlanPyramid, ScalesSizesAndOctaves) {
  const auto levels = plan_pyramid({1280, 1100}, kWindow, {.step = 2.0});
  ASSERT_EQ(levels.size(), 4U);  // 1100 / 16 = 69 is too low
  for (int i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(levels[i].scale, std::ldexp(1.0, i));
    EXPECT_EQ(levels[i].octave, i);
  }
  EXPECT_EQ(levels[0].size, (Size{1280, 1100}));
  EXPECT_EQ(levels[3].size, (Size{160, 138}));  // 137.5, away from zero
}

TEST(PlanPyramid, BilinearStepStaysBelowTwo) {
  const auto levels = plan_pyramid({4096, 4096}, {16, 16}, {.first_scale = 0.3, .step = 1.1});
  ASSERT_GT(levels.size(), 60U);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    EXPECT_NEAR(levels[i].scale, 0.3 * std::pow(1.1, i), 1e-9 * levels[i].scale);
    const double ratio = std::ldexp(levels[i].scale, -levels[i].octave);
    EXPECT_LT(ratio, 2.0);
    EXPECT_GE(ratio, levels[i].octave == 0 ? 0.3 : 1.0);
  }
}

TEST(PlanPyramid, EndsWhereTheWindowNoLongerFits) {
  EXPECT_EQ(plan_pyramid(kWindow, kWindow, {}).size(), 1U);
  EXPECT_THAT(plan_pyramid({63, 128}, kWindow, {}), IsEmpty());
  EXPECT_THAT(plan_pyramid({640, 127}, kWindow, {}), IsEmpty());
  EXPECT_THAT(plan_pyramid({1, 1}, kWindow, {}), IsEmpty());
  // A frame that is too small can be enlarged.
  // A window may be larger than the frame where it may lie beyond.
  const auto beyond = plan_pyramid({48, 100}, kWindow, {.step = 1.2, .border = 24});
  ASSERT_EQ(beyond.size(), 2U);
  EXPECT_EQ(beyond[0].size, (Size{96, 148}));
  EXPECT_EQ(beyond[1].size, (Size{88, 131}));
  EXPECT_EQ(beyond[1].border, 24);
  EXPECT_THAT(plan_pyramid({31, 100}, kWindow, {.border = 64}), IsEmpty());
  EXPECT_EQ(plan_pyramid({32, 64}, kWindow, {.border = 64}).size(), 1U);

  const auto enlarged = plan_pyramid({32, 64}, kWindow, {.first_scale = 0.5});
  ASSERT_EQ(enlarged.size(), 1U);
  EXPECT_EQ(enlarged[0].size, kWindow);
  EXPECT_EQ(enlarged[0].octave, 0);
}

TEST(PlanPyramid, LastScaleIsIncluded) {
  EXPECT_EQ(plan_pyramid({640, 480}, kWindow, {.last_scale = 1.0}).size(), 1U);
  EXPECT_EQ(plan_pyramid({640, 480}, kWindow, {.last_scale = 1.1 * 1.1, .step = 1.1}).size(), 3U);
  EXPECT_EQ(plan_pyramid({640, 480}, kWindow, {.last_scale = 1.2, .step = 1.1}).size(), 2U);
  EXPECT_THAT(plan_pyramid({640, 480}, kWindow, {.last_scale = 0.9}), IsEmpty());
}

TEST(PlanPyramid, RefusesOptionsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double step : {-1.0, 0.0, 1.0, 1.001, 8.01, nan}) {
    const auto plan = [&] { plan_pyramid({640, 480}, kWindow, {.step = step}); };
    EXPECT_NE(test::error_of(ExitCode::usage, plan), "") << step;
  }
  for (const double first : {-1.0, 0.0, 0.06, 4097.0, nan}) {
    const auto plan = [&] { plan_pyramid({640, 480}, kWindow, {.first_scale = first}); };
    EXPECT_NE(test::error_of(ExitCode::usage, plan), "") << first;
  }
}

TEST(ResizeAxis, PositionsAndClamping) {
  const ResizeAxis half = make_resize_axis(2, 4, 0.5);  // -0.25, 0.25, 0.75, 1.25
  EXPECT_THAT(half.first, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(half.weight, ElementsAre(0, 16, 48, 64));
  const ResizeAxis same = make_resize_axis(3, 3, 1.0);
  EXPECT_THAT(same.first, ElementsAre(0, 1, 1));  // the last one as all of its right neighbour
  EXPECT_THAT(same.weight, ElementsAre(0, 0, 64));
  const ResizeAxis single = make_resize_axis(1, 3, 0.3);
  EXPECT_THAT(single.first, ElementsAre(0, 0, 0));
  EXPECT_THAT(single.weight, ElementsAre(0, 0, 0));
}

TEST(PaddedImage, BorderRepeatsTheEdge) {
  PaddedImage image;
  for (const Size size : {Size{5, 4}, {1, 1}, {70, 3}, {5, 4}}) {
    image.resize(size);
    const ImageView<std::uint8_t> view = image.view();
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) view.at(x, y) = static_cast<std::uint8_t>(10 * y + x);
    }
    for (int y = 0; y < size.height; ++y) image.fill_border(y, y + 1);  // in bands, as threads do
    for (int y = -1; y <= size.height; ++y) {
      for (int x = -1; x <= size.width; ++x) {
        const int inside_x = std::min(std::max(x, 0), size.width - 1);
        const int inside_y = std::min(std::max(y, 0), size.height - 1);
        ASSERT_EQ(view.at(x, y), static_cast<std::uint8_t>(10 * inside_y + inside_x)) << x << ", " << y;
      }
    }
  }
}

}  // namespace
}  // namespace sightline
