// Streams that come and go in one session. SIGHTLINE_STRESS sets how many.

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <thread>

#include "base/log.hpp"
#include "base/process_policy.hpp"
#include "base/random.hpp"
#include "pipeline/session/frame_queue.hpp"
#include "pipeline/session/session.hpp"
#include "pipeline/session/session_arena.hpp"
#include "support/fake_device.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::NumberedSource;
using testing::HasSubstr;

// A source with its results.
struct Fed {
  explicit Fed(std::int64_t frames, bool fails_alone = true) : source(frames) {
    stream.source = &source;
    stream.sinks = {&collector};
    stream.fails_alone = fails_alone;
  }
  NumberedSource source;
  Collector collector;
  Stream stream;

  // Every frame that was read has its result, once and in order.
  void expect_whole(const RunReport& report) const {
    EXPECT_EQ(report.frames, source.delivered());
    expect_ordered(collector.results, static_cast<std::size_t>(source.delivered()));
  }
};

// Numbered frames that cost nothing to read.
class Computed : public NumberedSource {
 public:
  using NumberedSource::NumberedSource;
  Reading reading() const override { return Reading::computes; }
};

constexpr std::int64_t kEndless = 1'000'000'000;

// Captures numbered frames in its own time, and drops those that nobody takes.
class Camera : public FrameSource {
 public:
  Camera(std::int64_t frames, std::chrono::microseconds pause)
      : queue_({}), thread_([this, frames, pause] {
          static const std::vector<Frame> all = test::numbered_frames();
          for (std::int64_t i = 0; i < frames && !queue_.closed(); ++i) {
            queue_.put(all[static_cast<std::size_t>(i % test::kValues)].renumbered(i + 1));
            std::this_thread::sleep_for(pause);
          }
          queue_.finish();
        }) {}
  ~Camera() override {
    queue_.close();
    thread_.join();
  }
  Reading reading() const override { return Reading::announces; }
  std::optional<Frame> read() override { return queue_.take(); }
  bool try_read(std::optional<Frame>& frame) override { return queue_.try_take(frame); }
  void on_announcement(std::function<void()> call) override { queue_.on_change(std::move(call)); }
  CaptureCounts counts() const { return queue_.counts(); }

 private:
  FrameQueue queue_;
  std::thread thread_;
};

// A stream of any kind, and what must be true once it has ended.
struct Guest {
  Guest(Random& random, std::int64_t frames) {
    const std::uint64_t kind = random.below(3);
    if (kind == 0) numbered = std::make_unique<NumberedSource>(frames);
    if (kind == 1) numbered = std::make_unique<Computed>(frames);
    if (kind == 2) camera = std::make_unique<Camera>(frames, std::chrono::microseconds(random.below(500)));
    stream.source = numbered ? static_cast<FrameSource*>(numbered.get()) : camera.get();
    stream.sinks = {&collector};
    stream.fails_alone = true;
    stream.importance = 1 + static_cast<double>(random.below(3));
    if (random.below(10) == 0) stream.rate = 2000;
    if (numbered && random.below(10) == 0) {
      numbered->on_read = [at = static_cast<std::int64_t>(random.below(20))](std::int64_t number) {
        if (number > at) throw Error(ExitCode::input, "broken");
      };
    }
  }
  // Each frame that was taken has its own result, once and in order.
  void expect_whole() const {
    const std::int64_t taken = numbered ? numbered->delivered() : camera->counts().taken;
    ASSERT_EQ(static_cast<std::int64_t>(collector.results.size()), taken);
    std::int64_t last = 0;
    for (const FrameResult& result : collector.results) {
      ASSERT_GT(result.frame, last);
      last = result.frame;
      ASSERT_EQ(result.objects.front().score, static_cast<double>((last - 1) % test::kValues));
    }
  }
  std::unique_ptr<NumberedSource> numbered;
  std::unique_ptr<Camera> camera;
  Collector collector;
  Stream stream;
};

