// WaldBoost's stages on OpenCL devices against the CPU's: every variant gives the same images, codes and
// candidates.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "detectors/waldboost/opencl/stages.hpp"
#include "kernels/opencl_test.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/cascade.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

using cascade::make_picture;

KernelTuning form_of(const char* scan, int tile_rows, int group, int at_once = 1, int keep = 50,
                     int late = 256, int finish_group = 8, int code_rows = 1) {
  KernelTuning tuning;
  tuning.scan = scan;
  tuning.tile_rows = tile_rows;
  tuning.group = group;
  tuning.at_once = at_once;
  tuning.keep = keep;
  tuning.late = late;
  tuning.finish_group = finish_group;
  tuning.code_rows = code_rows;
  return tuning;
}

const KernelTuning kForms[] = {
    form_of("naive", 1, 64, 2),
    form_of("queue", 16, 256, 4, 50, 256, 32, 4),
    form_of("queue", 3, 48, 3, 80, 4),  // whose items do not divide the tile evenly
    form_of("queue", 1, 8, 1, 30, 1 << 20),
    form_of("progressive", 8, 256),
};

std::string text_of(const KernelTuning& t) {
  return t.scan + ", " + std::to_string(t.tile_rows) + " rows, " + std::to_string(t.group) + " items, late " +
         std::to_string(t.late);
}

class Comparison
    : public test::CpuAndDevice<WaldboostDetector, OpenClStages, OpenClSlot, WaldboostWorkspace> {
 public:
  using CpuAndDevice::CpuAndDevice;

  // Where the two first differ, with stages [first, last) on the device; "" where nowhere.
  std::string difference(PictureView frame, std::size_t first = kPyramid, std::size_t last = kGroup,
                         Partition partition = {}) {
    if (const auto over = run(frame, partition, kPyramid, kGroup + 1, first, last)) return *over;
    WaldboostWorkspace& a = cpu();
    WaldboostWorkspace& b = device();
    if (last == kPyramid + 1) {
      b.bind_images();
      for (std::size_t l = 0; l < a.levels.size(); ++l) {
        const Rows rows = a.levels[l].image_rows;
        const std::string found =
            test::first_difference(std::as_const(a.levels[l].image).view(),
                                   std::as_const(b.levels[l].image).view(), rows.begin, rows.end);
        if (!found.empty()) return "image of level " + std::to_string(l) + ": " + found;
      }
    } else if (const std::string found = difference_of_codes(); !found.empty()) {
      return found;
    }
    return difference_of_results();
  }

 private:
  std::string difference_of_codes() {
    const Model& model = detector().model();
    if (model.kind != FeatureKind::lbp) return "";
    const PackedModel packed(model);
    const std::vector<std::uint8_t> codes = stages().read_codes(slot());
    for (std::size_t l = 0; l < cpu().levels.size(); ++l) {
      const Level& level = cpu().levels[l];
      for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
        if (!packed.uses_plane(plane)) continue;
        Feature f;
        f.block_width = static_cast<std::uint8_t>(plane % kMaxBlock + 1);
        f.block_height = static_cast<std::uint8_t>(plane / kMaxBlock + 1);
        for (int y = level.image_rows.begin; y <= level.image_rows.end - kGrid * f.block_height; ++y) {
          for (int x = 0; x <= level.plan.size.width - kGrid * f.block_width; ++x) {
            const int expected = reference::code(FeatureKind::lbp, f, level.image.view(), x, y);
            const int got = codes[stages().code_at(slot(), l, f, x, y)];
            if (got != expected)
              return "code of plane " + std::to_string(plane) + " of level " + std::to_string(l) + " at " +
                     std::to_string(x) + ", " + std::to_string(y) + ": " + std::to_string(expected) +
                     " and " + std::to_string(got);
          }
        }
      }
    }
    return "";
  }
};

Options some_options(int border = 0, double threshold = -1e6) {
  Options options;
  options.scale_step = 1.3;
  options.border = border;
  options.threshold = options.window_threshold = threshold;
  return options;
}

class WaldboostOpenCl : public test::ExactDevicesTest {
 protected:
  const Model model_ = test::random_waldboost(3, 40);
};

