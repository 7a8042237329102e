#pragma once
/// The one way in which stages use all threads.

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <chrono>

#include "base/work_meter.hpp"

namespace sightline {

/// Runs `work(i)` for every i in [0, count), in parallel on the calling TBB arena, and returns when all are
/// done.
///
/// While the caller waits for the last of them, its thread takes no task from outside this loop: callers hold
/// thread-local data (a workspace, a measured interval) across the call, and another frame or picture started
/// on the same thread would use the same data.
///
/// @param meter  is told how long threads were busy; may be null
template <typename Index, typename Work>
void parallel_for_isolated(Index count, const Work& work, WorkMeter* meter = nullptr) {
  using Clock = std::chrono::steady_clock;
  oneapi::tbb::this_task_arena::isolate([&] {
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<Index>(Index{0}, count),
                              [&](const oneapi::tbb::blocked_range<Index>& range) {
                                const Clock::time_point start = meter ? Clock::now() : Clock::time_point();
                                for (Index i = range.begin(); i != range.end(); ++i) work(i);
                                if (meter) meter->add(Clock::now() - start);
                              });
  });
}

}  // namespace sightline
