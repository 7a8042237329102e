#pragma once
/// Runs a schedule for a moment, to see what it does. Private to the planning of schedules.

#include <atomic>
#include <cstdint>
#include <vector>

#include "pipeline/pipeline.hpp"
#include "pipeline/trace_statistics.hpp"

namespace sightline::pipeline {

/// So many frames by the schedule, which stays set. Throws Error (failed) where a frame fails.
/// @param frames  are searched again and again
/// @param trim    frames at both ends that the statistics leave out
/// @param stop    ends it early; may be null
TraceStatistics run_for(Pipeline& pipeline, const Schedule& schedule, const std::vector<media::Frame>& frames,
                        std::int64_t count, std::size_t trim, const std::atomic<bool>* stop);

inline bool is_set(const std::atomic<bool>* stop) {
  return stop && stop->load();
}

}  // namespace sightline::pipeline
