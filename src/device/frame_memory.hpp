#pragma once
/// Interface of memory for source pixels that a device reads.

#include <cstddef>
#include <memory>

namespace sightline {

/// Memory for frames from which transfers to a device run at full speed, without a copy in between.
/// Thread-safety: any thread.
class FrameMemory {
 public:
  virtual ~FrameMemory() = default;
  /// Uninitialised memory, aligned like AlignedBuffer's. It lives as long as the pointer's copies, even after
  /// this object. Null if none is left: other memory works as well, only slower.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
};

}  // namespace sightline
