#include "detectors/filterbank/detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/hardware.hpp"
#include "support/filterbank.hpp"

namespace sightline::filterbank {
namespace {

using test::detect_fresh;
using test::flat_picture;
using test::random_model;
using test::random_picture;
using test::scored;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options options_with(double threshold, double step = 1.2) {
  Options options;
  options.threshold = threshold;
  options.scale_step = step;
  return options;
}

std::vector<double> all_scores(const FilterbankDetector& detector, GrayView frame) {
  FilterbankWorkspace w;
  scored(detector, w, frame);
  std::vector<double> scores;
  for (const Level& level : w.levels) {
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) scores.push_back(detector.score(level, x, y));
    }
  }
  return scores;
}

// --- scores
// -----------------------------------------------------------------------------------------------------

// Calls `check(level, x, y, features)` for every window.
template <typename Check>
void for_each_window(const FilterbankDetector& detector, const FilterbankWorkspace& workspace,
                     const Check& check) {
  std::vector<std::uint8_t> features(detector.model().weights_per_template());
  for (const Level& level : workspace.levels) {
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) {
        detector.copy_features(level, x, y, features);
        check(level, x, y, features);
      }
    }
  }
}

TEST(FilterbankDetector, LinearScoreIsTheSumOfWeightTimesFeature) {
  for (const int filters : {1, 9, 16}) {
    const FilterbankDetector detector(random_model(filters, 3), options_with(0));
    const Image<std::uint8_t> picture = random_picture({150, 117}, 4);
    int windows = 0;
    bool varied = false;
    for_each_window(detector, scored(detector, *detector.make_workspace(), picture.view()),
                    [&](const Level& level, int x, int y, const auto& features) {
                      std::int64_t raw = 0;
                      for (std::size_t i = 0; i < features.size(); ++i)
                        raw += detector.model().weights[i] * features[i];
                      ASSERT_EQ(detector.score(level, x, y), static_cast<double>(raw - 12345) * 1e-4)
                          << level.plan.scale << " " << x << " " << y;
                      ++windows;
                      varied |= raw != 0;
                    });
    EXPECT_GT(windows, 400);
    EXPECT_TRUE(varied);
  }
}

TEST(FilterbankDetector, DistanceScoreIsThatToTheNearestTemplate) {
  for (const int templates : {1, 5}) {
    const FilterbankDetector detector(random_model(9, 5, ClassifierKind::distance, templates),
                                      options_with(0));
    const Image<std::uint8_t> picture = random_picture({150, 117}, 6);
    for_each_window(detector, scored(detector, *detector.make_workspace(), picture.view()),
                    [&](const Level& level, int x, int y, const auto& features) {
                      std::int64_t best = std::numeric_limits<std::int64_t>::min();
                      for (int t = 0; t < templates; ++t) {
                        std::int64_t raw = 0;
                        for (std::size_t i = 0; i < features.size(); ++i) {
                          const int difference =
                              features[i] - detector.model().weights[t * features.size() + i];
                          raw -= difference * difference;
                        }
                        best = std::max(best, raw);
                      }
                      ASSERT_EQ(detector.score(level, x, y), static_cast<double>(best - 12345) * 1e-4);
                    });
  }
}

TEST(FilterbankDetector, FlatFramesScoreTheBiasEverywhere) {
  const FilterbankDetector detector(random_model(9, 7), options_with(0));
  for (const int value : {0, 1, 128, 255}) {
    for (const double score :
         all_scores(detector, flat_picture({100, 80}, static_cast<std::uint8_t>(value)).view()))
      ASSERT_EQ(score, -12345 * 1e-4);
  }
}

