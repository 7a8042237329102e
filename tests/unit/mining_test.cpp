#include "training/mining.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <random>
#include <thread>

#include "base/random.hpp"
#include "support/filterbank.hpp"
#include "support/training.hpp"

namespace sightline::training {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool go_on(const TrainingProgress&) {
  return true;
}

// A picture's only pixel says which one it is.
test::Pictures numbered_pictures(int count) {
  test::Pictures set;
  for (int i = 0; i < count; ++i) set.add(test::flat_picture({1, 1}, static_cast<std::uint8_t>(i)));
  return set;
}

// What a thread works with; must never be used by two at once.
struct Scratch {
  std::atomic<bool> busy = false;
};

TEST(ForEachImage, DoesAllOnceWithAWorkspaceAThread) {
  for (const int threads : {1, 8}) {
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] {
      ProgressClock clock(go_on, 1);
      std::vector<std::atomic<int>> done(200);
      std::atomic<int> workspaces = 0;
      for_each_image(
          done.size(), clock,
          [&] {
            ++workspaces;
            return std::make_unique<Scratch>();
          },
          [&](std::size_t i, Scratch& scratch) {
            EXPECT_FALSE(scratch.busy.exchange(true));
            ++done[i];
            scratch.busy = false;
          });
      for (const auto& times : done) EXPECT_EQ(times, 1);
      EXPECT_GE(workspaces, 1);
      EXPECT_LE(workspaces, threads);
    });
  }
}

TEST(ForEachImage, ReportsFromTheCallingThreadAndStops) {
  const auto caller = std::this_thread::get_id();
  std::vector<double> fractions;
  std::size_t stop_at = 100;
  ProgressClock clock(
      [&](const TrainingProgress& progress) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        fractions.push_back(progress.fraction);
        return fractions.size() < stop_at;
      },
      1);
  std::atomic<int> done = 0;
  const auto run = [&](std::size_t count) {
    for_each_image(
        count, clock, [] { return std::make_unique<Scratch>(); }, [&](std::size_t, Scratch&) { ++done; });
  };
  run(80);
  EXPECT_THAT(fractions, ElementsAre(0, 32.0 / 80, 64.0 / 80));
  EXPECT_EQ(done, 80);
  fractions.clear();
  run(0);
  EXPECT_THAT(fractions, IsEmpty());
  stop_at = 2;
  EXPECT_THROW(run(80), TrainingStopped);
  EXPECT_EQ(done, 80 + 32);  // what had begun was finished
}

TEST(ForEachImage, ErrorsReachTheCaller) {
  ProgressClock clock(go_on, 1);
  const auto run = [&] {
    for_each_image(
        50, clock, [] { return std::make_unique<Scratch>(); },
        [](std::size_t i, Scratch&) {
          if (i == 40) throw Error(ExitCode::input, "the 40th");
        });
  };
  test::expect_error(ExitCode::input, "the 40th", run);
}

TEST(RandomWindows, DifferentOnesInOrderOfLevelsAlike) {
  const test::Pictures pictures = numbered_pictures(40);
  const auto levels = [](GrayView picture) -> std::vector<Size> {
    if (picture.at(0, 0) == 7) return {};        // too small
    if (picture.at(0, 0) == 8) return {{1, 2}};  // fewer windows than asked for
    return {{300, 200}, {3, 2}};
  };
  const std::vector<WindowKey> windows = random_windows(pictures, 20, 1, levels);
  EXPECT_TRUE(std::is_sorted(windows.begin(), windows.end()));
  EXPECT_EQ(std::adjacent_find(windows.begin(), windows.end()), windows.end());
  const auto by_image = windows_by_image(windows, pictures.size());
  EXPECT_THAT(by_image[7], IsEmpty());
  EXPECT_THAT(by_image[8], ElementsAre(WindowKey{8, 0, 0, 0}, WindowKey{8, 0, 0, 1}));
  int small = 0, right = 0, low = 0;
  for (const WindowKey& key : windows) {
    ASSERT_LT(key.level, 2);
    ASSERT_LT(key.x, key.level == 0 ? 300 : 3);
    ASSERT_LT(key.y, key.level == 0 ? 200 : 2);
    small += key.level;
    right += key.x >= 150 ? 1 : 0;
    low += key.y >= 100 ? 1 : 0;
  }
  // About 10 draws a picture fall on the level of six windows and hit most of them.
  EXPECT_GT(small, 38 * 4);
  EXPECT_NEAR(right, 38 * 5, 60);
  EXPECT_NEAR(low, 38 * 5, 60);

  EXPECT_EQ(random_windows(pictures, 20, 1, levels), windows);
  EXPECT_NE(random_windows(pictures, 20, 2, levels), windows);
  EXPECT_THAT(random_windows(pictures, 0, 1, levels), IsEmpty());
}

