#pragma once
/// Windows of a run: means over consecutive frames, by their traces.

#include <cstdint>
#include <optional>

#include "pipeline/session/trace.hpp"

namespace sightline::pipeline {

/// Means of a window. Seconds, joules and rates are those of frames, or of tiles where frames have several.
struct RunWindow {
  double frames = 0;                ///< tiles count as frames
  double seconds = 0;               ///< from the end of a frame to the end of the next one
  double cpu = 0;                   ///< core-seconds of the stages on the CPU
  double device = 0;                ///< seconds of the stages on all devices
  double joules = 0;                ///< counted by the meters; 0 without meters
  double possible_fps = 0;          ///< rate without waiting for source or sinks; 0: unknown
  double batch = 0;                 ///< mean size of the frames' batches on devices; 0: none
  double idle_share = 0;            ///< share of the time without a frame to process, 0 to 1
  bool limited_by_outputs = false;  ///< the sinks were busier than the source
  double tiles = 1;                 ///< per whole frame; 1: frames are searched whole
};

/// Minimum length of a window.
struct WindowRule {
  std::int64_t length = 0;  ///< nanoseconds
  int frames = 0;
  int slow_frames = 0;  ///< instead of `frames` after four times the length
};

/// Sums the traces of a window. A window starts with the end of its first frame, which is not counted, and
/// ends with that of its last one.
class WindowMeter {
 public:
  /// Starts again, after the next `left_out` frames.
  void restart(int left_out = 0);
  bool has_started() const { return start_ != 0; }
  void add(const FrameTrace& trace);
  /// The window, once it is long enough; the next one starts with its end.
  std::optional<RunWindow> take(const WindowRule& rule);

 private:
  int left_out_ = 0;
  std::int64_t start_ = 0;      ///< delivery of the frame before the counted ones; 0: none yet
  std::int64_t end_ = 0;        ///< delivery of the last frame
  std::int64_t processed_ = 0;  ///< end of the last stage of any frame
  /// Nanoseconds since `start_` in which stages, devices, sources, sinks, or any frame's processing were
  /// busy.
  std::int64_t cpu_ = 0, device_ = 0, reading_ = 0, writing_ = 0, busy_ = 0;
  std::int64_t together_ = 0;  ///< sum of the sizes of batches, by frame
  int on_device_ = 0;          ///< frames that were on a device
  int frames_ = 0, whole_frames_ = 0;
  bool is_within_frame_ = false;  ///< more tiles of the last frame follow
};

}  // namespace sightline::pipeline
