#include "detectors/census/training/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <set>

#include "detectors/census/scan.hpp"
#include "detectors/census/training/boosting.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/temp_dir.hpp"
#include "support/training.hpp"

namespace sightline::census {
namespace {

using test::Crosses;
using test::Pictures;
using training::WindowSamples;

const auto kNoStep = [](int) {};

// Only the pixel at (4, 3) tells the classes apart: it is dark in all negatives, and bright in nine of ten
// positives.
struct TwoClasses {
  TwoClasses() {
    WindowSamples seen({8, 8}), others({8, 8});
    for (unsigned i = 0; i < 200; ++i) {
      Image<std::uint8_t> picture = test::random_picture({8, 8}, i);
      picture.view().at(4, 3) = i % 10 == 0 ? 0 : 255;
      seen.add(picture.view());
      Image<std::uint8_t> other = test::random_picture({8, 8}, 1000 + i);
      other.view().at(4, 3) = 0;
      others.add(other.view());
    }
    positives.assign(seen);
    negatives.assign(others);
    alive.assign(200, 1);
  }
  CodeTable positives{{8, 8}}, negatives{{8, 8}};
  std::vector<char> alive;
};

TEST(CensusBoosting, ChoosesAPlaceThatTellsTheClassesApart) {
  const TwoClasses classes;
  EXPECT_EQ(classes.positives.places(), 36);
  const auto stage = boost_stage(classes.positives, classes.alive, classes.negatives, {1, 100}, kNoStep);
  ASSERT_EQ(stage.size(), 1u);
  const int x = classes.positives.place(stage[0].place).x, y = classes.positives.place(stage[0].place).y;
  EXPECT_TRUE(x <= 4 && 4 < x + 3 && y <= 3 && 3 < y + 3) << x << ", " << y;
  EXPECT_LE(stage[0].error, 0.051);  // a tenth of the half of the weight that positives have
  EXPECT_DOUBLE_EQ(stage[0].alpha, 0.5 * std::log((1 - stage[0].error) / stage[0].error));
  const int bit = 8 - ((3 - y) * 3 + 4 - x);
  for (const std::uint16_t code : classes.negatives.codes(stage[0].place))
    EXPECT_TRUE(contains(stage[0].codes, code));
  int wrong = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const int code = classes.positives.codes(stage[0].place)[i];
    EXPECT_EQ(code >> bit & 1, i % 10 == 0 ? 0 : 1);
    wrong += contains(stage[0].codes, code) ? 1 : 0;
  }
  EXPECT_LE(wrong, 20);
}

TEST(CensusBoosting, KeepsWithinItsBudget) {
  const TwoClasses classes;
  const auto places = boost_stage(classes.positives, classes.alive, classes.negatives, {4, 100}, kNoStep);
  std::set<int> different;
  for (const BoostedWeak& weak : places) different.insert(weak.place);
  EXPECT_EQ(different.size(), 4u);
  EXPECT_EQ(boost_stage(classes.positives, classes.alive, classes.negatives, {36, 3}, kNoStep).size(), 3u);
}

TEST(CensusBoosting, LeavesOutObjectsThatAreGone) {
  TwoClasses classes;
  for (std::size_t i = 0; i < 200; i += 10) classes.alive[i] = 0;  // the dark ones
  const auto stage = boost_stage(classes.positives, classes.alive, classes.negatives, {1, 1}, kNoStep);
  ASSERT_EQ(stage.size(), 1u);
  EXPECT_LT(stage[0].error, 1e-3);
}

TEST(CensusBoosting, ThresholdsLoseTheShareThatIsAskedFor) {
  const TwoClasses classes;
  const auto stage = boost_stage(classes.positives, classes.alive, classes.negatives, {6, 6}, kNoStep);
  for (const double loss : {0.0, 0.02, 0.1}) {
    Model model;
    model.window = {8, 8};
    append_stage(model, stage, classes.positives, classes.alive, loss);
    ASSERT_EQ(model.stages.size(), 1u);
    EXPECT_LE(model.stages[0].threshold, 254) << "sums of short stages fit bytes";
    const std::int32_t limits[] = {model.stages[0].threshold};
    model.views = {{"frontal", 1, 1}};
    int lost = 0, lost_with_less = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      const auto sum = reference::run_stages(model, limits, 0, [&](int x, int y, int cell) {
                         return classes.positives.code(i, x, y, cell);
                       }).sum;
      lost += sum > limits[0] ? 1 : 0;
      lost_with_less += sum > limits[0] - 1 ? 1 : 0;
    }
    EXPECT_LE(lost, static_cast<int>(loss * 200));
    EXPECT_GT(lost_with_less, static_cast<int>(loss * 200));
  }
}

