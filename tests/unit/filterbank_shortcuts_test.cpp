// What makes the detector faster than its plain method: levels without responses of their own, and the
// pre-rejection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <fstream>
#include <map>
#include <tuple>

#include "detectors/filterbank/detector.hpp"
#include "support/filterbank.hpp"

namespace sightline::filterbank {
namespace {

using test::random_model;
using test::random_picture;
using ::testing::ElementsAre;

std::vector<int> real_of(double step, int per_octave, int count) {
  std::vector<PyramidLevel> levels(count);
  for (int i = 0; i < count; ++i) levels[i].scale = std::pow(step, i);
  return filtered_levels(levels, step, per_octave);
}

TEST(ComputedScales, NearestOfThoseThatAreFiltered) {
  EXPECT_THAT(real_of(1.2, 0, 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(real_of(1.2, 1, 8), ElementsAre(0, 0, 0, 4, 4, 4, 4, 4));
  EXPECT_THAT(real_of(1.2, 2, 6), ElementsAre(0, 0, 2, 2, 4, 4));
  EXPECT_THAT(real_of(1.1, 2, 6), ElementsAre(0, 0, 0, 4, 4, 4));
  EXPECT_THAT(real_of(1.5, 2, 3), ElementsAre(0, 1, 2));  // less than one level between
  EXPECT_THAT(real_of(1.2, 1, 0), ElementsAre());
  EXPECT_THAT(real_of(1.8, 1, 3), ElementsAre(0, 1, 2));
}

TEST(ComputedScales, CellsCoverTheVotesWithoutGapOrOverlap) {
  const Grid grid({100, 70}, 4);
  const CellEdges edges(grid, {121, 85}, 1.21);
  EXPECT_THAT(edges.columns, ElementsAre(0, 10, 19, 29, 39, 48, 58, 68, 77, 87, 97, 106, 116));
  EXPECT_THAT(edges.rows, ElementsAre(0, 10, 19, 29, 39, 48, 58, 68, 77));
  const CellEdges beyond(grid, {90, 60}, 1.0);  // never past the responses
  EXPECT_EQ(beyond.columns.back(), 90);
  EXPECT_EQ(beyond.rows.back(), 60);
}

Options shortcuts(int computed_scales, double margin) {
  Options options;
  options.scale_step = 1.1;
  options.computed_scales = computed_scales;
  options.rejection_margin = margin;
  return options;
}

using Place = std::tuple<int, int, int>;
std::map<Place, double> candidates_of(const FilterbankDetector& detector, GrayView frame,
                                      Partition partition = {}) {
  FilterbankWorkspace w;
  EXPECT_TRUE(detector.prepare(w, frame, partition));
  detector.score_windows(w);
  std::map<Place, double> found;
  for (const Candidate& c : w.candidates) found[{c.level, c.x, c.y}] = c.score;
  return found;
}

TEST(Shortcuts, SameOnAnyNumberOfThreadsAndInAnyShares) {
  const Image<std::uint8_t> picture = random_picture({203, 161}, 13);
  for (const int computed_scales : {0, 1, 2}) {
    const FilterbankDetector detector(random_model(9, 12), shortcuts(computed_scales, 3));
    const auto expected = candidates_of(detector, picture.view());
    ASSERT_GT(expected.size(), 20U);
    for (int threads = 1; threads <= 4; ++threads) {
      const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
      oneapi::tbb::task_arena arena(threads);
      arena.execute([&] { EXPECT_EQ(candidates_of(detector, picture.view()), expected) << threads; });
    }
    for (const double cut : {0.05, 0.3, 0.5, 0.77, 0.95}) {
      auto joined = candidates_of(detector, picture.view(), {0, cut});
      joined.merge(candidates_of(detector, picture.view(), {cut, 1}));
      EXPECT_EQ(joined, expected) << cut;
    }
  }
}

TEST(Shortcuts, FirstLevelIsExact) {
  const Image<std::uint8_t> picture = random_picture({203, 161}, 13);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto plain =
      candidates_of(FilterbankDetector(random_model(9, 12), shortcuts(0, kNone)), picture.view());
  const auto fast =
      candidates_of(FilterbankDetector(random_model(9, 12), shortcuts(1, kNone)), picture.view());
  std::size_t same = 0, other = 0;
  for (const auto& [place, score] : plain) {
    const auto found = fast.find(place);
    const bool equal = found != fast.end() && found->second == score;
    if (std::get<0>(place) == 0) {
      EXPECT_TRUE(equal);
    }
    ++(equal ? same : other);
  }
  EXPECT_GT(same, 0U);
  EXPECT_GT(other, 0U);
}

// What pre-rejection lets through has the score that it would have without; a wide margin rejects nothing.
TEST(Shortcuts, PreRejectionOnlyLeavesOut) {
  const Image<std::uint8_t> picture = random_picture({203, 161}, 13);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto all =
      candidates_of(FilterbankDetector(random_model(9, 12), shortcuts(0, kNone)), picture.view());
  std::size_t before = 0;
  for (const double margin : {0.0, 2.0, 1e6}) {
    const auto some =
        candidates_of(FilterbankDetector(random_model(9, 12), shortcuts(0, margin)), picture.view());
    for (const auto& [place, score] : some) {
      ASSERT_TRUE(all.contains(place));
      EXPECT_EQ(all.at(place), score);
    }
    EXPECT_GE(some.size(), before);
    before = some.size();
    if (margin == 0) {
      EXPECT_LT(some.size(), all.size());
    }
  }
  EXPECT_EQ(before, all.size());
}

// Features that come from elsewhere are projected by the stage that needs it.
TEST(Shortcuts, ClassifyAloneProjects) {
  const Image<std::uint8_t> picture = random_picture({203, 161}, 13);
  const FilterbankDetector detector(random_model(9, 12), shortcuts(1, 3));
  FilterbankWorkspace w;
  ASSERT_TRUE(detector.prepare(w, picture.view()));
  detector.score_windows(w);
  const std::vector<Candidate> expected = w.candidates;
  ASSERT_FALSE(expected.empty());
  for (Level& level : w.levels)
    std::fill_n(level.components.data(), level.components.size(), std::int32_t{0x7FFF7FFF});
  w.projected = false;
  detector.run_stage(kClassify, w);
  ASSERT_EQ(w.candidates.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(w.candidates[i].score, expected[i].score);
}

TEST(Shortcuts, ExactSwitchTurnsThemOff) {
  const test::TempDir folder;
  save_model(random_model(9, 12), folder / "m.safetensors");
  const auto options_of = [&](const std::string& more) {
    std::ofstream(folder / "c.toml") << "[detector]\nmodel = \"m.safetensors\"\n" << more;
    return make_filterbank_detector(Config::load(folder / "c.toml"))->options();
  };
  EXPECT_EQ(options_of("").computed_scales, kComputedScales);
  EXPECT_EQ(options_of("").rejection_margin, kRejectionMargin);
  EXPECT_EQ(options_of("computed_scales = 5\nrejection_margin = 1.5\n").computed_scales, 5);
  EXPECT_EQ(options_of("computed_scales = 5\nrejection_margin = 1.5\n").rejection_margin, 1.5);
  const Options exact = options_of("exact = true\ncomputed_scales = 5\nrejection_margin = 1.5\n");
  EXPECT_EQ(exact.computed_scales, 0);
  EXPECT_EQ(exact.rejection_margin, std::numeric_limits<double>::infinity());
  EXPECT_EQ(options_of("arithmetic = \"float\"\n").computed_scales, 0);
  test::expect_error(ExitCode::usage, [&] { options_of("exact = 1\n"); });
}

}  // namespace
}  // namespace sightline::filterbank