TEST(FilterbankDetector, FourTimesTheContrastScoresTheSame) {
  // Square roots of four times the sums are twice the roots, exactly.
  Options options = options_with(0);
  options.max_size = 24;  // one level, as it is
  const FilterbankDetector detector(random_model(16, 8), options);
  Image<std::uint8_t> dim = random_picture({120, 90}, 9);
  Image<std::uint8_t> bright(120, 90);
  for (int y = 0; y < 90; ++y) {
    for (int x = 0; x < 120; ++x) {
      dim.view().at(x, y) = static_cast<std::uint8_t>(dim.view().at(x, y) / 4);
      bright.view().at(x, y) = static_cast<std::uint8_t>(4 * dim.view().at(x, y) + 3);
    }
  }
  EXPECT_EQ(all_scores(detector, dim.view()), all_scores(detector, bright.view()));
}

TEST(FilterbankDetector, FloatMethodComesClose) {
  // With the 8-bit filters divided by a power of two for reference, both methods see the same responses, and
  // differ only in that the exact one rounds its features: by half a unit each.
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    Model model = random_model(16, 10, kind, kind == ClassifierKind::linear ? 1 : 3);
    std::vector<Filter> filters(model.dictionary.filters().begin(), model.dictionary.filters().end());
    std::vector<FloatFilter> reference(filters.size());
    for (std::size_t k = 0; k < filters.size(); ++k) {
      for (int i = 0; i < kTaps; ++i) reference[k][i] = static_cast<float>(filters[k][i]) / 128.0F;
    }
    model.dictionary = Dictionary(filters, reference);
    double bound = 1;
    for (std::size_t i = 0; i < model.weights_per_template(); ++i) {
      // |(v - w)^2 - (r - w)^2| = |v - r| |v + r - 2w| with |v - r| at most a half
      bound += kind == ClassifierKind::linear ? 0.5 * std::abs(model.weights[i]) : 0.5 * 2 * 255.0;
    }
    const Image<std::uint8_t> picture = random_picture({140, 100}, 11);
    Options options = options_with(0);
    const std::vector<double> exact = all_scores(FilterbankDetector(model, options), picture.view());
    options.arithmetic = Arithmetic::floating_point;
    const std::vector<double> floating = all_scores(FilterbankDetector(model, options), picture.view());
    ASSERT_EQ(exact.size(), floating.size());
    double mean_error = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      ASSERT_NEAR(exact[i], floating[i], bound * model.scale);
      mean_error += std::fabs(exact[i] - floating[i]) / static_cast<double>(exact.size());
    }
    // Errors of random sign: their sum is far below the bound.
    EXPECT_LT(mean_error, 0.1 * bound * model.scale);
  }
}

TEST(FilterbankDetector, FloatMethodWithTheLearnedDictionaryOrdersWindowsAlike) {
  const Model model = random_model(16, 10);
  const Image<std::uint8_t> picture = random_picture({140, 100}, 11);
  Options options = options_with(0);
  const std::vector<double> a = all_scores(FilterbankDetector(model, options), picture.view());
  options.arithmetic = Arithmetic::floating_point;
  const std::vector<double> b = all_scores(FilterbankDetector(model, options), picture.view());
  ASSERT_EQ(a.size(), b.size());
  const auto n = static_cast<double>(a.size());
  double sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  const double correlation =
      (ab - sum_a * sum_b / n) / std::sqrt((aa - sum_a * sum_a / n) * (bb - sum_b * sum_b / n));
  EXPECT_GT(correlation, 0.98);
}

// --- the result depends on the frame and the detector alone
// -----------------------------------------------------

class FilterbankSame : public ::testing::TestWithParam<ClassifierKind> {
 protected:
  FilterbankSame()
      : detector(random_model(9, 12, GetParam(), GetParam() == ClassifierKind::linear ? 1 : 4),
                 options_with(-1e9)),
        picture(random_picture({203, 161}, 13)),
        expected(detect_fresh(detector, picture.view())) {}
  void SetUp() override { ASSERT_GT(expected.size(), 20U); }

  FilterbankDetector detector;
  Image<std::uint8_t> picture;
  std::vector<Detection> expected;
};
INSTANTIATE_TEST_SUITE_P(Classifiers, FilterbankSame,
                         ::testing::Values(ClassifierKind::linear, ClassifierKind::distance),
                         [](const auto& instance) {
                           return instance.param == ClassifierKind::linear ? "linear" : "distance";
                         });

