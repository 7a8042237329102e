// The verification network of a model: what `verify` makes of the candidates, against plain scalar code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "detectors/filterbank/detector.hpp"
#include "image/gray.hpp"
#include "support/network.hpp"

namespace sightline::filterbank {
namespace {

using test::detect_fresh;
using test::random_model;
using test::random_picture;

constexpr double kAnyScore = -1e9;

// In the pictures of these tests, the classifier's scores lie about 1.5 and mostly from 0 to 3; the logit,
// about 0, is within the limit in some windows and beyond it, on either side, in others.
Model model_with_network() {
  Model model = random_model(9, 12);
  model.network = test::random_network(model.window.pixels(), 12);
  model.network.head.bias -= 71'600;
  model.network.head.scale = 1.0 / 300;
  model.network.first_stage_threshold = 0.7;
  model.network.weight = 0.3;
  model.network.limit = 3.3;
  return model;
}

Model without_network(Model model) {
  model.network = {};
  return model;
}

Options options_of(double threshold, double scale_step = 1.3) {
  Options options;
  options.threshold = threshold;
  options.scale_step = scale_step;
  return options;
}

// Red, green and blue are pictures of their own.
struct ColourFrame {
  ColourFrame(Size s, unsigned seed) : size(s) {
    const auto red = random_picture(s, seed), green = random_picture(s, seed + 1),
               blue = random_picture(s, seed + 2);
    for (int y = 0; y < s.height; ++y) {
      for (int x = 0; x < s.width; ++x) {
        for (const auto* channel : {&red, &green, &blue}) pixels.push_back(channel->view().at(x, y));
      }
    }
  }
  PackedView view() const {
    return {pixels.data(), size.width, size.height, 3 * size.width, PackedFormat::rgb24};
  }
  Size size;
  std::vector<std::uint8_t> pixels;
};

using Place = std::tuple<int, int, int>;  // level, x, y
using Scores = std::map<Place, double>;

Scores scores_of(const std::vector<Candidate>& candidates) {
  Scores scores;
  for (const Candidate& c : candidates) scores[{c.level, c.x, c.y}] = c.score;
  EXPECT_EQ(scores.size(), candidates.size());
  return scores;
}

// What the detector's stage leaves.
Scores verified(const FilterbankDetector& detector, PictureView frame) {
  FilterbankWorkspace w;
  EXPECT_TRUE(detector.prepare(w, frame));
  detector.score_windows(w);
  detector.run_stage(kVerify, w);
  return scores_of(w.candidates);
}

Scores reaching(const Scores& scores, double threshold) {
  Scores found;
  for (const auto& [place, score] : scores) {
    if (score >= threshold) found[place] = score;
  }
  return found;
}

// The frame halved so many times, in plain scalar code.
Image<std::uint8_t> octave_of(PictureView frame, int octave) {
  const Size size = frame.size();
  Image<std::uint8_t> image(size.width, size.height);
  if (frame.is_gray()) {
    for (int y = 0; y < size.height; ++y) std::copy_n(frame.gray().row(y), size.width, image.view().row(y));
  } else {
    to_gray_reference(frame.colour(), image.view(), 0, size.height);
  }
  for (int i = 0; i < octave; ++i) {
    Image<std::uint8_t> half(image.width() / 2, image.height() / 2);
    halve_reference(image.view(), half.view(), 0, half.height());
    std::swap(image, half);
  }
  return image;
}

// What every window should have, in plain scalar code but for the classifier's scores.
struct VerifiedScores {
  Scores first;           // of all windows
  Scores final;           // of those that the first-stage threshold lets through
  Scores logit;           // of the same
  int without_image = 0;  // windows looked at on levels that are not filtered
  int largest_octave = 0;
  double smallest_scale = 1e9;

