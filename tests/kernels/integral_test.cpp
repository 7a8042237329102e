// Integral images on a sheet: what they are the sums of, and SIMD against the scalar reference.
#include "image/integral.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/kernel_test.hpp"

namespace sightline {
namespace {

using test::Pattern;

KERNEL_TEST_SUITE(IntegralKernel);

constexpr int kTilted = IntegralSheet::kTilted;

// Levels of all kinds of widths, of both steps, with their images and integrals.
class Sheet {
 public:
  Sheet(SheetContents contents, Pattern pattern) {
    for (const int width : {1, 2, 15, 16, 17, 31, 63, 64, 65, 100, 126}) {
      for (const int step : {1, 2}) levels.push_back({.size = {width, 5 + width % 7}, .step = step});
    }
    plan = plan_sheet(levels, contents);
    pixels.resize(static_cast<std::size_t>(plan.image_bytes) + 64);
    test::Numbers numbers(5);
    for (const SheetLevel& level : levels) {
      for (int y = 0; y < level.size.height; ++y)
        for (int x = 0; x < level.image_stride; ++x)
          image_of(level).row(y)[x] = test::pixel_of(pattern, x, y, numbers);
    }
  }
  ImageView<std::uint8_t> image_of(const SheetLevel& level) {
    return {pixels.data() + level.image, level.size.width, level.size.height, level.image_stride};
  }
  std::vector<std::byte> integrate_with(const auto& form, int y_begin, int y_end) {
    std::vector<std::byte> integrals(static_cast<std::size_t>(plan.integral_bytes()) + 4 * kSheetSlack,
                                     std::byte{0xA5});
    for (const SheetLevel& level : levels) {
      for (int plane = 0; plane < plan.planes; ++plane)
        form(image_of(level), plan, level, plane, y_begin, std::min(y_end, level.size.height),
             integrals.data());
    }
    return integrals;
  }

  std::vector<SheetLevel> levels;
  IntegralSheet plan;
  std::vector<std::uint8_t> pixels;
};

template <typename Sum>
Sum naive_sum(const GrayView& image, int plane, int top, int x, int y) {
  std::uint32_t sum = 0;
  for (int py = top; py < y; ++py) {
    for (int px = 0; px < image.width(); ++px) {
      const std::uint32_t pixel = image.at(px, py);
      if (plane == kTilted) {
        sum += std::abs(px - x + 1) < y - py ? pixel : 0;
      } else if (px < x) {
        sum += plane == IntegralSheet::kSquares ? pixel * pixel : pixel;
      }
    }
  }
  return static_cast<Sum>(sum);
}

template <typename Sum>
void check_reference(SheetContents contents, Pattern pattern, int top) {
  Sheet sheet(contents, pattern);
  const auto integrals = sheet.integrate_with(integrate_reference, top, 1000);
  const auto* const sums = reinterpret_cast<const Sum*>(integrals.data());
  for (const SheetLevel& level : sheet.levels) {
    for (int plane = 0; plane < contents.planes; ++plane) {
      const IntegralPlane found(sheet.plan, level, sums, plane);
      for (int y = top; y <= level.size.height; ++y) {
        for (int x = 0; x <= level.size.width; ++x)
          ASSERT_EQ(found.at(x, y), naive_sum<Sum>(sheet.image_of(level), plane, top, x, y))
              << "plane " << plane << " of width " << level.size.width << " at " << x << ", " << y;
      }
    }
  }
}

TEST(IntegralReference, AreTheSumsThatTheHeaderSays) {
  for (const Pattern pattern : {Pattern::noise, Pattern::white}) {
    for (const int top : {0, 2}) {
      check_reference<std::uint32_t>({.planes = 3}, pattern, top);
      check_reference<std::uint16_t>({.planes = 1, .element_bytes = 2}, pattern, top);
    }
  }
}

template <typename Sum>
void check_simd(SheetContents contents, int y_begin, int y_end) {
  Sheet sheet(contents, Pattern::noise);
  const auto expected = sheet.integrate_with(integrate_reference, y_begin, y_end);
  const auto found = sheet.integrate_with(integrate, y_begin, y_end);
  const auto* const e = reinterpret_cast<const Sum*>(expected.data());
  const auto* const f = reinterpret_cast<const Sum*>(found.data());
  for (const SheetLevel& level : sheet.levels) {
    for (int plane = 0; plane < contents.planes; ++plane) {
      const IntegralPlane a(sheet.plan, level, e, plane), b(sheet.plan, level, f, plane);
      for (int y = y_begin; y <= std::min(y_end, level.size.height); ++y) {
        for (int x = 0; x <= level.size.width; ++x)
          ASSERT_EQ(a.at(x, y), b.at(x, y))
              << "plane " << plane << " of width " << level.size.width << " at " << x << ", " << y;
      }
    }
  }
}

TEST_P(IntegralKernel, EqualsReference) {
  for (const auto& [begin, end] : {std::pair{0, 1000}, {2, 1000}, {1, 4}}) {
    check_simd<std::uint32_t>({.planes = 3}, begin, end);
    check_simd<std::uint16_t>({.planes = 1, .element_bytes = 2}, begin, end);
  }
}

TEST(IntegralPlane, SumsOverRectangles) {
  Sheet sheet({.planes = 3}, Pattern::noise);
  const auto integrals = sheet.integrate_with(integrate_reference, 0, 1000);
  const auto* const sums = reinterpret_cast<const std::uint32_t*>(integrals.data());
  for (const SheetLevel& level : sheet.levels) {
    if (level.size.width < 15) continue;
    const GrayView image = sheet.image_of(level);
    std::uint32_t upright = 0, tilted = 0;
    for (int y = 0; y < level.size.height; ++y) {
      for (int x = 0; x < level.size.width; ++x) {
        if (x >= 3 && x < 7 && y >= 1 && y < 4) upright += image.at(x, y);
        // Turned by 45 degrees about (5, 0), 2 long and 1 wide: four pixels, row by row.
        const int first[] = {4, 4, 5}, last[] = {4, 5, 5};
        if (y < 3 && x >= first[y] && x <= last[y]) tilted += image.at(x, y);
      }
    }
    EXPECT_EQ(IntegralPlane(sheet.plan, level, sums, 0).sum(3, 1, 4, 3), upright);
    EXPECT_EQ(IntegralPlane(sheet.plan, level, sums, kTilted).tilted_sum(5, 0, 2, 1), tilted);
  }
}

// No two levels share an element, whichever half of the sheet it lies in.
TEST(PlanSheet, LevelsLieApart) {
  Sheet sheet({.planes = 1}, Pattern::black);
  std::vector<int> owner(static_cast<std::size_t>(sheet.plan.plane), -1);
  for (std::size_t l = 0; l < sheet.levels.size(); ++l) {
    const SheetLevel& level = sheet.levels[l];
    const IntegralPlane places(sheet.plan, level, owner.data(), 0);
    for (int y = 0; y <= level.size.height; ++y) {
      for (int x = 0; x <= level.size.width; ++x) {
        ASSERT_EQ(places.at(x, y), -1) << "level " << l << " at " << x << ", " << y;
        places.at(x, y) = static_cast<int>(l);
      }
    }
  }
}

TEST(PlanSheet, NoLevelsTakeNoMemory) {
  const IntegralSheet sheet = plan_sheet({}, {.planes = 2});
  EXPECT_EQ(sheet.image_bytes, 0);
  EXPECT_EQ(sheet.integral_bytes(), 0);
}

}  // namespace
}  // namespace sightline
