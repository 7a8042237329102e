// Cameras that are made up: too fast, silent, broken, pulled out.
#include "pipeline/live_source.hpp"

#include <cmath>
#include <future>
#include <random>
#include <set>
#include <thread>

#include "base/median.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Time = CaptureClock::time_point;

double seconds_since(Time start) {
  return std::chrono::duration<double>(CaptureClock::now() - start).count();
}

std::int64_t now_ns() {
  return CaptureClock::now().time_since_epoch().count();
}

/// Frame n of an opening, at (n - 1) / rate.
media::Frame frame_of(int n, double rate) {
  static const std::vector<media::Frame> all = numbered_frames();
  return all[static_cast<std::size_t>((n - 1) % kValues)].renumbered(n).retimed((n - 1) / rate);
}

/// What a script may ask about.
struct Moment {
  int opening = 1;  ///< from 1
  int frame = 1;    ///< of this opening, from 1
  const std::atomic<bool>& stop;

  /// Nothing comes for so long, then it is an error; or it is stopped.
  [[noreturn]] void silence(double patience) const {
    for (const Time start = CaptureClock::now(); !stop && seconds_since(start) < patience;)
      std::this_thread::sleep_for(1ms);
    throw Error(ExitCode::input, stop ? "stopped" : "no data");
  }
};

using Script = std::function<std::optional<media::Frame>(const Moment&)>;

class ScriptedInput : public LiveInput {
 public:
  ScriptedInput(Script script, int opening, const std::atomic<bool>& stop, media::StreamInfo info)
      : script_(std::move(script)), opening_(opening), stop_(stop), info_(std::move(info)) {}
  std::optional<media::Frame> read() override {
    if (stop_) return std::nullopt;
    return script_({opening_, ++frame_, stop_});
  }
  media::StreamInfo info() const override { return info_; }
  std::int64_t decode_errors() const override { return frame_; }  // one for each read

 private:
  Script script_;
  int opening_;
  int frame_ = 0;
  const std::atomic<bool>& stop_;
  media::StreamInfo info_;
};

/// Counts the openings; `refuse` may throw in place of one.
struct Scripted {
  Script script;
  std::function<void(int opening, const std::atomic<bool>& stop)> refuse = {};
  media::StreamInfo info = {};
  std::shared_ptr<std::atomic<int>> openings = std::make_shared<std::atomic<int>>(0);

  LiveOpener opener() const {
    return [*this](const std::atomic<bool>& stop) {
      const int opening = ++*openings;
      if (refuse) refuse(opening, stop);
      return std::make_unique<ScriptedInput>(script, opening, stop, info);
    };
  }
};

LiveOptions camera() {
  LiveOptions options;
  options.name = "cam";
  options.first_pause = 0.01;
  options.longest_pause = 0.05;
  return options;
}

LiveOptions file() {
  LiveOptions options = camera();
  options.live = false;
  options.drop = DropPolicy::none;
  return options;
}

/// Frames at a steady rate, `count` of them in each opening.
Script steady(double rate, int count) {
  return [=, due = Time{}](const Moment& at) mutable -> std::optional<media::Frame> {
    if (at.frame == 1) due = CaptureClock::now();
    std::this_thread::sleep_until(due);
    due += std::chrono::nanoseconds(std::llround(1e9 / rate));
    if (at.frame > count) return std::nullopt;
    return frame_of(at.frame, rate);
  };
}

/// At once, as from a file.
Script instant(double rate, int count) {
  return [=](const Moment& at) -> std::optional<media::Frame> {
    if (at.frame > count) return std::nullopt;
    return frame_of(at.frame, rate);
  };
}

std::vector<media::Frame> read_all(LiveSource& source) {
  std::vector<media::Frame> frames;
  while (std::optional<media::Frame> frame = source.read()) frames.push_back(std::move(*frame));
  return frames;
}

void expect_rising(const std::vector<media::Frame>& frames) {
  for (std::size_t i = 1; i < frames.size(); ++i) {
    EXPECT_GT(frames[i].number(), frames[i - 1].number());
    EXPECT_GT(frames[i].time(), frames[i - 1].time());
    EXPECT_GE(frames[i].times().captured, frames[i - 1].times().captured);
  }
}

