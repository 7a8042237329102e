#pragma once
/// The window in the middle of a picture of one object, for training and for scoring windows.

#include <optional>

#include "detectors/filterbank/layout.hpp"

namespace sightline::filterbank {

/// A picture with a window in its centre.
struct CentredWindow {
  GrayView view;  ///< the picture, less up to seven columns and rows, so that the window lies on whole cells
  int x = 0;      ///< the window's first cell in that view
  int y = 0;
};

/// No value if the picture is smaller than the window. Larger pictures provide the window's real
/// surroundings.
std::optional<CentredWindow> centre_window(GrayView picture, const WindowShape& window);

}  // namespace sightline::filterbank
