// What `model show` has to say of WaldBoost models, in words and as a picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "detectors/waldboost/model_picture.hpp"
#include "detectors/waldboost/model_text.hpp"
#include "support/temp_dir.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Three weak classifiers whose properties can be told by hand.
Model small_model() {
  Model model;
  model.label = "face";
  model.window = {24, 20};
  model.unit = 0.5;
  model.threshold = -1.25;
  model.features = {{0, 0, 1, 1, 0, 0}, {1, 0, 1, 2, 0, 0}, {2, 4, 1, 1, 0, 0}};
  model.responses.assign(3 * kCodes, 1);
  model.responses[7] = -4;
  model.responses[kCodes] = 10;
  model.thresholds = {-3, kNoThreshold, 0};
  model.survivors = {0.5F, 0.25F, 0.125F};
  model.provenance = R"({"seed": 7, "windows": [1, 2], "data": "made up"})";
  return model;
}

class WaldBoostText : public ::testing::Test {
 protected:
  std::string text_of(const Model& model) const {
    save_model(model, file);
    return model_text(file, model);
  }

  test::TempDir folder;
  const std::filesystem::path file = folder / "face.model";
};

TEST_F(WaldBoostText, SaysWhatTheModelIsMadeOf) {
  const std::string text = text_of(small_model());
  EXPECT_THAT(text,
              HasSubstr("face.model (" + std::to_string(std::filesystem::file_size(file)) + " bytes)\n"));
  EXPECT_THAT(text, HasSubstr("label          face\n"));
  EXPECT_THAT(text, HasSubstr("window         24 x 20 pixels\n"));
  EXPECT_THAT(text, HasSubstr("features       local binary patterns of 3x3 blocks (LBP)\n"));
  EXPECT_THAT(text, HasSubstr("blocks         2 of 1x1, 1 of 1x2\n"));
  EXPECT_THAT(text, HasSubstr("weak           3, of which 2 can reject\n"));
  EXPECT_THAT(text, HasSubstr("scores         -1 to 6, in steps of 0.5\n"));
  EXPECT_THAT(text, HasSubstr("threshold      -1.25\n"));
  EXPECT_THAT(text, HasSubstr("expected       1.75 weak classifiers"));
  EXPECT_THAT(text,
              HasSubstr("  after 1            50%\n  after 2            25%\n  after 3            12.5%\n"));
  EXPECT_THAT(text, HasSubstr("provenance     \n  seed               7\n  windows            [1,2]\n  data   "
                              "            made up\n"));
}

TEST_F(WaldBoostText, TableOfSurvivorsEndsWithAllWeakClassifiers) {
  const std::string text = text_of(test::random_waldboost(1, 57, {24, 24}, FeatureKind::lrd));
  EXPECT_THAT(text, AllOf(HasSubstr("LRD"), HasSubstr("after 50 "), HasSubstr("after 57 ")));
  EXPECT_THAT(text, Not(HasSubstr("after 100 ")));
}

TEST_F(WaldBoostText, HaarFeaturesAreCountedByShape) {
  Model model = small_model();
  model.kind = FeatureKind::haar;
  model.features = {{0, 0, 12, 1, 0, 0}, {1, 0, 3, 2, 4, 0}, {2, 4, 1, 1, 0, 0}};
  const std::string text = text_of(model);
  EXPECT_THAT(text, HasSubstr("features       Haar-like features: the share of bright cells"));
  EXPECT_THAT(text, HasSubstr("cells          2 of two side by side, 1 of four\n"));
}

TEST_F(WaldBoostText, WithoutSurvivorsAndProvenance) {
  Model model = small_model();
  model.survivors.clear();
  model.provenance.clear();
  const std::string text = text_of(model);
  EXPECT_THAT(text, HasSubstr("survivors      not known\nprovenance     none\n"));
  EXPECT_THAT(text, Not(HasSubstr("expected")));
  EXPECT_EQ(expected_weak_classifiers(model), 0);
}

TEST_F(WaldBoostText, LongProvenancesAreWrapped) {
  Model model = small_model();
  for (int i = 0; i < 60; ++i) model.provenance += " word" + std::to_string(i);
  const std::string text = text_of(model);
  const std::string lines = text.substr(text.find("provenance"));
  EXPECT_GT(std::ranges::count(lines, '\n'), 4);
  std::size_t longest = 0;
  for (std::size_t at = 0, end = 0; (end = lines.find('\n', at)) != std::string::npos; at = end + 1)
    longest = std::max(longest, end - at);
  EXPECT_LE(longest, 100U);
  EXPECT_GT(longest, 90U);
  EXPECT_THAT(lines, HasSubstr("\n               word"));
}

// Nothing recurses as deep as a text of somebody else's says.
TEST_F(WaldBoostText, DeepProvenancesAreNoJson) {
  Model model = small_model();
  const int depth = 200'000;
  model.provenance = "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  EXPECT_THAT(text_of(model), HasSubstr("[[[["));
}

TEST(WaldBoostPicture, CoverageCountsGrids) {
  const Model model = small_model();
  const std::vector<std::int32_t> counts = coverage(model);
  ASSERT_EQ(counts.size(), 24U * 20);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 9 + 18 + 9);
  const auto at = [&](int x, int y) { return counts[y * 24 + x]; };
  EXPECT_EQ(at(0, 0), 1);
  EXPECT_EQ(at(1, 0), 2);
  EXPECT_EQ(at(2, 4), 2);
  EXPECT_EQ(at(3, 5), 2);
  EXPECT_EQ(at(4, 6), 1);
  EXPECT_EQ(at(4, 7), 0);
}

TEST(WaldBoostPicture, CoverageCountsCells) {
  Model model = small_model();
  model.kind = FeatureKind::haar;
  model.features = {{0, 0, 12, 1, 0, 0}, {1, 0, 3, 2, 4, 0}, {2, 4, 1, 1, 3, 0}};
  const std::vector<std::int32_t> counts = coverage(model);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 24 + 24 + 3);
  EXPECT_EQ(counts[23], 1);
  EXPECT_EQ(counts[6], 2);
  EXPECT_EQ(counts[6 * 24 + 2], 1);
  EXPECT_EQ(counts[7 * 24 + 2], 0);
}

TEST(WaldBoostPicture, DrawsEveryKindOfModel) {
  const test::TempDir folder;
  for (const FeatureKind kind : kFeatureKinds) {
    for (const int weak : {1, 8, 9, 24, 100}) {
      for (const Size window : {Size{24, 24}, {8, 64}, {64, 8}}) {
        const Canvas picture = draw_model(test::random_waldboost(1, weak, window, kind));
        EXPECT_LE(picture.width(), 2000);
        EXPECT_LE(picture.height(), 1000);
      }
    }
  }
  const Model model = test::random_waldboost(1, 100);
  draw_model(model).write_png(folder / "a.png");
  EXPECT_GT(test::bytes_of(folder / "a.png").size(), 1000U);
  draw_model(model).write_png(folder / "again.png");
  EXPECT_EQ(test::bytes_of(folder / "a.png"), test::bytes_of(folder / "again.png"));
  draw_model(test::random_waldboost(2, 100)).write_png(folder / "b.png");
  EXPECT_NE(test::bytes_of(folder / "a.png"), test::bytes_of(folder / "b.png"));
}

}  // namespace
}  // namespace sightline::waldboost
