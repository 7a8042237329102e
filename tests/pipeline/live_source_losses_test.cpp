// Cameras that are made up: silent, broken, pulled out, stopped at any moment.
#include "pipeline/session/live_source.hpp"

#include <gmock/gmock.h>

#include <future>
#include <random>
#include <set>
#include <thread>

#include "support/errors.hpp"
#include "support/scripted_input.hpp"

namespace sightline::pipeline::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(LiveSource, LossesAreReopenedAndNumbersAndTimesGoOn) {
  // An error, an end, and an error again.
  Scripted scripted{[](const Moment& at) -> std::optional<Frame> {
    if (at.opening == 4) at.silence(10);
    std::this_thread::sleep_for(2ms);
    if (at.frame <= 5) return frame_of(at.frame, 500);
    if (at.opening == 2) return std::nullopt;
    throw Error(ExitCode::input, "the cable is out");
  }};
  LiveOptions options = camera();
  options.drop = DropPolicy::none;
  options.first_pause = 0.1;
  LiveSource source(scripted.opener(), options);
  std::vector<Frame> frames;
  std::set<std::string> reasons;
  std::atomic<bool> done{false};
  std::thread observer([&] {
    while (!done) {
      const CaptureStatus status = source.status();
      if (status.state == CaptureState::reopening) reasons.insert(status.reason);
      std::this_thread::sleep_for(1ms);
    }
  });
  for (int i = 0; i < 15; ++i) frames.push_back(*source.read());
  EXPECT_TRUE(soon([&] { return *scripted.openings == 4; }));
  done = true;
  observer.join();
  EXPECT_EQ(reasons, (std::set<std::string>{"the cable is out", "the stream ended"}));
  EXPECT_EQ(source.status().reopened, 2);
  EXPECT_EQ(source.status().state, CaptureState::reopening) << "no frame of the fourth opening yet";
  expect_rising(frames);
  for (int i = 0; i < 15; ++i) EXPECT_EQ(frames[i].number(), i + 1);
  for (const int last : {4, 9}) {
    const double wall = gaps(frames)[last];
    EXPECT_GT(wall, 0.045);
    EXPECT_NEAR(frames[last + 1].time() - frames[last].time(), wall, 0.03) << "the gap by the wall clock";
  }
  EXPECT_EQ(source.counts().damaged, 18) << "over all openings";
  expect_all_accounted_for(source);
}

TEST(LiveSource, PausesGrowWhileItCannotBeOpenedAndShrinkWithAFrame) {
  std::vector<Time> attempts;
  Scripted scripted{[](const Moment& at) -> std::optional<Frame> {
                      if (at.frame == 1) return frame_of(1, 30);
                      throw Error(ExitCode::input, "gone");
                    },
                    [&](int opening, const std::atomic<bool>&) {
                      attempts.push_back(CaptureClock::now());
                      if (opening > 1 && opening < 6) throw Error(ExitCode::input, "not there");
                    }};
  LiveOptions options = camera();
  options.first_pause = 0.04;
  options.longest_pause = 0.32;
  {
    LiveSource source(scripted.opener(), options);
    ASSERT_TRUE(source.read());
    ASSERT_TRUE(source.read());
    ASSERT_TRUE(soon([&] { return *scripted.openings > 6; }));
  }
  std::vector<double> pauses;
  for (std::size_t i = 1; i < 7; ++i)
    pauses.push_back(std::chrono::duration<double>(attempts[i] - attempts[i - 1]).count());
  const std::vector<double> least{0.04, 0.08, 0.16, 0.32, 0.32};
  for (std::size_t i = 0; i < least.size(); ++i) {
    EXPECT_GE(pauses[i], least[i]);
    EXPECT_LT(pauses[i], least[i] + 0.25);
  }
  EXPECT_GE(pauses[5], 0.04);
  EXPECT_LT(pauses[5], 0.29) << "a frame shortens the pauses again";
}

TEST(LiveSource, TheFirstOpeningMustSucceed) {
  Scripted scripted{steady(100, 5),
                    [](int, const std::atomic<bool>&) { throw Error(ExitCode::input, "no such camera"); }};
  LiveSource source(scripted.opener(), camera());
  try {
    source.start();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no such camera");
  }
  EXPECT_EQ(*scripted.openings, 1);
  EXPECT_EQ(source.status().state, CaptureState::failed);
}

