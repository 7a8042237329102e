#pragma once
/// Interface of frame sources: files, cameras, memory, tiles of a picture.

#include <cstdint>
#include <functional>
#include <optional>

#include "frame/frame.hpp"

namespace sightline {

/// Source of frames. The latency of frames with a capture time (Frame::times) includes their wait for `read`.
class FrameSource {
 public:
  /// How `read` spends its time.
  enum class Reading {
    computes,   ///< on the calling thread, without waiting for anything: a task of a thread pool may call it
    waits,      ///< for a file, a network, or a decoder with threads of its own
    announces,  ///< for frames that another thread captures; `try_read` does not wait
  };

  virtual ~FrameSource() = default;
  virtual Reading reading() const { return Reading::waits; }
  /// The next frame, or none at the end. Called by one thread at a time. Throws Error; the stream ends then.
  virtual std::optional<Frame> read() = 0;
  /// As `read`, into an empty `frame`, but a source that announces does not wait: it returns false if there
  /// is no frame yet, and an announcement follows. True with an empty `frame`: the end.
  virtual bool try_read(std::optional<Frame>& frame) {
    frame = read();
    return true;
  }
  /// Sets the callback that announces that `try_read` may return true now; null removes it, and it is not
  /// called after this has returned. Any thread may call it while it holds the source's mutex: the callback
  /// must be quick and must not call the source.
  virtual void on_announcement(std::function<void()> /*call*/) {}
  virtual std::int64_t decode_errors() const { return 0; }
  /// Frames that were there and that `read` will never return. Any thread.
  virtual std::int64_t dropped() const { return 0; }
  /// Estimated total number of frames.
  virtual std::optional<std::int64_t> frames() const { return std::nullopt; }
};

}  // namespace sightline
