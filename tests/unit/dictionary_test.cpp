#include "detectors/filterbank/dictionary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "support/filterbank.hpp"

namespace sightline::filterbank {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int positive_sum(const Filter& filter) {
  int sum = 0;
  for (const int c : filter) sum += std::max(c, 0);
  return sum;
}

int largest_of(const std::vector<Filter>& filters) {
  int largest = 0;
  for (const Filter& f : filters) {
    for (const int c : f) largest = std::max(largest, std::abs(c));
  }
  return largest;
}

TEST(Quantise, HandWorked) {
  // A difference of two pixels: the scale is 127 / sqrt(0.5).
  const float h = std::sqrt(0.5F);
  const std::vector<FloatFilter> filters{{h, -h, 0, 0, 0, 0, 0, 0, 0}, {0, 0, 0, h / 2, 0, 0, 0, -h / 2, 0}};
  const auto result = quantise(filters);
  EXPECT_THAT(result[0], ElementsAre(127, -127, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(result[1], ElementsAre(0, 0, 0, 64, 0, 0, 0, -64, 0));  // 63.5, away from zero
}

TEST(Quantise, RoundingIsCorrectedWhereItCostsLeast) {
  // 8 * -1/8 + 1 at a scale of 127: eight times -15.875 is rounded to -16, one too many; any of the eight
  // gives way.
  const std::vector<FloatFilter> filters{{1, -.125F, -.125F, -.125F, -.125F, -.125F, -.125F, -.125F, -.125F}};
  const auto result = quantise(filters);
  EXPECT_EQ(std::accumulate(result[0].begin(), result[0].end(), 0), 0);
  EXPECT_EQ(result[0][0], 127);
  EXPECT_EQ(std::count(result[0].begin(), result[0].end(), -16), 7);
  EXPECT_EQ(std::count(result[0].begin(), result[0].end(), -15), 1);
}

TEST(Quantise, EveryFilterSumsToZeroAndStaysClose) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto filters = test::random_filters(50, seed);
    const auto result = quantise(filters);
    double largest = 0;
    double largest_sum = 0;
    for (const FloatFilter& f : filters) {
      double sum = 0;
      for (const double c : f) {
        largest = std::max(largest, std::fabs(c));
        sum += std::max(c, 0.0);
      }
      largest_sum = std::max(largest_sum, sum);
    }
    const double scale = std::min(127 / largest, (kMaxPositiveSum - 5) / largest_sum);
    for (std::size_t k = 0; k < result.size(); ++k) {
      ASSERT_EQ(std::accumulate(result[k].begin(), result[k].end(), 0), 0);
      ASSERT_LE(positive_sum(result[k]), kMaxPositiveSum);
      for (int i = 0; i < kTaps; ++i)
        ASSERT_NEAR(result[k][i], filters[k][i] * scale, 1.5) << seed << " " << k;
    }
    EXPECT_NO_THROW(Dictionary(result, filters));
  }
}

TEST(Quantise, LargestCoefficientIs127UnlessTheSumForbidsIt) {
  const float h = std::sqrt(0.5F);
  EXPECT_EQ(largest_of(quantise(std::vector<FloatFilter>{{h, 0, 0, 0, -h, 0, 0, 0, 0}})), 127);
  // Four against four equal ones would sum to 508.
  const float e = std::sqrt(0.125F);
  const auto checker = quantise(std::vector<FloatFilter>{{e, -e, e, -e, 0, -e, e, -e, e}});
  EXPECT_LE(positive_sum(checker[0]), kMaxPositiveSum);
  EXPECT_EQ(largest_of(checker), 63);
}

TEST(Quantise, ZerosStayZero) {
  EXPECT_THAT(quantise(std::vector<FloatFilter>{FloatFilter{}})[0], ::testing::Each(0));
  EXPECT_TRUE(quantise({}).empty());
}

TEST(Dictionary, PacksRowsForDotProducts) {
  const Filter f{1, -2, 3, 4, -5, 6, -7, 8, -8};
  const Dictionary dictionary({f}, {FloatFilter{}});
  const auto byte = [](std::int32_t word, int i) {
    return static_cast<int>(static_cast<std::int8_t>(word >> (8 * i)));
  };
  const auto word = [](std::int32_t pair, int i) {
    return static_cast<int>(static_cast<std::int16_t>(pair >> (16 * i)));
  };
  ASSERT_EQ(dictionary.quads().size(), 3U);
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(byte(dictionary.quads()[row], i), f[3 * row + i]);
    EXPECT_EQ(byte(dictionary.quads()[row], 3), 0);
  }
  ASSERT_EQ(dictionary.pairs().size(), 5U);
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQ(word(dictionary.pairs()[row], 0), f[3 * row]);
    EXPECT_EQ(word(dictionary.pairs()[row], 1), f[3 * row + 1]);
  }
  EXPECT_EQ(word(dictionary.pairs()[3], 0), f[2]);
  EXPECT_EQ(word(dictionary.pairs()[3], 1), f[5]);
  EXPECT_EQ(word(dictionary.pairs()[4], 0), f[8]);
  EXPECT_EQ(word(dictionary.pairs()[4], 1), 0);
}

TEST(Dictionary, FirstFilters) {
  const auto floats = test::random_filters(7, 3);
  const Dictionary whole(quantise(floats), floats);
  const Dictionary first = whole.first(4);
  EXPECT_EQ(first.size(), 4);
  EXPECT_TRUE(std::ranges::equal(first.filters(), whole.filters().first(4)));
  EXPECT_TRUE(std::ranges::equal(first.reference(), whole.reference().first(4)));
  EXPECT_TRUE(std::ranges::equal(first.quads(), whole.quads().first(4 * 3)));
  EXPECT_TRUE(std::ranges::equal(first.pairs(), whole.pairs().first(4 * 5)));
  EXPECT_EQ(whole.first(7).size(), 7);
}

TEST(Dictionary, RefusesWhatTheKernelsCannotHold) {
  const auto complaint = [](std::vector<Filter> filters, std::vector<FloatFilter> reference) {
    return test::error_of(ExitCode::model, [&] { Dictionary(std::move(filters), std::move(reference)); });
  };
  const Filter good{127, 127, 3, -127, -127, -3, 0, 0, 0};  // 257, the most
  EXPECT_EQ(complaint({good}, {FloatFilter{}}), "");
  EXPECT_THAT(complaint({}, {}), HasSubstr("0 filters"));
  EXPECT_THAT(complaint({good}, {FloatFilter{}, FloatFilter{}}), AllOf(HasSubstr("1"), HasSubstr("2")));
  EXPECT_EQ(complaint(std::vector<Filter>(256), std::vector<FloatFilter>(256)), "");
  EXPECT_THAT(complaint(std::vector<Filter>(257), std::vector<FloatFilter>(257)), HasSubstr("257 filters"));
  EXPECT_THAT(complaint({good, {1, 0, 0, 0, 0, 0, 0, 0, 0}}, {FloatFilter{}, FloatFilter{}}),
              HasSubstr("filter 1"));
  EXPECT_THAT(complaint({{127, 127, 4, -127, -127, -4, 0, 0, 0}}, {FloatFilter{}}),
              AllOf(HasSubstr("filter 0"), HasSubstr("258")));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    FloatFilter reference{};
    reference[8] = bad;
    EXPECT_THAT(complaint({good, good}, {FloatFilter{}, reference}), HasSubstr("reference filter 1"));
  }
}

}  // namespace
}  // namespace sightline::filterbank
