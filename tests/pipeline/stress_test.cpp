// Starting and stopping at random moments, and schedules that change while frames are in flight.
// SIGHTLINE_STRESS sets the number of runs.

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "support/fake_device.hpp"
#include "support/thorough.hpp"

namespace sightline::pipeline {
namespace {

using namespace std::chrono_literals;
using test::Collector;
using test::expect_ordered;
using test::FakeDetector;
using test::FakeStages;
using test::Fate;
using test::NumberedSource;

// Ends the program where a run hangs: there is no other way out of it.
class Deadline {
 public:
  explicit Deadline(std::chrono::seconds limit) : thread_([this, limit] { watch(limit); }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  void begin(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    ++run_;
  }

 private:
  void watch(std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    while (!over_) {
      const int run = run_;
      if (!changed_.wait_for(lock, limit, [&] { return over_; }) && run == run_) {
        std::fprintf(stderr, "hangs: %s\n", what_.c_str());
        std::abort();
      }
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  int run_ = 0;
  std::string what_;
  std::thread thread_;
};

int rounds() {
  const char* const asked = std::getenv("SIGHTLINE_STRESS");
  if (asked) return std::max(1, std::atoi(asked));
  return sightline::test::is_thorough() ? 3000 : 150;
}

// Sets a flag from a thread of its own after some microseconds.
class StopLater {
 public:
  StopLater(std::atomic<bool>& stop, int microseconds)
      : thread_([&stop, microseconds] {
          std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
          stop = true;
        }) {}
  ~StopLater() { thread_.join(); }

 private:
  std::thread thread_;
};

class PipelineStress : public ::testing::Test {
 protected:
  void SetUp() override {
    detector_.partitionable = 1;
    detector_.on_stage = [](std::size_t, int index) {
      if (index % 4 == 3) std::this_thread::sleep_for(std::chrono::microseconds(index % 60));
    };
    stages_ = std::make_unique<FakeStages>(StageSet(3), [](int index) {
      return Fate{index % 3 == 0 ? Fate::Kind::done_early : Fate::Kind::done,
                  std::chrono::microseconds(index * 7 % 90)};
    });
    level_ = spdlog::get_level();
    spdlog::set_level(spdlog::level::err);
  }
  void TearDown() override { spdlog::set_level(level_); }

  int random(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }

  Schedule random_schedule() {
    Schedule schedule = test::on_cpu(random(1, 4));
    const int kind = random(0, 4);
    if (kind == 4) {
      schedule.split = 0.1 * random(1, 9);
    } else {
      schedule.on_device = StageSet(static_cast<unsigned long>(kind));
    }
    return schedule;
  }

  FakeDetector detector_;
  std::unique_ptr<FakeStages> stages_;
  std::mt19937 engine_{20};
  spdlog::level::level_enum level_{};
};

TEST_F(PipelineStress, StopsAtAnyMoment) {
  enum End { at_once, normal, flag_later, flag_at_frame, sink_throws, source_throws, kinds };
  Deadline deadline(30s);
  std::array<int, kinds> seen{};
  for (int round = 0; round < rounds(); ++round) {
    const Schedule schedule = random_schedule();
    const int threads = random(1, 3);
    Pipeline pipeline(detector_, stages_.get(), schedule, {threads});
    for (int repeat = random(1, 3); repeat > 0; --repeat) {
      const auto end = static_cast<End>(random(0, kinds - 1));
      ++seen[end];
      const int frames = end == at_once ? 0 : random(1, 40);
      const int at = random(1, frames + 1);
      const std::string what = "round " + std::to_string(round) + ", end " + std::to_string(end) + " at " +
                               std::to_string(at) + " of " + std::to_string(frames) + ", " +
                               describe(schedule, detector_) + ", in flight " +
                               std::to_string(schedule.in_flight) + ", threads " + std::to_string(threads);
      SCOPED_TRACE(what);
      deadline.begin(what);
      std::atomic<bool> stop{false};
      NumberedSource source(end == flag_later ? 1'000'000 : frames);
      Collector collector;
      std::optional<StopLater> later;
      if (end == flag_later) later.emplace(stop, random(0, 800));
      if (end == flag_at_frame)
        collector.on_result = [&](const FrameResult& r) { stop = stop || r.frame == at; };
      if (end == sink_throws) collector.fail_at = at - 1;
      if (end == source_throws) {
        source.on_read = [&](std::int64_t number) {
          if (number == at) throw Error(ExitCode::input, "the source is dry");
        };
      }
      const bool expect_error = at <= frames && (end == sink_throws || end == source_throws);
      bool thrown = false;
      try {
        const RunReport report = test::run(pipeline, source, collector, {&stop, {}});
        EXPECT_EQ(report.frames, source.delivered());
        EXPECT_EQ(report.failed + report.retried, 0);
        EXPECT_EQ(report.stopped, stop);
        EXPECT_EQ(collector.results.size(), static_cast<std::size_t>(source.delivered()));
        if (end == normal || end == at_once) {
          EXPECT_EQ(report.frames, frames);
        }
      } catch (const Error&) {
        thrown = true;
      }
      EXPECT_EQ(thrown, expect_error);
      if (thrown && end == sink_throws) {
        EXPECT_EQ(collector.results.size(), static_cast<std::size_t>(at - 1));
      }
      EXPECT_LE(collector.results.size(), static_cast<std::size_t>(source.delivered()));
      expect_ordered(collector.results, collector.results.size());
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(*std::min_element(seen.begin(), seen.end()), rounds() / 10);
}

TEST_F(PipelineStress, SchedulesChangeWhileFramesAreInFlight) {
  Deadline deadline(60s);
  for (const int threads : {1, 2, 4}) {
    deadline.begin("changing schedules, threads " + std::to_string(threads));
    Pipeline pipeline(detector_, stages_.get(), test::on_cpu(2), {threads});
    const std::int64_t frames = std::max(2000, rounds());
    NumberedSource source(frames);
    Collector collector;
    std::atomic<bool> over{false};
    int changes = 0;
    std::thread changer([&] {
      while (!over) {
        pipeline.set_schedule(random_schedule());
        static_cast<void>(pipeline.schedule().in_flight);
        ++changes;
        std::this_thread::sleep_for(std::chrono::microseconds(random(100, 3000)));
      }
    });
    const RunReport report = test::run(pipeline, source, collector);
    over = true;
    changer.join();
    expect_ordered(collector.results, static_cast<std::size_t>(frames));
    EXPECT_EQ(report.frames, frames);
    EXPECT_EQ(report.failed + report.retried, 0) << report.first_failure;
    EXPECT_GT(changes, 5);
  }
}

}  // namespace
}  // namespace sightline::pipeline