  VerifiedScores(const Model& model, Options options, PictureView frame) {
    const Network& network = model.network;
    options.threshold = kAnyScore;
    const FilterbankDetector plain(without_network(model), options);
    FilterbankWorkspace w;
    EXPECT_TRUE(plain.prepare(w, frame));
    plain.score_windows(w);
    first = scores_of(w.candidates);
    for (std::size_t l = 0; l < w.levels.size(); ++l) {
      const Level& level = w.levels[l];
      const Image<std::uint8_t> octave = octave_of(frame, level.plan.octave);
      Image<std::uint8_t> image(level.plan.size.width, level.plan.size.height);
      Resizer({octave.width(), octave.height()}, level.plan.size,
              level.plan.scale / std::pow(2.0, level.plan.octave), level.plan.border)
          .run_reference(octave.view(), image.view(), 0, image.height());
      for (const Candidate& c : w.candidates) {
        if (c.level != static_cast<int>(l) || c.score < network.first_stage_threshold) continue;
        const int cells = level.plan.border - options.border;
        const GrayView window(image.view().row(cells + 8 * c.y) + cells + 8 * c.x, network.window.width,
                              network.window.height, image.stride());
        const Place place{c.level, c.x, c.y};
        logit[place] = network.head.value(reference::run_network(network, window).logit);
        final[place] = c.score + network.weight * std::clamp(logit[place], -network.limit, network.limit);
        without_image += level.is_computed ? 0 : 1;
        largest_octave = std::max(largest_octave, level.plan.octave);
        smallest_scale = std::min(smallest_scale, level.plan.scale);
      }
    }
  }
};

class FilterbankVerify : public ::testing::Test {
 protected:
  const Model model_ = model_with_network();
  const Image<std::uint8_t> picture_ = random_picture({130, 170}, 13);
};

// Frames and options that show all kinds of levels.
struct Case {
  const char* name;
  Options options;
  Size size;
};

std::vector<Case> cases() {
  std::vector<Case> all{{"every level filtered", options_of(kAnyScore), {130, 170}},
                        {"4 levels an octave filtered", options_of(kAnyScore, 1.1), {130, 170}},
                        {"enlarged", options_of(kAnyScore), {40, 50}},
                        {"large objects", options_of(kAnyScore), {130, 170}},
                        {"in float", options_of(kAnyScore), {130, 170}},
                        {"beyond the frame's edge", options_of(kAnyScore, 1.1), {130, 170}}};
  all[1].options.computed_scales = 4;
  all[2].options.min_size = 14;  // of the model's 24
  all[3].options.min_size = 55;
  all[4].options.arithmetic = Arithmetic::floating_point;
  all[5].options.computed_scales = 3;
  all[5].options.border = 16;
  return all;
}

TEST_F(FilterbankVerify, ScoresAreThoseOfPlainCode) {
  for (const Case& c : cases()) {
    const Image<std::uint8_t> gray = random_picture(c.size, 13);
    const ColourFrame colour(c.size, 21);
    for (const PictureView& frame : {PictureView(gray.view()), PictureView(colour.view())}) {
      SCOPED_TRACE(std::string(c.name) + (frame.is_gray() ? ", gray" : ", colour"));
      const VerifiedScores scores_of_all(model_, c.options, frame);
      ASSERT_GT(scores_of_all.final.size(), 10U);
      ASSERT_LT(scores_of_all.final.size(), scores_of_all.first.size())
          << "the first-stage threshold lets all through";
      EXPECT_EQ(verified(FilterbankDetector(model_, c.options), frame), scores_of_all.final);
      if (c.options.computed_scales > 0) {
        EXPECT_GT(scores_of_all.without_image, 10);
      }
      if (c.options.min_size == 14) {
        EXPECT_LT(scores_of_all.smallest_scale, 1);
      }
      if (c.options.min_size == 55) {
        EXPECT_GT(scores_of_all.smallest_scale, 2);
      }
      if (c.size.height == 170 && frame.is_gray()) {
        EXPECT_GE(scores_of_all.largest_octave, 2);
      }
    }
  }
}

TEST_F(FilterbankVerify, LogitCountsUpToItsLimit) {
  const VerifiedScores scores_of_all(model_, options_of(kAnyScore), picture_.view());
  int below = 0, within = 0, above = 0;
  for (const auto& [place, logit] : scores_of_all.logit) {
    ++(logit < -model_.network.limit ? below : logit > model_.network.limit ? above : within);
  }
  EXPECT_GT(below, 10);
  EXPECT_GT(within, 10);
  EXPECT_GT(above, 10);
}

TEST_F(FilterbankVerify, WhatReachesTheThresholdStays) {
  const Network& network = model_.network;
  const VerifiedScores scores_of_all(model_, options_of(kAnyScore), picture_.view());
  int by_model = 0, by_limit = 0;
  std::size_t before = scores_of_all.final.size() + 1;
  for (const double threshold : {-5.0, 1.0, 2.0, 2.5, 3.0, 3.7, 100.0}) {
    SCOPED_TRACE(threshold);
    const FilterbankDetector detector(model_, options_of(threshold));
    EXPECT_TRUE(detector.verifies());
    const double limit = threshold - network.weight * network.limit;
    EXPECT_NEAR(detector.first_threshold(), std::max(network.first_stage_threshold, limit), 1e-9);
    ++(network.first_stage_threshold >= limit ? by_model : by_limit);
    const Scores found = verified(detector, picture_.view());
    EXPECT_EQ(found, reaching(scores_of_all.final, threshold));
    EXPECT_LT(found.size(), threshold < 1 ? before : before + (threshold == 1.0));
    before = found.size();
    // No more is looked at than could reach it.
    FilterbankWorkspace w;
    ASSERT_TRUE(detector.prepare(w, picture_.view()));
    detector.score_windows(w);
    EXPECT_EQ(scores_of(w.candidates), reaching(scores_of_all.first, detector.first_threshold()));
  }
  EXPECT_GE(by_model, 2);
  EXPECT_GE(by_limit, 3);
  EXPECT_EQ(before, 0U);
}

// Thresholds that windows reach with nothing to spare, and only since the logit lifts them as far as it
// can.
TEST_F(FilterbankVerify, NoWindowThatReachesTheThresholdIsLeftOut) {
  const Network& network = model_.network;
  const VerifiedScores scores_of_all(model_, options_of(kAnyScore), picture_.view());
  int lifted = 0;
  for (const auto& [place, logit] : scores_of_all.logit) {
    if (logit < network.limit) continue;
    const FilterbankDetector detector(model_, options_of(scores_of_all.final.at(place)));
    EXPECT_LE(detector.first_threshold(), scores_of_all.first.at(place));
    EXPECT_LE(detector.score_of(detector.raw_threshold()), scores_of_all.first.at(place));
    ++lifted;
  }
  EXPECT_GT(lifted, 10);
}

TEST_F(FilterbankVerify, SwitchedOffIsAsWithoutTheNetwork) {
  for (const double threshold : {-1.0, 2.0}) {
    Options options = options_of(threshold);
    const FilterbankDetector with(model_, options);
    options.verify = false;
    const FilterbankDetector off(model_, options);
    const FilterbankDetector without(without_network(model_), options);
    EXPECT_FALSE(off.verifies());
    EXPECT_EQ(off.first_threshold(), threshold);
    EXPECT_EQ(off.raw_threshold(), without.raw_threshold());
    const auto expected = detect_fresh(without, picture_.view());
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(detect_fresh(off, picture_.view()), expected);
    EXPECT_EQ(verified(off, picture_.view()), verified(without, picture_.view()));
    EXPECT_NE(detect_fresh(with, picture_.view()), expected);
  }
}

// --- the result depends on the frame and the detector alone ---------------------------------------------

TEST_F(FilterbankVerify, SameOnAnyNumberOfThreads) {
  const FilterbankDetector detector(model_, options_of(1.5));
  const auto expected = detect_fresh(detector, picture_.view());
  ASSERT_GT(expected.size(), 10U);
  for (const int threads : {1, 2, 5}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] { EXPECT_EQ(detect_fresh(detector, picture_.view()), expected) << threads; });
  }
}

