#pragma once
/// Frame that a workspace or a device slot is planned for.

#include "processing/frame_processor.hpp"

namespace sightline {

/// The frame size and the partition that geometry and work lists were made for. Thread-safety: one thread at
/// a time.
class PlannedFrame {
 public:
  Size size() const { return size_; }  ///< pixels; nothing is planned yet where it is {}
  const Partition& partition() const { return partition_; }

  /// Calls `plan_geometry` if the size has changed, then `plan_work` if size or partition has changed. If one
  /// of them throws, the next call plans everything again.
  void update(Size size, const Partition& partition, const auto& plan_geometry, const auto& plan_work) {
    const bool same_size = size == size_;
    if (same_size && partition == partition_) return;
    size_ = {-1, -1};  // no frame's, until both have succeeded: memory may run out on the way
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
