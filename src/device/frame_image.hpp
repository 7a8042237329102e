#pragma once
/// An image where a device can take it from.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device/frame_memory.hpp"
#include "image/view.hpp"

namespace sightline {

/// A gray image in frame memory, or in its own memory if there is no room. Its stride is that of any Image of
/// its width. Thread-safety: one thread at a time.
class FrameImage {
 public:
  /// @param memory  must outlive it; null: its own
  explicit FrameImage(FrameMemory* memory) : from_(memory) {}

  /// Contents are unspecified afterwards; sufficient memory is reused.
  void resize(Size size) {
    using Pixels = Image<std::uint8_t>;
    const std::size_t bytes = Pixels::elements_of(size);
    if (from_ && asked_ < bytes) {
      memory_.reset();  // frees first, to make room
      memory_ = from_->allocate(bytes);
      asked_ = bytes;
    }
    if (memory_) {
      image_.bind(reinterpret_cast<std::uint8_t*>(memory_.get()), size, Pixels::stride_of(size.width));
    } else {
      image_.resize(size.width, size.height);
    }
  }
  Image<std::uint8_t>& image() { return image_; }

 private:
  FrameMemory* from_;
  std::shared_ptr<std::byte> memory_;  ///< null: the image has its own
  std::size_t asked_ = 0;              ///< bytes that were last asked for
  Image<std::uint8_t> image_;
};

}  // namespace sightline
