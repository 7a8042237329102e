// What all sliding-window detectors have in common: partitions, bands, lists of tasks, candidates.

#include "detection/sliding_window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"
#include "support/filterbank.hpp"

namespace sightline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string text_of(const std::vector<Band>& bands) {
  std::string text;
  for (const Band& b : bands)
    text += std::to_string(b.level) + ":" + std::to_string(b.begin) + "-" + std::to_string(b.end) + " ";
  return text;
}

TEST(SlidingWindowBands, CoverTheRowsOnce) {
  std::vector<Band> bands;
  add_bands(bands, 0, {0, 70}, 32);
  add_bands(bands, 3, {5, 6}, 32);
  add_bands(bands, 4, {9, 9}, 32);
  add_bands(bands, 5, {10, 14}, 2);
  EXPECT_EQ(text_of(bands), "0:0-32 0:32-64 0:64-70 3:5-6 5:10-12 5:12-14 ");
}

TEST(SlidingWindowBands, RowsAFewAtATime) {
  for (const int height : {0, 1, 31, 32, 33, 200}) {
    Workspace workspace;
    std::vector<int> seen(static_cast<std::size_t>(height), 0);
    for_each_rows(height, workspace, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) ++seen[static_cast<std::size_t>(y)];
    });
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; })) << height;
  }
}

const std::vector<LevelCost> kLevels{{1000, 50}, {500, 30}, {0, 0}, {250, 17}, {3, 1}};

TEST(SlidingWindowPartition, WholeFrames) {
  EXPECT_THAT(partition_windows(kLevels, {}),
              ElementsAre(Rows{0, 50}, Rows{0, 30}, Rows{}, Rows{0, 17}, Rows{0, 1}));
  EXPECT_THAT(partition_windows({}, {}), IsEmpty());
  EXPECT_THAT(partition_windows(std::vector<LevelCost>{{0, 0}}, {}), ElementsAre(Rows{}));
}

TEST(SlidingWindowPartition, InTheOrderOfLevels) {
  // Half of 1753 lies in the first level, at 876.5 of its 1000.
  EXPECT_THAT(partition_windows(kLevels, {0, 0.5}), ElementsAre(Rows{0, 44}, Rows{}, Rows{}, Rows{}, Rows{}));
  EXPECT_THAT(partition_windows(kLevels, {0.5, 1}),
              ElementsAre(Rows{44, 50}, Rows{0, 30}, Rows{}, Rows{0, 17}, Rows{0, 1}));
}

TEST(SlidingWindowPartition, NeighboursFitTogether) {
  for (int parts = 1; parts < 40; ++parts) {
    std::vector<int> next(kLevels.size(), 0);
    for (int i = 0; i < parts; ++i) {
      const double begin = static_cast<double>(i) / parts;
      const double end = static_cast<double>(i + 1) / parts;
      const std::vector<Rows> rows = partition_windows(kLevels, {begin, end});
      for (std::size_t l = 0; l < rows.size(); ++l) {
        EXPECT_EQ(rows[l].begin, rows[l].empty() ? rows[l].begin : next[l]) << parts << ", level " << l;
        if (!rows[l].empty()) next[l] = rows[l].end;
      }
    }
    for (std::size_t l = 0; l < kLevels.size(); ++l) EXPECT_EQ(next[l], kLevels[l].window_rows) << parts;
  }
}

TEST(SlidingWindowPyramid, IsLimited) {
  EXPECT_NO_THROW(check_pyramid_size({4000, 3000}, std::int64_t{1} << 28));
  test::expect_error(ExitCode::usage, "4000x3000 frame", [&] {
    check_pyramid_size({4000, 3000}, (std::int64_t{1} << 28) + 1);
  });
}

TEST(SlidingWindowTasks, KeepTheirOrder) {
  TaskLists<int> lists;
  Workspace workspace;
  std::vector<int> all{7, 7, 7};
  oneapi::tbb::task_arena arena(4);
  for (const std::size_t tasks : {200, 3, 0, 100}) {  // lists of earlier runs leave nothing behind
    arena.execute([&] {
      lists.run(tasks, workspace, all, [](std::size_t task, std::vector<int>& found) {
        EXPECT_TRUE(found.empty());
        for (std::size_t k = 0; k < task % 3; ++k) found.push_back(static_cast<int>(task));
      });
    });
    std::vector<int> expected;
    for (std::size_t task = 0; task < tasks; ++task)
      expected.insert(expected.end(), task % 3, static_cast<int>(task));
    EXPECT_EQ(all, expected);
  }
}

TEST(SlidingWindowCandidates, HaveAnOrder) {
  const std::vector<Candidate> in_order{{0, 5, 1, 1}, {0, 1, 2, 9}, {0, 2, 2, 1}, {1, 0, 0, 3}};
  std::vector<Candidate> shuffled{in_order[3], in_order[1], in_order[0], in_order[2]};
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, in_order);
  std::sort(shuffled.begin(), shuffled.end(), higher_confidence);
  EXPECT_THAT(shuffled, ElementsAre(in_order[1], in_order[3], in_order[0], in_order[2]));
  EXPECT_FALSE(higher_confidence(in_order[0], in_order[0]));
}