/// For any thread, also while frames come: two calls then see two moments.
void expect_balance(const LiveSource& source) {
  const CaptureCounts counts = source.counts();
  const std::int64_t dropped = source.dropped();
  EXPECT_EQ(counts.captured, counts.taken + counts.left_out + counts.dropped_in_all() + counts.waiting);
  EXPECT_GE(dropped, counts.dropped_in_all());
  EXPECT_LE(dropped, source.counts().dropped_in_all());
}

/// Whether something comes true in time.
bool soon(const std::function<bool()>& what, double limit = 2) {
  const Time start = CaptureClock::now();
  while (!what()) {
    if (seconds_since(start) > limit) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// Seconds from release to release.
std::vector<double> gaps(const std::vector<media::Frame>& frames) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < frames.size(); ++i)
    gaps.push_back(1e-9 * static_cast<double>(frames[i].times().captured - frames[i - 1].times().captured));
  return gaps;
}

/// From the first release to the last.
double seconds_released(const std::vector<media::Frame>& frames) {
  return 1e-9 * static_cast<double>(frames.back().times().captured - frames.front().times().captured);
}

TEST(LiveSource, LatencyIsBoundedAtTwiceTheDetectorsRate) {
  LiveOptions options = file();
  options.live = true;
  options.drop = DropPolicy::oldest;
  std::int64_t shown = 0;
  options.on_frame = [&](const media::Frame& frame) { EXPECT_EQ(frame.number(), ++shown); };
  Scripted scripted{steady(100, 150)};
  scripted.info.duration = 1.5;
  LiveSource source(scripted.opener(), options);
  std::vector<double> early, late;
  while (const std::optional<media::Frame> frame = source.read()) {
    const double age = 1e-9 * static_cast<double>(now_ns() - frame->times().captured);
    (frame->number() < 75 ? early : late).push_back(age);
    std::this_thread::sleep_for(20ms);
  }
  const CaptureCounts counts = source.counts();
  EXPECT_EQ(shown, 150) << "the display gets every frame";
  EXPECT_EQ(counts.captured, 150);
  EXPECT_GT(counts.dropped(DropCause::busy), 50);
  EXPECT_GT(counts.taken, 30);
  EXPECT_EQ(counts.waiting, 0);
  EXPECT_EQ(counts.damaged, 151) << "errors of the reads, not frames";
  EXPECT_LT(median(late), 0.05) << "a period, and what the machine is busy with";
  EXPECT_LT(median(late), median(early) + 0.03) << "it grows";
  EXPECT_EQ(source.status().state, CaptureState::ended);
  expect_balance(source);
}

TEST(LiveSource, NothingIsLostWhereCaptureMayWait) {
  LiveSource source(Scripted{instant(30, 300)}.opener(), file());
  const std::vector<media::Frame> frames = read_all(source);
  ASSERT_EQ(frames.size(), 300u);
  expect_rising(frames);
  EXPECT_EQ(source.counts().dropped_in_all(), 0);
  EXPECT_EQ(source.status().state, CaptureState::ended);
  EXPECT_EQ(source.status().reopened, 0);
}

TEST(LiveSource, EveryNthFrameIsSearchedAndAllAreShown) {
  LiveOptions options = file();
  options.every = 4;
  int shown = 0;
  options.on_frame = [&](const media::Frame&) { ++shown; };
  Scripted scripted{instant(30, 10)};
  scripted.info.frames = 10;
  LiveSource source(scripted.opener(), options);
  source.start();
  EXPECT_EQ(source.frames(), 3);
  const std::vector<media::Frame> frames = read_all(source);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[2].number(), 9);
  EXPECT_EQ(source.counts().left_out, 7);
  EXPECT_EQ(shown, 10);
  expect_balance(source);
}

TEST(LiveSource, AFileIsPlayedAtItsOwnSpeed) {
  LiveOptions options = file();
  options.pace = true;
  LiveSource source(Scripted{instant(50, 21)}.opener(), options);
  source.start();
  const Time start = CaptureClock::now();
  const std::vector<media::Frame> frames = read_all(source);
  ASSERT_EQ(frames.size(), 21u);
  for (const media::Frame& frame : frames) {
    const double released = 1e-9 * static_cast<double>(frame.times().captured - frames[0].times().captured);
    EXPECT_GE(released, frame.time() - 0.11) << "too early, even if the first was late";
    EXPECT_LT(released, frame.time() + 0.5) << "too late";
    EXPECT_EQ(frame.times().decoded, frame.times().captured);
  }
  EXPECT_GT(seconds_since(start), 0.35);
}

