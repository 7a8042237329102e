#include "evaluation/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "pipeline/report/curve_plot.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string curves_as_svg(const std::vector<NamedCurve>& curves, FalsePositiveUnit unit,
                          const std::string& title) {
  return report::to_svg({curve_chart(curves, unit, title)});
}

TEST(Report, CsvIsExact) {
  const std::vector<NamedCurve> curves{{"a, \"b\"", "", {{1.5, 0, 1}, {-0.1, 1e-5, 0.25}}, 492, 2160000}};
  EXPECT_EQ(curves_as_csv(curves, FalsePositiveUnit::per_window),
            "curve,threshold,false_positives_per_window,miss_rate,positives,windows\n"
            "\"a, \"\"b\"\"\",1.5,0,1,492,2160000\n"
            "\"a, \"\"b\"\"\",-0.1,1e-05,0.25,492,2160000\n");
  EXPECT_EQ(curves_as_csv({}, FalsePositiveUnit::per_image),
            "curve,threshold,false_positives_per_image,miss_rate,positives,images\n");
}

TEST(Report, CsvIsReadBack) {
  const test::TempDir folder;
  const std::vector<NamedCurve> curves{{"a, \"b\"", "", {{1.5, 0, 1}, {-0.1, 1e-5, 0.25}}, 492, 2160000},
                                       {"plain", "", {{2, 0.1, 0.5}}, 492, 2160000}};
  for (const auto unit : {FalsePositiveUnit::per_window, FalsePositiveUnit::per_image}) {
    write_report(folder / "curves.csv", curves_as_csv(curves, unit));
    const StoredCurves stored = load_curves(folder / "curves.csv");
    EXPECT_EQ(stored.unit, unit);
    EXPECT_EQ(curves_as_csv(stored.curves, stored.unit), curves_as_csv(curves, unit));
    EXPECT_EQ(stored.curves[0].summary,
              unit == FalsePositiveUnit::per_window ? "25% at 10⁻⁴" : "log-average 25%");
  }
}

TEST(Report, WhatIsNoTableOfCurvesIsRefusedWithItsLine) {
  const test::TempDir folder;
  const std::string header = "curve,threshold,false_positives_per_image,miss_rate,positives,images\n";
  const test::BadInputs tables{
      {"name,value\n", "curves.csv:1:"},
      {header, "curves.csv'"},
      {header + "\"a,1,0,0.5,9,9\n", "curves.csv:2:"},
      {header + "a,1,0,0.5,9\n", "curves.csv:2: 5"},
      {header + "a,1,0,0.5,9,9\na,0,x,0.5,9,9\n", "curves.csv:3: false positive rate 'x'"},
      {header + "a,1,0,1.5,9,9\n", "curves.csv:2:"},
      {header + "a,1,0.2,0.5,9,9\na,0,0.1,0.5,9,9\n", "curves.csv:3:"}};
  test::expect_errors(ExitCode::input, tables, [&](const std::string& table) {
    write_report(folder / "curves.csv", table);
    load_curves(folder / "curves.csv");
  });
}

TEST(Report, SvgShowsCurvesAsStairs) {
  const std::vector<NamedCurve> curves{
      {"one", "5% at 10⁻²", {{3, 0, 0.5}, {2, 0.01, 0.5}, {1, 0.01, 0.1}}, 10, 1000}};
  const auto svg = curves_as_svg(curves, FalsePositiveUnit::per_window, "A title");
  // From the left edge at 50% along to 0.01, where the miss rate falls to the lowest tick, 10%.
  EXPECT_THAT(svg, HasSubstr("d=\"M72 170.4H404V464\""));
  EXPECT_THAT(svg, HasSubstr(">false positives per window<"));
  EXPECT_THAT(svg, HasSubstr(">miss rate<"));
  EXPECT_THAT(svg, HasSubstr(">A title<"));
  EXPECT_THAT(svg, HasSubstr("one: 5% at 10⁻² (10 positives, 1,000 windows)<"));
}

TEST(Report, SvgShowsACurveWithoutFalsePositives) {
  const std::vector<NamedCurve> curves{{"one", "", {{3, 0, 0.5}}, 10, 1000}};
  EXPECT_THAT(curves_as_svg(curves, FalsePositiveUnit::per_image, ""), HasSubstr("d=\"M72 196.9h8\""));
}

TEST(Report, SvgEscapesTextAndSurvivesOddInput) {
  const std::vector<NamedCurve> curves{{"<a> & \"b\" \xff\x01", "", {}, 0, 0}};
  const auto svg = curves_as_svg(curves, FalsePositiveUnit::per_image, "");
  EXPECT_THAT(svg, HasSubstr("&lt;a&gt; &amp; &quot;b&quot; \xEF\xBF\xBD "));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(curves_as_svg({}, FalsePositiveUnit::per_image, "t"), Not(HasSubstr("nan")));
}

TEST(Report, Percent) {
  EXPECT_EQ(percent(0.0648), "6.5%");
  EXPECT_EQ(percent(0.5), "50%");
  EXPECT_EQ(percent(0.123), "12.3%");
  EXPECT_EQ(percent(0.0005), "0.05%");
  EXPECT_EQ(percent(0), "0%");
  EXPECT_EQ(percent(1), "100%");
}

TEST(Report, AFullDiskIsAnError) {
  test::expect_error(ExitCode::failed, "'/dev/full'", [] { write_report("/dev/full", "text"); });
  EXPECT_THROW(write_report("/nowhere/at/all.csv", ""), Error);
}

}  // namespace
}  // namespace sightline
