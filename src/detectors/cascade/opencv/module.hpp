#pragma once
/// OpenCV's CascadeClassifier in a separate module, loaded only for comparisons, so that the program needs
/// OpenCV neither to build nor to run.

#include "family/counterpart.hpp"

namespace sightline::cascade {

/// Arguments of OpenCV's detectMultiScale, by their names there.
struct OpenCvSearch {
  const char* file;  ///< file of the cascade
  double scale_factor;
  int min_neighbors;
  Size min_size, max_size;
  int threads;
};

/// The module's only function. The caller owns the result and never unloads the module. Throws Error (model)
/// if OpenCV refuses the file.
using MakeOpenCv = Counterpart*(const OpenCvSearch& search);
inline constexpr const char* kMakeOpenCv = "sightline_make_opencv_cascade";
inline constexpr const char* kOpenCvModule = "sightline-opencv.so";

}  // namespace sightline::cascade