TEST_P(FilterbankSame, OnAnyNumberOfThreads) {
  for (int threads = 1; threads <= 8; ++threads) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    oneapi::tbb::task_arena arena(threads);
    for (int repeat = 0; repeat < 5; ++repeat) {
      arena.execute(
          [&] { EXPECT_EQ(detect_fresh(detector, picture.view()), expected) << threads << " threads"; });
    }
  }
}

TEST_P(FilterbankSame, OnEveryInstructionSet) {
  int tried = 0;
  for (const char* name : {"ssse3", "sse4", "avx2", "avx512", "avx512-vnni", "neon", "best"}) {
    try {
      limit_instruction_set(name);
    } catch (const Error&) {
      continue;  // this processor lacks it
    }
    EXPECT_EQ(detect_fresh(detector, picture.view()), expected) << name;
    ++tried;
  }
  limit_instruction_set("best");
  EXPECT_GE(tried, 2);
}

TEST_P(FilterbankSame, WhateverTheWorkspaceSawBefore) {
  const auto workspace = detector.make_workspace();
  for (const Size size : {Size{300, 200}, {24, 32}, {20, 20}, {203, 161}, {31, 400}, {1, 1}, {400, 33}}) {
    const Image<std::uint8_t> other = random_picture(size, 14);
    EXPECT_EQ(detect(detector, *workspace, other.view()), detect_fresh(detector, other.view()))
        << size.width << "x" << size.height;
    EXPECT_EQ(detect(detector, *workspace, picture.view()), expected)
        << "after " << size.width << "x" << size.height;
  }
}

// Gray in every channel is itself; the frame before was in another format.
TEST_P(FilterbankSame, WithFramesInColour) {
  const auto workspace = detector.make_workspace();
  for (const PackedFormat format :
       {PackedFormat::rgb24, PackedFormat::bgra, PackedFormat::bgr24, PackedFormat::rgba}) {
    const int step = bytes_per_pixel(format);
    std::vector<std::uint8_t> pixels(std::size_t{203} * 161 * step);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const auto pixel = static_cast<int>(i) / step;
      pixels[i] = static_cast<int>(i) % step == 3 ? 77 : picture.view().at(pixel % 203, pixel / 203);
    }
    const PackedView colour{pixels.data(), 203, 161, 203 * step, format};
    EXPECT_EQ(detect(detector, *workspace, colour), expected);
    EXPECT_EQ(detect(detector, *workspace, picture.view()), expected);
  }
}

TEST_P(FilterbankSame, WithBottomUpFrames) {
  Image<std::uint8_t> flipped(203, 161);
  for (int y = 0; y < 161; ++y) std::copy_n(picture.view().row(y), 203, flipped.view().row(160 - y));
  const GrayView view{flipped.view().row(160), 203, 161, -flipped.stride()};
  EXPECT_EQ(detect_fresh(detector, view), expected);
}

// --- frames, options, boxes
// -------------------------------------------------------------------------------------

TEST(FilterbankDetector, FramesSmallerThanTheWindowAreSkipped) {
  const FilterbankDetector detector(random_model(9, 15), options_with(-1e9));
  const auto workspace = detector.make_workspace();
  for (const Size size : {Size{23, 32}, {24, 31}, {500, 8}, {1, 1}}) {
    const Image<std::uint8_t> small = flat_picture(size, 50);
    EXPECT_FALSE(detector.prepare(*workspace, small.view()));
    EXPECT_FALSE(detector.prepare(*workspace, small.view()));  // the same size once more
    EXPECT_THAT(detect(detector, *workspace, small.view()), IsEmpty());
  }
  EXPECT_FALSE(detector.prepare(*workspace, GrayView()));
  const Image<std::uint8_t> just = flat_picture({24, 32}, 50);
  EXPECT_TRUE(detector.prepare(*workspace, just.view()));
  EXPECT_EQ(detect(detector, *workspace, just.view()).size(), 1U);
}

