#pragma once
/// What the figures decide.

#include "characterisation/characteristics.hpp"

namespace sightline::characterisation {

/// A luma frame of 1920x1080, for decisions that depend on a frame's size.
inline constexpr double kFrameBytes = 1920.0 * 1080.0;

/// Sets the decisions of a processor; one whose figures are missing is left out. Pure: depends on nothing but
/// its arguments. By id, with the choices and what they go by:
///
/// - `transfer`: `map` or `copy`, the faster way up from ordinary memory for a frame.
/// - `work_group`: work-items, the smallest within 5% of the best copy of four words a work-item.
/// - `vector_width`: words, the smallest within 5% of the best reading.
/// - `alignment`: words, the period of the dips in shifted reads, or `none`.
/// - `local_memory`: `yes` where at least 1.3 times as many of its reads are done as of those that hit a
///   cache, and one after the other sooner; else `no`.
/// - `counting`: `local` where one counter there takes at least 1.3 times as many additions, else `global`.
/// - `branches`: `sort` where 16 ways take more than twice what one takes, else `any`.
/// - `fill`: work-items that it takes to use all units.
/// - `numbers`: `dot`, `half` or `float`, what gives at least 1.3 times the multiply-adds of the others.
/// - `stage_place`: multiply-adds of a stage from which on the device is faster than the CPU, with a launch
///   and a frame's transfer, as far as that takes longer than the CPU's own loop over all threads. A loop
///   that could not be timed, since the machine was busy, counts as nothing. `never` where its peak is
///   not 1.3 times the CPU's. Needs `host`.
///
/// @param host  the CPU by itself; null where it was not measured
void decide(Characteristics& processor, const Characteristics* host);

}  // namespace sightline::characterisation