TEST(LiveSource, TheFirstOpeningIsTriedAgainWhereThereIsALimit) {
  Scripted scripted{steady(100, 1 << 30), [](int opening, const std::atomic<bool>&) {
                      if (opening < 4) throw Error(ExitCode::input, "no such camera");
                    }};
  LiveOptions options = camera();
  options.give_up_after = 5;
  LiveSource source(scripted.opener(), options);
  source.start();
  EXPECT_TRUE(source.read());
  EXPECT_EQ(*scripted.openings, 4);
  EXPECT_EQ(source.status().reopened, 0) << "the first opening";
}

TEST(LiveSource, GivesUpAfterItsTime) {
  for (const double limit : {0.0, 0.15}) {
    SCOPED_TRACE(limit);
    Scripted scripted{[](const Moment& at) -> std::optional<Frame> {
      if (at.opening == 1 && at.frame == 1) return frame_of(1, 30);
      throw Error(ExitCode::input, "the cable is out");
    }};
    LiveOptions options = camera();
    options.give_up_after = limit;
    LiveSource source(scripted.opener(), options);
    ASSERT_TRUE(source.read());
    const Time last = CaptureClock::now();
    sightline::test::expect_error(ExitCode::input, "'cam'", [&] { source.read(); });
    EXPECT_GE(seconds_since(last), limit - 0.02);
    EXPECT_LT(seconds_since(last), limit + 2);
    EXPECT_EQ(*scripted.openings > 1, limit > 0);
    EXPECT_EQ(source.status().state, CaptureState::failed);
    EXPECT_THROW(source.read(), Error) << "and again";
    expect_all_accounted_for(source);
  }
}

TEST(LiveSource, ASilenceIsAStallAtOnceAndALossLater) {
  Scripted scripted{[](const Moment& at) -> std::optional<Frame> {
    if (at.frame > 5) at.silence(at.opening == 1 ? 2 : 10);
    std::this_thread::sleep_for(10ms);
    return frame_of(at.frame, 100);
  }};
  LiveOptions options = camera();
  options.drop = DropPolicy::none;
  options.stall_after = 0.15;
  options.first_pause = options.longest_pause = 1;
  LiveSource source(scripted.opener(), options);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(source.read());
  const Time last = CaptureClock::now();
  EXPECT_EQ(source.status().state, CaptureState::streaming);
  ASSERT_TRUE(soon([&] { return source.status().state == CaptureState::stalled; }));
  EXPECT_GT(seconds_since(last), 0.1);
  EXPECT_LT(seconds_since(last), 1.8) << "before the loss";
  EXPECT_NE(source.status().reason, "");
  ASSERT_TRUE(soon([&] { return source.status().state == CaptureState::reopening; }, 4));
  EXPECT_NE(source.status().reason, "");
  EXPECT_GT(source.status().next_attempt, 0.05);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(source.read());
  EXPECT_EQ(source.status().state, CaptureState::streaming);
  EXPECT_EQ(source.status().reopened, 1);
}

TEST(LiveSource, AFilesErrorAndAFilesEndAreFinal) {
  Scripted broken{[](const Moment& at) -> std::optional<Frame> {
    if (at.frame > 3) throw Error(ExitCode::input, "damaged from here on");
    return frame_of(at.frame, 30);
  }};
  LiveSource source(broken.opener(), file());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(source.read());
  EXPECT_THROW(source.read(), Error);
  EXPECT_EQ(*broken.openings, 1);
  EXPECT_EQ(source.status().state, CaptureState::failed);
}

TEST(LiveSource, WhatIsAskedWronglyIsNotTriedAgain) {
  Scripted scripted{steady(100, 5), [](int opening, const std::atomic<bool>&) {
                      if (opening == 2) throw Error(ExitCode::usage, "no such pixel format");
                    }};
  LiveOptions options = camera();
  options.give_up_after = 10;
  LiveSource source(scripted.opener(), options);
  EXPECT_THROW(read_all(source), Error);
  EXPECT_EQ(*scripted.openings, 2);
}

