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
/// progress of the clock's phase between them. Throws TrainingStopped where the report asks to stop, and
/// what `work` throws.
///
/// @param make_workspace  makes what one thread works with, as a smart pointer (FrameProcessor::
///                        make_workspace does, of any detector); called once a thread, from that thread
template <typename MakeWorkspace, typename Work>
void for_each_image(std::size_t count, ProgressClock& clock, const MakeWorkspace& make_workspace,
                    const Work& work) {
  constexpr std::size_t kPiece = 32;
  oneapi::tbb::enumerable_thread_specific<std::invoke_result_t<const MakeWorkspace&>> workspaces(
      [&] { return make_workspace(); });
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    clock.check(static_cast<double>(begin) / static_cast<double>(count));
    parallel_for_isolated(std::min(count - begin, kPiece),
                          [&](std::size_t i) { work(begin + i, *workspaces.local()); });
  }
}

}  // namespace sightline::training