TEST_F(FilterbankVerify, SameWhateverTheWorkspaceSawBefore) {
  for (const int computed_scales : {0, 1}) {
    Options options = options_of(1.5);
    options.computed_scales = computed_scales;
    const FilterbankDetector detector(model_, options);
    const auto workspace = detector.make_workspace();
    unsigned seed = 30;
    std::size_t found = 0;
    for (const Size size :
         {Size{130, 170}, {130, 170}, {24, 32}, {200, 120}, {20, 20}, {130, 170}, {60, 150}}) {
      const ColourFrame colour(size, ++seed), other_colour(size, seed + 50);
      const Image<std::uint8_t> gray = random_picture(size, seed);
      for (const PictureView& frame :
           {PictureView(colour.view()), PictureView(gray.view()), PictureView(other_colour.view())}) {
        const auto expected = detect_fresh(detector, frame);
        EXPECT_EQ(detect(detector, *workspace, frame), expected) << size.width << "x" << size.height;
        found += expected.size();
      }
    }
    EXPECT_GT(found, 50U);
  }
}

TEST_F(FilterbankVerify, SharesJoinedAreTheWholeFrame) {
  const ColourFrame colour({130, 170}, 21);
  const Image<std::uint8_t> before = random_picture({130, 170}, 77);  // whose images must not be seen
  for (const int computed_scales : {0, 1, 2}) {
    Options options = computed_scales == 2 ? options_of(1, 1.1) : options_of(1.5);
    options.computed_scales = computed_scales;
    const FilterbankDetector detector(model_, options);
    ASSERT_EQ(detector.partitionable_stages(), kVerify);
    for (const PictureView& frame : {PictureView(picture_.view()), PictureView(colour.view())}) {
      const auto expected = detect_fresh(detector, frame);
      ASSERT_GT(expected.size(), 10U);
      for (const std::vector<double>& cuts :
           std::vector<std::vector<double>>{{0, 0.3, 1}, {0, 0.9, 1}, {0, 0.2, 0.6, 1}, {0.2, 1, 0.2}}) {
        // The last case joins the first share to the second.
        std::vector<Partition> shares;
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
          shares.push_back(cuts[i] < cuts[i + 1] ? Partition{cuts[i], cuts[i + 1]}
                                                 : Partition{0, cuts[i + 1]});
        std::vector<std::unique_ptr<Workspace>> workspaces;
        for (const Partition partition : shares) {
          workspaces.push_back(detector.make_workspace());
          if (workspaces.size() == 1) detect(detector, *workspaces[0], before.view());
          ASSERT_TRUE(detector.prepare(*workspaces.back(), frame, partition));
          for (std::size_t stage = 0; stage < detector.partitionable_stages(); ++stage)
            detector.run_stage(stage, *workspaces.back());
          if (workspaces.size() > 1) detector.merge(*workspaces[0], *workspaces.back());
        }
        for (const std::size_t stage : {kVerify, kGroup}) detector.run_stage(stage, *workspaces[0]);
        EXPECT_EQ(detector.take_detections(*workspaces[0]), expected)
            << ::testing::PrintToString(cuts) << ", computed scales " << computed_scales;
      }
    }
  }
}

