// The CPU's arithmetic, its counters and its threads.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "base/hardware.hpp"
#include "base/parallel.hpp"
#include "characterisation/chains.hpp"
#include "characterisation/host_benchmarks.hpp"
#include "characterisation/peak.hpp"

namespace sightline::characterisation {
namespace {

struct HostPeak {
  PeakWork work;
  const char* id;
  const char* title;
  const char* unit;
};
constexpr HostPeak kHostPeaks[] = {
    {PeakWork::float_numbers, "peak.float", "multiply-adds of float", "G/s"},
    {PeakWork::whole_numbers, "peak.int", "multiply-adds of 32-bit integers", "G/s"},
    {PeakWork::double_numbers, "peak.double", "multiply-adds of double", "G/s"},
    {PeakWork::bytes, "peak.dot", "multiply-adds of bytes, by fours", "G/s"},
    {PeakWork::cached_reads, "cached.global", "reads that hit the nearest cache", "GB/s"}};

// Number of context switches of all threads of this program, voluntary or not.
std::int64_t thread_switches() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return std::int64_t{used.ru_nvcsw} + used.ru_nivcsw;
}

}  // namespace

double peak_multiply_adds_of_all() {
  constexpr int kRepeats = 300, kRounds = 300'000;
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    std::atomic<double> done{0};
    const double seconds = host_seconds([&] {
      parallel_for_isolated(oneapi::tbb::this_task_arena::max_concurrency(), [&](int) {
        float sink[2] = {0, 0};
        done.fetch_add(run_peak(PeakWork::float_numbers, kRounds, sink), std::memory_order_relaxed);
        keep(sink[0]);
      });
    });
    best = std::max(best, done / seconds);
  }
  return best;
}

void measure_host_operations(const Effort& effort, Characteristics& result) {
  for_each_chain([&](auto chain) {
    auto last = std::pair{chain.x, chain.b};
    const auto seconds_of = [&](int turns) {
      return host_seconds([&] { last = run_chain(chain, turns), keep(last.first), keep(last.second); });
    };
    const int turns = calibrate(effort, seconds_of, 8, 1 << 20);
    const Spread seconds = repeat(effort, [&] { return seconds_of(turns); });
    result.figures.push_back({std::string("latency.") + chain.id, chain.title, "ns", Clock::host, false,
                              each(seconds, static_cast<double>(turns) * kChainTurn, 1e-9)});
  });
}

void measure_host_peaks(const Effort& effort, Characteristics& result) {
  const int threads = hardware_threads();
  for (const HostPeak& peak : kHostPeaks) {
    std::atomic<double> done{0};
    const auto seconds_of = [&](int rounds) {
      done = 0;
      return host_seconds([&] {
        parallel_for_isolated(threads, [&](int) {
          float sink[2] = {0, 0};
          const double amount = run_peak(peak.work, rounds, sink);
          keep(sink[0]);
          done.fetch_add(amount, std::memory_order_relaxed);
        });
      });
    };
    // Measured on one thread, because a busy machine may delay the others.
    const auto seconds_of_one = [&](int rounds) {
      float sink[2] = {0, 0};
      return host_seconds([&] { run_peak(peak.work, rounds, sink), keep(sink[0]); });
    };
    const int rounds = calibrate(effort, seconds_of_one, 1000, 1 << 26);
    const Spread seconds = repeat(effort, [&] { return seconds_of(rounds); });
    if (done == 0) continue;  // no such instruction
    result.figures.push_back({peak.id, peak.title, peak.unit, Clock::host, true, rate(seconds, done)});
  }
}

void measure_host_atomics(const Effort& effort, Characteristics& result) {
  Curve curve{"atomics.global",
              "Atomic additions, by number of counters",
              "counters of all threads",
              "counters",
              "G/s",
              Clock::host,
              true,
              {}};
  const int threads = hardware_threads();
  for (const std::size_t spread : {1, 4, 16, 64, 256, 1024}) {
    const auto counters = std::make_unique<std::atomic<std::uint64_t>[]>(spread);
    const auto seconds_of = [&](int rounds) {
      for (std::size_t i = 0; i < spread; ++i) counters[i] = 0;
      return host_seconds([&] {
        parallel_for_isolated(threads, [&](int thread) {
          auto at = static_cast<std::size_t>(thread) * (spread / 2 + 1);
          for (int i = 0; i < 16 * rounds; ++i)
            counters[at++ % spread].fetch_add(1, std::memory_order_relaxed);
        });
      });
    };
    const int rounds = calibrate(effort, seconds_of, 100, 1 << 22);
    const Spread seconds = repeat(effort, [&] { return seconds_of(rounds); });
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < spread; ++i) total += counters[i];
    const auto all =
        std::uint64_t{16} * static_cast<std::uint64_t>(rounds) * static_cast<std::uint64_t>(threads);
    if (total != all)  // no counter overflows
      throw Error(ExitCode::failed, "counting gave a wrong result on the CPU", "check its memory");
    curve.points.push_back({static_cast<double>(spread), rate(seconds, static_cast<double>(all))});
  }
  result.curves.push_back(std::move(curve));
}

LoopTimes loop_times(const std::vector<TimedLoop>& loops) {
  std::vector<double> all, whole;
  for (const TimedLoop& loop : loops) {
    all.push_back(loop.seconds);
    if (!loop.interrupted) whole.push_back(loop.seconds);
  }
  const double interrupted = 1 - static_cast<double>(whole.size()) / static_cast<double>(all.size());
  return {percentiles_of(interrupted > kMostInterrupted ? std::move(all) : std::move(whole)), interrupted};
}

void measure_host_threads(const Effort& effort, Characteristics& result) {
  const int threads = hardware_threads();
  using Time = std::chrono::steady_clock::time_point;
  constexpr std::chrono::milliseconds kPatience{20};  // a machine may have no thread to spare
  // Each part waits for the others, so each part gets its own thread.
  const auto once = [&]() -> TimedLoop {
    std::atomic<int> there{0};
    const std::int64_t switches = thread_switches();
    const double seconds = host_seconds([&] {
      const Time end = std::chrono::steady_clock::now() + kPatience;
      parallel_for_isolated(threads, [&](int) {
        there.fetch_add(1, std::memory_order_relaxed);
        while (there.load(std::memory_order_relaxed) < threads && std::chrono::steady_clock::now() < end) {
        }
      });
    });
    return {seconds, thread_switches() != switches};
  };
  const auto many = [&](std::size_t count, double limit) {
    std::vector<TimedLoop> loops;
    const Time start = std::chrono::steady_clock::now();
    do {
      if (effort.check_stop) effort.check_stop();
      loops.push_back(once());
    } while (loops.size() < count &&
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < limit);
    return loops;
  };
  many(100, effort.of(0.02, 0.1, 0.5));  // threads start up, or wake up, one after the other
  const LoopTimes times = loop_times(many(effort.of(20, 4000, 40000), effort.of(0.05, 0.5, 4.0)));
  result.figures.push_back({"launch.latency",
                            "a parallel loop, until all threads have had a part (10%, 50%, 90% of the loops)",
                            "us", Clock::host, false, each(times.seconds, 1, 1e-6)});
  const double share = times.interrupted;
  result.figures.push_back({kInterruptedLoops,
                            "share of these loops in which a thread was taken off its core",
                            "",
                            Clock::host,
                            false,
                            {share, share, share}});
}

}  // namespace sightline::characterisation