TEST_F(WaldboostOpenCl, EveryFormFindsTheSame) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Image<std::uint8_t> other = make_picture({90, 75}, 6);
  for (const opencl::DeviceInfo& device : devices_) {
    for (const FeatureKind kind : kFeatureKinds) {
      const Model model = test::random_waldboost(3, 40, {24, 24}, kind);
      for (const KernelTuning& tuning : kForms) {
        // Kernels take PoCL a second or more to build; kinds differ in the planes and in code_at alone.
        const bool is_sampled = kind == FeatureKind::lrd ? &tuning == &kForms[0] : &tuning != &kForms[3];
        if (kind != FeatureKind::lbp && !is_sampled) continue;
        SCOPED_TRACE(std::string(to_string(kind)) + ", " + text_of(tuning));
        Comparison comparison(device, model, some_options(), tuning);
        ASSERT_EQ(comparison.difference(picture.view()), "");
        EXPECT_GT(comparison.cpu().candidates.size(), 5U);
        ASSERT_EQ(comparison.difference(other.view()), "");
        ASSERT_EQ(comparison.difference(picture.view(), kScan), "");
        ASSERT_EQ(comparison.difference(picture.view(), kPyramid, kScan), "");
      }
    }
  }
}

TEST_F(WaldboostOpenCl, ResponsesInAnImageAreTheSame) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  for (const opencl::DeviceInfo& device : devices_) {
    for (KernelTuning tuning : {kForms[0], kForms[1], kForms[4]}) {
      tuning.responses = "image";
      SCOPED_TRACE(device.name + ", " + text_of(tuning));
      Comparison comparison(device, model_, some_options(), tuning);
      ASSERT_EQ(comparison.difference(picture.view()), "");
      EXPECT_GT(comparison.cpu().candidates.size(), 5U);
    }
  }
}

// Sizes around those of windows, lines and tiles, with borders too; the order makes buffers grow and shrink.
TEST_F(WaldboostOpenCl, AwkwardSizes) {
  const Size sizes[] = {{1, 1},   {24, 24},  {25, 25}, {500, 27}, {23, 300},
                        {87, 24}, {31, 430}, {24, 24}, {151, 65}, {2, 2}};
  const auto compare = [&](const opencl::DeviceInfo& device, const Model& model, const KernelTuning& tuning) {
    for (const int border : {0, 7}) {
      Comparison comparison(device, model, some_options(border), tuning);
      for (const Size size : sizes) {
        const Image<std::uint8_t> picture = make_picture(size, 4);
        EXPECT_EQ(comparison.difference(picture.view()), "")
            << size.width << "x" << size.height << ", border " << border << ", " << to_string(model.kind)
            << ", " << text_of(tuning);
      }
    }
  };
  for (const opencl::DeviceInfo& device : devices_) {
    for (const KernelTuning& tuning : kForms) compare(device, model_, tuning);
  }
  for (const FeatureKind kind : {FeatureKind::lrp, FeatureKind::haar})
    compare(devices_[0], test::random_waldboost(4, 30, {24, 24}, kind), kForms[2]);
}

TEST_F(WaldboostOpenCl, SharesFitTogether) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  std::vector<std::pair<FeatureKind, KernelTuning>> forms;
  for (const KernelTuning& tuning : kForms) forms.emplace_back(FeatureKind::lbp, tuning);
  for (const FeatureKind kind : {FeatureKind::lrp, FeatureKind::haar}) forms.emplace_back(kind, kForms[2]);
  for (const auto& [kind, tuning] : forms) {
    SCOPED_TRACE(std::string(to_string(kind)) + ", " + text_of(tuning));
    const Model model = test::random_waldboost(3, 40, {24, 24}, kind);
    Comparison comparison(devices_[0], model, some_options(3), tuning);
    test::expect_shares_fit_together(comparison, picture.view(), kPyramid, kGroup);
  }
}

// Lists far too short for what is left lose nothing: the frame is scanned again with room for all.
TEST_F(WaldboostOpenCl, ShortListsLoseNothing) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  const Image<std::uint8_t> small = make_picture({50, 50}, 6);
  for (const opencl::DeviceInfo& device : devices_) {
    for (KernelTuning tuning : kForms) {
      for (const int capacity : {1, 7}) {
        tuning.first_capacity = capacity;
        Comparison comparison(device, model_, some_options(), tuning);
        ASSERT_EQ(comparison.difference(small.view()), "");
        ASSERT_EQ(comparison.difference(picture.view()), "");
        EXPECT_GT(comparison.cpu().candidates.size(), 7U);
        EXPECT_GT(comparison.slot().found.capacity(), 7);
        ASSERT_EQ(comparison.difference(small.view()), "");
      }
    }
  }
}