// Where another processor made everything up to the candidates, luma, octaves and images are not there.
TEST_F(FilterbankVerify, CandidatesFromElsewhereAreEnough) {
  const ColourFrame colour({130, 170}, 21), before({130, 170}, 77);
  const FilterbankDetector detector(model_, options_of(1.5));
  const auto source = detector.make_workspace(), target = detector.make_workspace();
  auto& from = static_cast<FilterbankWorkspace&>(*source);
  auto& to = static_cast<FilterbankWorkspace&>(*target);
  ASSERT_FALSE(detect(detector, to, before.view()).empty());
  ASSERT_TRUE(detector.prepare(from, colour.view()));
  ASSERT_TRUE(detector.prepare(to, colour.view()));
  detector.score_windows(from);
  to.candidates.assign(from.candidates.rbegin(), from.candidates.rend());  // in any order
  for (const std::size_t stage : {kVerify, kGroup}) detector.run_stage(stage, to);
  EXPECT_EQ(detector.take_detections(to), detect_fresh(detector, colour.view()));
}

// What the pyramid made on the CPU is read, not made again; where it is not at hand, the result is the same.
TEST_F(FilterbankVerify, ReadsTheImagesThatThePyramidMade) {
  Options options = options_of(1, 1.1);
  options.computed_scales = 2;
  const FilterbankDetector detector(model_, options);
  FilterbankWorkspace here, bound;
  ASSERT_TRUE(detector.prepare(here, picture_.view()));
  ASSERT_TRUE(detector.prepare(bound, picture_.view()));
  std::vector<std::byte> memory(bound.images.bytes() + InterStageBuffer::kSlack + 64);
  bound.images.bind(memory.data() + 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
  detector.score_windows(here);
  detector.score_windows(bound);
  std::set<int> computed, others;
  for (const Candidate& c : here.candidates)
    (here.levels[c.level].is_computed ? computed : others).insert(c.level);
  ASSERT_FALSE(computed.empty());
  ASSERT_FALSE(others.empty());
  std::ranges::fill(memory, std::byte{0});  // a device's again
  detector.run_stage(kVerify, here);
  detector.run_stage(kVerify, bound);
  EXPECT_EQ(here.candidates, bound.candidates);
  EXPECT_FALSE(here.candidates.empty());
  for (const int level : computed) {
    EXPECT_EQ(here.levels[level].network_input.width(), 0) << "resampled";
    EXPECT_GT(bound.levels[level].network_input.width(), 0);
  }
  for (const int level : others) EXPECT_GT(here.levels[level].network_input.width(), 0);
}

// --- frames and limits ----------------------------------------------------------------------------------

TEST_F(FilterbankVerify, NothingToLookAt) {
  const FilterbankDetector detector(model_, options_of(1e6));
  const auto workspace = detector.make_workspace();
  EXPECT_THAT(detect(detector, *workspace, picture_.view()), ::testing::IsEmpty());
  const Image<std::uint8_t> flat = test::flat_picture({130, 170}, 50);
  EXPECT_THAT(detect_fresh(FilterbankDetector(model_, options_of(0)), flat.view()), ::testing::IsEmpty());
  const Image<std::uint8_t> small = random_picture({23, 40}, 1);
  EXPECT_FALSE(detector.prepare(*workspace, small.view()));
  EXPECT_THAT(detect(detector, *workspace, small.view()), ::testing::IsEmpty());
  const std::vector<WorkCount> counts = detector.count_work(small.view());
  ASSERT_FALSE(counts.empty());
  EXPECT_EQ(counts.back().what, "left after verify");
  EXPECT_EQ(counts.back().count, 0);
}

TEST_F(FilterbankVerify, CandidateLimitKeepsTheBestFirstScores) {
  const VerifiedScores scores_of_all(model_, options_of(kAnyScore), picture_.view());
  std::vector<std::pair<double, Place>> by_first;
  for (const auto& [place, final] : scores_of_all.final)
    by_first.emplace_back(-scores_of_all.first.at(place), place);
  std::sort(by_first.begin(), by_first.end());
  constexpr double kThreshold = 2;
  for (const int most : {1, 10, 40}) {
    ASSERT_LT(static_cast<std::size_t>(most), by_first.size());
    ASSERT_NE(by_first[most - 1].first, by_first[most].first) << "a tie, whose order is another matter";
    Scores best;
    for (int i = 0; i < most; ++i) best[by_first[i].second] = scores_of_all.final.at(by_first[i].second);
    Options options = options_of(kThreshold);
    options.max_candidates = most;
    EXPECT_EQ(verified(FilterbankDetector(model_, options), picture_.view()), reaching(best, kThreshold));
  }
}

TEST_F(FilterbankVerify, IsCounted) {
  Options options = options_of(2);
  const FilterbankDetector detector(model_, options);
  const VerifiedScores scores_of_all(model_, options_of(kAnyScore), picture_.view());
  const auto count_of = [](const std::vector<WorkCount>& counts, const std::string& what) {
    for (const WorkCount& count : counts) {
      if (count.what == what) return count.count;
    }
    return std::int64_t{-1};
  };
  const std::vector<WorkCount> counts = detector.count_work(picture_.view());
  const auto looked_at = reaching(scores_of_all.first, detector.first_threshold()).size();
  const auto left = reaching(scores_of_all.final, 2).size();
  EXPECT_LT(left, looked_at);
  EXPECT_EQ(count_of(counts, "windows"), static_cast<std::int64_t>(scores_of_all.first.size()));
  EXPECT_EQ(count_of(counts, "left after classify"), static_cast<std::int64_t>(looked_at));
  EXPECT_EQ(count_of(counts, "left after verify"), static_cast<std::int64_t>(left));
  options.verify = false;
  const std::vector<WorkCount> without = FilterbankDetector(model_, options).count_work(picture_.view());
  EXPECT_EQ(count_of(without, "left after verify"), -1);
  EXPECT_EQ(count_of(without, "left after classify"),
            static_cast<std::int64_t>(reaching(scores_of_all.first, 2).size()));
}

TEST_F(FilterbankVerify, FromConfiguration) {
  const test::TempDir folder;
  save_model(model_, folder / "m.safetensors");
  const auto verifies = [&](const std::string& more) {
    std::ofstream(folder / "c.toml") << "[detector]\nmodel = \"m.safetensors\"\n" << more;
    return make_filterbank_detector(Config::load(folder / "c.toml"))->verifies();
  };
  EXPECT_TRUE(verifies(""));
  EXPECT_TRUE(verifies("verify = true\n"));
  EXPECT_FALSE(verifies("verify = false\n"));
  test::expect_error(ExitCode::usage, "'verify'", [&] { verifies("verify = 3\n"); });
}

// Of neighbours on a level the best by the classifier's score; of equal ones the first.
TEST_F(FilterbankVerify, PeaksAlone) {
  const Model model = model_with_network();
  Options options = options_of(kAnyScore);
  options.verify_all = false;
  const FilterbankDetector detector(model, options);
  Image<std::uint8_t> tiles(200, 260);  // equal windows, at least on the first level
  const Image<std::uint8_t> tile = random_picture({8, 8}, 5);
  for (int y = 0; y < tiles.height(); ++y) {
    for (int x = 0; x < tiles.width(); ++x) tiles.view().row(y)[x] = tile.view().at(x % 8, y % 8);
  }
  Image<std::uint8_t> random = random_picture({300, 280}, 31);
  for (Image<std::uint8_t>* picture : {&random, &tiles}) {
    const VerifiedScores scores_of_all(model, options, picture->view());
    Scores peaks;
    for (const auto& [place, score] : scores_of_all.final) {
      const auto [level, x, y] = place;
      bool best = true;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const auto other = scores_of_all.first.find({level, x + dx, y + dy});
          if (other == scores_of_all.first.end() || (dx == 0 && dy == 0)) continue;
          const bool earlier = dy < 0 || (dy == 0 && dx < 0);
          best &= other->second < scores_of_all.first.at(place) ||
                  (other->second == scores_of_all.first.at(place) && !earlier);
        }
      }
      if (best) peaks[place] = score;
    }
    ASSERT_FALSE(peaks.empty());
    ASSERT_LT(peaks.size(), scores_of_all.final.size());
    EXPECT_EQ(verified(detector, picture->view()), peaks);
  }
}