TEST(Session, StreamsComeAndGo) {
  const char* const asked = std::getenv("SIGHTLINE_STRESS");
  const int streams = asked ? std::atoi(asked) : 300;
  const std::size_t most_at_once = asked ? 100 : 25;
  FakeDetector detector, other;
  detector.on_stage = [](std::size_t, int index) {
    std::this_thread::sleep_for(std::chrono::microseconds(index % 7 * 20));
  };
  test::FakeStages stages(StageSet(0b11), [](int index) {
    return test::Fate{test::Fate::Kind::done, std::chrono::microseconds(index % 5 * 30)};
  });
  Session session({3});
  const std::array programs{session.add(detector, nullptr, test::on_cpu(4)),
                            session.add(other, nullptr, test::on_cpu(2)),
                            session.add(detector, &stages, Schedule{"custom", StageSet(0b01), 3})};
  std::list<Guest> guests;
  std::map<StreamId, std::list<Guest>::iterator> running;
  Random random(7);
  const auto take_out = [&](std::size_t index) {
    const auto [id, guest] = *std::next(running.begin(), static_cast<std::ptrdiff_t>(index));
    try {
      const RunReport report = random.below(2) == 0 ? session.remove(id) : session.wait(id);
      EXPECT_EQ(report.frames, static_cast<std::int64_t>(guest->collector.results.size()));
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "broken");
    }
    guest->expect_whole();
    running.erase(id);
    guests.erase(guest);
  };
  for (int i = 0; i < streams && !testing::Test::HasFailure(); ++i) {
    guests.emplace_front(random, static_cast<std::int64_t>(random.below(60)));
    running.emplace(session.add(programs[random.below(3)], guests.front().stream), guests.begin());
    if (i % 50 == 0) session.set_schedule(programs[0], test::on_cpu(1 + i / 50 % 6));
    if (running.size() > most_at_once || random.below(3) == 0) take_out(random.below(running.size()));
  }
  while (!running.empty()) take_out(0);
  EXPECT_LE(detector.most_at_once(), 3) << "more tasks than threads";
}

TEST(Session, StreamsShareTheSlotsOfTheirProgram) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t, int) { std::this_thread::sleep_for(200us); };
  Session session({4});
  const ProgramId program = session.add(detector, nullptr, test::on_cpu(3));
  std::deque<Computed> sources;
  std::deque<Collector> collectors(8);
  std::vector<Stream> streams(8);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i].source = &sources.emplace_back(50);
    streams[i].sinks = {&collectors[i]};
  }
  for (const StreamId id : session.add(program, streams)) EXPECT_EQ(session.wait(id).frames, 50);
  for (const Collector& one : collectors) expect_ordered(one.results, 50);
  EXPECT_EQ(detector.workspaces(), 3) << "one for each slot";
}

// Two programs of one processor: their frames meet in the device's queue.
TEST(Session, FramesOfAllProgramsShareBatches) {
  FakeDetector detector;
  test::FakeStages stages(StageSet(0b11), [](int) { return test::Fate{test::Fate::Kind::done, 500us}; });
  stages.together = 8;
  Schedule schedule{"gpu", StageSet(0b11), 8};
  schedule.batch = 8;
  Session session({2});
  const std::vector<Frame> frames = test::numbered_frames(2);
  std::deque<MemorySource> sources;
  std::deque<Collector> collectors(2);
  std::vector<StreamId> ids;
  for (std::size_t i = 0; i < 2; ++i) {
    Stream stream;
    stream.source = &sources.emplace_back(std::vector{frames[i]}, 200);
    stream.sinks = {&collectors[i]};
    ids.push_back(session.add(session.add(detector, &stages, schedule), stream));
  }
  for (const StreamId id : ids) EXPECT_EQ(session.wait(id).frames, 200);
  EXPECT_TRUE(std::ranges::any_of(stages.batches(), [](const std::vector<int>& batch) {
    return std::ranges::find(batch, 0) != batch.end() && std::ranges::find(batch, 1) != batch.end();
  }));
  for (std::size_t i = 0; i < 2; ++i) {
    for (const FrameResult& result : collectors[i].results)
      ASSERT_EQ(result.objects.front().score, static_cast<double>(i)) << "the result of another stream";
  }
}

TEST(Session, ErrorOfOneLeavesTheOthersAlone) {
  for (const bool in_source : {true, false}) {
    FakeDetector detector;
    Session session({2});
    const ProgramId program = session.add(detector, nullptr, test::on_cpu(4));
    Fed broken(kEndless), whole(500);
    if (in_source) {
      broken.source.on_read = [](std::int64_t number) {
        if (number > 20) throw Error(ExitCode::input, "the camera is gone");
      };
    } else {
      broken.collector.fail_at = 20;
    }
    const std::vector<StreamId> ids = session.add(program, std::array{broken.stream, whole.stream});
    whole.expect_whole(session.wait(ids[1]));
    const RunReport report = session.wait(ids[0]);
    ASSERT_TRUE(report.error);
    EXPECT_THROW(std::rethrow_exception(report.error), Error);
    EXPECT_GE(report.frames, 20);
    expect_ordered(broken.collector.results, 20);
    std::optional<Event> event = session.next_event(0ms);
    for (; event && event->stream != ids[0]; event = session.next_event(0ms)) {
    }
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, Event::Kind::failed);
    EXPECT_THAT(event->message, HasSubstr(in_source ? "the camera is gone" : "the sink is full"));
  }
}

