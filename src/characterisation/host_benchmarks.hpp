#pragma once
/// The benchmarks of the CPU by itself, in plain and SIMD code on all of its threads, or on one where it says
/// so. Ids are those of devices' benchmarks (benchmarks.hpp). By the host's clock.

#include <vector>

#include "characterisation/timing.hpp"

namespace sightline::characterisation {

/// Curve `latency.global` (one thread) and the levels of caches.
void measure_host_latency(const Effort& effort, Characteristics& result);
/// Curve `transfer.memory`: copies from memory to memory by one thread over sizes, for what moving a frame
/// costs at least. Figures `copy.threads`: GB/s read and written by all threads.
/// Curves `shift.host` and `stride.host`.
void measure_host_memory(const Effort& effort, Characteristics& result);
/// Figures `latency.{int,float}.*` in plain code on one thread.
void measure_host_operations(const Effort& effort, Characteristics& result);
/// Figures `peak.*` and `cached.global`, SIMD on all threads.
void measure_host_peaks(const Effort& effort, Characteristics& result);
/// Curve `atomics.global`, by all threads.
void measure_host_atomics(const Effort& effort, Characteristics& result);
/// Figure `launch.latency`: a parallel loop of the TBB arena, until every thread has had a part, with threads
/// that are awake; its spread is the 10th percentile, the median and the 90th percentile of many loops. And
/// figure kInterruptedLoops. How soon all threads meet depends on what else the machine does: half a
/// microsecond where each has a core, milliseconds where they have to wait for one.
void measure_host_threads(const Effort& effort, Characteristics& result);

// What is read off these loops.

/// Id of the share of the loops in which a thread was taken off its core, 0 to 1.
inline constexpr const char* kInterruptedLoops = "launch.interrupted";
/// Where the share is higher, what is left is too little to tell how long a loop takes by itself.
inline constexpr double kMostInterrupted = 0.9;

struct TimedLoop {
  double seconds = 0;
  bool interrupted = false;
};
struct LoopTimes {
  Spread seconds;  ///< percentiles_of those that were not interrupted; of all where these are too few
  double interrupted = 0;
};
/// @param loops  not empty
LoopTimes loop_times(const std::vector<TimedLoop>& loops);

}  // namespace sightline::characterisation
