// The detector with every descriptor that runs in exact arithmetic: contrast-sensitive filters, patterns,
// both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/hardware.hpp"
#include "detectors/filterbank/detector.hpp"
#include "image/lbp.hpp"
#include "support/filterbank.hpp"

namespace sightline::filterbank {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ExactDescriptors : public ::testing::TestWithParam<int> {
 protected:
  static Descriptor descriptor() {
    Descriptor d;
    if (GetParam() != 1) d.contrast = Contrast::sensitive;
    d.patterns = GetParam() != 0;
    return d;
  }
  static Model model(int filters = 9, ClassifierKind kind = ClassifierKind::linear) {
    Model model = test::random_model(filters, 12, descriptor());
    model.epsilon = 5;
    if (kind == ClassifierKind::linear) return model;
    model.classifier = kind;
    model.weights.resize(3 * model.weights_per_template());
    std::mt19937_64 engine(4);
    for (std::int8_t& w : model.weights) w = static_cast<std::int8_t>(test::random_int(engine, 0, 90));
    return model;
  }
  static Options options(int computed_scales = 0, double margin = std::numeric_limits<double>::infinity()) {
    Options options;
    options.scale_step = 1.15;
    options.computed_scales = computed_scales;
    options.rejection_margin = margin;
    options.threshold = -1e9;
    return options;
  }

