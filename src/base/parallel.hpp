#pragma once
/// The one way in which stages use all threads.

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace sightline {

/// Runs `work(i)` for every i in [0, count), in parallel on the calling TBB arena, and returns when all are
/// done.
///
/// While the caller waits for the last of them, its thread takes no task from outside this loop: callers hold
/// what belongs to their thread (a workspace, a measured interval) across the call, and another frame or
/// picture started meanwhile on the same thread would get hold of the same.
template <typename Index, typename Work>
void parallel_for_isolated(Index count, const Work& work) {
  oneapi::tbb::this_task_arena::isolate([&] { oneapi::tbb::parallel_for(Index{0}, count, work); });
}

}  // namespace sightline