TEST(LiveSource, APauseHoldsAFileAndItsClock) {
  LiveOptions options = file();
  options.pace = true;
  options.drop = DropPolicy::oldest;
  options.queue = 20;  // the detector is never too slow
  LiveSource source(Scripted{instant(50, 20)}.opener(), options);
  std::vector<media::Frame> frames;
  for (int i = 0; i < 5; ++i) frames.push_back(*source.read());
  source.pause(true);
  std::thread resume([&] {
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(source.status().state, CaptureState::streaming) << "a pause is no stall";
    source.step();
    std::this_thread::sleep_for(150ms);
    source.pause(false);
  });
  while (std::optional<media::Frame> frame = source.read()) frames.push_back(std::move(*frame));
  resume.join();
  ASSERT_EQ(frames.size(), 20u);
  EXPECT_EQ(source.dropped(), 0);
  expect_rising(frames);
  const std::vector<double> all = gaps(frames);
  EXPECT_GT(*std::max_element(all.begin(), all.end()), 0.14);
  EXPECT_GT(seconds_released(frames), 19 * 0.02 + 0.45 - 0.13) << "the clock ran on";
}

TEST(LiveSource, AFileThatWaitsForTheDetectorDoesNotBurst) {
  LiveOptions options = file();
  options.pace = true;
  LiveSource source(Scripted{instant(50, 30)}.opener(), options);
  std::vector<media::Frame> frames{*source.read()};
  std::this_thread::sleep_for(500ms);
  while (std::optional<media::Frame> frame = source.read()) frames.push_back(std::move(*frame));
  ASSERT_EQ(frames.size(), 30u);
  EXPECT_GT(seconds_released(frames), 29 * 0.02 + 0.5 - 0.15) << "it caught up";
}

TEST(LiveSource, AFileThatDecodesTooSlowlyComesLateAndWhole) {
  LiveOptions options = file();
  options.pace = true;
  Scripted scripted{[](const Moment& at) -> std::optional<media::Frame> {
    std::this_thread::sleep_for(10ms);
    if (at.frame > 20) return std::nullopt;
    return frame_of(at.frame, 200);
  }};
  LiveSource source(scripted.opener(), options);
  EXPECT_EQ(read_all(source).size(), 20u);
  EXPECT_EQ(source.dropped(), 0);
}

TEST(LiveSource, WhilePausedALiveInputIsDropped) {
  LiveSource source(Scripted{steady(200, 1 << 30)}.opener(), camera());
  ASSERT_TRUE(source.read());
  source.pause(true);
  const std::int64_t before = source.counts().captured;
  ASSERT_TRUE(soon([&] { return source.counts().captured > before + 20; }));
  EXPECT_TRUE(source.status().paused);
  const std::int64_t taken = source.counts().taken;
  auto stepped = std::async(std::launch::async, [&] { return source.read(); });
  EXPECT_EQ(stepped.wait_for(50ms), std::future_status::timeout);
  const std::int64_t asked = now_ns();
  source.step();
  const std::optional<media::Frame> frame = stepped.get();
  ASSERT_TRUE(frame);
  EXPECT_GT(frame->times().captured, asked - 50'000'000) << "the newest";
  EXPECT_EQ(source.counts().taken, taken + 1);
  EXPECT_GT(source.counts().dropped(DropCause::paused), 15);
  source.pause(false);
  EXPECT_TRUE(source.read());
  expect_balance(source);
}