// Only the score decides which windows that pass are candidates.
TEST_F(WaldboostOpenCl, LowestSums) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  Comparison all(devices_[0], model_, some_options(), kForms[1]);
  ASSERT_EQ(all.difference(picture.view()), "");
  std::vector<double> scores;
  for (const Candidate& candidate : all.cpu().candidates) scores.push_back(candidate.score);
  std::sort(scores.begin(), scores.end());
  const double middle = scores[scores.size() / 2];
  for (const KernelTuning& tuning : {kForms[0], kForms[1]}) {
    for (const double threshold : {middle, middle + 0.125}) {
      Comparison comparison(devices_[0], model_, some_options(0, threshold), tuning);
      ASSERT_EQ(comparison.difference(picture.view()), "");
      const std::vector<Candidate>& found = comparison.device().candidates;
      EXPECT_LT(found.size(), scores.size());
      EXPECT_EQ(std::ranges::any_of(found, [&](const Candidate& c) { return c.score == middle; }),
                threshold == middle);
    }
  }
}

// Models with one weak classifier, with planes of some blocks only, of windows that are no squares, and that
// do not know their survivors.
TEST_F(WaldboostOpenCl, OtherModels) {
  const Image<std::uint8_t> picture = make_picture({131, 97}, 5);
  Model without = test::random_waldboost(5, 20, {13, 9}, FeatureKind::lbp, {{1, 1}});
  without.survivors.clear();
  const Model models[] = {test::random_waldboost(6, 33, {64, 64}, FeatureKind::lrp, {{2, 1}, {1, 2}}),
                          test::random_waldboost(6, 20, {31, 13}, FeatureKind::lrd, {{2, 2}}),
                          test::random_waldboost(6, 20, {64, 64}, FeatureKind::haar),
                          test::random_waldboost(7, 20, {8, 31}, FeatureKind::haar),
                          test::random_waldboost(9, 1, {24, 24}, FeatureKind::lrp, {{1, 1}}),
                          test::random_waldboost(6, 33, {64, 64}, FeatureKind::lbp, {{2, 1}, {1, 2}}),
                          without,
                          test::random_waldboost(8, 5, {8, 31}, FeatureKind::lbp, {{1, 1}}),
                          test::random_waldboost(7, 1, {24, 24}, FeatureKind::lbp, {{1, 1}})};
  for (const Model& model : models) {
    SCOPED_TRACE(std::to_string(model.size()) + " weak classifiers");
    Comparison comparison(devices_[0], model, some_options(), kForms[3]);
    ASSERT_EQ(comparison.difference(picture.view()), "");
    EXPECT_GT(comparison.cpu().candidates.size(), 0U);
  }
}

// Where hardly any window is rejected, shares are too small: what is beyond them is finished all the same.
TEST_F(WaldboostOpenCl, SmallSharesLoseNothing) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  Model model = model_;
  for (std::size_t t = 3; t < model.thresholds.size(); ++t) model.thresholds[t] = kNoThreshold;
  KernelTuning tuning = kForms[4];
  for (const int repeats : {0, 2, 3}) {
    tuning.repeats = repeats;
    Comparison comparison(devices_[0], model, some_options(), tuning);
    ASSERT_EQ(comparison.difference(picture.view()), "");
    const std::vector<cl_int> excess = comparison.stages().read_excess(comparison.slot());
    const int all = std::reduce(excess.begin(), excess.end());
    EXPECT_GT(all, 1000);
    EXPECT_GE(comparison.cpu().candidates.size(), static_cast<std::size_t>(all));
  }
}

// What a step finds too much is counted: as many windows as the CPU, which knows how many each group has
// left, says. The windows that are left after the first phase are all accepted, whichever of them a share
// takes.
TEST_F(WaldboostOpenCl, WindowsBeyondSharesAreCounted) {
  const Image<std::uint8_t> picture = make_picture({157, 131}, 5);
  Model model = model_;
  for (std::size_t t = 3; t < model.thresholds.size(); ++t) model.thresholds[t] = kNoThreshold;
  for (const std::vector<int>& divisors : {std::vector{8, 4, 4, 4}, {2, 4}, {32, 2, 16}, {256, 256, 2}}) {
    SCOPED_TRACE(testing::PrintToString(divisors));
    KernelTuning tuning = kForms[4];
    tuning.steps = progressive_steps(divisors, std::vector<int>(divisors.size(), 3));
    Comparison comparison(devices_[0], model, some_options(), tuning);
    ASSERT_EQ(comparison.difference(picture.view()), "");
    const auto group = static_cast<std::size_t>(comparison.stages().tuning().group);
    constexpr int kColumns = 32;
    const int rows = static_cast<int>(group) / kColumns;
    std::map<std::tuple<int, int, int>, std::size_t> left;  // by tile
    const std::vector<Level>& levels = comparison.cpu().levels;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      for (int y = 0; y < levels[l].windows.height; y += rows) {
        for (int x = 0; x < levels[l].windows.width; x += kColumns) left[{static_cast<int>(l), y, x}] = 0;
      }
    }
    for (const Candidate& c : comparison.cpu().candidates)
      ++left[{c.level, c.y / rows * rows, c.x / kColumns * kColumns}];
    std::vector<std::size_t> groups;
    for (const auto& [tile, windows] : left) groups.push_back(windows);
    std::vector<cl_int> excess(divisors.size(), 0);
    for (std::size_t step = 0; step + 1 < divisors.size(); ++step) {
      const std::size_t share = group / static_cast<std::size_t>(divisors[step]);
      std::vector<std::size_t> next((groups.size() * share + group - 1) / group);
      for (std::size_t g = 0; g < groups.size(); ++g) {
        excess[step] += static_cast<cl_int>(groups[g] - std::min(groups[g], share));
        // A group's slots may lie in two groups of the next step.
        for (std::size_t i = 0; i < std::min(groups[g], share); ++i) ++next[(g * share + i) / group];
      }
      groups = next;
    }
    EXPECT_GT(std::reduce(excess.begin(), excess.end()), 100);
    EXPECT_EQ(comparison.stages().read_excess(comparison.slot()), excess);
  }
}

