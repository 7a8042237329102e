// Several branches: each finds what its detector finds alone.

#include "detection/composite_detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "detection/inside_search.hpp"
#include "detectors/filterbank/detector.hpp"
#include "detectors/waldboost/detector.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/waldboost.hpp"

namespace sightline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Detector> faces(unsigned seed = 3) {
  waldboost::Options options;
  options.scale_step = 1.2;
  options.threshold = options.window_threshold = -1e6;
  options.label = "face";
  return std::make_unique<waldboost::WaldboostDetector>(test::random_waldboost(seed, 30), options);
}

std::unique_ptr<Detector> people(double step = 1.5) {
  filterbank::Options options;
  options.scale_step = step;
  options.threshold = -10;
  return std::make_unique<filterbank::FilterbankDetector>(test::random_model(5, 3), options);
}

std::unique_ptr<CompositeDetector> combined(auto... branches) {
  std::vector<CompositeBranch> all;
  (all.emplace_back(std::move(branches)), ...);
  return std::make_unique<CompositeDetector>(std::move(all));
}

std::vector<Detection> found(const Detector& detector, PictureView picture) {
  return detect(detector, *detector.make_workspace(), picture);
}

TEST(CompositeDetector, FindsWhatEachFindsAlone) {
  const auto both = combined(people(), faces());
  const auto workspace = both->make_workspace();
  // The second is too small for people of the model's size, the third for anything.
  for (const Size size : {Size{140, 120}, {30, 28}, {10, 10}, {97, 120}}) {
    const Image<std::uint8_t> picture = test::random_picture(size, static_cast<unsigned>(size.width));
    std::vector<Detection> expected = found(*people(), picture.view());
    const std::size_t first = expected.size();
    for (Detection detection : found(*faces(), picture.view())) {
      detection.label = 1;
      expected.push_back(detection);
    }
    if (size.width > 90) {
      EXPECT_GT(first, 0u);
      EXPECT_GT(expected.size(), first);
    }
    EXPECT_EQ(detect(*both, *workspace, picture.view()), expected) << size.width;
  }
}

TEST(CompositeDetector, FindsTheSameInPartitions) {
  const auto both = combined(people(), faces());
  const Image<std::uint8_t> picture = test::random_picture({150, 130}, 5);
  const std::size_t divided = both->partitionable_stages();
  ASSERT_GT(divided, 3u);
  const auto rest = both->make_workspace();
  const auto part = both->make_workspace();
  for (const double share : {0.2, 0.5, 0.9}) {
    ASSERT_TRUE(both->prepare(*rest, picture.view(), {share, 1}));
    both->prepare(*part, picture.view(), {0, share});
    for (std::size_t stage = 0; stage < divided; ++stage) {
      both->run_stage(stage, *rest);
      both->run_stage(stage, *part);
    }
    both->merge(*rest, *part);
    for (std::size_t stage = divided; stage < both->stages().size(); ++stage) both->run_stage(stage, *rest);
    EXPECT_EQ(both->take_detections(*rest), found(*both, picture.view())) << share;
  }
}

// People in three settings, configured in the second; faces in two, configured in the first.
TEST(CompositeDetector, AllAreTurnedTogether) {
  const auto adjustable = [](std::size_t configured, auto... makers) {
    std::vector<NamedDetector> all;
    ((all.push_back({std::to_string(all.size()), makers()})), ...);
    return CompositeBranch(std::move(all), configured);
  };
  const auto a = [] { return people(); };
  const auto b = [] { return people(1.8); };
  const auto c = [] { return people(2.2); };
  const auto d = [] { return faces(3); };
  const auto e = [] { return faces(4); };
  const auto both = combined(adjustable(1, a, b, c), adjustable(0, d, e));
  ASSERT_EQ(both->operating_points().size(), 3u);
  EXPECT_EQ(both->configured_setting(), 1u);
  const std::string person = people()->info().labels.front();
  EXPECT_EQ(both->operating_points()[0].name, person + ": 0; face: 0");
  EXPECT_EQ(both->operating_points()[2].name, person + ": 2; face: 1");
  const Image<std::uint8_t> picture = test::random_picture({140, 120}, 5);
  const auto workspace = both->make_workspace();
  for (const int setting : {-1, 2, 0, 1}) {
    workspace->setting = setting;
    const auto plain = combined(people(setting == 0   ? 1.5
                                       : setting == 2 ? 2.2
                                                      : 1.8),
                                faces(setting == 2 ? 4 : 3));
    EXPECT_EQ(detect(*both, *workspace, picture.view()), found(*plain, picture.view())) << setting;
  }
  EXPECT_TRUE(combined(people(), faces())->operating_points().empty());
}

TEST(CompositeDetector, ABranchMayHaveStagesBehindItsDetector) {
  const auto people_with_faces = [] {
    std::vector<InsideDetector> inside;
    inside.push_back({faces(), {}});
    return CompositeBranch(people(), make_inside_search(std::move(inside)));
  };
  const auto both = combined(people_with_faces(), faces(4));
  check_contract(both->stages(), both->resources());
  const std::string person = people()->info().labels.front();
  EXPECT_THAT(both->info().labels, ElementsAre(person, "face", "face 2"));
  std::vector<std::string_view> names;
  for (const StageInfo& stage : both->stages()) names.push_back(stage.name);
  EXPECT_LT(std::ranges::find(names, person + ".group"), std::ranges::find(names, person + ".inside"));
  EXPECT_EQ(names[names.size() - 2], person + ".inside");
  for (const Size size : {Size{140, 120}, {30, 28}}) {
    const Image<std::uint8_t> picture = test::random_picture(size, 7);
    std::vector<Detection> expected = found(CompositeDetector(people_with_faces()), picture.view());
    for (Detection detection : found(*faces(4), picture.view())) {
      detection.label = 2;
      expected.push_back(detection);
    }
    EXPECT_EQ(found(*both, picture.view()), expected) << size.width;
  }
}

TEST(CompositeDetector, NamesAreToldApart) {
  const auto three = combined(faces(1), faces(2), people());
  EXPECT_THAT(three->info().labels, ElementsAre("face", "face 2", people()->info().labels.front()));
  check_contract(three->stages(), three->resources());
  std::vector<std::string> stages;
  for (const StageInfo& stage : three->stages()) stages.emplace_back(stage.name);
  EXPECT_THAT(stages, testing::Contains("face.scan"));
  EXPECT_THAT(stages, testing::Contains("face-2.scan"));
  EXPECT_EQ(stages.back(), people()->info().labels.front() + ".group");
}

TEST(CompositeDetector, RefusesTooMany) {
  std::vector<CompositeBranch> all;
  for (int i = 0; i < 12; ++i) all.emplace_back(faces());
  EXPECT_THAT(test::error_of(ExitCode::usage, [&] { CompositeDetector many(std::move(all)); }),
              HasSubstr("too many stages"));
}

}  // namespace
}  // namespace sightline
