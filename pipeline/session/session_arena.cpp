#include "pipeline/session/session_arena.hpp"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace sightline::pipeline {

namespace {

using Arena = std::unique_ptr<oneapi::tbb::task_arena>;

/// Arenas without an owner.
struct FreeArenas {
  std::mutex mutex;
  std::map<std::pair<int, unsigned>, std::vector<Arena>> by_size;
};

FreeArenas& free_arenas() {
  static auto* const arenas = new FreeArenas;  // never freed: sessions may end while the process does
  return *arenas;
}

}  // namespace

SessionArena::SessionArena(int threads, unsigned reserved) : threads_(threads), reserved_(reserved) {
  FreeArenas& free = free_arenas();
  const std::lock_guard lock(free.mutex);
  std::vector<Arena>& fitting = free.by_size[{threads, reserved}];
  if (fitting.empty()) {
    arena_ = std::make_unique<oneapi::tbb::task_arena>(threads, reserved);
    return;
  }
  arena_ = std::move(fitting.back());
  fitting.pop_back();
}

SessionArena::~SessionArena() {
  FreeArenas& free = free_arenas();
  try {
    const std::lock_guard lock(free.mutex);
    free.by_size.at({threads_, reserved_}).push_back(std::move(arena_));
  } catch (...) {  // no memory to keep it
  }
}

}  // namespace sightline::pipeline
