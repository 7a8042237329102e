#pragma once
/// Hands the newest picture from the pipeline to the display, which takes it when it can.

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/session/pipeline.hpp"

namespace sightline::pipeline {

/// Frame and objects to display.
struct Showable {
  Frame frame;
  std::vector<Detection> objects;
  std::int64_t searched = 0;  ///< number of the frame that the objects were found in; 0: none yet
  bool counts = true;         ///< false if it only bridges the time until the first result
  /// Whether the objects were found in this very frame.
  bool is_own() const { return searched == frame.number(); }
};

/// Mailbox for one picture: a newer one replaces one that has not been fetched, so neither side waits. It
/// shows the searched frames with their objects, or all captured frames with the last known objects.
///
/// Thread-safety: `accept` from one thread at a time, the others from any.
class DisplayMailbox : public Sink {
 public:
  /// @param all_frames  show captured frames, whether searched or not
  /// @param wake        called from any thread when there is a new picture; must be quick and not throw
  DisplayMailbox(bool all_frames, std::function<void()> wake);

  void accept(const Frame& frame, const FrameResult& result) override;
  /// Call it for each captured frame, before the search. If only searched frames are shown, an unsearched one
  /// is shown until the first result.
  void captured(const Frame& frame);

  /// While frozen, only searched frames are shown: for a paused run that advances frame by frame.
  void freeze(bool frozen);

  /// The newest picture, if it has not been fetched before.
  std::optional<Showable> fetch();
  /// Pictures that a newer one took the place of.
  std::int64_t replaced() const;

 private:
  void put(const Frame& frame, bool counts);

  const bool all_frames_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  Frame pending_;                ///< empty: nothing new
  bool pending_counts_ = false;  ///< false if it only bridges the time until the first result
  bool frozen_ = false;
  std::vector<Detection> objects_;
  std::int64_t searched_ = 0;
  std::int64_t replaced_ = 0;
};

}  // namespace sightline::pipeline
