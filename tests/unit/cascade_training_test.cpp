// Training of cascades: features, boosting, whole runs, and the files that come of them.
#include "detectors/cascade/training/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <limits>

#include "detectors/cascade/detector.hpp"
#include "detectors/cascade/kernels.hpp"
#include "image/integral.hpp"
#include "support/cascade.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/log_capture.hpp"
#include "support/temp_dir.hpp"
#include "support/training.hpp"

namespace sightline::cascade {
namespace {

using test::Crosses;
using test::Pictures;
using training::WindowSamples;

const auto kGoOn = [](const training::TrainingProgress&) { return true; };

WindowSamples random_samples(unsigned count, Size window) {
  WindowSamples samples(window);
  for (unsigned i = 0; i < count; ++i) samples.add(make_picture(window, 7 * i + 1).view());
  return samples;
}

struct Place {
  int x = 0, y = 0;
};

// The detector's reference on the window of a frame whose upper left pixel is `at`.
reference::Verdict verdict_at(const Model& model, GrayView frame, Place at) {
  const Layout layout = plan_layout(frame.size(), model, {});
  std::vector<std::byte> integrals(static_cast<std::size_t>(layout.integral_bytes()) + 512);
  for (int plane = 0; plane < layout.planes; ++plane)
    integrate_reference(frame, layout, layout.levels[0], plane, 0, frame.height(), integrals.data());
  return reference::run_window(model, layout, layout.levels[0], integrals.data(), at.x, at.y, 0,
                               static_cast<int>(model.stages.size()))
      .verdict;
}

// The same for a window that is a whole frame.
reference::Verdict verdict_of(const Model& model, GrayView window) {
  return verdict_at(model, window, {0, 0});
}

TEST(CascadeFeatures, AreThoseOfOpenCvsTrainer) {
  EXPECT_EQ(all_features(FeatureKind::lbp, {24, 24}).size(), 8464u);
  EXPECT_EQ(all_features(FeatureKind::haar, {24, 24}).size(), 210'400u);
  EXPECT_EQ(all_features(FeatureKind::haar, {24, 24}, true).size(), 261'600u);
  for (const auto& [kind, tilted] :
       {std::pair(FeatureKind::lbp, false), {FeatureKind::haar, false}, {FeatureKind::haar, true}}) {
    const FeaturePool pool = all_features(kind, {20, 12}, tilted);
    EXPECT_EQ(pool.size(), count_features(kind, {20, 12}, tilted));
    for (const HaarFeature& f : pool.haar) {
      float sum = 0;
      for (std::size_t i = 0; i < 3; ++i)
        sum += f.weights[i] * static_cast<float>(f.rects[i].width * f.rects[i].height);
      ASSERT_EQ(sum, 0) << "of pixels that are all alike";
    }
  }
}

// A detector of one stump with the value as its threshold rejects the window, and with the next float passes
// it.
TEST(CascadeFeatures, TiltedValuesAreTheDetectors) {
  const Size window{13, 11};
  const FeaturePool pool = all_features(FeatureKind::haar, window, true);
  const Image<std::uint8_t> picture = make_picture({40, 30}, 5);
  WindowSamples samples(window);
  const std::vector<Place> places{{0, 0}, {27, 19}, {5, 7}, {0, 19}, {27, 0}};
  for (const Place& at : places)
    samples.add({picture.view().row(at.y) + at.x, window.width, window.height, picture.view().stride()});
  SampleIntegrals integrals(FeatureKind::haar, window, true);
  integrals.assign(samples);
  std::array<float, kTogether> values{};
  std::size_t compared = 0;
  for (std::size_t f = 0; f < pool.size(); f += 7) {
    if (!pool.haar[f].tilted) continue;
    integrals.values(pool.haar[f], 0, values.data());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (integrals.is_flat(i)) continue;
      ++compared;
      Stump stump;
      stump.feature = f;
      stump.left = -1;
      stump.right = 1;
      for (const bool is_left : {false, true}) {
        stump.threshold =
            is_left ? std::nextafter(values[i], std::numeric_limits<float>::infinity()) : values[i];
        TrainedStage stage;
        stage.stumps = {stump};
        ASSERT_EQ(verdict_at(make_model(pool, {stage}), picture.view(), places[i]),
                  is_left ? reference::Verdict::rejected : reference::Verdict::passed)
            << f << ", " << i;
      }
    }
  }
  EXPECT_GT(compared, 1000u);
}

class CascadeTrainingOf : public testing::TestWithParam<FeatureKind> {};

TEST_P(CascadeTrainingOf, SamplesGoWhereTheDetectorSendsThem) {
  const Size window{16, 14};
  const FeaturePool pool = all_features(GetParam(), window);
  const WindowSamples samples = random_samples(150, window);
  SampleIntegrals integrals(GetParam(), window);
  integrals.assign(samples);
  for (std::size_t f = 0; f < pool.size(); f += pool.size() / 61) {
    Stump stump;
    stump.feature = f;
    stump.patterns = {0x12345678, 0x9abcdef0, 0x0f1e2d3c, 0x55aa55aa, 1, 0x80000000, 0xffff0000, 0x00ff00ff};
    stump.threshold = 0.01F;
    stump.left = -1;
    stump.right = 1;
    TrainedStage stage;
    stage.stumps = {stump};
    const Model model = make_model(pool, {stage});
    const std::vector<char> left = goes_left(stump, pool, integrals);
    ASSERT_EQ(left.size(), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (integrals.is_flat(i)) continue;
      ASSERT_EQ(left[i] != 0, verdict_of(model, samples.view(i)) == reference::Verdict::rejected)
          << f << ", " << i;
    }
  }
}

// A table of two classes that only some features tell apart.
struct TwoClasses {
  explicit TwoClasses(FeatureKind kind) : pool(all_features(kind, {10, 10})), table(pool) {
    WindowSamples samples({10, 10}), noise({10, 10});
    for (unsigned i = 0; i < 130; ++i) {
      Image<std::uint8_t> picture = test::random_picture({10, 10}, i);
      for (int y = 3; y < 6; ++y) picture.view().at(4, y) = i % 10 == 0 ? 90 : 250;
      if (i % 2 == 0) samples.add(picture.view());
      noise.add(test::random_picture({10, 10}, 1000 + i).view());
    }
    for (std::size_t i = 0; i < 130; ++i) samples.add(noise.view(i));
    SampleIntegrals integrals(kind, {10, 10});
    integrals.assign(samples);
    table.assign(integrals, 65);
    for (std::size_t i = 0; i < table.samples(); ++i)
      weights.push_back((i < 65 ? 1.0 : 0.5) * (1 + 0.1 * static_cast<double>(i % 7)));
  }
  FeaturePool pool;
  BinTable table;
  std::vector<double> weights;
};

TEST_P(CascadeTrainingOf, StumpsTellClassesApart) {
  const TwoClasses classes(GetParam());
  EXPECT_EQ(classes.table.positives(), 65u);
  EXPECT_EQ(classes.table.samples(), 195u);
  // A feature whose middle is the bright stroke.
  const WeighedSamples all = weigh(classes.weights, 65, 1);
  const Stump stump = best_stump(classes.table, best_feature(classes.table, all), all);
  EXPECT_GT(std::abs(stump.left - stump.right), 1);
}

// The error that is left after the best cut, found the plain way: every cut of the sorted bins.
double least_error(const TwoClasses& classes, std::size_t feature) {
  std::array<double, kBins> w{}, wy{};
  const auto row = classes.table.row(feature);
  double all_w = 0, all_wy = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double y = i < classes.table.positives() ? 1 : -1;
    w[row[i]] += classes.weights[i];
    wy[row[i]] += classes.weights[i] * y;
    all_w += classes.weights[i];
    all_wy += classes.weights[i] * y;
  }
  std::vector<std::size_t> order;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (w[bin] > 0) order.push_back(bin);
  }
  if (classes.pool.kind == FeatureKind::lbp)
    std::ranges::sort(order, {}, [&](std::size_t bin) { return wy[bin] / w[bin]; });
  double best = std::numeric_limits<double>::max(), left_w = 0, left_wy = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    left_w += w[order[i]];
    left_wy += wy[order[i]];
    const double right_w = all_w - left_w, right_wy = all_wy - left_wy;
    best = std::min(best, all_w - left_wy * left_wy / left_w - right_wy * right_wy / right_w);
  }
  return best;
}