TEST(LiveSource, LossesAreReopenedAndNumbersAndTimesGoOn) {
  // An error, an end, and an error again.
  Scripted scripted{[](const Moment& at) -> std::optional<media::Frame> {
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
  std::vector<media::Frame> frames;
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
  expect_balance(source);
}

TEST(LiveSource, PausesGrowWhileItCannotBeOpenedAndShrinkWithAFrame) {
  std::vector<Time> attempts;
  Scripted scripted{[](const Moment& at) -> std::optional<media::Frame> {
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
    Scripted scripted{[](const Moment& at) -> std::optional<media::Frame> {
      if (at.opening == 1 && at.frame == 1) return frame_of(1, 30);
      throw Error(ExitCode::input, "the cable is out");
    }};
    LiveOptions options = camera();
    options.give_up_after = limit;
    LiveSource source(scripted.opener(), options);
    ASSERT_TRUE(source.read());
    const Time last = CaptureClock::now();
    try {
      source.read();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      EXPECT_THAT(error.what(), HasSubstr("no frame from 'cam' for"));
      EXPECT_THAT(error.what(), HasSubstr("(the cable is out); check its power"));
    }
    EXPECT_GE(seconds_since(last), limit - 0.02);
    EXPECT_LT(seconds_since(last), limit + 2);
    EXPECT_EQ(*scripted.openings > 1, limit > 0);
    EXPECT_EQ(source.status().state, CaptureState::failed);
    EXPECT_THROW(source.read(), Error) << "and again";
    expect_balance(source);
  }
}

TEST(LiveSource, ASilenceIsAStallAtOnceAndALossLater) {
  Scripted scripted{[](const Moment& at) -> std::optional<media::Frame> {
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
  EXPECT_THAT(source.status().reason, HasSubstr("no frame for "));
  ASSERT_TRUE(soon([&] { return source.status().state == CaptureState::reopening; }, 4));
  EXPECT_EQ(source.status().reason, "no data");
  EXPECT_GT(source.status().next_attempt, 0.05);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(source.read());
  EXPECT_EQ(source.status().state, CaptureState::streaming);
  EXPECT_EQ(source.status().reopened, 1);
}

TEST(LiveSource, AFilesErrorAndAFilesEndAreFinal) {
  Scripted broken{[](const Moment& at) -> std::optional<media::Frame> {
    if (at.frame > 3) throw Error(ExitCode::input, "damaged from here on");
    return frame_of(at.frame, 30);
  }};
  LiveSource source(broken.opener(), file());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(source.read());
  EXPECT_THROW(source.read(), Error);
  EXPECT_EQ(*broken.openings, 1);
  EXPECT_EQ(source.status().state, CaptureState::failed);
}

TEST(LiveSource, AStreamThatKnowsItsLengthEndsThere) {
  for (const int frames : {50, 20}) {  // of 50: the second breaks off
    SCOPED_TRACE(frames);
    Scripted scripted{instant(25, frames)};
    scripted.info.duration = 2;
    scripted.info.frame_rate = {25, 1};
    LiveOptions options = camera();
    options.drop = DropPolicy::none;
    LiveSource source(scripted.opener(), options);
    for (int i = 0; i < frames; ++i) ASSERT_TRUE(source.read());
    if (frames == 50) {
      EXPECT_FALSE(source.read());
      EXPECT_EQ(*scripted.openings, 1);
      EXPECT_EQ(source.status().state, CaptureState::ended);
    } else {
      EXPECT_TRUE(source.read());
      EXPECT_EQ(*scripted.openings, 2);
    }
  }
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

TEST(LiveSource, OptionsOutOfRangeAreRefused) {
  const auto refused = [](const std::function<void(LiveOptions&)>& change) {
    LiveOptions options = camera();
    change(options);
    try {
      const LiveSource source(Scripted{instant(1, 1)}.opener(), options);
    } catch (const Error& error) {
      return error.code() == ExitCode::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused([](LiveOptions& options) { options.queue = 0; }));
  EXPECT_TRUE(refused([](LiveOptions& options) { options.every = 0; }));
  EXPECT_TRUE(refused([](LiveOptions& options) { options.pace = true; }));
  EXPECT_TRUE(refused([](LiveOptions& options) { options.stall_after = 0; }));
  EXPECT_TRUE(refused([](LiveOptions& options) { options.give_up_after = -1; }));
  EXPECT_TRUE(refused([](LiveOptions& options) { options.reopen_after = std::nan(""); }));
  EXPECT_FALSE(refused([](LiveOptions&) {}));
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
  const Script silent = [](const Moment& at) -> std::optional<media::Frame> {
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
          expect_balance(source);
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
    Scripted scripted{
        [own = std::make_shared<std::mt19937>(seed)](const Moment& at) -> std::optional<media::Frame> {
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
    options.on_frame = [&](const media::Frame&) { ++shown; };
    std::int64_t taken = 0;
    CaptureCounts counts;
    {
      LiveSource source(scripted.opener(), options);
      source.start();
      std::vector<media::Frame> frames;
      std::thread detector([&] {
        while (std::optional<media::Frame> frame = source.read()) {
          frames.push_back(*frame);
          std::this_thread::sleep_for(std::chrono::microseconds(frame->number() % 7 * 100));
        }
      });
      std::thread observer([&] {
        while (source.status().state != CaptureState::ended) {
          expect_balance(source);
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

TEST(LiveSource, ReadsRealInputsInLoops) {
  media::ReadOptions read;
  read.loop = 1;
  LiveOptions options = file();
  options.name.clear();
  options.pace = true;
  const auto source = open_live("lavfi:testsrc=size=64x48:rate=50:duration=0.2", read, options);
  source->start();
  const Time start = CaptureClock::now();
  EXPECT_EQ(source->status().info.size, (Size{64, 48}));
  const std::vector<media::Frame> frames = read_all(*source);
  EXPECT_EQ(frames.size(), 20u);
  expect_rising(frames);
  EXPECT_GT(seconds_since(start), 0.3);
  EXPECT_EQ(source->counts().damaged, 0);
  const auto missing = open_live("no/such/file.mp4", {}, options);
  EXPECT_THROW(missing->start(), Error);
  read.every = 2;
  EXPECT_THROW(open_live("x", read, options), Error);
}

/// Keeps what a run sends.
class TraceCollector : public TraceSink {
 public:
  struct Kept {
    FrameTrace trace;  ///< without spans
    std::vector<Span> spans;
  };
  TraceInfo info;
  std::vector<Kept> frames;
  void begin(const TraceInfo& of) override { info = of; }
  void accept(const FrameTrace& trace) override {
    frames.push_back({trace, {trace.spans.begin(), trace.spans.end()}});
  }
};

TEST(LiveSource, LatencyCountsFromTheCaptureInTraces) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t, int) { std::this_thread::sleep_for(10ms); };
  Pipeline pipeline(detector, nullptr, on_cpu(1));
  constexpr std::int64_t kTransport = 3'000'000;
  Script camera_frames = steady(200, 1 << 30);
  Scripted scripted{[=](const Moment& at) mutable -> std::optional<media::Frame> {
    std::optional<media::Frame> frame = camera_frames(at);
    if (frame) frame = frame->stamped({now_ns() - kTransport, now_ns()});
    return frame;
  }};
  LiveSource source(scripted.opener(), camera());
  source.start();
  Collector collector;
  collector.on_result = [&](const FrameResult&) {
    if (collector.results.size() == 12) source.stop();
  };
  TraceCollector traces;
  RunOptions options;
  options.traces = {&traces};
  const RunReport report = run(pipeline, source, collector, options);
  ASSERT_GT(traces.frames.size(), 5u);
  EXPECT_EQ(report.frames, source.counts().taken);
  EXPECT_GT(traces.frames.back().trace.dropped, traces.frames.front().trace.dropped);
  EXPECT_GE(traces.frames.back().trace.dropped, 10);
  EXPECT_LE(traces.frames.back().trace.dropped, source.dropped());
  bool waited = false;
  for (const auto& [trace, spans] : traces.frames) {
    ASSERT_GE(spans.size(), 3u);
    EXPECT_EQ(spans[0].activity, Activity::decode);
    EXPECT_EQ(spans[0].start, trace.admitted);
    EXPECT_GE(spans[0].end - trace.admitted, kTransport);
    EXPECT_LT(spans[0].end - trace.admitted, kTransport + 50'000'000);
    EXPECT_EQ(spans[1].activity, Activity::wait);
    EXPECT_EQ(spans[1].start, spans[0].end) << "it waits for the detector from the end of decoding on";
    EXPECT_GE(trace.entered, spans[1].start);
    EXPECT_LE(trace.entered, spans[1].end);
    waited |= trace.entered - spans[1].start > 100'000;
  }
  EXPECT_TRUE(waited) << "none waited in the queue";
}

// A plan is made with frames that were captured a while ago: their age is no latency of the schedules tried.
TEST(MemorySource, ForgetsWhenFramesWereCaptured) {
  const Image<std::uint8_t> picture(8, 8);
  MemorySource source({media::frame_from_gray(picture.view()).stamped({5, 6})}, 2);
  for (std::int64_t number : {1, 2}) {
    const std::optional<media::Frame> frame = source.read();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->number(), number);
    EXPECT_EQ(frame->times().captured, 0);
    EXPECT_EQ(frame->times().decoded, 0);
  }
}

}  // namespace
}  // namespace sightline::pipeline::test