// Sources that block keep neither threads nor slots from the others.
TEST(Session, SourcesThatHangHoldNobodyUp) {
  FakeDetector detector;
  Session session({2});
  const ProgramId program = session.add(detector, nullptr, test::on_cpu(2));
  std::mutex mutex;
  std::condition_variable changed;
  bool goes_on = false;
  std::deque<Fed> hung;
  std::vector<StreamId> ids;
  for (int i = 0; i < 12; ++i) {
    Fed& one = hung.emplace_back(3);
    one.source.on_read = [&](std::int64_t) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return goes_on; });
    };
    ids.push_back(session.add(program, one.stream));
  }
  Fed whole(300);
  whole.expect_whole(session.wait(session.add(program, whole.stream)));
  EXPECT_EQ(session.report(ids[0]).frames, 0);
  {
    const std::lock_guard lock(mutex);
    goes_on = true;
  }
  changed.notify_all();
  for (std::size_t i = 0; i < ids.size(); ++i) hung[i].expect_whole(session.wait(ids[i]));
}

TEST(Session, ImportantStreamsGetMore) {
  FakeDetector detector;
  detector.on_stage = [](std::size_t, int) { std::this_thread::sleep_for(100us); };
  Session session({2});
  const ProgramId program = session.add(detector, nullptr, test::on_cpu(8));
  std::array<Computed, 2> sources{Computed(kEndless), Computed(kEndless)};
  std::array<Collector, 2> collectors;
  std::array<Stream, 2> streams;
  for (std::size_t i = 0; i < 2; ++i) {
    streams[i].source = &sources[i];
    streams[i].sinks = {&collectors[i]};
  }
  streams[1].importance = 3;
  const std::vector<StreamId> ids = session.add(program, streams);
  while (session.report(ids[0]).frames < 150) std::this_thread::sleep_for(1ms);
  const double shares =
      static_cast<double>(session.report(ids[1]).frames) / static_cast<double>(session.report(ids[0]).frames);
  for (const StreamId id : ids) session.remove(id);
  EXPECT_GT(shares, 1.5);
  EXPECT_LT(shares, 6);
}

TEST(Session, RateLimitsAStream) {
  FakeDetector detector;
  Session session({2});
  const ProgramId program = session.add(detector, nullptr, test::on_cpu(4));
  Fed one(20);
  one.stream.rate = 500;
  const auto start = std::chrono::steady_clock::now();
  one.expect_whole(session.wait(session.add(program, one.stream)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 38ms);  // 19 times 2 ms
}

TEST(Session, EndsWhatRunsWhenItIsDestroyed) {
  FakeDetector detector;
  std::deque<Fed> fed;
  {
    Session session({2});
    const ProgramId program = session.add(detector, nullptr, test::on_cpu(4));
    for (int i = 0; i < 5; ++i) session.add(program, fed.emplace_back(kEndless).stream);
    std::this_thread::sleep_for(5ms);
  }
  for (const Fed& one : fed)
    expect_ordered(one.collector.results, static_cast<std::size_t>(one.source.delivered()));
}

// As part of another program, whose log and process are not theirs.
TEST(Session, TwoInAProcessOfSomebodyElse) {
  set_process_policy({});
  set_logger(nullptr);
  for (const int threads : {1, 2}) {
    FakeDetector detector;
    Session first({threads}), second({threads});
    Fed one(300), other(300), late(100);
    const ProgramId program = first.add(detector, nullptr, test::on_cpu(4));
    const StreamId id = first.add(program, one.stream);
    other.expect_whole(second.wait(second.add(second.add(detector, nullptr, test::on_cpu(4)), other.stream)));
    one.expect_whole(first.wait(id));
    late.expect_whole(first.wait(first.add(program, late.stream)));
  }
  set_logger(spdlog::default_logger());
  set_process_policy(kOwnProcess);
}

// oneTBB keeps the memory of most arenas that end.
TEST(Session, ArenasAreUsedAgain) {
  constexpr int kThreads = 5;  // of no session
  std::optional<SessionArena> one(std::in_place, kThreads, 1u), other(std::in_place, kThreads, 1u);
  const auto* const first = one->operator->();
  EXPECT_NE(other->operator->(), first);
  EXPECT_EQ(first->max_concurrency(), kThreads);
  one.reset();
  EXPECT_NE(SessionArena(kThreads, 0).operator->(), first);
  EXPECT_NE(SessionArena(kThreads - 1, 1).operator->(), first);
  EXPECT_EQ(SessionArena(kThreads, 1).operator->(), first);
}

TEST(Session, RefusesWhatMakesNoSense) {
  FakeDetector detector;
  Session session({1});
  const ProgramId program = session.add(detector, nullptr, test::on_cpu(1));
  Fed one(1);
  one.stream.importance = 0;
  EXPECT_THROW(session.add(program, one.stream), Error);
  one.stream.importance = 1;
  one.stream.rate = -1;
  EXPECT_THROW(session.add(program, one.stream), Error);
  EXPECT_THROW(session.wait(StreamId{99}), Error);
  EXPECT_THROW(session.set_setting(program, 1), Error);
}

}  // namespace
}  // namespace sightline::pipeline
