#pragma once
/// Memory of what stages hand to each other.

#include <cstddef>
#include <cstdint>

#include "image/view.hpp"

namespace sightline {

/// What passes from stage to stage for all levels: memory of the workspace's own, made when a stage first
/// writes it, or lent for a frame by a device that takes part.
class InterStageBuffer {
 public:
  /// Sets how many bytes a frame needs, and takes the workspace's own memory again.
  void plan(std::int64_t bytes) {
    bytes_ = static_cast<std::size_t>(bytes);
    lent_ = nullptr;
  }
  std::size_t bytes() const { return bytes_; }
  /// Memory of at least `bytes` and kSlack more that may be read; null gives it back.
  void lend(std::byte* memory) { lent_ = memory; }
  std::byte* data() {
    if (lent_) return lent_;
    own_.resize(bytes_ + kSlack);
    return own_.data();
  }
  static constexpr std::size_t kSlack = 256;

 private:
  AlignedBuffer<std::byte> own_;
  std::byte* lent_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace sightline