TEST(FilterbankDetector, BoxesAreTheObjectInFramePixels) {
  Options options = options_with(-1e9, 2.0);
  options.min_size = 48;  // the object is 24 pixels high in a window of 32: one level at scale 2, and so on
  const FilterbankDetector detector(random_model(9, 16), options);
  EXPECT_EQ(detector.info().smallest_object(), 48);
  const Image<std::uint8_t> picture = random_picture({100, 140}, 17);
  FilterbankWorkspace w;
  scored(detector, w, picture.view());
  ASSERT_EQ(w.levels.size(), 2U);
  EXPECT_EQ(detector.box(w.levels[0], 0, 0), (Box{8, 8, 32, 48}));
  EXPECT_EQ(detector.box(w.levels[0], 2, 3), (Box{8 + 32, 8 + 48, 32, 48}));
  EXPECT_EQ(detector.box(w.levels[1], 0, 0), (Box{16, 16, 64, 96}));
}

TEST(FilterbankDetector, EnlargesFramesForSmallObjects) {
  Options options = options_with(-1e9);
  options.min_size = 12;
  const FilterbankDetector detector(random_model(9, 16), options);
  const Image<std::uint8_t> picture = random_picture({12, 16}, 18);
  FilterbankWorkspace w;
  scored(detector, w, picture.view());
  ASSERT_EQ(w.levels.size(), 1U);
  EXPECT_EQ(w.levels[0].plan.size, (Size{24, 32}));
  EXPECT_EQ(detector.box(w.levels[0], 0, 0), (Box{2, 2, 8, 12}));
}

// Windows in the frame are what they are without a border, those beyond it are further ones.
TEST(FilterbankDetector, BorderAddsWindows) {
  Options options = options_with(-1e9, 1.3);
  const Image<std::uint8_t> picture = random_picture({100, 124}, 18);
  const Model model = random_model(9, 16);
  for (const int computed_scales : {0, 1}) {
    options.computed_scales = computed_scales;
    options.border = 0;
    const FilterbankDetector within(model, options);
    options.border = 16;
    const FilterbankDetector beyond(model, options);
    const auto workspace = within.make_workspace(), enlarged = beyond.make_workspace();
    const Level& level = scored(within, *workspace, picture.view()).levels[0];
    const FilterbankWorkspace& w = scored(beyond, *enlarged, picture.view());
    const Level& larger = w.levels[0];
    EXPECT_EQ(larger.windows_x, level.windows_x + 4);
    EXPECT_EQ(larger.windows_y, level.windows_y + 4);
    for (int y = 0; y < level.windows_y; ++y) {
      for (int x = 0; x < level.windows_x; ++x) {
        ASSERT_EQ(beyond.score(larger, x + 2, y + 2), within.score(level, x, y))
            << x << " " << y << ", " << computed_scales;
        ASSERT_EQ(beyond.box(larger, x + 2, y + 2), within.box(level, x, y));
      }
    }
    EXPECT_EQ(beyond.box(larger, 0, 0).x, within.box(level, 0, 0).x - 16);
    // The largest object is as high as a frame without a margin.
    const Level& last = w.levels.back();
    EXPECT_GT(beyond.box(last, 0, 0).height, 0.7 * 124);
  }
  options.border = 12;
  EXPECT_THROW(FilterbankDetector(model, options), Error);
}

TEST(FilterbankDetector, BoxesEndAtTheFrame) {
  Options options = options_with(-1e9, 1.3);
  options.border = 24;
  options.max_overlap = 1;
  const Image<std::uint8_t> picture = random_picture({60, 70}, 19);
  const auto inside = detect_fresh(FilterbankDetector(random_model(9, 16), options), picture.view());
  options.clip = false;
  const auto whole = detect_fresh(FilterbankDetector(random_model(9, 16), options), picture.view());
  ASSERT_EQ(inside.size(), whole.size());
  int cut = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(inside[i].box, clipped(whole[i].box, {60, 70}));
    cut += inside[i].box == whole[i].box ? 0 : 1;
  }
  EXPECT_GT(cut, 10);
  EXPECT_EQ(clipped({-4, 3, 10, 20}, {40, 12}), (Box{0, 3, 6, 9}));
  EXPECT_EQ(clipped({50, -30, 10, 20}, {40, 12}), (Box{40, 0, 0, 0}));
}

