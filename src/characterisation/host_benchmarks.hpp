#pragma once
/// Benchmarks of the host CPU, in plain and SIMD code, on all threads unless noted. Ids are the same as for
/// devices (benchmarks.hpp). Times are by the host's clock.

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
/// Figure `launch.latency`: time of a parallel loop of the TBB arena in which every thread takes a part, with
/// awake threads; its spread is the 10th, 50th and 90th percentile of many loops. Also sets figure
/// kInterruptedLoops. The time depends on the machine's load: 0.5 us if each thread has a core, milliseconds
/// if threads wait for one.
void measure_host_threads(const Effort& effort, Characteristics& result);

// Results of these loops.

/// Id of the share of the loops in which a thread was taken off its core, 0 to 1.
inline constexpr const char* kInterruptedLoops = "launch.interrupted";
/// Above this share, the remaining loops are too few for a reliable time.
inline constexpr double kMostInterrupted = 0.9;

struct TimedLoop {
  double seconds = 0;
  bool interrupted = false;
};
struct LoopTimes {
  Spread seconds;  ///< percentiles_of the uninterrupted loops, or of all if these are too few
  double interrupted = 0;
};
/// @param loops  not empty
LoopTimes loop_times(const std::vector<TimedLoop>& loops);

}  // namespace sightline::characterisation
