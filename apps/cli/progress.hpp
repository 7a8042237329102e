#pragma once
/// How far a run has got: a bar that is rewritten on a terminal, a plain line now and then elsewhere.

#include <chrono>
#include <string>

#include "apps/cli/status_line.hpp"
#include "pipeline/session/pipeline.hpp"

namespace sightline::apps {

/// Writes to standard error. Thread-safety: one thread at a time.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool enabled) : enabled_(enabled) {}
  /// Frames are tiles of a picture, and so many pixels each: the rate is told in pixels.
  void count_pixels(double of_a_frame) { pixels_ = of_a_frame; }
  /// Frames are pictures, which have no rate.
  void count_pictures() { pictures_ = true; }
  void show(const pipeline::Progress& progress);
  /// Ends the bar's line, if there is one.
  void end();

 private:
  bool enabled_;
  StatusLine line_;
  bool pictures_ = false;
  double pixels_ = 0;  ///< of a frame; 0: frames are counted
  double next_ = 0;    ///< seconds at which to show again
};

}  // namespace sightline::apps
