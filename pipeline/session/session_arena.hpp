#pragma once
/// The arenas of sessions, which are used again.

#include <oneapi/tbb/task_arena.h>

#include <memory>

namespace sightline::pipeline {

/// An arena of oneTBB for one owner at a time. It is kept for the next owner: oneTBB does not free an arena
/// (7 KB) that its threads leave while its only worker is busy elsewhere or asleep.
/// Thread-safety: the constructor and the destructor, any thread; the arena, as oneapi::tbb::task_arena.
class SessionArena {
 public:
  /// @param threads   of the arena, those that are reserved included
  /// @param reserved  slots that oneTBB's workers leave to the owner's threads
  SessionArena(int threads, unsigned reserved);
  /// No task may be left in the arena.
  ~SessionArena();
  SessionArena(const SessionArena&) = delete;
  SessionArena& operator=(const SessionArena&) = delete;

  oneapi::tbb::task_arena* operator->() const { return arena_.get(); }

 private:
  const int threads_;
  const unsigned reserved_;
  std::unique_ptr<oneapi::tbb::task_arena> arena_;
};

}  // namespace sightline::pipeline