TEST_F(WaldboostOpenCl, SweptSettingsFindTheSame) {
  const Image<std::uint8_t> pictures[] = {make_picture({120, 90}, 5), make_picture({120, 90}, 6)};
  const std::vector<PictureView> frames{pictures[0].view(), pictures[1].view()};
  Options options = some_options();
  options.phases = {2, 5, 7, 9};
  Model model = model_;
  for (std::size_t i = 5; i < model.thresholds.size(); ++i) model.thresholds[i] = kNoThreshold;
  const WaldboostDetector detector(model, options);
  const opencl::OpenedDevice opened(opencl::ChosenDevice{devices_[0], 0, ""}, test::program_cache());
  SweepOptions sweep_options;
  sweep_options.values = 3;
  int rows = 0;
  sweep_options.progress = [&](const std::string&) { ++rows; };
  const std::vector<KernelSweep> sweeps = sweep(detector, opened, frames, sweep_options);
  ASSERT_EQ(sweeps.size(), 2U);
  EXPECT_EQ(rows, 3 + 4);
  for (const KernelSweep& one : sweeps) {
    SCOPED_TRACE(one.name);
    ASSERT_EQ(one.points.size(), one.columns.size() * one.rows.size());
    for (const SweepPoint& point : one.points) EXPECT_GT(point.seconds, 0) << point.setting;
    EXPECT_GT(one.own.seconds, 0);
    EXPECT_LT(one.own_place, one.points.size());
    EXPECT_EQ(one.others.size(), kKernelVariants.size() - 1);
  }
  EXPECT_EQ(sweeps[0].own.setting, "2,5,7,9");
  EXPECT_EQ(sweeps[0].at(1, 2).setting, "40,45,50,55");
  EXPECT_EQ(sweeps[1].own.setting, "8,4,4,4");
  EXPECT_EQ(sweeps[1].at(2, 1).setting, "4,8,8,2");
  EXPECT_EQ(sweeps[1].own_place, 1U * 5 + 2);
  // Windows beyond a share: the mean of the frames.
  KernelTuning tuning = kForms[4];
  tuning.steps = progressive_steps(model, std::vector{32, 16});
  std::vector<double> excess(1, 0.0);
  for (const PictureView& frame : frames) {
    Comparison comparison(devices_[0], model, options, tuning);
    ASSERT_EQ(comparison.difference(frame), "");
    excess[0] += comparison.stages().read_excess(comparison.slot()).at(0) / 2.0;
  }
  EXPECT_EQ(sweeps[1].at(3, 4).excess, excess);
  EXPECT_GT(excess[0], 0);

  const std::atomic<bool> stop = true;
  sweep_options.stop = &stop;
  EXPECT_THROW(sweep(detector, opened, frames, sweep_options), Error);
}

TEST_F(WaldboostOpenCl, StepsThatAreGivenMeanProgressiveKernels) {
  Options options = some_options();
  options.shares = {4, 4};
  const auto variant = [&] {
    const WaldboostDetector detector(model_, options);
    const auto stages = make_device_stages(detector, {devices_[0], 0, ""});
    return dynamic_cast<const OpenClStages&>(*stages).tuning();
  };
  EXPECT_EQ(variant().scan, "progressive");
  EXPECT_EQ(variant().steps, progressive_steps(model_, options.shares));
  options.kernels = "naive";
  EXPECT_EQ(variant().scan, "naive");
}

