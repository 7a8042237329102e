#pragma once
/// Work of a wave on the CPU: what threads share, and the memory that they compute in.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "image/view.hpp"

namespace sightline::nn {

/// Memory of a thread that parts are taken of until it is reset. It grows in the first frames.
class SpareMemory {
 public:
  /// Memory for `count` values, aligned to 64 bytes, with 64 bytes behind it that may be read. Values are
  /// those of earlier use.
  template <typename T>
  T* take(std::size_t count) {
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }
  /// Frees all that was taken.
  void reset() { chunk_ = used_ = 0; }
  /// For freeing what is taken from now on: `release(mark())`.
  struct Mark {
    std::size_t chunk, used;
  };
  Mark mark() const { return {chunk_, used_}; }
  void release(const Mark& mark) { chunk_ = mark.chunk, used_ = mark.used; }

 private:
  static constexpr std::size_t kAlignment = 64;

  std::byte* take_bytes(std::size_t bytes) {
    const std::size_t needed = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    if (chunk_ >= chunks_.size() || used_ + needed > chunks_[chunk_].size()) find_chunk(needed);
    std::byte* const taken = chunks_[chunk_].data() + used_;
    used_ += needed;
    return taken;
  }
  // Makes the next chunk that has room the present one.
  void find_chunk(std::size_t needed);

  std::vector<AlignedBuffer<std::byte>> chunks_;
  std::size_t chunk_ = 0, used_ = 0;  ///< of the present chunk
};

/// Values that a thread computes once a frame, for several items.
class KeptMemory {
 public:
  /// `count` floats of an owner. The first time in a frame, `fill(floats)` computes them.
  template <typename Fill>
  const float* get(const void* owner, std::size_t count, const Fill& fill) {
    Entry& entry = entries_[owner];
    if (!entry.is_filled) {
      entry.floats.resize(count);
      fill(entry.floats.data());
      entry.is_filled = true;
    }
    return entry.floats.data();
  }
  /// Begins a frame.
  void forget() {
    for (auto& [owner, entry] : entries_) entry.is_filled = false;
  }

 private:
  struct Entry {
    AlignedBuffer<float> floats;
    bool is_filled = false;
  };
  std::map<const void*, Entry> entries_;
};

/// What a thread reads and writes.
struct WorkMemory {
  std::byte* const* tensors = nullptr;  ///< by tensor, of those that are stored
  std::byte* scratch = nullptr;         ///< of the thread, for tensors of a tile
  const float* zeros = nullptr;
  SpareMemory* spare = nullptr;  ///< of the thread
  KeptMemory* kept = nullptr;    ///< of the thread

  float* reals(int tensor) const { return reinterpret_cast<float*>(tensors[tensor]); }
};

/// A group of nodes, or a node that runs alone. Thread-safety: items may run on several threads at once, each
/// with scratch and spare memory of its own.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;
  /// Parts that can run at the same time, in any order.
  virtual int items() const = 0;
  virtual void run(int item, const WorkMemory& memory) const = 0;
  virtual std::string name() const = 0;  ///< for people
};

}  // namespace sightline::nn
