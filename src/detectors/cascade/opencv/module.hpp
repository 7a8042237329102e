#pragma once
/// OpenCV's CascadeClassifier, in a module of its own: the program loads it only when it is asked to compare
/// itself with OpenCV, and neither needs OpenCV to be built nor to run.

#include "family/counterpart.hpp"

namespace sightline::cascade {

/// Arguments of OpenCV's detectMultiScale, by their names there.
struct OpenCvSearch {
  const char* file;  ///< of the cascade
  double scale_factor;
  int min_neighbors;
  Size min_size, max_size;
  int threads;
};

/// The one function of the module. The caller owns what is returned, and never unloads the module. Throws
/// Error (model) where OpenCV does not take the file.
using MakeOpenCv = Counterpart*(const OpenCvSearch& search);
inline constexpr const char* kMakeOpenCv = "sightline_make_opencv_cascade";
inline constexpr const char* kOpenCvModule = "sightline-opencv.so";

}  // namespace sightline::cascade
