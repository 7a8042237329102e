#pragma once
/// Time that threads spend on a piece of work.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sightline {

/// Adds up what threads do: one second of four busy threads is four core-seconds. Thread-safety: any thread.
class WorkMeter {
 public:
  void add(std::chrono::nanoseconds busy) { nanoseconds_.fetch_add(busy.count(), std::memory_order_relaxed); }
  /// Moves what another meter has counted to this one. Returns how much that is.
  std::chrono::nanoseconds add(WorkMeter& other) {
    const std::chrono::nanoseconds busy(other.nanoseconds_.exchange(0, std::memory_order_relaxed));
    add(busy);
    return busy;
  }
  /// Core-seconds since the last `take`.
  double take() { return 1e-9 * static_cast<double>(nanoseconds_.exchange(0, std::memory_order_relaxed)); }

 private:
  std::atomic<std::int64_t> nanoseconds_{0};
};

}  // namespace sightline
