// Cameras and files that are made up: too fast, paused, of a known length; and what becomes of their frames.
#include "pipeline/session/live_source.hpp"

#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "base/median.hpp"
#include "pipeline/runs/open_live.hpp"
#include "support/scripted_input.hpp"

namespace sightline::pipeline::test {
namespace {

using namespace std::chrono_literals;

TEST(LiveSource, LatencyIsBoundedAtTwiceTheDetectorsRate) {
  LiveOptions options = file();
  options.live = true;
  options.drop = DropPolicy::oldest;
  std::int64_t shown = 0;
  options.on_frame = [&](const Frame& frame) { EXPECT_EQ(frame.number(), ++shown); };
  Scripted scripted{steady(100, 150)};
  scripted.info.duration = 1.5;
  LiveSource source(scripted.opener(), options);
  std::vector<double> early, late;
  while (const std::optional<Frame> frame = source.read()) {
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
  expect_all_accounted_for(source);
}

TEST(LiveSource, NothingIsLostWhereCaptureMayWait) {
  LiveSource source(Scripted{instant(30, 300)}.opener(), file());
  const std::vector<Frame> frames = read_all(source);
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
  options.on_frame = [&](const Frame&) { ++shown; };
  Scripted scripted{instant(30, 10)};
  scripted.info.frames = 10;
  LiveSource source(scripted.opener(), options);
  source.start();
  EXPECT_EQ(source.frames(), 3);
  const std::vector<Frame> frames = read_all(source);
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[2].number(), 9);
  EXPECT_EQ(source.counts().left_out, 7);
  EXPECT_EQ(shown, 10);
  expect_all_accounted_for(source);
}

TEST(LiveSource, AFileIsPlayedAtItsOwnSpeed) {
  LiveOptions options = file();
  options.pace = true;
  LiveSource source(Scripted{instant(50, 21)}.opener(), options);
  source.start();
  const Time start = CaptureClock::now();
  const std::vector<Frame> frames = read_all(source);
  ASSERT_EQ(frames.size(), 21u);
  for (const Frame& frame : frames) {
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
  std::vector<Frame> frames;
  for (int i = 0; i < 5; ++i) frames.push_back(*source.read());
  source.pause(true);
  std::thread resume([&] {
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(source.status().state, CaptureState::streaming) << "a pause is no stall";
    source.step();
    std::this_thread::sleep_for(150ms);
    source.pause(false);
  });
  while (std::optional<Frame> frame = source.read()) frames.push_back(std::move(*frame));
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
  std::vector<Frame> frames{*source.read()};
  std::this_thread::sleep_for(500ms);
  while (std::optional<Frame> frame = source.read()) frames.push_back(std::move(*frame));
  ASSERT_EQ(frames.size(), 30u);
  EXPECT_GT(seconds_released(frames), 29 * 0.02 + 0.5 - 0.15) << "it caught up";
}

TEST(LiveSource, AFileThatDecodesTooSlowlyComesLateAndWhole) {
  LiveOptions options = file();
  options.pace = true;
  Scripted scripted{[](const Moment& at) -> std::optional<Frame> {
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
  const std::optional<Frame> frame = stepped.get();
  ASSERT_TRUE(frame);
  EXPECT_GT(frame->times().captured, asked - 50'000'000) << "the newest";
  EXPECT_EQ(source.counts().taken, taken + 1);
  EXPECT_GT(source.counts().dropped(DropCause::paused), 15);
  source.pause(false);
  EXPECT_TRUE(source.read());
  expect_all_accounted_for(source);
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
  const std::vector<Frame> frames = read_all(*source);
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
  Scripted scripted{[=](const Moment& at) mutable -> std::optional<Frame> {
    std::optional<Frame> frame = camera_frames(at);
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
  MemorySource source({frame_from_gray(picture.view()).stamped({5, 6})}, 2);
  for (std::int64_t number : {1, 2}) {
    const std::optional<Frame> frame = source.read();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->number(), number);
    EXPECT_EQ(frame->times().captured, 0);
    EXPECT_EQ(frame->times().decoded, 0);
  }
}

}  // namespace
}  // namespace sightline::pipeline::test
