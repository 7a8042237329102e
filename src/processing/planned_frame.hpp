#pragma once
/// What a device slot is planned for.

#include "processing/frame_processor.hpp"

namespace sightline {

/// The frame size and share that a slot's geometry and work lists were made for. Thread-safety: one thread at
/// a time.
class PlannedFrame {
 public:
  Size size() const { return size_; }

  /// Calls `plan_geometry` where the size has changed, then `plan_work` where that or the share has. After
  /// one of them has thrown, the next call plans all anew.
  void update(Size size, const Partition& partition, const auto& plan_geometry, const auto& plan_work) {
    const bool same_size = size == size_;
    if (same_size && partition == partition_) return;
    size_ = {};  // until both have succeeded
    if (!same_size) plan_geometry();
    plan_work();
    size_ = size;
    partition_ = partition;
  }

 private:
  Size size_;
  Partition partition_;
};

}  // namespace sightline
