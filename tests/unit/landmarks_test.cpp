// Landmarks: the model's file and what is refused of it, marked faces, errors, and what training learns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <functional>

#include "faces/landmarks/evaluation.hpp"
#include "faces/landmarks/marks.hpp"
#include "faces/landmarks/training/trainer.hpp"
#include "kernels/landmarks_model.hpp"
#include "support/errors.hpp"
#include "support/landmarks.hpp"
#include "support/temp_dir.hpp"

namespace sightline::landmarks {
namespace {

using test::Spots;

constexpr std::uint64_t kMaxBytes = 1 << 24;

bool same(const Model& a, const Model& b) {
  return a.mean == b.mean && a.depth == b.depth && a.stages == b.stages && a.trees == b.trees &&
         a.pixels == b.pixels && a.places == b.places && a.shifts == b.shifts && a.splits == b.splits &&
         a.leaves == b.leaves && a.provenance == b.provenance;
}

TEST(LandmarkModel, ComesBackAsItWas) {
  const test::TempDir folder;
  for (int depth = 1; depth <= kMaxDepth; ++depth) {
    Model model = random_model(depth, 3, 4, 50, 7);
    model.provenance = "made up";
    save_model(model, folder / "five.safetensors");
    const Model loaded = load_model(folder / "five.safetensors", kMaxBytes);
    EXPECT_TRUE(same(loaded, model)) << depth;
    EXPECT_EQ(loaded.name, "five");
    EXPECT_TRUE(looks_like_model(folder / "five.safetensors"));
  }
}

TEST(LandmarkModel, SaysWhatIsWrongWithAFile) {
  const test::TempDir folder;
  const std::string path = folder / "wrong.safetensors";
  const Model model = random_model(3, 2, 4, 50, 7);
  const auto expect = [&](const std::string& fact, const std::function<void(Safetensors&)>& damage) {
    Safetensors file = container_of(model);
    damage(file);
    file.save(path);
    test::expect_error(ExitCode::model, fact, [&] { load_model(path, kMaxBytes); });
  };
  const std::vector<std::uint8_t> five(100, 5);
  expect("point 5", [&](Safetensors& file) { file.set<std::uint8_t>("anchors", {2, 50}, five); });
  const std::vector<std::int16_t> far(200, kPatchSide * kUnit + 1);
  expect("", [&](Safetensors& file) { file.set<std::int16_t>("offsets", {2, 50, 2}, far); });
  const std::vector<std::uint8_t> many(112, 50);
  expect("pixel 50", [&](Safetensors& file) { file.set<std::uint8_t>("pixels", {2, 4, 7, 2}, many); });
  const std::vector<std::uint8_t> eight{0, 8};
  expect("a shift of 8", [&](Safetensors& file) { file.set<std::uint8_t>("shifts", {2}, eight); });
  const std::vector<std::int32_t> beyond{-1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, together(10, 4000);
  expect("", [&](Safetensors& file) { file.set<std::int32_t>("mean", {5, 2}, beyond); });
  expect("", [&](Safetensors& file) { file.set<std::int32_t>("mean", {5, 2}, together); });
  const std::vector<std::int8_t> six(48), none;
  expect("thresholds", [&](Safetensors& file) { file.set<std::int8_t>("thresholds", {2, 4, 6}, six); });
  expect("0 stages", [&](Safetensors& file) { file.set<std::int8_t>("thresholds", {0, 4, 7}, none); });
  expect("a stage", [&](Safetensors& file) { file.set<std::int8_t>("thresholds", {2, 0, 7}, none); });
  expect("of depth 0", [&](Safetensors& file) { file.set<std::int8_t>("thresholds", {2, 4, 0}, none); });
  expect("'version'", [](Safetensors& file) { file.metadata["version"] = "2"; });
  expect("'patch'", [](Safetensors& file) { file.metadata["patch"] = "63+8"; });
  expect("'points'", [](Safetensors& file) { file.metadata["points"] = "nose"; });
  EXPECT_THROW(container_of(Model{}), std::invalid_argument);
}

TEST(LandmarkMarks, AreRead) {
  const test::TempDir folder;
  test::store(folder / "faces.txt", std::string("a_1 train 10 20 30 42 12 24 25 24 18.5 30 14 36 24 36\n\n"
                                                "a_2 train 10 20 10 42 12 24 25 24 18.5 30 14 36 24 36\n"
                                                "b test 0 0 5 5 1 1 2 1 1 2 1 3 2 3\n"));
  const std::vector<MarkedFace> faces = load_marked_faces(folder / "faces.txt");
  ASSERT_EQ(faces.size(), 2u);
  EXPECT_EQ(faces[0].picture, "a_1");
  EXPECT_EQ(faces[0].box, (Box{10, 20, 20, 22}));
  EXPECT_EQ(faces[0].points[2], (Point{19, 30.5}));
  EXPECT_EQ(faces_of_part(faces, "test", "")[0].picture, "b");
  test::expect_error(ExitCode::input, "'all'", [&] { faces_of_part(faces, "all", "faces.txt"); });
  for (const std::string line : {"a train 1 2 3 4 5 6", "a train 10 20 9 42 12 24 25 24 18.5 30 14 36 24 36",
                                 "a train 10 20 30 42 12 24 25 24 x 30 14 36 24 36"}) {
    test::store(folder / "wrong.txt", line + "\n");
    test::expect_error(ExitCode::input, "wrong.txt:1: ", [&] { load_marked_faces(folder / "wrong.txt"); });
  }
}

// Points of the face's own detector say where the model's mean shape lies, whatever its box.
TEST(LandmarkFinder, SearchesAroundTheDetectorsPointsWhereItHasAll) {
  const Finder finder(random_model(3, 2, 4, 50, 7));
  const Square square{40, 25, 80};
  const Box box{7, 9, 30, 50};
  const Points points = frame_points(finder.mean(), square);
  DetectionAttributes attributes;
  EXPECT_EQ(finder.square_of(box, {}), square_of(box));
  for (std::size_t i = 0; i < kPoints; ++i) {
    EXPECT_EQ(finder.square_of(box, attributes), square_of(box));
    const std::size_t last = kPoints - 1 - i;  // in any order
    attributes.landmarks.push_back({std::string(kPointNames[last]), points[last].x, points[last].y});
  }
  EXPECT_EQ(finder.square_of(box, attributes), square);
  attributes.landmarks[2].x = std::nan("");
  EXPECT_EQ(finder.square_of(box, attributes), square_of(box));
}

TEST(LandmarkErrors, AreInPartsOfTheEyesDistance) {
  const Points marked{{{10, 10}, {30, 10}, {20, 20}, {12, 30}, {28, 30}}};
  Points found = marked;
  found[0].x += 3;
  found[0].y += 4;
  const PointErrors errors = errors_of(found, marked);
  EXPECT_DOUBLE_EQ(errors[0], 0.25);
  EXPECT_DOUBLE_EQ(errors[1], 0);
  ErrorSummary summary;
  EXPECT_EQ(summary.mean(), 0);
  summary.add(errors);
  summary.add(errors_of(marked, marked));
  EXPECT_DOUBLE_EQ(summary.mean_of(0), 0.125);
  EXPECT_DOUBLE_EQ(summary.mean(), 0.025);
  EXPECT_EQ(summary.share_above(0.049), 0.5);
  EXPECT_EQ(summary.share_above(0.06), 0);
}

std::vector<Sample> samples_of(unsigned first, int count) {
  std::vector<Sample> samples;
  PatchSampler sampler;
  for (int i = 0; i < count; ++i) {
    const Spots spots(first + static_cast<unsigned>(i));
    samples.push_back(make_sample(std::as_const(spots.picture).view(), spots.face, sampler));
  }
  return samples;
}

constexpr TrainingOptions kSmall{.stages = 4,
                                 .trees = 20,
                                 .depth = 3,
                                 .pixels = 100,
                                 .candidates = 20,
                                 .split_samples = 200,
                                 .shrinkage = 0.2};

Model train_in(
    const std::string& folder, const std::vector<Sample>& samples, const TrainingOptions& options,
    const training::ReportProgress& report = [](const auto&) { return true; }) {
  training::ProgressClock clock(report, 1);
  clock.enter("trees", 1);
  return train(samples, options, training::TrainingState(folder, "spots"), clock);
}

// Mean distance from where points are, in pixels of the patch.
double mean_error(const std::vector<Sample>& samples, const std::function<Shape(const Patch&)>& find) {
  double sum = 0;
  for (const Sample& sample : samples) {
    const Shape found = find(sample.patch);
    for (std::size_t i = 0; i < kCoordinates; i += 2)
      sum += std::hypot(found[i] - sample.points[i], found[i + 1] - sample.points[i + 1]) / (kUnit * kPoints);
  }
  return sum / static_cast<double>(samples.size());
}

TEST(LandmarkTraining, LearnsWhereSpotsAre) {
  const test::TempDir folder;
  const Model model = train_in(folder / "state", samples_of(1, 400), kSmall);
  const std::vector<Sample> others = samples_of(1000, 50);
  const double before = mean_error(others, [&](const Patch&) { return model.mean; });
  const double after = mean_error(others, [&](const Patch& patch) { return Finder(model).find(patch); });
  EXPECT_GT(before, 3);
  EXPECT_LT(after, before / 2.5);
}

TEST(LandmarkTraining, DoesNotDependOnThreadsOrOnWhereItWasStopped) {
  const test::TempDir folder;
  const std::vector<Sample> samples = samples_of(1, 150);
  const auto on = [&](std::size_t threads, const std::string& state) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    return train_in(folder / state, samples, kSmall);
  };
  const Model model = on(1, "one");
  EXPECT_TRUE(same(model, on(3, "three")));
  int reports = 0;
  EXPECT_THROW(train_in(folder / "stopped", samples, kSmall, [&](const auto&) { return ++reports < 50; }),
               training::TrainingStopped);
  EXPECT_TRUE(same(model, on(2, "stopped")));
}

// Turned, moved, zoomed or mirrored: the points stay on the spots.
TEST(LandmarkSamples, VariedOnesKeepTheirPoints) {
  const Spots spots(3);
  training::VariationBounds bounds = kVariation;
  bounds.contrast = bounds.brightness = bounds.gamma = bounds.gradient = bounds.noise = bounds.blur = 0;
  PatchSampler sampler;
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Sample sample =
        make_varied_sample(std::as_const(spots.picture).view(), spots.face, bounds, random, sampler);
    EXPECT_LT(sample.points[0], sample.points[2]) << "the left eye is on the left";
    for (std::size_t k = 0; k < kCoordinates; k += 2) {
      const int x = sample.points[k] / kUnit, y = sample.points[k + 1] / kUnit;
      EXPECT_GT(sample.patch[static_cast<std::size_t>(y * kPatchSide + x)], 150) << i << ", point " << k / 2;
    }
  }
}

}  // namespace
}  // namespace sightline::landmarks