// A detector of nothing, to get at what the base class does.
class Detector1 : public SlidingWindowDetector {
 public:
  explicit Detector1(int most) : SlidingWindowDetector(most) { info_.family = "one"; }
  using SlidingWindowDetector::keep_top_k;
  std::span<const std::string_view> resources() const override { return {}; }
  std::span<const StageInfo> stages() const override { return {}; }
  std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<SlidingWindowWorkspace>();
  }
  bool prepare(Workspace&, PictureView, Partition) const override { return true; }
  void run_stage(std::size_t, Workspace&) const override {}
};

TEST(SlidingWindowDetectorBase, MergesAndLimitsCandidates) {
  const Detector1 detector(3);
  EXPECT_EQ(detector.info().family, "one");
  SlidingWindowWorkspace a, b;
  a.candidates = {{0, 0, 4, 0.5}, {1, 0, 0, 0.7}};
  b.candidates = {{0, 0, 2, 0.7}, {2, 3, 3, 0.1}};
  detector.merge(a, b);
  EXPECT_THAT(a.candidates, ElementsAre(Candidate{0, 0, 2, 0.7}, Candidate{0, 0, 4, 0.5},
                                        Candidate{1, 0, 0, 0.7}, Candidate{2, 3, 3, 0.1}));
  detector.keep_top_k(a);
  EXPECT_THAT(a.candidates,
              ElementsAre(Candidate{0, 0, 2, 0.7}, Candidate{1, 0, 0, 0.7}, Candidate{0, 0, 4, 0.5}));
  a.detections = {{{1, 2, 3, 4}, 1, 0}};
  EXPECT_EQ(detector.take_detections(a).size(), 1u);
  EXPECT_THAT(a.detections, IsEmpty());
}

TEST(SlidingWindowWorkspaces, PlanWhatHasChanged) {
  const Image<std::uint8_t> large(20, 10), small(10, 10);
  SlidingWindowWorkspace w;
  std::string planned;
  const auto begin = [&](const Image<std::uint8_t>& frame, Partition partition, bool fails = false) {
    planned.clear();
    w.candidates = {{0, 0, 0, 1}};
    w.detections = {{{1, 2, 3, 4}, 1, 0}};
    try {
      w.begin(
          frame.view(), partition,
          [&] {
            planned += 'l';
            if (fails) throw std::bad_alloc();
          },
          [&] { planned += 'p'; });
    } catch (const std::bad_alloc&) {
      planned += '!';
    }
    EXPECT_TRUE(w.candidates.empty() && w.detections.empty());
    return planned;
  };
  EXPECT_EQ(begin(large, {}), "lp");
  EXPECT_EQ(begin(large, {}), "");
  EXPECT_EQ(begin(large, {0, 0.5}), "p");
  EXPECT_EQ(begin(small, {0, 0.5}), "lp");
  EXPECT_EQ(begin(large, {}, true), "l!");
  EXPECT_EQ(begin(small, {0, 0.5}), "lp") << "what was planned before the failure is gone";
  EXPECT_EQ(begin(Image<std::uint8_t>(), {}), "lp");
}

TEST(SlidingWindowWorkspaces, MakeLumaOnceAFrame) {
  const auto none = [] {};
  const Image<std::uint8_t> gray = test::random_picture({40, 70}, 1);
  SlidingWindowWorkspace w;
  w.begin(gray.view(), {}, none, none);
  w.make_luma();
  EXPECT_EQ(w.luma().data(), gray.view().data()) << "gray is not copied";

  std::vector<std::uint8_t> colours(std::size_t{3} * 40 * 70);
  for (std::size_t i = 0; i < colours.size(); ++i) colours[i] = static_cast<std::uint8_t>(i * 37 % 251);
  const PackedView view{colours.data(), 40, 70, 120, PackedFormat::rgb24};
  const auto expect_luma = [&] {
    Image<std::uint8_t> expected(40, 70);
    to_gray(view, expected.view(), 0, 70);
    for (int y = 0; y < 70; ++y) {
      EXPECT_TRUE(std::equal(expected.view().row(y), expected.view().row(y) + 40, w.luma().row(y)))
          << "row " << y;
    }
  };
  w.begin(view, {}, none, none);
  w.make_luma();
  expect_luma();
  w.begin(view, {}, none, none);
  std::ranges::reverse(colours);
  w.make_luma();
  expect_luma();
  std::ranges::fill(colours, std::uint8_t{9});
  const std::uint8_t before = w.luma().at(3, 3);
  w.make_luma();
  EXPECT_EQ(w.luma().at(3, 3), before) << "made twice for one frame";
}

}  // namespace
}  // namespace sightline