TEST_P(CascadeTrainingOf, ChoosesTheFeatureOfLeastError) {
  const TwoClasses classes(GetParam());
  std::size_t best = 0;
  std::vector<double> errors;
  for (std::size_t f = 0; f < classes.pool.size(); ++f) errors.push_back(least_error(classes, f));
  best = static_cast<std::size_t>(std::ranges::min_element(errors) - errors.begin());
  const std::size_t found = best_feature(classes.table, weigh(classes.weights, 65, 1));
  ASSERT_LT(found, classes.pool.size());
  EXPECT_NEAR(errors[found], errors[best], 1e-6) << found << " or " << best;
  // Its stump errs as much.
  const Stump stump = best_stump(classes.table, found, weigh(classes.weights, 65, 1));
  double error = 0;
  const auto row = classes.table.row(found);
  std::vector<int> sides;
  for (std::size_t i = 0; i < row.size(); ++i) {
    bool left = (stump.patterns[row[i] / 32] >> row[i] % 32 & 1U) != 0;
    if (GetParam() == FeatureKind::haar) {
      int edge = 0;
      while (edge < kBins && classes.table.edge(found, edge) < stump.threshold) ++edge;
      left = row[i] < edge;
    }
    const double y = i < 65 ? 1 : -1, answer = static_cast<double>(left ? stump.left : stump.right);
    error += classes.weights[i] * (y - answer) * (y - answer);
  }
  EXPECT_NEAR(error, errors[found], 1e-5);
}

