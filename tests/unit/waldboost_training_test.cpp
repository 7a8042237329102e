#include "detectors/waldboost/training/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <random>

#include "detectors/waldboost/detector.hpp"
#include "detectors/waldboost/scan.hpp"
#include "detectors/waldboost/training/boosting.hpp"
#include "detectors/waldboost/training/likelihood_ratio.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/temp_dir.hpp"
#include "support/training.hpp"
#include "training/cached_images.hpp"
#include "training/marked_objects.hpp"

namespace sightline::waldboost {
namespace {

using test::Pictures;

std::vector<std::int32_t> normal_sums(double mean, double deviation, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<std::int32_t> sums(count);
  for (std::int32_t& sum : sums) sum = static_cast<std::int32_t>(std::lround(normal(random)));
  return sums;
}

// Two normal distributions of the same deviation s, whose means m lie at -m and m, have the ratio exp(-2 m x
// / s^2).
TEST(WaldboostLikelihoodRatio, IsThatOfTwoNormalDistributions) {
  const auto positives = normal_sums(500, 1000, 40'000, 1), negatives = normal_sums(-500, 1000, 40'000, 2);
  for (const double alpha : {0.5, 0.2, 0.05}) {
    const double expected = std::log(alpha) * 1000.0 * 1000.0 / (2 * 500.0);
    const std::int32_t threshold = rejection_threshold({positives, 1}, {negatives, 1}, alpha);
    EXPECT_NEAR(threshold, expected, 150) << alpha;
  }
}

TEST(WaldboostLikelihoodRatio, AsksForLessWhereWindowsAreRare) {
  const auto positives = normal_sums(500, 1000, 40'000, 1), negatives = normal_sums(-500, 1000, 40'000, 2);
  const std::int32_t all = rejection_threshold({positives, 1}, {negatives, 1}, 0.5);
  // There are a quarter of the negatives, and half of the ratio is asked for.
  const std::int32_t few = rejection_threshold({positives, 1}, {negatives, 0.25}, 0.5);
  EXPECT_NEAR(few - all, -std::log(2) * 1000, 150);
}

TEST(WaldboostLikelihoodRatio, RejectsWhatLiesBelowAllPositives) {
  const std::vector<std::int32_t> positives{100, 120, 140}, negatives{-50, -20, 99, 130, 150};
  EXPECT_EQ(rejection_threshold({positives, 1}, {negatives, 1e-9}, 0.001), 100);
}

TEST(WaldboostLikelihoodRatio, RejectsNothingThatNoNegativeHas) {
  const std::vector<std::int32_t> positives{-100, 120, 140}, negatives{50, 130};
  EXPECT_EQ(rejection_threshold({positives, 1}, {negatives, 1}, 0.001), kNoThreshold);
  EXPECT_EQ(rejection_threshold({{}, 1}, {negatives, 1}, 0.2), kNoThreshold);
}

// Never more than alpha of all positives, what earlier weak classifiers rejected included.
TEST(WaldboostLikelihoodRatio, KeepsWithinAlpha) {
  const auto positives = normal_sums(0, 1000, 10'000, 1), negatives = normal_sums(-3000, 1000, 10'000, 2);
  const std::int32_t threshold = rejection_threshold({positives, 0.86}, {negatives, 1}, 0.15);
  const auto below = std::count_if(positives.begin(), positives.end(), [&](int s) { return s < threshold; });
  EXPECT_LE(0.14 + 0.86 * static_cast<double>(below) / 10'000, 0.15);
  EXPECT_GT(below, 80);
}

TEST(WaldboostFeatures, AreAllThatFit) {
  EXPECT_EQ(all_features({24, 24}, FeatureKind::lbp, SIZE_MAX, 1).size(), 1681u);
  EXPECT_EQ(all_features({24, 24}, FeatureKind::lrp, SIZE_MAX, 1).size(), 1681u * 36);
  EXPECT_EQ(all_features({24, 24}, FeatureKind::haar, SIZE_MAX, 1).size(), 162'336u);
  // Of 3 x 2 pixels: two side by side (2 places, 1 and 2 high: 2 * 2 + 2), and so on.
  EXPECT_EQ(all_features({3, 2}, FeatureKind::haar, SIZE_MAX, 1).size(), 6u + 6 + 3 + 0 + 2);
  const auto some = all_features({24, 24}, FeatureKind::lrd, 100, 1);
  EXPECT_EQ(some.size(), 100u);
  EXPECT_EQ(some, all_features({24, 24}, FeatureKind::lrd, 100, 1));
  EXPECT_NE(some, all_features({24, 24}, FeatureKind::lrd, 100, 2));
}

// Of two features, one tells the classes apart: it is chosen, and its responses are the logarithms of how
// much more likely a code is for positives.
TEST(WaldboostBoosting, ChoosesWhatTellsTheClassesApart) {
  Samples positives({8, 8}), negatives({8, 8});
  for (unsigned i = 0; i < 60; ++i) {
    Image<std::uint8_t> picture = test::random_picture({8, 8}, i);
    if (i % 3 !=
        0) {  // two thirds of the positives are bright in the middle of their right half, no negative is
      picture.view().at(6, 4) = 255;
      positives.add(picture.view());
    } else if (i % 6 == 0) {
      picture.view().at(6, 4) = 0;
      positives.add(picture.view());
    }
    picture.view().at(6, 4) = 0;
    negatives.add(picture.view());
  }
  const std::vector<Feature> features{{0, 0, 1, 1, 0, 0}, {5, 3, 1, 1, 0, 0}};
  CodeTable p(FeatureKind::lbp, features), n(FeatureKind::lbp, features);
  p.assign(positives);
  n.assign(negatives);
  const std::vector<float> p_weights(positives.size(), 1.0F), n_weights(negatives.size(), 1.0F);
  const WeakClassifier weak = best_weak_classifier(2, {&p, p_weights}, {&n, n_weights}, {1e-4}, 0x1p-10);
  EXPECT_EQ(weak.feature, 1u);
  // Code 255, all neighbours at least as bright as the middle: all 60 negatives, 10 of the 50 positives.
  EXPECT_NEAR(weak.responses[255] * 0x1p-10, 0.5 * std::log(0.2 / 1.0), 0.01);

  EXPECT_GT(weak.responses[p.codes(1)[1]], 0);
}

TEST(WaldboostBoosting, CodesAreTheReferences) {
  Samples samples({12, 9});
  for (unsigned i = 0; i < 70; ++i) samples.add(test::random_picture({12, 9}, i).view());
  for (const FeatureKind kind : kFeatureKinds) {
    SCOPED_TRACE(to_string(kind));
    const std::vector<Feature> features = all_features({12, 9}, kind, 200, 1);
    CodeTable table(kind, features);
    table.assign(samples);
    for (std::size_t f = 0; f < features.size(); ++f) {
      for (std::size_t i = 0; i < samples.size(); ++i)
        ASSERT_EQ(int{table.codes(f)[i]}, reference::code(kind, features[f], samples.view(i), 0, 0));
    }
  }
}

TEST(WaldboostBoosting, LeavesOutSamplesOfNoWeight) {
  Samples samples({8, 8});
  for (unsigned i = 0; i < 20; ++i) samples.add(test::random_picture({8, 8}, i).view());
  const std::vector<Feature> features = all_features({8, 8}, FeatureKind::lbp, SIZE_MAX, 1);
  CodeTable codes(FeatureKind::lbp, features);
  codes.assign(samples);
  std::vector<float> first(20, 0.0F), second(20, 0.0F);
  for (std::size_t i = 0; i < 20; ++i) (i < 7 ? first : second)[i] = 1.0F + static_cast<float>(i);
  const WeakClassifier weak =
      best_weak_classifier(features.size(), {&codes, first}, {&codes, second}, {1e-5}, 0x1p-10);
  EXPECT_LT(weak.z, 0.05);  // random textures of 8x8 pixels share hardly a code
  for (std::size_t i = 0; i < 20; ++i) {
    const int response = weak.responses[codes.codes(weak.feature)[i]];
    EXPECT_EQ(response > 0, i < 7) << i;
  }
}

TEST(CachedImages, GiveTheSamePicturesAgain) {
  Pictures pictures;
  for (unsigned i = 0; i < 5; ++i) pictures.add(test::random_picture({20 + static_cast<int>(i), 10}, i));
  const training::CachedImages cached(pictures, 450);  // room for the first two
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_EQ(test::pixels_of(cached.load(i).view()), test::pixels_of(pictures.load(i).view())) << i;
  }
}

TEST(MarkedObjects, AreCutOutWithWhatIsAroundThem) {
  Pictures pictures;
  pictures.add(test::random_picture({40, 30}, 1));
  pictures.add(test::random_picture({40, 30}, 2));
  const training::MarkedObjects objects(pictures,
                                        {{0, {10, 8, 8, 4}}, {1, {-2, 20, 8, 12}}, {1, {5, 5, 4, 4}}}, 0.25);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects.name(2), "picture-1#2");
  const Image<std::uint8_t> first = objects.load(0), second = objects.load(1);
  const Image<std::uint8_t> whole = pictures.load(0), other = pictures.load(1);
  ASSERT_EQ(first.view().size(), (Size{12, 6}));
  EXPECT_EQ(first.view().at(0, 0), whole.view().at(8, 7));
  EXPECT_EQ(first.view().at(11, 5), whole.view().at(19, 12));
  ASSERT_EQ(second.view().size(), (Size{12, 18}));
  EXPECT_EQ(second.view().at(0, 0), other.view().at(0, 17));    // left of the picture: its edge
  EXPECT_EQ(second.view().at(11, 17), other.view().at(7, 29));  // below it
}

// Bright bars on texture, in pictures of 16x16 pixels with a margin of a quarter of 12 on each side, nearly.
class WaldboostTraining : public ::testing::Test {
 protected:
  WaldboostTraining() {
    spdlog::set_level(spdlog::level::err);
    for (unsigned i = 0; i < 240; ++i) {
      Image<std::uint8_t> picture = test::random_picture({18, 18}, 1000 + i);
      for (int y = 4; y < 14; ++y) {
        for (int x = 7; x < 11; ++x)
          picture.view().at(x, y) = static_cast<std::uint8_t>(215 + (x * y + static_cast<int>(i)) % 23);
      }
      positives.add(std::move(picture));
    }
    for (unsigned i = 0; i < 60; ++i)
      negatives.add(test::random_picture({60 + static_cast<int>(i), 50}, 9000 + i));
    negatives.add(test::random_picture({9, 9}, 1));  // smaller than the window: allowed, and of no use
    options.window = {12, 12};
    options.weak_classifiers = 24;
    options.negatives = 800;
    options.copies = 1;
    options.turn = 4;
  }

