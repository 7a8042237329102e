#pragma once
/// Work on all pictures of a set, on all threads, that reports its progress and can be stopped.

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/parallel.hpp"
#include "training/progress.hpp"

namespace sightline::training {

/// Runs `work(index, workspace)` for every index in [0, count), in parallel on the calling TBB arena, and
/// returns when all are done. The indices are handed out in pieces, so that the calling thread reports the
/// progress of the clock's phase between them. Throws TrainingStopped if the report requests a stop, and what
/// `work` throws.
///
/// @param make_workspace  makes a thread's workspace as a smart pointer (such as
///                        FrameProcessor::make_workspace); called once a thread, from that thread
/// @param is_enough       asked between pieces, of how many indices are done: true leaves out the others
/// @return how many were done
template <typename MakeWorkspace, typename Work, typename IsEnough>
std::size_t for_each_image(std::size_t count, ProgressClock& clock, const MakeWorkspace& make_workspace,
                           const Work& work, const IsEnough& is_enough) {
  constexpr std::size_t kPiece = 32;
  oneapi::tbb::enumerable_thread_specific<std::invoke_result_t<const MakeWorkspace&>> workspaces(
      [&] { return make_workspace(); });
  std::size_t done = 0;
  while (done < count && !is_enough(done)) {
    clock.check(static_cast<double>(done) / static_cast<double>(count));
    const std::size_t piece = std::min(count - done, kPiece);
    parallel_for_isolated(piece, [&](std::size_t i) { work(done + i, *workspaces.local()); });
    done += piece;
  }
  return done;
}

/// The same for all of them.
template <typename MakeWorkspace, typename Work>
void for_each_image(std::size_t count, ProgressClock& clock, const MakeWorkspace& make_workspace,
                    const Work& work) {
  for_each_image(count, clock, make_workspace, work, [](std::size_t) { return false; });
}

}  // namespace sightline::training
