// Where frames go between a capture and a detector.
#include "pipeline/session/frame_queue.hpp"

#include <future>
#include <random>
#include <thread>

#include "support/errors.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Frame numbered(std::int64_t number) {
  static const std::vector<Frame> all = numbered_frames(1);
  return all[0].renumbered(number);
}

void put(FrameQueue& queue, std::int64_t first, std::int64_t last) {
  for (std::int64_t n = first; n <= last; ++n) queue.put(numbered(n));
}

std::int64_t take(FrameQueue& queue) {
  const std::optional<Frame> frame = queue.take();
  return frame ? frame->number() : 0;
}

void expect_balance(const CaptureCounts& counts) {
  EXPECT_EQ(counts.captured, counts.taken + counts.left_out + counts.dropped_in_all() + counts.waiting);
}

/// A call that is to wait, and then to be let go.
template <typename Call>
auto expect_waits(Call call) {
  auto result = std::async(std::launch::async, call);
  EXPECT_EQ(result.wait_for(30ms), std::future_status::timeout) << "it did not wait";
  return result;
}

template <typename Result>
void expect_done(std::future<Result>& result) {
  ASSERT_EQ(result.wait_for(1s), std::future_status::ready) << "it waits for ever";
}

TEST(FrameQueue, OldestGivesWayToTheLatest) {
  FrameQueue queue({.drop = DropPolicy::oldest, .capacity = 2});
  put(queue, 1, 5);
  EXPECT_EQ(queue.counts().dropped(DropCause::busy), 3);
  EXPECT_EQ(queue.counts().waiting, 2);
  EXPECT_EQ(take(queue), 4);
  EXPECT_EQ(take(queue), 5);
  expect_balance(queue.counts());
}

TEST(FrameQueue, NewestGivesWayToThoseThatWait) {
  FrameQueue queue({.drop = DropPolicy::newest, .capacity = 2});
  put(queue, 1, 5);
  EXPECT_EQ(queue.counts().dropped(DropCause::busy), 3);
  EXPECT_EQ(take(queue), 1);
  EXPECT_EQ(take(queue), 2);
  expect_balance(queue.counts());
}

TEST(FrameQueue, NoneWaitsUntilThereIsRoom) {
  FrameQueue queue({.drop = DropPolicy::none});
  put(queue, 1, 1);
  auto second = expect_waits([&] { return queue.put(numbered(2)); });
  EXPECT_EQ(queue.counts().waiting, 2);
  expect_balance(queue.counts());
  EXPECT_EQ(take(queue), 1);
  expect_done(second);
  EXPECT_GT(second.get(), 0ms);
  EXPECT_EQ(take(queue), 2);
  EXPECT_EQ(queue.counts().dropped_in_all(), 0);
}

TEST(FrameQueue, ThePolicyChangesWhileACaptureWaits) {
  FrameQueue queue({.drop = DropPolicy::none});
  put(queue, 1, 1);
  auto second = expect_waits([&] { return queue.put(numbered(2)); });
  queue.set_drop(DropPolicy::oldest);
  expect_done(second);
  EXPECT_EQ(take(queue), 2);
  EXPECT_EQ(queue.counts().dropped(DropCause::busy), 1);
}

TEST(FrameQueue, EveryNthFrameIsOffered) {
  FrameQueue queue({.capacity = 10, .every = 3});
  put(queue, 1, 8);
  EXPECT_EQ(queue.counts().left_out, 5);
  EXPECT_EQ(queue.counts().dropped_in_all(), 0);
  EXPECT_EQ(take(queue), 1);
  EXPECT_EQ(take(queue), 4);
  EXPECT_EQ(take(queue), 7);
}

TEST(FrameQueue, APauseDropsAndAStepTakesTheNewest) {
  FrameQueue queue({.capacity = 3});
  put(queue, 1, 3);
  queue.pause(true);
  put(queue, 4, 6);
  auto taken = expect_waits([&] { return take(queue); });
  queue.step();
  expect_done(taken);
  EXPECT_EQ(taken.get(), 6);
  taken = expect_waits([&] { return take(queue); });
  queue.step();  // none is there: the next to come
  EXPECT_EQ(taken.wait_for(30ms), std::future_status::timeout);
  put(queue, 7, 7);
  expect_done(taken);
  EXPECT_EQ(taken.get(), 7);
  put(queue, 8, 9);
  queue.pause(false);
  EXPECT_EQ(queue.counts().dropped(DropCause::paused), 7);
  EXPECT_EQ(queue.counts().waiting, 0) << "nothing stale after a pause";
  put(queue, 10, 10);
  EXPECT_EQ(take(queue), 10);
  expect_balance(queue.counts());
}

TEST(FrameQueue, AStepPauses) {
  FrameQueue queue({});
  queue.step();
  EXPECT_TRUE(queue.paused());
  put(queue, 1, 1);
  EXPECT_EQ(take(queue), 1);
  put(queue, 2, 2);
  auto taken = expect_waits([&] { return take(queue); });
  queue.close();
  expect_done(taken);
}

TEST(FrameQueue, APauseHoldsASourceThatCanWait) {
  FrameQueue queue({.capacity = 2, .hold = true});
  put(queue, 1, 2);
  queue.pause(true);
  auto third = expect_waits([&] { return queue.put(numbered(3)); });
  CaptureClock::duration waited{0};
  auto gate = expect_waits([&] {
    const CaptureClock::time_point due = CaptureClock::now();
    const std::optional<CaptureClock::time_point> shifted = queue.wait_until_due(due);
    waited = CaptureClock::now() - due;
    return *shifted - due;
  });
  queue.step();
  EXPECT_EQ(take(queue), 1) << "steps go in order";
  expect_done(third);
  EXPECT_EQ(gate.wait_for(30ms), std::future_status::timeout) << "the step was another frame's";
  queue.pause(false);
  expect_done(gate);
  const CaptureClock::duration shift = gate.get();
  EXPECT_LE(shift, waited);
  EXPECT_GT(shift, waited - 20ms) << "the time went on although it was held";
  EXPECT_EQ(queue.counts().dropped_in_all(), 0);
}