TrainingOptions small_options() {
  TrainingOptions options;
  options.window = {12, 12};
  options.label = "cross";
  options.places = {1, 6};  // few, so that windows are left for the second stage
  options.weak_classifiers = 12;
  options.negatives = 800;
  options.copies = 1;
  options.stage_loss = 0.05;
  return options;
}

void expect_equal(const Model& a, const Model& b) {
  EXPECT_EQ(a.weak, b.weak);
  EXPECT_EQ(a.stages, b.stages);
  EXPECT_EQ(a.views, b.views);
  EXPECT_EQ(a.survivors, b.survivors);
  EXPECT_EQ(a.threshold, b.threshold);
}

std::vector<WeakClassifier> load_weak_again(const Model& model, const std::filesystem::path& file) {
  save_model(model, file);
  return load_model(file, 1 << 24).weak;
}

const auto kGoOn = [](const training::TrainingProgress&) { return true; };

TEST(CensusTraining, TellsObjectsFromTheRest) {
  const Crosses data;
  const test::TempDir folder;
  const Model model = train(data.positives, data.negatives, small_options(), folder / "state", kGoOn);
  ASSERT_GE(model.stages.size(), 1u);
  ASSERT_EQ(model.survivors.size(), model.stages.size());
  EXPECT_LT(model.survivors.back(), 0.1F);
  EXPECT_EQ(model.label, "cross");
  save_model(model, folder / "model.safetensors");  // checks it
}

TEST(CensusTraining, DependsNeitherOnThreadsNorOnWhereItWasStopped) {
  const Crosses data;
  const test::TempDir folder;
  const Model whole = train(data.positives, data.negatives, small_options(), folder / "a", kGoOn);
  {
    const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    expect_equal(train(data.positives, data.negatives, small_options(), folder / "b", kGoOn), whole);
  }
  const auto stop = [](const training::TrainingProgress& progress) {
    return progress.phase != "stage 2 of 2";
  };
  EXPECT_THROW(train(data.positives, data.negatives, small_options(), folder / "c", stop),
               training::TrainingStopped);
  EXPECT_TRUE(std::filesystem::exists(folder / "c/stage-1.safetensors"));
  expect_equal(train(data.positives, data.negatives, small_options(), folder / "c", kGoOn), whole);
}

TEST(CensusTraining, LooksAtTheCellsThatAreAskedFor) {
  const Crosses data;
  const test::TempDir folder;
  TrainingOptions options = small_options();
  for (const std::vector<int>& cells : {std::vector<int>{1}, {2}}) {
    options.cells = cells;
    const Model model = train(data.positives, data.negatives, options, folder / "state", kGoOn);
    for (const WeakClassifier& weak : model.weak) EXPECT_EQ(int{weak.cell}, cells[0]);
    EXPECT_EQ(load_weak_again(model, folder / "model.safetensors"), model.weak);
  }
}

// Copies that are spoilt are other ones.
TEST(CensusTraining, RoughCopiesMakeAnotherModel) {
  const Crosses data;
  const test::TempDir folder;
  TrainingOptions options = small_options();
  const Model plain = train(data.positives, data.negatives, options, folder / "state", kGoOn);
  options.roughness = {1, 0.5};
  EXPECT_NE(train(data.positives, data.negatives, options, folder / "state", kGoOn).weak, plain.weak);
}

TEST(CensusTraining, EndsWhereNoNegativesAreLeft) {
  const Crosses data;
  const test::TempDir folder;
  TrainingOptions options = small_options();
  options.places = {20, 20, 20, 20};
  options.weak_classifiers = 40;
  const Model model = train(data.positives, data.negatives, options, folder / "state", kGoOn);
  EXPECT_LT(model.stages.size(), 4u);
}

TEST(CensusTraining, NeedsPicturesToHoldOut) {
  const Crosses data;
  Pictures one;
  one.add(data.positives.load(0));
  const test::TempDir folder;
  test::expect_error(ExitCode::input,
                     [&] { train(one, data.negatives, small_options(), folder / "state", kGoOn); });
}

}  // namespace
}  // namespace sightline::census