TEST_P(CascadeTrainingOf, TrimmingLeavesOutTheLightest) {
  const std::vector<double> weights{10, 1, 8, 2, 9, 0.5};
  const WeighedSamples kept = weigh(weights, 3, 0.9);  // up to 3.05 of 30.5
  ASSERT_EQ(kept.positives.size(), 2u);
  EXPECT_EQ(kept.positives[0].sample, 0u);
  EXPECT_EQ(kept.positives[1].sample, 2u);
  ASSERT_EQ(kept.negatives.size(), 2u);
  EXPECT_EQ(kept.negatives[0].sample, 3u);
  EXPECT_EQ(weigh(weights, 3, 1).positives.size(), 3u);
}

// A run of a second.
TrainingOptions small_options(FeatureKind kind) {
  TrainingOptions options;
  options.kind = kind;
  options.window = {12, 12};
  options.stages = 3;
  options.objects = 150;
  options.windows = 300;
  options.copies = 1;
  options.stage.max_weak_classifiers = 12;
  return options;
}

TrainedCascade train_crosses(const test::TempDir& folder, const char* state, const TrainingOptions& options,
                             const training::ReportProgress& report = kGoOn) {
  const Crosses data;
  return train(data.positives, data.negatives, options, folder / state, report);
}

std::string file_of(const TrainedCascade& cascade) {
  return model_xml(cascade.model, {}, "");
}

TEST_P(CascadeTrainingOf, FindsWhatItWasTrainedOn) {
  const test::TempDir folder;
  const TrainingOptions options = small_options(GetParam());
  const TrainedCascade cascade = train_crosses(folder, "state", options);
  ASSERT_GE(cascade.stages.size(), 1u);
  for (const TrainedStage& stage : cascade.stages) {
    EXPECT_GE(stage.hit_rate, 0.99);
    EXPECT_LE(stage.stumps.size(), 12u);
    EXPECT_LT(stage.false_alarm, 1);
  }
  save_model(cascade.model, options.stage, "crosses", folder / "crosses.xml");
  Options search;
  search.min_neighbors = 2;
  const CascadeDetector detector(load_model(folder / "crosses.xml"), search);
  Image<std::uint8_t> frame = test::random_picture({120, 100}, 77);
  const Image<std::uint8_t> cross = test::cross_picture(36, 5000);
  for (int y = 0; y < 36; ++y) {
    for (int x = 0; x < 36; ++x) frame.view().at(50 + x, 30 + y) = cross.view().at(x, y);
  }
  const std::vector<Detection> found =
      detect(detector, *detector.make_workspace(), std::as_const(frame).view());
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found[0].box.x + found[0].box.width / 2, 68, 5);
  EXPECT_NEAR(found[0].box.y + found[0].box.height / 2, 48, 5);
}

TEST_P(CascadeTrainingOf, DependsNeitherOnThreadsNorOnWhereItWasStopped) {
  const test::TempDir folder;
  const TrainingOptions options = small_options(GetParam());
  const std::string whole = file_of(train_crosses(folder, "a", options));
  {
    const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_EQ(file_of(train_crosses(folder, "b", options)), whole);
  }
  // What is left of all negatives is searched for once, and again where training goes on.
  for (const char* phase : {"stage 2 of 3: boosting", "stage 3 of 3: boosting"}) {
    const auto stop = [&](const training::TrainingProgress& progress) { return progress.phase != phase; };
    EXPECT_THROW(train_crosses(folder, phase, options, stop), training::TrainingStopped);
    EXPECT_TRUE(std::filesystem::exists(folder / (std::string(phase) + "/stage-1.safetensors")));
    EXPECT_EQ(file_of(train_crosses(folder, phase, options)), whole);
  }
  // Another seed is another run, and so are other copies.
  TrainingOptions other = options;
  other.seed = 2;
  EXPECT_NE(file_of(train_crosses(folder, "a", other)), whole);
  TrainingOptions rough = options;
  rough.roughness = {1, 0.5};
  EXPECT_NE(file_of(train_crosses(folder, "b", rough)), whole);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CascadeTrainingOf, testing::Values(FeatureKind::lbp, FeatureKind::haar),
                         [](const auto& test) { return test.param == FeatureKind::lbp ? "Lbp" : "Haar"; });