  Model train_in(
      const std::filesystem::path& state,
      const training::ReportProgress& report = [](const auto&) { return true; }) {
    return train(positives, negatives, options, state, report);
  }

  static void expect_same(const Model& a, const Model& b) {
    EXPECT_EQ(a.features, b.features);
    EXPECT_EQ(a.responses, b.responses);
    EXPECT_EQ(a.thresholds, b.thresholds);
    EXPECT_EQ(a.survivors, b.survivors);
    EXPECT_EQ(a.threshold, b.threshold);
  }

  Pictures positives, negatives;
  TrainingOptions options;
  test::TempDir folder;
};

TEST_F(WaldboostTraining, FindsBarsAndLittleElse) {
  const Model model = train_in(std::filesystem::path(folder.path()) / "state");
  ASSERT_GT(model.size(), 3);
  ASSERT_EQ(model.survivors.size(), model.features.size());
  EXPECT_LT(model.survivors[2], 0.7F);
  EXPECT_TRUE(std::ranges::is_sorted(model.survivors, std::greater<>()));

  Image<std::uint8_t> scene = test::random_picture({90, 70}, 77);
  for (int y = 31; y < 41; ++y) {
    for (int x = 52; x < 56; ++x) scene.view().at(x, y) = static_cast<std::uint8_t>(215 + x * y % 23);
  }
  Options search;
  search.threshold = search.window_threshold = 0;
  const WaldboostDetector detector(model, search);
  const auto workspace = detector.make_workspace();
  ASSERT_TRUE(run_stages(detector, *workspace, scene.view()));
  const std::vector<Detection> found = detector.take_detections(*workspace);
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found[0].box.x + found[0].box.width / 2, 54, 3);
  EXPECT_NEAR(found[0].box.y + found[0].box.height / 2, 36, 3);
}

TEST_F(WaldboostTraining, DoesNotDependOnThreadsOrStops) {
  const Model whole = train_in(std::filesystem::path(folder.path()) / "whole");
  {
    const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    expect_same(train_in(std::filesystem::path(folder.path()) / "one"), whole);
  }
  // Stopped again and again, and resumed.
  Model resumed;
  for (int reports = 25; resumed.size() == 0; reports += 10) {
    ASSERT_LT(reports, 2000);
    int left = reports;
    try {
      resumed =
          train_in(std::filesystem::path(folder.path()) / "resumed", [&](const auto&) { return --left > 0; });
    } catch (const training::TrainingStopped&) {
    }
  }
  expect_same(resumed, whole);
}

TEST_F(WaldboostTraining, LearnsFromOtherFeaturesToo) {
  for (const FeatureKind kind : {FeatureKind::lrp, FeatureKind::lrd, FeatureKind::haar}) {
    options.kind = kind;
    options.features = 200;
    options.weak_classifiers = 8;
    const Model model = train_in(std::filesystem::path(folder.path()) / to_string(kind));
    EXPECT_EQ(model.kind, kind);
    EXPECT_LT(model.survivors.back(), 0.5F);
  }
}

TEST_F(WaldboostTraining, SaysWhatItNeeds) {
  Pictures few;
  few.add(test::random_picture({18, 18}, 1));
  test::expect_error(ExitCode::input, [&] {
    train(few, negatives, options, std::filesystem::path(folder.path()) / "few",
          [](const auto&) { return true; });
  });
  Pictures small;
  small.add(test::random_picture({5, 5}, 1));
  test::expect_error(ExitCode::input, [&] {
    train(positives, small, options, std::filesystem::path(folder.path()) / "small",
          [](const auto&) { return true; });
  });
}

}  // namespace
}  // namespace sightline::waldboost
