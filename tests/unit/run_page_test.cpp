// What the page of a run shows.
#include "apps/detect/run_page.hpp"

#include <gtest/gtest.h>

#include <variant>

namespace sightline::apps {
namespace {

// Objects of a moment in which no frame was searched are unknown, not none.
TEST(RunPage, MomentsWithoutASearchedFrameKeepTheValueBefore) {
  RunFinds finds({"person"}, true);
  for (const double time : {0.0, 0.1, 2.0, 3.5}) {
    FrameResult result;
    result.time = time;
    result.objects.resize(3);
    finds.add(1, false, {}, result);
  }
  std::size_t points = 0;
  for (const report::Section& section : finds.sections()) {
    for (const report::Block& block : section.blocks) {
      const auto* const chart = std::get_if<report::Chart>(&block.what);
      if (!chart) continue;
      for (const report::Line& line : chart->lines) {
        for (const report::PlotPoint& point : line.points) {
          EXPECT_EQ(point.y, 3) << "at " << point.x << " s";
          ++points;
        }
      }
    }
  }
  EXPECT_EQ(points, 5u);  // the last one to the end of the axis
}

}  // namespace
}  // namespace sightline::apps
