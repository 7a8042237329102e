#pragma once
/// Interface of what frames come from: files, cameras, memory, tiles of a picture.

#include <cstdint>
#include <optional>

#include "media/frame.hpp"

namespace sightline::media {

/// Source of frames. Read by one thread of its own. Frames that know when they were captured
/// (Frame::times) count from then on: what they waited for `read` is part of their latency.
class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// The next frame, or none at the end. May block. Throws Error; the run ends then.
  virtual std::optional<Frame> read() = 0;
  virtual std::int64_t decode_errors() const { return 0; }
  /// Frames that were there and that `read` will never return. Any thread.
  virtual std::int64_t dropped() const { return 0; }
  /// Estimate of all frames.
  virtual std::optional<std::int64_t> frames() const { return std::nullopt; }
};

}  // namespace sightline::media