TEST(LiveSource, StopsAtOnceInEveryState) {
  struct Case {
    const char* name;
    Scripted scripted;
    LiveOptions options;
    std::function<bool(const LiveSource&)> reached;
  };
  const auto in = [](CaptureState state) {
    return [=](const LiveSource& source) { return source.status().state == state; };
  };
  LiveOptions patient = camera();
  patient.first_pause = patient.longest_pause = 10;
  LiveOptions impatient = camera();
  impatient.stall_after = 0.02;
  LiveOptions paced = file();
  paced.pace = true;
  const Script silent = [](const Moment& at) -> std::optional<Frame> {
    if (at.frame > 1) at.silence(10);
    return frame_of(1, 1000);
  };
  Scripted hangs{instant(30, 1), [](int, const std::atomic<bool>& stop) { Moment{1, 1, stop}.silence(10); }};
  Scripted numbered{silent};
  numbered.info.frame_rate = {1000, 1};
  const std::vector<Case> cases{
      {"opening", hangs, camera(), in(CaptureState::opening)},
      {"streaming", {steady(100, 1 << 30)}, camera(), in(CaptureState::streaming)},
      {"stalled", numbered, impatient, in(CaptureState::stalled)},
      {"reopening", {instant(30, 1)}, patient, in(CaptureState::reopening)},
      {"a full queue",
       {instant(30, 1 << 30)},
       file(),
       [](const LiveSource& source) { return source.counts().captured > 1; }},
      {"between paced frames", {instant(0.1, 3)}, paced, in(CaptureState::streaming)}};
  for (const Case& one : cases) {
    for (const bool by_flag : {false, true}) {
      for (const bool reads : {false, true}) {
        SCOPED_TRACE(std::string(one.name) + (by_flag ? ", by the flag" : "") + (reads ? ", in a read" : ""));
        // A detector that reads empties the queue.
        if (reads && one.name == std::string("a full queue")) continue;
        std::atomic<bool> flag{false};
        LiveOptions options = one.options;
        options.stop = &flag;
        Time stopped;
        {
          LiveSource source(one.scripted.opener(), options);
          std::thread starter([&] {
            source.start();
            while (reads && source.read()) {
            }
          });
          EXPECT_TRUE(soon([&] { return one.reached(source); }));
          std::this_thread::sleep_for(5ms);
          stopped = CaptureClock::now();
          if (by_flag) {
            flag = true;
          } else {
            source.stop();
          }
          starter.join();
          if (reads || !by_flag) {
            EXPECT_TRUE(soon([&] { return source.status().state == CaptureState::ended; }));
          }
          EXPECT_FALSE(source.read());
          expect_all_accounted_for(source);
        }
        EXPECT_LT(seconds_since(stopped), 5) << "it did not wait for what takes 10 s";
      }
    }
  }
}

TEST(LiveSource, EveryFrameIsAccountedForWhateverHappens) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Scripted scripted{[own = std::make_shared<std::mt19937>(seed)](const Moment& at) -> std::optional<Frame> {
      std::this_thread::sleep_for(std::chrono::microseconds((*own)() % 500));
      if ((*own)() % 40 == 0) throw Error(ExitCode::input, "lost");
      if ((*own)() % 60 == 0) return std::nullopt;
      return frame_of(at.frame, 1000);
    }};
    LiveOptions options = camera();
    options.first_pause = 0.001;
    options.longest_pause = 0.002;
    options.queue = 1 + static_cast<int>(random() % 3);
    options.every = 1 + static_cast<int>(random() % 2);
    std::int64_t shown = 0;
    options.on_frame = [&](const Frame&) { ++shown; };
    std::int64_t taken = 0;
    CaptureCounts counts;
    {
      LiveSource source(scripted.opener(), options);
      source.start();
      std::vector<Frame> frames;
      std::thread detector([&] {
        while (std::optional<Frame> frame = source.read()) {
          frames.push_back(*frame);
          std::this_thread::sleep_for(std::chrono::microseconds(frame->number() % 7 * 100));
        }
      });
      std::thread observer([&] {
        while (source.status().state != CaptureState::ended) {
          expect_all_accounted_for(source);
          std::this_thread::sleep_for(200us);
        }
      });
      for (int i = 0; i < 60; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        const auto what = random() % 6;
        if (what < 3) source.set_drop(static_cast<DropPolicy>(what));
        if (what == 3) source.pause(true);
        if (what == 4) source.pause(false);
        if (what == 5) source.step();
      }
      source.stop();
      detector.join();
      observer.join();
      expect_rising(frames);
      taken = static_cast<std::int64_t>(frames.size());
      counts = source.counts();
    }
    EXPECT_EQ(counts.captured, shown);
    EXPECT_EQ(counts.taken, taken);
    EXPECT_EQ(counts.waiting, 0);
    EXPECT_EQ(counts.captured, counts.taken + counts.left_out + counts.dropped_in_all());
    EXPECT_GT(*scripted.openings, 1);
    EXPECT_GT(counts.captured, 20);
  }
}

}  // namespace
}  // namespace sightline::pipeline::test
