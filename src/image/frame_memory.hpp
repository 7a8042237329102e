#pragma once
/// Where sources put pixels that a device is to take.

#include <cstddef>
#include <memory>

namespace sightline {

/// Memory for frames from which transfers to a device run at full speed, without a copy in between.
/// Thread-safety: any thread.
class FrameMemory {
 public:
  virtual ~FrameMemory() = default;
  /// Memory of undefined contents, aligned as AlignedBuffer's; it is there until the last copy of the pointer
  /// is gone, whatever has become of this object. Null where there is no more of it: any other memory does as
  /// well, more slowly.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
};

}  // namespace sightline
