#include "benchmarks/trade_off.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t i = text.find(part); i != std::string::npos; i = text.find(part, i + 1)) ++times;
  return times;
}

const std::vector<TradeOff> kMeasured{
    {"ours", "50 filters", 1.1, "", 100, 90, 110, 0.2}, {"ours", "50 filters", 1.2, "", 200, 190, 210, 0.25},
    {"HOG", "", 1.1, "defaults", 0, 0, 0, 0.53},        {"HOG", "", 1.2, "defaults", 40, 38, 44, 0.6},
    {"HOG", "", 1.1, "a, b", 20, 18, 22, 0.5},
};
const std::vector<TradeOff> kBest{kMeasured[0], kMeasured[1], kMeasured[4], kMeasured[3]};

TEST(TradeOff, TheBestVariantMissesLeast) {
  EXPECT_THAT(best_variants(kMeasured), ElementsAre(0, 1, 4, 3));
  std::vector<TradeOff> equal = kMeasured;
  equal[4].miss_rate = equal[2].miss_rate;
  EXPECT_THAT(best_variants(equal), ElementsAre(0, 1, 2, 3));
}

TEST(TradeOff, CsvIsExactAndLeavesOutWhatWasNotMeasured) {
  EXPECT_EQ(trade_offs_as_csv(std::vector<TradeOff>{kMeasured[0], kMeasured[2], kMeasured[4]}),
            "family,line,scale_step,variant,frames_per_second,slowest,fastest,log_average_miss_rate\n"
            "ours,50 filters,1.1,,100,90,110,0.2\n"
            "HOG,,1.1,defaults,,,,0.53\n"
            "HOG,,1.1,\"a, b\",20,18,22,0.5\n");
}

TEST(TradeOff, TheTableComparesAtEqualScaleSteps) {
  EXPECT_EQ(
      trade_offs_as_markdown(kBest, "HOG"),
      "| detector | scale step | frames/s | times HOG | log-average miss rate |\n|---|---|---|---|---|\n"
      "| ours, 50 filters | 1.1 | 100 | 5.0 | 0.200 |\n"
      "| ours, 50 filters | 1.2 | 200 | 5.0 | 0.250 |\n"
      "| HOG, a, b | 1.1 | 20.0 |  | 0.500 |\n"
      "| HOG, defaults | 1.2 | 40.0 |  | 0.600 |\n");
}

TEST(TradeOff, SvgPutsPointsWhereTheyAre) {
  const std::string svg = trade_offs_as_svg(kBest, "A <title>", {"on what", "with what"});
  // Axes from 10 to 300 frames/s and from 10% to 70%: 100 frames/s lie ln 10 / ln 30 of the way along, 20%
  // lie ln 2 / ln 7 of the way up.
  EXPECT_THAT(svg, HasSubstr("M547.2 339.3L689 288.8\" stroke=\"#0072B2\""));
  EXPECT_EQ(times_in(svg, "<title>ours, 50 filters, scale step 1.1: 100 frames/s, miss rate 20%</title>"),
            1U);
  EXPECT_EQ(times_in(svg, " frames/s, miss rate "), 4U);
  EXPECT_EQ(times_in(svg, ">50 filters<"), 1U);  // once a line
  EXPECT_THAT(svg, HasSubstr(">A &lt;title&gt;<"));
  EXPECT_THAT(svg, HasSubstr(">on what<"));
  EXPECT_THAT(svg, HasSubstr(">with what<"));
}

TEST(TradeOff, SvgHasAMarkForEachScaleStepAndAColourForEachFamily) {
  const std::string svg = trade_offs_as_svg(kBest, "", {});
  EXPECT_EQ(times_in(svg, "a5 5 0 1 0 10 0"), 3U);  // circles at 1.1, and in the legend
  EXPECT_EQ(times_in(svg, "h9v9h-9z"), 3U);         // squares at 1.2
  EXPECT_EQ(times_in(svg, "fill=\"#0072B2\"><title>"), 2U);
  EXPECT_EQ(times_in(svg, "fill=\"#D55E00\"><title>"), 2U);
}

TEST(TradeOff, SvgSurvivesOddInput) {
  EXPECT_THAT(trade_offs_as_svg({}, "", {}), Not(HasSubstr("nan")));
  const std::string one = trade_offs_as_svg(std::vector<TradeOff>{kMeasured[0]}, "", {});
  EXPECT_THAT(one, Not(HasSubstr("nan")));
  EXPECT_THAT(one, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace sightline
