// Sweeps of kernels' settings: their axes, and how they are told to people and programs.
#include "processing/opencl/kernel_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "pipeline/report/measurement_output.hpp"
#include "pipeline/report/sweep_output.hpp"

namespace sightline {
namespace {

using pipeline::measurements_as_json;
using pipeline::measurements_as_page;
using pipeline::measurements_as_text;
using pipeline::sweep_as_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(SweepValues, AreCloserTheLowerTheyAre) {
  EXPECT_THAT(sweep_values(0, 40, 8), ElementsAre(0, 1, 2, 4, 7, 13, 23, 40));
  EXPECT_THAT(sweep_values(1, 40, 8), ElementsAre(1, 2, 3, 5, 8, 14, 24, 40));
  EXPECT_THAT(sweep_values(0, 40, 2), ElementsAre(0, 40));
}

TEST(SweepValues, AreAllOfThemWhereThereAreNoMore) {
  const std::vector<int> all = sweep_values(0, 40, 41);
  ASSERT_EQ(all.size(), 41U);
  for (int i = 0; i <= 40; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
  EXPECT_THAT(sweep_values(1, 3, 8), ElementsAre(1, 2, 3));
  EXPECT_THAT(sweep_values(5, 5, 8), ElementsAre(5));
}

TEST(SweepValues, RiseWhateverTheirNumber) {
  for (int count = 2; count <= 41; ++count) {
    const std::vector<int> values = sweep_values(0, 40, count);
    EXPECT_EQ(values.size(), static_cast<std::size_t>(count));
    EXPECT_EQ(std::ranges::adjacent_find(values, std::greater_equal<>()), values.end()) << count;
    EXPECT_EQ(values.back(), 40);
  }
}

TEST(SweepValues, NearestOnes) {
  const std::vector<int> values{1, 2, 5, 40};
  EXPECT_EQ(nearest(values, 0), 0U);
  EXPECT_EQ(nearest(values, 3.4), 1U);
  EXPECT_EQ(nearest(values, 3.6), 2U);
  EXPECT_EQ(nearest(values, 100), 3U);
}

KernelSweep some_sweep() {
  KernelSweep sweep;
  sweep.name = "phases";
  sweep.timed = "scan & finish";
  sweep.across = "first";
  sweep.down = "further";
  sweep.excess = "windows beyond";
  sweep.columns = {1, 8};
  sweep.rows = {0, 40};
  sweep.points = {{"1,1", 0.004}, {"8,8", 0.001, {1.5, 1}}, {"1,41", 0.002}, {"8,48", 0.0015, {0, 0}}};
  sweep.own = {"7,9", 0.00125, {0, 1.5}};
  sweep.own_place = 3;
  sweep.others = {{"plain kernels", 0.003}};
  sweep.note = "codes take 1 ms besides";
  return sweep;
}

TEST(KernelSweep, ItsFastestAndSlowest) {
  const KernelSweep sweep = some_sweep();
  EXPECT_EQ(sweep.best_place(), 1U);
  EXPECT_DOUBLE_EQ(sweep.slowest(), 0.004);
  EXPECT_EQ(sweep.at(1, 0).setting, "1,41");
}

std::string sweep_as_text(const KernelSweep& sweep) {
  return report::to_text(report::Document{"", {{"", "", {pipeline::sweep_section(sweep)}}}, {}});
}

TEST(KernelSweep, AsText) {
  EXPECT_EQ(
      sweep_as_text(some_sweep()),
      "Sweep of phases: scan & finish, ms a frame\n"
      "\n"
      "across: first; down: further\n"
      "\n"
      "         1      8\n"
      "   0  4.00   1.00* +2.50\n"
      "  40  2.00   1.50o\n"
      "\n"
      "                 setting    ms  of the fastest  windows beyond\n"
      "* fastest            8,8  1.00           1.00×            2.50\n"
      "o own                7,9  1.25           1.25×            1.50\n"
      "           plain kernels  3.00           3.00×            0.00\n"
      "\n"
      "own: what the detector has without a sweep; the place next to it is marked. +n: windows beyond, a\n"
      "frame. Note: codes take 1 ms besides.\n");
}

TEST(KernelSweep, AsTextWithoutExcess) {
  KernelSweep sweep = some_sweep();
  sweep.points[1].excess = sweep.own.excess = {};
  EXPECT_THAT(sweep_as_text(sweep), Not(HasSubstr("beyond")));
  sweep.points.clear();
  EXPECT_EQ(sweep_as_text(sweep), "");
}

// A terminal has 100 columns.
TEST(KernelSweep, WideOnesAreToldInPieces) {
  KernelSweep sweep = some_sweep();
  sweep.columns = sweep_values(0, 40, 41);
  sweep.rows = {0};
  sweep.points.assign(41, SweepPoint{"a", 12.345});
  sweep.own.excess = {};
  std::istringstream lines(sweep_as_text(sweep));
  int headings = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
    headings += std::regex_match(line, std::regex(" {5,}[0-9][0-9 ]*"));
  }
  EXPECT_EQ(headings, 4);
}

TEST(KernelSweep, AsAPicture) {
  const std::string svg = report::to_svg(pipeline::sweep_charts(some_sweep()));
  for (const char* words :
       {">1.00*<", ">1.50o<", "<title>1, 40: 2.00<", ">own: 7,9<", ">8,8<", ">kernel 1<", ">kernel 2<"})
    EXPECT_THAT(svg, HasSubstr(words));
  KernelSweep sweep = some_sweep();
  sweep.points[1].excess = sweep.own.excess = {};
  EXPECT_EQ(pipeline::sweep_charts(sweep).size(), 1U);
  sweep.points.clear();
  EXPECT_TRUE(pipeline::sweep_charts(sweep).empty());
}

TEST(KernelSweep, AsJson) {
  const auto json = sweep_as_json(some_sweep());
  EXPECT_EQ(json.at("columns").dump(), "[1,8]");
  EXPECT_EQ(json.at("ms").dump(), "[[4.0,1.0],[2.0,1.5]]");
  EXPECT_EQ(json.at("excess").dump(), "[[0.0,2.5],[0.0,0.0]]");
  EXPECT_EQ(json.at("own").at("setting"), "7,9");
  EXPECT_EQ(json.at("own").at("excess_by_kernel").dump(), "[0.0,1.5]");
  EXPECT_EQ(json.at("best").at("setting"), "8,8");
  EXPECT_EQ(json.at("others").size(), 1U);
}

TEST(KernelSweep, AsMap) {
  pipeline::Measurement measurement;
  measurement.sweeps = {some_sweep()};
  const std::string card = measurements_as_page({&measurement, 1});
  EXPECT_THAT(card, HasSubstr("<td class=\"fastest \" style=\"--v:0.00\" title=\"8,8: 1.00 ms, 2.50 windows "
                              "beyond\">1.00*<small>+2.50</small></td>"));
  EXPECT_THAT(card, HasSubstr("<td class=\"own\" style=\"--v:0.29\""));
  EXPECT_THAT(card, HasSubstr("<td style=\"--v:1.00\" title=\"1,1: 4.00 ms"));
  EXPECT_THAT(card, HasSubstr("scan &amp; finish"));
  EXPECT_THAT(card, HasSubstr("plain kernels"));
}

TEST(KernelSweep, IsPartOfAllOutputs) {
  pipeline::Measurement measurement;
  measurement.sweeps = {some_sweep()};
  EXPECT_THAT(measurements_as_text({&measurement, 1}), HasSubstr("\nSweep of phases"));
  EXPECT_THAT(measurements_as_json({&measurement, 1}), HasSubstr("\"sweeps\""));
  EXPECT_THAT(measurements_as_page({&measurement, 1}), HasSubstr("Sweep of phases"));
  measurement.sweeps.clear();
  EXPECT_THAT(measurements_as_json({&measurement, 1}), Not(HasSubstr("\"sweeps\"")));
}

}  // namespace
}  // namespace sightline