TEST(CascadeTraining, EdgesPartBins) {
  const TwoClasses classes(FeatureKind::haar);
  const WindowSamples samples = random_samples(64, {10, 10});
  SampleIntegrals integrals(FeatureKind::haar, {10, 10});
  integrals.assign(samples);
  BinTable table(classes.pool);
  table.assign(integrals, 32);
  std::array<float, kTogether> values;
  for (std::size_t f = 0; f < classes.pool.size(); f += 37) {
    integrals.values(classes.pool.haar[f], 0, values.data());
    for (const int bin : {1, 2, 100, 128, 200, 255}) {
      const float edge = table.edge(f, bin);
      for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(values[i] < edge, table.row(f)[i] < bin) << f << ", " << bin << ", " << values[i];
    }
  }
}

TEST(CascadeTraining, EndsWithAWordWhereNegativesRunOut) {
  const test::TempDir folder;
  const test::LogCapture log;
  TrainingOptions options = small_options(FeatureKind::lbp);
  options.stages = 20;
  options.stage.max_weak_classifiers = 60;
  options.stage.max_false_alarm = 0.1;
  const TrainedCascade cascade = train_crosses(folder, "state", options);
  EXPECT_FALSE(cascade.complete);
  EXPECT_LT(cascade.stages.size(), 20u);
  EXPECT_NE(log.str(), "");
}

TEST(CascadeTraining, PicturesThatDoNotDo) {
  const test::TempDir folder;
  const Crosses data;
  const TrainingOptions options = small_options(FeatureKind::haar);
  const auto run = [&](const Pictures& positives, const Pictures& negatives) {
    return [&] { train(positives, negatives, options, folder / "state", kGoOn); };
  };
  Pictures one, small, flat, none;
  one.add(data.positives.load(0));
  small.add(test::random_picture({11, 11}, 1));
  for (int i = 0; i < 60; ++i) flat.add(test::flat_picture({36, 36}, 90));
  test::expect_error(ExitCode::input, "12x12 pixels", run(data.positives, small));
  test::expect_error(ExitCode::input, "12x12 pixels", run(data.positives, none));
  test::expect_error(ExitCode::input, run(none, data.negatives));
  test::expect_error(ExitCode::input, run(one, data.negatives));
  test::expect_error(ExitCode::input, run(flat, data.negatives));
  test::expect_error(ExitCode::input, run(data.positives, flat));
}

class CascadeFile : public testing::TestWithParam<Shape> {};

TEST_P(CascadeFile, IsReadAsItWasWritten) {
  Model model = make_model(GetParam());
  model.name = "x";
  const Model read = parse_model(model_xml(model, {}, "a note -- with <hyphens> ---"), "x.xml");
  EXPECT_EQ(read.window, model.window);
  EXPECT_EQ(read.leaves, model.leaves);
  EXPECT_EQ(read.subsets, model.subsets);
  EXPECT_EQ(read.lbp, model.lbp);
  ASSERT_EQ(read.nodes.size(), model.nodes.size());
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    EXPECT_EQ(read.nodes[i].feature, model.nodes[i].feature);
    EXPECT_EQ(read.nodes[i].left, model.nodes[i].left);
    EXPECT_EQ(read.nodes[i].right, model.nodes[i].right);
    EXPECT_EQ(read.nodes[i].threshold, model.kind == FeatureKind::haar ? model.nodes[i].threshold : 0);
  }
  ASSERT_EQ(read.haar.size(), model.haar.size());
  for (std::size_t i = 0; i < model.haar.size(); ++i) {
    EXPECT_EQ(read.haar[i].rects, model.haar[i].rects);
    EXPECT_EQ(read.haar[i].weights, model.haar[i].weights);
    EXPECT_EQ(read.haar[i].tilted, model.haar[i].tilted);
  }
  ASSERT_EQ(read.stages.size(), model.stages.size());
  for (std::size_t i = 0; i < model.stages.size(); ++i)
    EXPECT_EQ(read.stages[i].threshold, model.stages[i].threshold);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CascadeFile, testing::ValuesIn(kShapes),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sightline::cascade
