// How many windows get past each stage.
#include "detectors/cascade/survivors.hpp"

#include <gtest/gtest.h>

#include "support/filterbank.hpp"

namespace sightline::cascade {
namespace {

// Three stages that ask for an ever brighter left half.
Model three_stages() {
  Model m;
  m.window = {20, 20};
  for (int s = 0; s < 3; ++s) {
    HaarFeature halves;
    halves.rects = {Rect{0, 0, 20, 20}, Rect{0, 0, 10, 20}, Rect{}};
    halves.weights = {-1, 2, 0};
    m.haar.push_back(halves);
    m.stages.push_back({s, 1, 0.5F});
    m.trees.push_back({s, 1, 2 * s});
    m.nodes.push_back({s, 0.02F * static_cast<float>(s + 1), 0, -1});
    m.leaves.insert(m.leaves.end(), {0.0F, 1.0F});
  }
  return m;
}

TEST(CascadeSurvivors, AreWhatTheReferenceLeaves) {
  const Model model = three_stages();
  const Image<std::uint8_t> picture = test::random_picture({90, 70}, 4);
  const CascadeDetector detector(model, {});
  StageSurvivors counts;
  count_survivors(detector, picture.view(), counts);

  const auto workspace = detector.make_workspace();
  ASSERT_TRUE(detector.prepare(*workspace, picture.view()));
  for (const StageIndex stage : {kPyramid, kIntegral}) detector.run_stage(stage, *workspace);
  auto& own = static_cast<CascadeWorkspace&>(*workspace);
  std::int64_t windows = 0;
  for (const Level& level : own.layout.levels) windows += level.windows.width * level.windows.height;
  EXPECT_EQ(counts.windows, windows);
  ASSERT_EQ(counts.passed.size(), 3U);
  for (int stages = 1; stages <= 3; ++stages) {
    std::vector<Survivor> left;
    for (int i = 0; i < static_cast<int>(own.layout.levels.size()); ++i) {
      for (int row = 0; row < own.layout.levels[i].windows.height; ++row)
        reference::scan_row(model, own.layout, i, own.integrals.data(), row, stages, left);
    }
    EXPECT_EQ(counts.passed[stages - 1], static_cast<std::int64_t>(left.size()));
  }
  EXPECT_GT(counts.passed[0], counts.passed[1]);
  EXPECT_GT(counts.passed[1], counts.passed[2]);
  EXPECT_GT(counts.passed[2], 0);

  const std::vector<WorkCount> work = detector.count_work(picture.view());
  ASSERT_EQ(work.size(), 4U);
  EXPECT_EQ(work[0].count, windows);
  EXPECT_EQ(work[3].what, "left after boosting stage 3");
  EXPECT_EQ(work[3].count, counts.passed[2]);

  const StageSurvivors once = counts;
  count_survivors(detector, picture.view(), counts);
  EXPECT_EQ(counts.windows, 2 * once.windows);
  EXPECT_EQ(counts.passed[1], 2 * once.passed[1]);
}

TEST(CascadeSurvivors, OfAPictureThatIsTooSmallAreNone) {
  StageSurvivors counts;
  count_survivors(CascadeDetector(three_stages(), {}), test::random_picture({15, 70}, 4).view(), counts);
  EXPECT_EQ(counts.windows, 0);
}

}  // namespace
}  // namespace sightline::cascade
