#include "texture/totals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace sightline::texture {
namespace {

TextureOutput& fill_counts(TextureOutput& output, const TextureSettings& settings, std::uint32_t count) {
  for (const LbpOperator& op : settings.operators) {
    OperatorCounts& counts = output.operators.emplace_back();
    for (int bin = 0; bin < bins_of(op, settings.mapping); ++bin)
      counts.bins.push_back(count - static_cast<std::uint32_t>(bin));
    if (settings.contrast) counts.contrast.assign(kContrastValues, count);
  }
  return output;
}

TextureSettings with_contrast() {
  TextureSettings settings;
  settings.operators = {LbpOperator(), LbpOperator(16, 2)};
  settings.mapping = LbpMapping::rotation_uniform;
  settings.contrast = true;
  return settings;
}

TEST(TextureTotals, TilesAddUpBeyond32Bits) {
  const TextureSettings settings = with_contrast();
  TextureTotals totals(settings, 2);
  TextureOutput tile;
  fill_counts(tile, settings, 4'000'000'000U);
  for (int i = 0; i < 3; ++i) totals.add(1, tile);
  EXPECT_EQ(totals.channels(), 2u);
  EXPECT_EQ(totals.operators(), 2u);
  ASSERT_EQ(totals.of(1, 0).bins.size(), 10u);
  ASSERT_EQ(totals.of(1, 1).bins.size(), 18u);
  EXPECT_EQ(totals.of(1, 0).bins[9], 3 * (4'000'000'000U - 9ULL));
  EXPECT_EQ(totals.of(1, 1).bins[17], 3 * (4'000'000'000U - 17ULL));
  EXPECT_EQ(totals.of(1, 1).contrast.back(), 12'000'000'000ULL);
  EXPECT_EQ(totals.of(0, 0).bins[9], 0u) << "the other channel";
}

TEST(TextureTotals, TilesOfOtherSettingsAreNotAdded) {
  const TextureSettings settings = with_contrast();
  TextureSettings other = settings;
  other.contrast = false;
  TextureTotals totals(settings, 1);
  TextureOutput plain, none, good;
  fill_counts(plain, other, 100);
  fill_counts(good, settings, 100);
  EXPECT_THROW(totals.add(0, plain), std::logic_error);
  EXPECT_THROW(totals.add(0, none), std::logic_error);
  EXPECT_THROW(totals.add(1, good), std::logic_error);
}

TEST(TextureTotals, ContrastIsSummarisedExactly) {
  std::vector<std::uint64_t> counts(kContrastValues);
  counts[0] = 1;
  counts[16] = 24;  // one gray level
  counts[40] = 70;
  counts[4080] = 5;  // 255
  const ContrastSummary found = summarise_contrast(counts);
  EXPECT_EQ(found.mean, (24 * 16 + 70 * 40 + 5 * 4080) / 1600.0);
  double variance = found.mean * found.mean;
  for (const int value : {16, 16, 40, 4080}) {
    const double away = value / 16.0 - found.mean;
    variance += away * away * (value == 16 ? 12 : value == 40 ? 70 : 5);
  }
  EXPECT_NEAR(found.variance, variance / 100, 1e-9);
  // The least value that so many percent do not exceed: 1 of 100 is at 0, 25 are up to 1, 95 up to 2.5.
  EXPECT_EQ(found.percentiles, (std::array<double, 7>{0, 1, 1, 2.5, 2.5, 2.5, 255}));
}

TEST(TextureTotals, ContrastOfAGiantPictureDoesNotOverflow) {
  std::vector<std::uint64_t> counts(kContrastValues);
  counts.back() = std::uint64_t{1} << 36;
  counts.front() = std::uint64_t{1} << 36;
  const ContrastSummary found = summarise_contrast(counts);
  EXPECT_EQ(found.mean, 127.5);
  EXPECT_EQ(found.variance, 127.5 * 127.5);
  EXPECT_EQ(found.percentiles, (std::array<double, 7>{0, 0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(summarise_contrast(std::vector<std::uint64_t>(kContrastValues)), ContrastSummary());
}

}  // namespace
}  // namespace sightline::texture