TEST_F(WaldboostOpenCl, SpansNameThePartsInOrder) {
  const Image<std::uint8_t> picture = make_picture({90, 70}, 5);
  for (const KernelTuning& tuning : {kForms[0], kForms[1]}) {
    Comparison comparison(devices_[0], model_, some_options(), tuning);
    ASSERT_EQ(comparison.difference(picture.view()), "");
    std::vector<std::string> names;
    for (const DeviceSpan& span : comparison.slot().spans) names.emplace_back(span.name);
    std::vector<std::string> expected{"upload", "pyramid", "codes", "scan"};
    if (tuning.scan != "naive") expected.emplace_back("finish");
    expected.emplace_back("download");
    EXPECT_EQ(names, expected);
  }
}

TEST_F(WaldboostOpenCl, VariantsAreThoseThatAreNamed) {
  for (const char* name : kKernelVariants) {
    const KernelTuning tuning = variant_tuning(name, devices_[0]);
    EXPECT_EQ(tuning.scan, name);
    EXPECT_TRUE(is_possible(tuning_table(), tuning_table().values(tuning)));
    EXPECT_EQ(tuning_table().settings(tuning_table().values(tuning)), tuning);
  }
  Options options = some_options();
  options.kernels = "fast";
  EXPECT_THROW(WaldboostDetector(model_, options), Error);
}

TEST_F(WaldboostOpenCl, TunedKernelsFindTheSame) {
  const Image<std::uint8_t> picture = make_picture({120, 90}, 5);
  const opencl::DeviceInfo& device = devices_[0];
  const WaldboostDetector detector(model_, some_options());
  const opencl::OpenedDevice opened(opencl::ChosenDevice{device, 0, ""}, test::program_cache());
  std::map<std::string, int> best;
  const TuningOutcome outcome =
      tune(detector, opened, picture.view(), {.report = [&](const opencl::TuningTrial& trial) {
             EXPECT_EQ(trial.failure, "") << trial.variant;
             EXPECT_GT(trial.seconds, 0) << trial.variant;
             best[trial.stage] += trial.best ? 1 : 0;
           }});
  EXPECT_EQ(best, (std::map<std::string, int>{{"codes", 1}, {"scan", 1}, {"finish", 1}}));
  EXPECT_EQ(outcome.problem, tuning_problem(model_));
  EXPECT_TRUE(is_possible(tuning_table(), outcome.best));
}

TEST(WaldboostPhases, FollowTheSurvivors) {
  Model model = test::random_waldboost(1, 8);
  model.survivors = {0.5F, 0.4F, 0.3F, 0.2F, 0.2F, 0.1F, 0.01F, 0.001F};
  EXPECT_EQ(phase_ends(model, 50, 50), (std::vector<int>{1, 4, 6, 7}));
  EXPECT_EQ(phase_ends(model, 50, 4), (std::vector<int>{1, 4}));
  EXPECT_EQ(phase_ends(model, 50, 1), (std::vector<int>{1}));
  EXPECT_EQ(phase_ends(model, 50, 1 << 20), (std::vector<int>{1, 4, 6, 7, 8}));
  EXPECT_EQ(phase_ends(model, 1, 1 << 20), (std::vector<int>{1, 8}));
  model.survivors.clear();
  EXPECT_EQ(phase_ends(model, 50, 50), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(phase_ends(test::random_waldboost(1, 1), 50, 50), (std::vector<int>{1}));
}

// Little enough for a simulator that watches every access (tools/check-kernels).
using OpenClSmallWaldboost = test::ExactDevicesTest;
TEST_F(OpenClSmallWaldboost, EveryVariant) {
  const Image<std::uint8_t> picture = make_picture({41, 33}, 5);
  std::vector<std::pair<FeatureKind, KernelTuning>> forms;
  for (const KernelTuning& tuning : {kForms[0], kForms[2], kForms[4]})
    forms.emplace_back(FeatureKind::lbp, tuning);
  for (const FeatureKind kind : {FeatureKind::lrp, FeatureKind::haar}) forms.emplace_back(kind, kForms[2]);
  for (const auto& [kind, tuning] : forms) {
    SCOPED_TRACE(std::string(to_string(kind)) + ", " + text_of(tuning));
    const Model model = test::random_waldboost(4, 12, {12, 12}, kind, {{1, 1}, {2, 1}, {1, 2}, {2, 2}});
    Comparison comparison(devices_[0], model, some_options(), tuning);
    EXPECT_EQ(comparison.difference(picture.view()), "");
    EXPECT_GT(comparison.cpu().candidates.size(), 0U);
  }
}

}  // namespace
}  // namespace sightline::waldboost
