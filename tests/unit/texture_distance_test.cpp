#include "texture/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.hpp"
#include "texture/classification.hpp"

namespace sightline::texture {
namespace {

using enum DistanceKind;
using Counts = std::vector<std::uint64_t>;

TEST(TextureDistance, ByItsDefinition) {
  const Counts a{1, 3, 0, 0};
  const Counts b{4, 2, 2, 0};  // of 8: shares 1/2, 1/4, 1/4
  EXPECT_DOUBLE_EQ(distance(a, b, chi_square), 0.0625 / 0.75 + 0.25 / 1 + 0.0625 / 0.25);
  EXPECT_EQ(distance(a, b, intersection), 0.5);
  EXPECT_DOUBLE_EQ(distance(a, b, hellinger),
                   std::pow(std::sqrt(0.5) - 0.5, 2) + std::pow(std::sqrt(0.75) - 0.5, 2) + 0.25);
  for (const DistanceKind kind : {chi_square, intersection, hellinger})
    EXPECT_EQ(distance(a, b, kind), distance(b, a, kind));
}

TEST(TextureDistance, EqualSharesAreAtZeroExactly) {
  // Shares of 1/3 have no exact double; and counts whose products go beyond 64 bits.
  const std::uint64_t huge = std::uint64_t{1} << 40;
  for (const DistanceKind kind : {chi_square, intersection, hellinger}) {
    EXPECT_EQ(distance(Counts{1, 1, 1}, Counts{7, 7, 7}, kind), 0);
    EXPECT_EQ(distance(Counts{huge, 2 * huge}, Counts{3 * huge, 6 * huge}, kind), 0);
    EXPECT_DOUBLE_EQ(distance(Counts{5, 0}, Counts{0, 3}, kind), kind == intersection ? 1 : 2);
    EXPECT_EQ(distance(Counts{0, 0}, Counts{0, 3}, kind), kind == intersection ? 1 : 2);
    EXPECT_EQ(distance(Counts{0, 0}, Counts{0, 0}, kind), 0);
  }
  // One pixel of 2^41 is not lost.
  EXPECT_GT(distance(Counts{huge, huge}, Counts{huge + 1, huge - 1}, chi_square), 0);
  EXPECT_GT(distance(Counts{huge, huge}, Counts{huge + 1, huge - 1}, hellinger), 0);
}

TEST(TextureDistance, NamesAreReadBack) {
  for (const DistanceKind kind : {chi_square, intersection, hellinger})
    EXPECT_EQ(parse_distance_kind(to_string(kind)), kind);
  EXPECT_FALSE(parse_distance_kind("chi"));
}

TextureRecord record_of(const std::string& name, const Counts& first, const Counts& second) {
  TextureRecord record;
  record.picture = name;
  record.histograms = {{"luma", "8,1", first, {}}, {"luma", "8,2", second, {}}};
  return record;
}

TEST(TextureDistance, HistogramsAreAddedUpAndOnlyThoseOfOneKind) {
  const TextureRecord a = record_of("a", {1, 0}, {1, 1});
  TextureRecord b = record_of("b", {1, 1}, {0, 1});
  EXPECT_EQ(distance(a, b, intersection), 1);
  b.mapping = LbpMapping::plain;
  test::expect_error(ExitCode::usage, "'a'", [&] { distance(a, b, chi_square); });
}

TEST(TextureDistance, NearestFirstAndOfEqualOnesTheFirst) {
  const std::vector<TextureRecord> known{record_of("far", {0, 1}, {0, 1}), record_of("one", {2, 1}, {1, 0}),
                                         record_of("same", {4, 2}, {9, 0}),
                                         record_of("middle", {1, 1}, {1, 0})};
  const auto found = nearest(record_of("q", {2, 1}, {1, 0}), known, chi_square, 3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].index, 1u);
  EXPECT_EQ(found[1].index, 2u);
  EXPECT_EQ(found[2].index, 3u);
  EXPECT_EQ(found[1].distance, 0);
  EXPECT_EQ(nearest(known[0], known, chi_square, 99).size(), 4u);
}

TEST(TextureClassification, CountsWhatIsTakenForWhat) {
  const auto made = [](std::size_t label, std::uint64_t first) {
    return LabelledTexture{label, record_of("", {first, 100 - first}, {1, 1})};
  };
  const std::vector<LabelledTexture> known{made(0, 10), made(0, 12), made(1, 60), made(1, 90)};
  const std::vector<LabelledTexture> queries{made(0, 11), made(0, 45), made(1, 85), made(1, 11)};
  const Classification found = classify({"a", "b"}, known, queries, chi_square);
  EXPECT_EQ(found.confusion, (std::vector<std::vector<std::int64_t>>{{1, 1}, {1, 1}}));
  EXPECT_EQ(found.right(), 2);
  EXPECT_EQ(found.total(), 4);
  EXPECT_EQ(found.accuracy(), 0.5);
  EXPECT_EQ(found.known, 4u);
  // Each against the others: the two of b are far apart, but still nearer to each other than to a.
  const Classification left_out = classify_left_out({"a", "b"}, known, chi_square);
  EXPECT_EQ(left_out.right(), 4);
  EXPECT_EQ(classify_left_out({"a", "b"}, std::span(known).subspan(0, 3), chi_square).right(), 2)
      << "none is compared with itself";
}

TEST(TextureClassification, IntervalOfClasses) {
  const Interval none = bootstrap_interval({1, 1, 1});
  EXPECT_EQ(none.low, 1);
  EXPECT_EQ(none.high, 1);
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i % 2);
  // The mean of a hundred tosses of a coin: 0.5 +- 1.96 * 0.05.
  const Interval coin = bootstrap_interval(values);
  EXPECT_NEAR(coin.low, 0.40, 0.011);
  EXPECT_NEAR(coin.high, 0.60, 0.011);
}

}  // namespace
}  // namespace sightline::texture