  const Image<std::uint8_t> picture = test::random_picture({203, 161}, 13);
};
INSTANTIATE_TEST_SUITE_P(All, ExactDescriptors, ::testing::Range(0, 3), [](const auto& instance) {
  return std::string(instance.param == 0 ? "signs" : instance.param == 1 ? "patterns" : "both");
});

// The level's raw scores by the reference of every stage behind the pyramid.
std::vector<std::int32_t> reference_scores(const FilterbankDetector& detector,
                                           const std::vector<Level>& levels, const Level& level) {
  const Model& model = detector.model();
  const GrayView image = levels[level.source_level].image.view();
  Image<std::uint32_t> response_map(image.width(), image.height());
  reference::filter_rows(
      image, model.dictionary,
      model.descriptor.contrast_sensitive() ? ContrastMode::sensitive : ContrastMode::insensitive, 0,
      image.height(), response_map.view());
  if (model.descriptor.patterns) reference::add_patterns(image, 0, image.height(), response_map.view());
  const Grid& grid = level.grid;
  const auto pitch = static_cast<std::size_t>(grid.pitch());
  std::vector<std::uint8_t> features(grid.features_row() * grid.blocks_y());
  CellScratch cells;
  cells.resize(grid);
  for (int y = 0; y < grid.cells_y; ++y) {
    reference::histogram_row(std::as_const(response_map).view(), level.edges, grid, y, cells.row(y));
    if (y == 0) continue;
    reference::normalise_row(cells.row(y - 1), cells.row(y), grid, model.epsilon,
                             features.data() + (y - 1) * grid.features_row());
  }
  std::vector<std::int32_t> scores(pitch * level.windows_y, 0);
  reference::classify_rows(features.data(), grid, detector.packed_weights(0), 0, level.windows_y,
                           scores.data());
  return scores;
}

TEST_P(ExactDescriptors, StagesEqualTheirReferenceOnEveryInstructionSet) {
  for (const int computed_scales : {0, 1, 2}) {
    for (const int filters : {1, 9, 128}) {
      const FilterbankDetector detector(model(filters), options(computed_scales));
      int tried = 0;
      for (const char* name : {"ssse3", "sse4", "avx2", "avx512", "avx512-vnni", "neon", "best"}) {
        try {
          limit_instruction_set(name);
        } catch (const Error&) {
          continue;  // this processor lacks it
        }
        ++tried;
        FilterbankWorkspace w;
        ASSERT_TRUE(detector.prepare(w, picture.view()));
        detector.score_windows(w);
        std::set<double> scores;
        for (const Level& level : w.levels) {
          const std::vector<std::int32_t> expected = reference_scores(detector, w.levels, level);
          for (int y = 0; y < level.windows_y; ++y) {
            for (int x = 0; x < level.windows_x; ++x) {
              const std::int32_t raw = expected[static_cast<std::size_t>(y) * level.grid.pitch() + x];
              ASSERT_EQ(detector.score(level, x, y), detector.score_of(raw)) << name << ' ' << x << ' ' << y;
              scores.insert(raw);
            }
          }
        }
        EXPECT_GT(scores.size(), 500U);
      }
      limit_instruction_set("best");
      EXPECT_GE(tried, 2);
    }
  }
}

// copy_features gives training what the classifier sees, in the order of the weights.
TEST_P(ExactDescriptors, ScoresAreThoseOfTheCopiedFeatures) {
  for (const ClassifierKind kind : {ClassifierKind::linear, ClassifierKind::distance}) {
    const FilterbankDetector detector(model(9, kind), options());
    const Model& m = detector.model();
    FilterbankWorkspace w;
    ASSERT_TRUE(detector.prepare(w, picture.view()));
    detector.score_windows(w);
    std::vector<std::uint8_t> features(m.weights_per_template());
    for (const Level& level : w.levels) {
      for (int y = 0; y < level.windows_y; ++y) {
        for (int x = 0; x < level.windows_x; ++x) {
          detector.copy_features(level, x, y, features);
          std::int64_t best = std::numeric_limits<std::int64_t>::min();
          for (int t = 0; t < m.templates(); ++t) {
            std::int64_t raw = 0;
            for (std::size_t i = 0; i < features.size(); ++i) {
              const int weight = m.weights[t * features.size() + i];
              const int difference = features[i] - weight;
              raw += kind == ClassifierKind::linear ? weight * features[i] : -difference * difference;
            }
            best = std::max(best, raw);
          }
          ASSERT_EQ(detector.score(level, x, y), static_cast<double>(best + m.bias) * m.scale);
        }
      }
    }
  }
}

// Cut anywhere, with or without shortcuts, the windows of both parts score as those of the whole.
TEST_P(ExactDescriptors, SharesFitTogether) {
  for (const int computed_scales : {0, 2}) {
    for (const double margin : {std::numeric_limits<double>::infinity(), 3.0}) {
      Options with = options(computed_scales, margin);
      with.threshold = 0;
      const FilterbankDetector detector(model(), with);
      EXPECT_EQ(detector.pre_rejects(), margin == 3.0);
      const auto whole = detector.make_workspace();
      const auto rest = detector.make_workspace();
      const auto score = [&](Workspace& workspace, Partition partition) {
        EXPECT_TRUE(detector.prepare(workspace, picture.view(), partition));
        detector.score_windows(static_cast<FilterbankWorkspace&>(workspace));
        return static_cast<FilterbankWorkspace&>(workspace).candidates;
      };
      const std::vector<Candidate> expected = score(*whole, {});
      ASSERT_GT(expected.size(), 20U);
      for (const double cut : {0.05, 0.3, 0.5, 0.77, 0.95}) {
        score(*whole, {0, cut});
        score(*rest, {cut, 1});
        detector.merge(*whole, *rest);
        const auto& joined = static_cast<FilterbankWorkspace&>(*whole).candidates;
        ASSERT_EQ(joined.size(), expected.size()) << cut;
        for (std::size_t i = 0; i < joined.size(); ++i) {
          EXPECT_FALSE(joined[i] < expected[i] || expected[i] < joined[i]);
          EXPECT_EQ(joined[i].score, expected[i].score);
        }
      }
    }
  }
}

// A flat frame's pixels all have the pattern of eight neighbours as bright; it has no responses.
TEST_P(ExactDescriptors, FlatFrames) {
  const Model m = model();
  const FilterbankDetector detector(m, options());
  FilterbankWorkspace w;
  std::int64_t raw = m.bias;
  if (m.descriptor.patterns) {
    const std::size_t block = m.descriptor.block_features(9);
    const std::size_t first = block - kUniformLbpBins + kUniformLbp[0xFF];
    for (int b = 0; b < m.window.blocks(); ++b) raw += 255 * m.weights[first + b * block];
  }
  for (const int value : {0, 1, 128, 255}) {
    const Image<std::uint8_t> flat = test::flat_picture({100, 80}, static_cast<std::uint8_t>(value));
    ASSERT_TRUE(detector.prepare(w, flat.view()));
    detector.score_windows(w);
    ASSERT_FALSE(w.candidates.empty());
    for (const Candidate& c : w.candidates) ASSERT_EQ(c.score, static_cast<double>(raw) * m.scale);
  }
}

TEST_P(ExactDescriptors, RunOnDevicesAndAreNamed) {
  const FilterbankDetector detector(model(), options(1, 2));
  EXPECT_EQ(detector.info().cpu_only, "");
  EXPECT_THAT(detector.info().model, HasSubstr(describe(descriptor())));
  EXPECT_TRUE(detector.pre_rejects());
  EXPECT_EQ(detector.options().computed_scales, 1);
}

// The float dictionary is the exact one before rounding: scores differ a little, and go together.
TEST_P(ExactDescriptors, FloatArithmeticComesClose) {
  Options in_float = options();
  in_float.arithmetic = Arithmetic::floating_point;
  const Model one = model(25);
  const FilterbankDetector exact(one, options());
  const FilterbankDetector floating(one, in_float);
  EXPECT_NE(floating.info().cpu_only, "");
  const auto score_all = [&](const FilterbankDetector& detector) {
    FilterbankWorkspace w;
    EXPECT_TRUE(detector.prepare(w, picture.view()));
    detector.score_windows(w);
    std::vector<double> scores;
    for (const Level& level : w.levels) {
      for (int y = 0; y < level.windows_y; ++y) {
        for (int x = 0; x < level.windows_x; ++x) scores.push_back(detector.score(level, x, y));
      }
    }
    return scores;
  };
  const std::vector<double> expected = score_all(exact);
  const std::vector<double> scores = score_all(floating);
  ASSERT_EQ(scores.size(), expected.size());
  double mean = 0;
  for (const double score : expected) mean += score / static_cast<double>(expected.size());
  double spread = 0;
  double error = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    spread += (expected[i] - mean) * (expected[i] - mean);
    error += (scores[i] - expected[i]) * (scores[i] - expected[i]);
  }
  EXPECT_LT(error, 0.05 * spread);
}

}  // namespace
}  // namespace sightline::filterbank