TEST(HardWindows, TheHighestScoresAndOfEqualOnesTheFirst) {
  const std::set<WindowKey> none;
  for (unsigned order = 0; order < 20; ++order) {
    HardWindows hard(5, {3, 0.5}, none);
    struct Offer {
      double score;
      int level, x, y;
    };
    std::vector<Offer> offers{{0.5, 0, 9, 9},  // at the threshold: not above it
                              {-3, 0, 8, 8},  {2, 1, 4, 1}, {2, 1, 3, 2},
                              {2, 0, 7, 0},   {9, 2, 0, 0}, {1, 0, 0, 0}};
    std::mt19937 random(order);
    std::shuffle(offers.begin(), offers.end(), random);
    for (const Offer& o : offers) hard.offer(o.score, o.level, o.x, o.y);
    EXPECT_EQ(hard.offered(), 7);
    EXPECT_EQ(hard.false_positives(), 6);
    // Three of five: the 9, and of the three with 2 the first two. In the order of keys.
    EXPECT_THAT(hard.take(),
                ElementsAre(WindowKey{5, 0, 7, 0}, WindowKey{5, 1, 3, 2}, WindowKey{5, 2, 0, 0}));
  }
}

TEST(HardWindows, UsedOnesAreNotMinedAgain) {
  const std::set<WindowKey> used{{5, 0, 1, 1}, {6, 0, 2, 2}};
  HardWindows hard(5, {2, -1}, used);
  hard.offer(7, 0, 1, 1);
  hard.offer(6, 0, 2, 2);  // another picture's was used
  hard.offer(5, 0, 3, 3);
  hard.offer(4, 0, 4, 4);
  EXPECT_EQ(hard.offered(), 4);
  EXPECT_EQ(hard.false_positives(), 4);
  EXPECT_THAT(hard.take(), ElementsAre(WindowKey{5, 0, 2, 2}, WindowKey{5, 0, 3, 3}));
}

TEST(HardWindows, LimitsAtTheirEnds) {
  const std::set<WindowKey> none;
  HardWindows nothing(0, {0, 0}, none);
  nothing.offer(1, 0, 0, 0);
  EXPECT_THAT(nothing.take(), IsEmpty());
  HardWindows all(0, {1000, -std::numeric_limits<double>::infinity()}, none);
  for (int i = 0; i < 9; ++i) all.offer(-i, 0, i, 0);
  EXPECT_THAT(all.take(), SizeIs(9));
  EXPECT_THAT(HardWindows(0, {5, 0}, none).take(), IsEmpty());
  HardWindows not_a_number(0, {5, 0}, none);
  not_a_number.offer(std::numeric_limits<double>::quiet_NaN(), 0, 0, 0);
  EXPECT_THAT(not_a_number.take(), IsEmpty());
}

// Scores with many ties, of 6x5 windows on 3 levels.
void scan(GrayView picture, HardWindows& hard) {
  const int image = picture.at(0, 0);
  if (image % 10 == 3) return;  // too small for windows
  Random random(static_cast<std::uint64_t>(image));
  for (int level = 0; level < 3; ++level) {
    for (int y = 0; y < 5; ++y) {
      for (int x = 0; x < 6; ++x) hard.offer(static_cast<double>(random.below(7)) - 3, level, x, y);
    }
  }
}

