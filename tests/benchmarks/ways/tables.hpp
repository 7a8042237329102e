#pragma once
/// What came of it, as Markdown and as a picture.

#include <span>
#include <string>
#include <vector>

#include "ways/way.hpp"

namespace sightline::ways {

/// One way's times for one problem: ms a frame, 0 where it was not measured.
struct Times {
  std::string title;
  Arithmetic arithmetic = Arithmetic::floating;
  double form_ms[5] = {};  ///< one thread, or a GPU, by Form
  double threads_ms = 0;   ///< Form::magnitude on all threads
  double own_peak =
      0;  ///< multiply-adds a second of the GPU, or of one thread in the way's instruction set; 0: not known
  bool picture = true;
  bool on_gpu = false;  ///< times are the device's

  double ms() const { return form_ms[static_cast<int>(Form::magnitude)]; }
};

/// What times are compared with.
struct Yardstick {
  std::string machine;       ///< for people
  std::string problem;       ///< "600x416, 100 filters"
  double multiply_adds = 0;  ///< of a frame
  double peak = 0;           ///< multiply-adds a second of one thread, the best instruction set, float
  int threads = 1;           ///< of the column of all threads
  double scalar_ms = 0;      ///< Form::magnitude of the plain code that is not vectorised
  double opencv_ms = 0;      ///< likewise of OpenCV; 0 where there is none
};

std::string table(std::span<const Times> times, const Yardstick& yardstick);
/// Bars of one thread's time, logarithmic, with the share of the peak; a mark for all threads.
std::string picture(std::span<const Times> times, const Yardstick& yardstick);

}  // namespace sightline::ways