class FilterbankBoxes : public FilterbankVerify {
 protected:
  FilterbankBoxes() { test::add_boxes(moving_.network, 12, 4); }
  Model moving_ = model_;
};

std::vector<Detection> found_by(const Model& model, const Options& options, PictureView frame) {
  return detect_fresh(FilterbankDetector(model, options), frame);
}

TEST_F(FilterbankBoxes, BoxesAreMovedByWhatTheHeadsSay) {
  Options options = options_of(1.5);
  options.max_overlap = 1;  // so that none falls to another
  const FilterbankDetector detector(moving_, options);
  FilterbankWorkspace w;
  ASSERT_TRUE(detector.prepare(w, picture_.view()));
  detector.score_windows(w);
  detector.run_stage(kVerify, w);
  const std::vector<Candidate> candidates = w.candidates;
  detector.run_stage(kGroup, w);
  std::size_t moved = 0, clamped = 0, reported = 0;
  for (const Candidate& c : candidates) {
    const Level& level = w.levels[c.level];
    ASSERT_TRUE(level.is_computed);
    const int cells = level.plan.border - options.border;
    const GrayView image = std::as_const(level.image).view();
    const GrayView window(image.row(cells + 8 * c.y) + cells + 8 * c.x, moving_.network.window.width,
                          moving_.network.window.height, image.stride());
    const NetworkSums sums = reference::run_network(moving_.network, window);
    const double most = moving_.object.height / 3;
    double shift[kBoxHeads];
    for (std::size_t i = 0; i < kBoxHeads; ++i) {
      const double said = moving_.network.box[i].value(sums.box[i]);
      shift[i] = std::clamp(said, -most, most);
      clamped += said == shift[i] ? 0 : 1;
      moved += shift[i] == 0 ? 0 : 1;
    }
    EXPECT_EQ(c.shift, (BoxOffset{shift[0], shift[1], shift[2]}));
    if (c.score < options.threshold) continue;
    ++reported;
    // By hand, in another order of operations: middle, top and bottom, and the width that goes with the
    // height.
    const Box& object = moving_.object;
    const double scale = level.plan.scale;
    const double top = (8 * c.y + object.y + shift[1]) * scale;
    const double bottom = (8 * c.y + object.y + object.height + shift[2]) * scale;
    const double middle = (8 * c.x + object.x + object.width / 2 + shift[0]) * scale;
    const double width = (bottom - top) * object.width / object.height;
    const Box by_hand = clipped({middle - width / 2, top, width, bottom - top}, picture_.view().size());
    const auto near_by_hand = [&](const Detection& one) {
      return one.score == c.score && std::abs(one.box.x - by_hand.x) < 1e-9 &&
             std::abs(one.box.y - by_hand.y) < 1e-9 && std::abs(one.box.width - by_hand.width) < 1e-9 &&
             std::abs(one.box.height - by_hand.height) < 1e-9;
    };
    EXPECT_TRUE(std::any_of(w.detections.begin(), w.detections.end(), near_by_hand)) << c.x << ", " << c.y;
  }
  EXPECT_GT(moved, 20U);
  EXPECT_GT(clamped, 3U);
  EXPECT_GT(reported, 5U);
  EXPECT_EQ(w.detections.size(), reported);
  EXPECT_GT(candidates.size(), reported) << "nothing is left for the boxes of others";
}

TEST_F(FilterbankBoxes, WithoutRefinementTheyAreThoseOfTheWindows) {
  Options options = options_of(1.5);
  options.refine = false;
  const std::vector<Detection> plain = found_by(model_, options_of(1.5), picture_.view());
  EXPECT_EQ(found_by(moving_, options, picture_.view()), plain);
  EXPECT_NE(found_by(moving_, options_of(1.5), picture_.view()), plain);
}

TEST_F(FilterbankBoxes, AThresholdMovesNoBox) {
  const std::vector<Detection> all = found_by(moving_, options_of(0.9), picture_.view());
  ASSERT_GT(all.size(), 20U);
  for (const std::size_t left : {all.size() / 2, all.size() / 5}) {
    const double threshold = all[left].score;  // by falling score
    std::vector<Detection> sure;
    for (const Detection& one : all) {
      if (one.score >= threshold) sure.push_back(one);
    }
    ASSERT_GT(sure.size(), 2U) << threshold;
    ASSERT_LT(sure.size(), all.size()) << threshold;
    EXPECT_EQ(found_by(moving_, options_of(threshold), picture_.view()), sure) << threshold;
  }
}

}  // namespace
}  // namespace sightline::filterbank
