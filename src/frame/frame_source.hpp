#pragma once
/// Interface of frame sources: files, cameras, memory, tiles of a picture.

#include <cstdint>
#include <optional>

#include "frame/frame.hpp"

namespace sightline {

/// Source of frames, read by its own thread. The latency of frames with a capture time (Frame::times)
/// includes their wait for `read`.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// The next frame, or none at the end. May block. Throws Error; the run ends then.
  virtual std::optional<Frame> read() = 0;
  virtual std::int64_t decode_errors() const { return 0; }
  /// Frames that were there and that `read` will never return. Any thread.
  virtual std::int64_t dropped() const { return 0; }
  /// Estimated total number of frames.
  virtual std::optional<std::int64_t> frames() const { return std::nullopt; }
};

}  // namespace sightline