TEST(MineHardWindows, ARoundAfterTheOther) {
  const test::Pictures pictures = numbered_pictures(70);
  std::vector<std::vector<WindowKey>> first_results;
  for (const int threads : {1, 8}) {
    oneapi::tbb::task_arena arena(threads);
    arena.execute([&] {
      ProgressClock clock(go_on, 1);
      std::set<WindowKey> used;
      for (std::size_t round = 0; round < 30; ++round) {
        const MinedWindows mined = mine_hard_windows(
            pictures, {4, 0}, used, clock, [] { return std::make_unique<Scratch>(); },
            [](GrayView picture, Scratch& scratch, HardWindows& hard) {
              EXPECT_FALSE(scratch.busy.exchange(true));
              scan(picture, hard);
              scratch.busy = false;
            });
        EXPECT_EQ(mined.offered, 63 * 90);
        EXPECT_GT(mined.false_positives, 63 * 90 * 3 / 8);
        EXPECT_TRUE(std::is_sorted(mined.windows.begin(), mined.windows.end()));
        for (const auto& part : windows_by_image(mined.windows, pictures.size())) EXPECT_LE(part.size(), 4U);
        for (const WindowKey& key : mined.windows) EXPECT_TRUE(used.insert(key).second) << "mined twice";
        if (threads == 1) {
          first_results.push_back(mined.windows);
        } else {
          EXPECT_EQ(mined.windows, first_results[round]);
        }
        // In the end, all that are hard have been used.
        if (mined.windows.empty()) {
          EXPECT_EQ(static_cast<std::int64_t>(used.size()), mined.false_positives);
        }
      }
      EXPECT_THAT(first_results.front(), SizeIs(63 * 4));
      EXPECT_THAT(first_results.back(), IsEmpty());
    });
  }
}

TEST(MineHardWindows, Stops) {
  const test::Pictures pictures = numbered_pictures(70);
  int reports = 0;
  ProgressClock clock([&](const TrainingProgress&) { return ++reports < 2; }, 1);
  const std::set<WindowKey> none;
  EXPECT_THROW(mine_hard_windows(
                   pictures, {4, 0}, none, clock, [] { return std::make_unique<Scratch>(); },
                   [](GrayView picture, Scratch&, HardWindows& hard) { scan(picture, hard); }),
               TrainingStopped);
}

TEST(WindowsByImage, PartsOfTheWhole) {
  const std::vector<WindowKey> windows{{1, 0, 0, 0}, {1, 2, 0, 0}, {3, 0, 0, 1}};
  const auto parts = windows_by_image(windows, 5);
  ASSERT_THAT(parts, SizeIs(5));
  EXPECT_THAT(parts[0], IsEmpty());
  EXPECT_THAT(parts[1], ElementsAre(windows[0], windows[1]));
  EXPECT_THAT(parts[2], IsEmpty());
  EXPECT_EQ(parts[3].data(), &windows[2]);
  EXPECT_THAT(parts[4], IsEmpty());
  EXPECT_THAT(windows_by_image({}, 2), Each(IsEmpty()));
}

TEST(StoredWindows, ComeBackAsTheyWere) {
  const test::TempDir folder;
  const TrainingState state(folder / "state", "run");
  const std::vector<WindowKey> windows{{0, 1, 2, 3}, {70'000, 65'535, 65'534, 65'533}};
  EXPECT_EQ(load_windows(state, "negatives-1"), std::nullopt);
  save_windows(state, "negatives-1", windows);
  save_windows(state, "negatives-2", {});
  EXPECT_EQ(load_windows(state, "negatives-1"), windows);
  EXPECT_EQ(load_windows(state, "negatives-2"), std::vector<WindowKey>());
}

}  // namespace
}  // namespace sightline::training
