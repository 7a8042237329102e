#pragma once
/// Memory for data that stages pass to each other.

#include <cstddef>
#include <cstdint>

#include "image/view.hpp"

namespace sightline {

/// Buffer between stages, for all levels: memory of the workspace's own, made when a stage first
/// writes it, or memory that a device which takes part shares with the host, bound for a frame.
/// Thread-safety: one thread at a time.
class InterStageBuffer {
 public:
  /// Sets how many bytes a frame needs, and takes the workspace's own memory again.
  void plan(std::int64_t bytes) {
    bytes_ = static_cast<std::size_t>(bytes);
    bound_ = nullptr;
  }
  std::size_t bytes() const { return bytes_; }
  /// Uses memory of the caller's, of at least `bytes` and kSlack more that may be read; null: the workspace's
  /// own again.
  void bind(std::byte* memory) { bound_ = memory; }
  bool is_bound() const { return bound_ != nullptr; }
  std::byte* data() {
    if (bound_) return bound_;
    own_.resize(bytes_ + kSlack);
    return own_.data();
  }
  static constexpr std::size_t kSlack = 256;

 private:
  AlignedBuffer<std::byte> own_;
  std::byte* bound_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sightline