TEST(FrameQueue, AStepOpensTheGateForOneFrame) {
  FrameQueue queue({.hold = true});
  queue.pause(true);
  auto gate = expect_waits([&] { return queue.wait_until_due(CaptureClock::now() + 10s); });
  queue.step();
  expect_done(gate);
  put(queue, 1, 1);
  auto next = expect_waits([&] { return queue.wait_until_due(CaptureClock::now()); });
  EXPECT_EQ(take(queue), 1);
  EXPECT_EQ(next.wait_for(30ms), std::future_status::timeout);
  queue.close();
  expect_done(next);
  EXPECT_FALSE(next.get());
}

TEST(FrameQueue, TheEndComesAfterTheFrames) {
  FrameQueue queue({.capacity = 2});
  put(queue, 1, 2);
  queue.finish(std::make_exception_ptr(Error(ExitCode::input, "gone")));
  EXPECT_EQ(take(queue), 1);
  EXPECT_EQ(take(queue), 2);
  EXPECT_THROW(queue.take(), Error);
  EXPECT_THROW(queue.take(), Error);
}

TEST(FrameQueue, APauseDoesNotHideAnError) {
  FrameQueue queue({});
  queue.pause(true);
  put(queue, 1, 1);
  auto taken = expect_waits([&] { return take(queue); });
  queue.finish(std::make_exception_ptr(Error(ExitCode::input, "gone")));
  expect_done(taken);
  EXPECT_THROW(taken.get(), Error);
  expect_balance(queue.counts());
}

TEST(FrameQueue, ClosingEndsEveryWait) {
  for (const bool by_flag : {false, true}) {
    SCOPED_TRACE(by_flag);
    std::atomic<bool> flag{false};
    FrameQueueOptions options{.drop = DropPolicy::none};
    if (by_flag) options.stop = &flag;
    FrameQueue full(options), empty(options);
    put(full, 1, 1);
    auto putting = expect_waits([&] { return full.put(numbered(2)); });
    auto taking = expect_waits([&] { return take(empty); });
    auto sleeping = expect_waits([&] { return empty.sleep_until(CaptureClock::now() + 10s); });
    auto due = expect_waits([&] { return empty.wait_until_due(CaptureClock::now() + 10s); });
    const auto start = CaptureClock::now();
    if (by_flag) {
      flag = true;
    } else {
      full.close();
      empty.close();
    }
    expect_done(putting);
    expect_done(taking);
    expect_done(sleeping);
    expect_done(due);
    EXPECT_LT(CaptureClock::now() - start, 250ms);
    EXPECT_EQ(taking.get(), 0);
    EXPECT_FALSE(sleeping.get());
    EXPECT_EQ(full.counts().dropped(DropCause::ended), 2);
    put(full, 3, 4);
    EXPECT_EQ(full.counts().dropped(DropCause::ended), 4);
    expect_balance(full.counts());
  }
}

TEST(FrameQueue, EveryFrameIsAccountedForWhateverHappens) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    FrameQueueOptions options;
    options.drop = static_cast<DropPolicy>(random() % 3);
    options.capacity = 1 + static_cast<int>(random() % 3);
    options.every = 1 + static_cast<int>(random() % 2);
    options.hold = random() % 2;
    FrameQueue queue(options);
    constexpr std::int64_t kFrames = 3000;
    std::thread capture([&] {
      put(queue, 1, kFrames);
      queue.finish();
    });
    std::int64_t taken = 0;
    std::thread detector([&, own = std::mt19937(seed + 100)]() mutable {
      std::int64_t last = 0;
      while (const std::int64_t number = take(queue)) {
        EXPECT_GT(number, last);
        last = number;
        ++taken;
        if (own() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 200));
      }
    });
    for (int i = 0; i < 100; ++i) {
      switch (random() % 5) {
        case 0:
          queue.set_drop(static_cast<DropPolicy>(random() % 3));
          break;
        case 1:
          queue.pause(true);
          break;
        case 2:
          queue.pause(false);
          break;
        case 3:
          queue.step();
          break;
        default:
          expect_balance(queue.counts());
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      }
    }
    const bool closes = random() % 2;
    if (closes) queue.close();
    queue.pause(false);
    queue.set_drop(DropPolicy::oldest);
    capture.join();
    detector.join();
    const CaptureCounts counts = queue.counts();
    EXPECT_EQ(counts.captured, kFrames);
    EXPECT_EQ(counts.taken, taken);
    EXPECT_EQ(counts.waiting, 0);
    EXPECT_EQ(closes || counts.dropped(DropCause::ended) == 0, true);
    expect_balance(counts);
  }
}

TEST(FrameQueue, NamesArePlainAndReadBack) {
  for (const DropPolicy policy : {DropPolicy::oldest, DropPolicy::newest, DropPolicy::none})
    EXPECT_EQ(parse_drop_policy(to_string(policy)), policy);
  sightline::test::expect_error(ExitCode::usage, "'latest'", [&] { parse_drop_policy("latest"); });
  EXPECT_EQ(to_string(DropCause::busy), "busy");
  EXPECT_EQ(to_string(DropCause::paused), "paused");
  EXPECT_EQ(to_string(DropCause::ended), "ended");
}

}  // namespace
}  // namespace sightline::pipeline::test
