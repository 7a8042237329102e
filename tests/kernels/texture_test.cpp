// Local binary patterns of frames: the operators against hand-worked values and against scikit-image's, rows
// in SIMD and whole frames against the definition.
#include <array>
#include <vector>

#include "base/error.hpp"
#include "frame/frame_result.hpp"
#include "image/border.hpp"
#include "image/lbp.hpp"
#include "kernels/kernel_test.hpp"
#include "support/texture.hpp"
#include "texture/counting.hpp"
#include "texture/processor.hpp"
#include "texture/reference.hpp"

namespace sightline::texture {
namespace {

using sightline::test::Guarded;
using sightline::test::kPatterns;
using sightline::test::Numbers;
using sightline::test::Pattern;
using sightline::test::Picture;

KERNEL_TEST_SUITE(TextureKernel);

// The example that the literature has: bits of 6, 7 and 8 about 5, clockwise from the upper left.
TEST(LbpOperator, HandWorked) {
  // Bits 0, 4 and 6: upper left, lower right and lower left.
  const std::array<std::uint8_t, 9> pixels{6, 4, 2, 3, 5, 1, 8, 3, 7};
  const GrayView view(pixels.data(), 3, 3, 3);
  const LbpOperator grid;
  EXPECT_EQ(grid.code(view, 1, 1), 0b01010001U);
  // 7 - 13 / 5 = 4.4 in sixteenths.
  EXPECT_EQ(grid.contrast(view, 1, 1), 70);
}

TEST(LbpOperator, ContrastIsNoneWhereAllNeighboursAreOfOneKind) {
  std::array<std::uint8_t, 9> pixels{};
  pixels.fill(9);
  const GrayView view(pixels.data(), 3, 3, 3);
  EXPECT_EQ(LbpOperator().contrast(view, 1, 1), 0);
  pixels[4] = 8;
  EXPECT_EQ(LbpOperator().contrast(view, 1, 1), 0);
  pixels[4] = 10;
  EXPECT_EQ(LbpOperator().contrast(view, 1, 1), 0);
  pixels.fill(0);
  pixels[4] = pixels[0] = 255;
  EXPECT_EQ(LbpOperator().contrast(view, 1, 1), kContrastValues - 1);
}

TEST(LbpOperator, NamesAreParsed) {
  for (const char* name : {"grid", "8,1", "16,2.5", "24,32"})
    EXPECT_EQ(LbpOperator::parse(name).name(), name);
  for (const char* name : {"", "circle", "8", "8,", "8,1x", "7,1", "8,0.5", "8,33", "8,nan", "8 ,1"})
    EXPECT_THROW(LbpOperator::parse(name), Error) << name;
}

TEST(BorderRule, IndicesOutside) {
  const auto at = [](std::int64_t i, std::int64_t n, BorderRule rule) { return inside_index(i, n, rule); };
  EXPECT_EQ(at(-1, 5, BorderRule::wrap), 4);
  EXPECT_EQ(at(11, 5, BorderRule::wrap), 1);
  EXPECT_EQ(at(-7, 5, BorderRule::clamp), 0);
  EXPECT_EQ(at(5, 5, BorderRule::clamp), 4);
  EXPECT_EQ(at(-1, 5, BorderRule::reflect), 1);
  EXPECT_EQ(at(5, 5, BorderRule::reflect), 3);
  EXPECT_EQ(at(-9, 5, BorderRule::reflect), 1);
  for (const BorderRule rule : {BorderRule::wrap, BorderRule::clamp, BorderRule::reflect})
    for (int i = -5; i < 5; ++i) EXPECT_EQ(at(i, 1, rule), 0);
}

TEST(TextureSettings, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(check({{}, LbpMapping::uniform}), Error);
  EXPECT_THROW(check({std::vector<LbpOperator>(9), LbpMapping::uniform}), Error);
  EXPECT_THROW(check({{LbpOperator(16, 2)}, LbpMapping::plain}), Error);
  EXPECT_THROW(check({{LbpOperator(24, 3)}, LbpMapping::rotation}), Error);
  EXPECT_THROW(check({{LbpOperator()}, LbpMapping::plain, false, -1}), Error);
}

TEST_P(TextureKernel, ContrastsAreTheDefinition) {
  for (const LbpOperator& one :
       {LbpOperator(), LbpOperator(8, 1), LbpOperator(16, 2.5), LbpOperator(24, 4)}) {
    const int reach = one.reach();
    for (const int count : {1, 3, 4, 7, 8, 9, 17, 33, 65}) {
      for (const Pattern pattern : kPatterns) {
        SCOPED_TRACE(one.name() + ", " + std::to_string(count) + " pixels");
        const Picture picture({count + 2 * reach, 2 * reach + 1}, pattern);
        Guarded<std::uint16_t> contrasts(static_cast<std::size_t>(count));
        make_contrasts(one, picture.view(), reach, reach, reach + count, contrasts.data());
        ASSERT_TRUE(contrasts.untouched_outside(0, count));
        for (int x = 0; x < count; ++x)
          ASSERT_EQ(contrasts.data()[x], one.contrast(picture.view(), reach + x, reach)) << x;
      }
    }
  }
}

TEST_P(TextureKernel, CountsOfCodesAreTheDefinition) {
  for (const LbpOperator& one : {LbpOperator(), LbpOperator(8, 1), LbpOperator(8, 1.5), LbpOperator(8, 32)}) {
    const int reach = one.reach();
    for (const int count : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200}) {
      for (const Pattern pattern : kPatterns) {
        const Picture picture({count + 2 * reach, 2 * reach + 1}, pattern);
        CodeTables tables;
        count_codes(one, picture.view(), reach, reach, reach + count, tables);
        std::array<std::uint32_t, CodeTables::kCodes> expected{};
        for (int x = 0; x < count; ++x) ++expected[one.code(picture.view(), reach + x, reach)];
        for (int code = 0; code < CodeTables::kCodes; ++code)
          ASSERT_EQ(tables.count(code), expected[static_cast<std::size_t>(code)])
              << one.name() << ", " << count << " pixels, code " << code;
      }
    }
  }
}

TEST_P(TextureKernel, FramesAreTheDefinition) {
  for (const TextureSettings& settings : test::many_settings()) {
    const TextureProcessor processor(settings);
    const auto workspace = processor.make_workspace();
    const int border = 2 * settings.reach();
    // One workspace for all of them: nothing of a frame may stay for the next.
    for (const Size size : {Size{1, 1}, Size{5, 3}, Size{33, 1}, Size{64, 65}, Size{131, 40}}) {
      for (const Pattern pattern : {Pattern::noise, Pattern::flat_areas}) {
        SCOPED_TRACE(test::name_of(settings) + " of " + std::to_string(size.width) + "x" +
                     std::to_string(size.height));
        const Picture picture({size.width + border, size.height + border}, pattern);
        ASSERT_TRUE(run_stages(processor, *workspace, picture.view()));
        FrameResult result;
        processor.take_result(*workspace, result);
        TextureOutput expected;
        count_by_definition(settings, picture.view(), expected);
        EXPECT_EQ(result.output->difference(expected), "");
        EXPECT_EQ(expected.size, size);
      }
    }
  }
}

TEST(Texture, FramesThatAreAllBorderAreSkipped) {
  const TextureProcessor processor({{LbpOperator(8, 2)}, LbpMapping::uniform});
  const Picture picture({4, 100}, Pattern::noise);
  EXPECT_FALSE(run_stages(processor, *processor.make_workspace(), picture.view()));
}

TEST(Texture, OutputsSayWhereTheyDiffer) {
  const Picture picture({20, 20}, Pattern::noise);
  const TextureSettings settings{{LbpOperator()}, LbpMapping::plain, true, 5, true};
  TextureOutput one, other;
  count_by_definition(settings, picture.view(), one);
  count_by_definition(settings, picture.view(), other);
  EXPECT_EQ(one.difference(other), "");
  other.operators[0].labels8.view().at(3, 4) ^= 1;
  EXPECT_NE(one.difference(other).find("label at (3, 4)"), std::string::npos);
  ++other.operators[0].bins[7];
  EXPECT_NE(one.difference(other).find("bins: number 7"), std::string::npos);
}

}  // namespace
}  // namespace sightline::texture
