#pragma once
/// What the figures decide.

#include "characterisation/characteristics.hpp"

namespace sightline::characterisation {

/// A luma frame of 1920x1080, for decisions that depend on a frame's size.
inline constexpr double kFrameBytes = 1920.0 * 1080.0;

/// Sets the decisions of a processor; one whose figures are missing is left out. Pure: depends on nothing but
/// its arguments.
///
/// | id | choice | by |
/// |---|---|---|
/// | `transfer` | `map`, `copy` | the faster way up from ordinary memory for a frame |
/// | `work_group` | work-items | the smallest within 5% of the best copy, of four words a work-item |
/// | `vector_width` | words | the smallest within 5% of the best reading |
/// | `alignment` | words, `none` | the period of the dips in shifted reads |
/// | `local_memory` | `yes`, `no` | whether reads of it are at least 1.3 times as many as those that hit a
/// cache | | `counting` | `local`, `global` | where one counter for all is faster | | `branches` | `sort`,
/// `any` | whether 16 ways cost more than twice what one costs | | `fill` | work-items | what it takes to use
/// all units | | `numbers` | `dot`, `half`, `float` | what computes fastest, by at least 1.3 times | |
/// `stage_place` | multiply-adds, `never` | of a stage from which on the device is faster than the CPU, with
/// a
///    launch and a frame's transfer; needs `host` |
///
/// @param host  the CPU by itself; null where it was not measured
void decide(Characteristics& processor, const Characteristics* host);

}  // namespace sightline::characterisation
