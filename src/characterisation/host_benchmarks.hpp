#pragma once
/// The benchmarks of the CPU by itself, in plain and SIMD code on all of its threads, or on one where it says
/// so. Ids are those of devices' benchmarks (benchmarks.hpp). By the host's clock.

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
/// Figure `launch.latency`: a parallel loop of the TBB arena, until every thread has had a part.
void measure_host_threads(const Effort& effort, Characteristics& result);

}  // namespace sightline::characterisation
