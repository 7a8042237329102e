// One detector at several operating points: a frame is searched as the detector of its point searches it
// alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "detection/inside_search.hpp"
#include "detectors/filterbank/detector.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"

namespace sightline {
namespace {

using testing::HasSubstr;

std::unique_ptr<Detector> detector(std::size_t size, double step, filterbank::Options options = {}) {
  options.scale_step = step;
  options.threshold = -10;
  const std::vector<filterbank::Model> sizes = test::random_sizes({3, 5, 8}, 4);
  return std::make_unique<filterbank::FilterbankDetector>(sizes[size], options);
}

std::vector<NamedDetector> three() {
  std::vector<NamedDetector> all;
  all.push_back({"8 filters", detector(2, 1.3)});
  all.push_back({"3 filters", detector(0, 1.3)});
  all.push_back({"coarse", detector(0, 1.7)});
  return all;
}

TEST(OperatingPoints, FindsWhatTheSettingFindsAlone) {
  const CompositeDetector adjustable(CompositeBranch(three(), 1));
  ASSERT_EQ(adjustable.operating_points().size(), 3u);
  EXPECT_EQ(adjustable.configured_setting(), 1u);
  EXPECT_EQ(adjustable.info().model, three()[1].detector->info().model);
  const Image<std::uint8_t> picture = test::random_picture({150, 130}, 5);
  const auto workspace = adjustable.make_workspace();
  const auto expected = [&](std::size_t setting) {
    const auto alone = std::move(three()[setting].detector);
    return detect(*alone, *alone->make_workspace(), picture.view());
  };
  std::set<double> surest;  // scores
  for (const int setting : {-1, 0, 2, 1, 0, 2}) {
    workspace->setting = setting;
    const auto found = detect(adjustable, *workspace, picture.view());
    EXPECT_EQ(found, expected(setting < 0 ? 1 : static_cast<std::size_t>(setting))) << setting;
    ASSERT_FALSE(found.empty());
    surest.insert(found.front().score + static_cast<double>(found.size()));
  }
  EXPECT_EQ(surest.size(), 3u) << "settings that find the same show nothing";
}

// Models are evaluated window by window: what a coarser scale misses is not known.
TEST(OperatingPoints, HaveTheAccuracyThatWasMeasured) {
  filterbank::Model model = test::random_sizes({3, 5, 8}, 4)[0];
  model.evaluation.emplace();
  model.evaluation->miss_rate_at_1e5 = 0.02;
  std::vector<NamedDetector> all;
  for (const double step : {1.3, 1.7}) {
    filterbank::Options options;
    options.scale_step = step;
    all.push_back({std::to_string(step), std::make_unique<filterbank::FilterbankDetector>(model, options)});
  }
  const CompositeDetector adjustable(CompositeBranch(std::move(all), 0));
  const auto points = adjustable.operating_points();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].missed, 0.02);
  EXPECT_NE(points[0].accuracy, "");
  EXPECT_EQ(points[1].missed, std::nullopt);
  EXPECT_EQ(points[1].accuracy, "");
}

TEST(OperatingPoints, FindsTheSameInPartitionsAndInsideOthers) {
  const CompositeDetector adjustable(CompositeBranch(three(), 0));
  const Image<std::uint8_t> picture = test::random_picture({150, 130}, 5);
  const auto rest = adjustable.make_workspace(), part = adjustable.make_workspace();
  rest->setting = part->setting = 2;
  ASSERT_TRUE(adjustable.prepare(*rest, picture.view(), {0.4, 1}));
  adjustable.prepare(*part, picture.view(), {0, 0.4});
  for (std::size_t stage = 0; stage < adjustable.partitionable_stages(); ++stage) {
    adjustable.run_stage(stage, *rest);
    adjustable.run_stage(stage, *part);
  }
  adjustable.merge(*rest, *part);
  for (std::size_t stage = adjustable.partitionable_stages(); stage < adjustable.stages().size(); ++stage)
    adjustable.run_stage(stage, *rest);
  const auto alone = std::move(three()[2].detector);
  const auto expected = detect(*alone, *alone->make_workspace(), picture.view());
  EXPECT_EQ(adjustable.take_detections(*rest), expected);

  CompositeBranch branch(three(), 0);
  branch.add(make_inside_search({}));
  const CompositeDetector nested(std::move(branch));
  ASSERT_EQ(nested.operating_points().size(), 3u);
  const auto workspace = nested.make_workspace();
  workspace->setting = 2;
  EXPECT_EQ(detect(nested, *workspace, picture.view()), expected);
}

TEST(OperatingPoints, RefusesSettingsThatDifferInMore) {
  const auto refused = [](NamedDetector other) {
    std::vector<NamedDetector> all = three();
    all.push_back(std::move(other));
    return test::error_of(ExitCode::usage, [&] { CompositeBranch(std::move(all), 0); });
  };
  EXPECT_THAT(refused({"coarse", detector(0, 1.5)}), HasSubstr("'coarse'"));
  auto other_label = test::random_sizes({3, 5, 8}, 4)[0];
  other_label.label = "car";
  EXPECT_NE(
      refused({"cars", std::make_unique<filterbank::FilterbankDetector>(other_label, filterbank::Options())}),
      "");
}

}  // namespace
}  // namespace sightline
