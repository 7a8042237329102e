#pragma once
/// Decisions from a processor's characteristics.

#include "characterisation/characteristics.hpp"

namespace sightline::characterisation {

/// A luma frame of 1920x1080, for decisions that depend on a frame's size.
inline constexpr double kFrameBytes = 1920.0 * 1080.0;

/// Sets the decisions of a processor; decisions without their figures are left out. Pure function. Ids,
/// choices and criteria:
///
/// - `transfer`: `map` or `copy`, the faster way up from ordinary memory for a frame.
/// - `work_group`: work-items, the smallest within 5% of the best copy of four words a work-item.
/// - `vector_width`: words, the smallest within 5% of the best reading.
/// - `alignment`: words, the period of the dips in shifted reads, or `none`.
/// - `local_memory`: `yes` if its reads have at least 1.3 times the throughput of cache hits and a lower
///   latency; else `no`.
/// - `counting`: `local` if a counter in local memory takes at least 1.3 times as many additions a second,
///   else `global`.
/// - `branches`: `sort` if 16-way branches take more than twice the time of one way, else `any`.
/// - `fill`: number of work-items that occupies all compute units.
/// - `numbers`: `dot`, `half` or `float`: the type with at least 1.3 times the multiply-adds of the others.
/// - `stage_place`: multiply-adds of a stage above which the device is faster than the CPU, including a
///   launch and a frame's transfer, less the CPU's own loop over all threads. A loop that could not be timed,
///   since the machine was busy, counts as nothing. `never` if its peak is below 1.3 times the CPU's. Needs
///   `host`.
///
/// @param host  characteristics of the CPU; null if not measured
void decide(Characteristics& processor, const Characteristics* host);

}  // namespace sightline::characterisation