TEST(FilterbankDetector, ThresholdAndCandidateLimit) {
  const Image<std::uint8_t> picture = random_picture({120, 100}, 19);
  Options options = options_with(-1e9);
  options.max_overlap = 1;
  const Model model = random_model(9, 20);
  const auto all = detect_fresh(FilterbankDetector(model, options), picture.view());
  ASSERT_GT(all.size(), 100U);
  EXPECT_TRUE(
      std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; }));
  options.threshold = all[30].score;
  const auto best = detect_fresh(FilterbankDetector(model, options), picture.view());
  ASSERT_GE(best.size(), 31U);
  EXPECT_EQ(best.back().score, all[30].score);  // the threshold itself is reported
  options.threshold = -1e9;
  options.max_candidates = 10;
  const auto ten = detect_fresh(FilterbankDetector(model, options), picture.view());
  EXPECT_EQ(ten, std::vector<Detection>(all.begin(), all.begin() + 10));
}

TEST(FilterbankDetector, OptionsOutOfRange) {
  const auto complaint = [](const Options& options) {
    return test::error_of(ExitCode::usage, [&] { FilterbankDetector(random_model(9, 21), options); });
  };
  EXPECT_NE(complaint(options_with(0, 1.0)), "");
  Options options;
  options.min_size = 1;
  EXPECT_THAT(complaint(options), HasSubstr("--min-size of "));
  options.min_size = 100;
  options.max_size = 50;
  EXPECT_NE(complaint(options), "");
}

TEST(FilterbankDetector, StagesAreNamedInOrder) {
  const FilterbankDetector detector(random_model(9, 22), {});
  std::vector<std::string> names;
  for (const StageInfo& stage : detector.stages()) names.emplace_back(stage.name);
  EXPECT_THAT(names, ::testing::ElementsAre("pyramid", "filter", "histogram", "classify", "verify", "group"));
  EXPECT_EQ(detector.info().labels, std::vector<std::string>{"thing"});
  const auto workspace = detector.make_workspace();
  test::expect_error(ExitCode::failed, "6", [&] { detector.run_stage(6, *workspace); });
}

TEST(FilterbankDetector, FromConfiguration) {
  const test::TempDir folder;
  save_model(random_model(9, 23), folder / "m.safetensors");
  std::ofstream(folder / "c.toml")
      << "[detector]\nmodel = \"m.safetensors\"\nscale_step = 1.5\nmin_size = 48\n";
  Config config = Config::load(folder / "c.toml");
  const auto detector = make_filterbank_detector(config);
  EXPECT_NO_THROW(config.expect_all_known());
  EXPECT_EQ(detector->info().threshold, 0.25);  // the model's
  EXPECT_EQ(detector->info().smallest_object(), 48);
  const auto& own = dynamic_cast<const FilterbankDetector&>(*detector);
  EXPECT_EQ(own.options().scale_step, 1.5);
  EXPECT_EQ(own.options().arithmetic, Arithmetic::exact);
  config.set("detector", "threshold", 7.0);
  config.set("detector", "arithmetic", std::string("float"));
  EXPECT_EQ(make_filterbank_detector(config)->info().threshold, 7.0);
  config.set("detector", "arithmetic", std::string("fixed"));
  test::expect_error(ExitCode::usage, "'fixed'", [&] { make_filterbank_detector(config); });
  config.set("detector", "model", folder / "none.safetensors");
  test::expect_error(ExitCode::model, "none.safetensors", [&] { make_filterbank_detector(config); });
}

}  // namespace
}  // namespace sightline::filterbank
