#pragma once
/// Viewport: the visible part of a picture, its place in a window and its scale.

#include "image/box.hpp"
#include "image/point.hpp"
#include "image/view.hpp"

namespace sightline::labelling {

/// Maps between pixels of a picture and pixels of an output. At first, and after `fit`, the whole picture is
/// seen as large as it can be, with a margin. Thread-safety: none.
class Viewport {
 public:
  static constexpr double kMaxScale = 40;  ///< output pixels a picture pixel
  static constexpr int kMargin = 12;       ///< output pixels around a picture that is seen whole

  /// Sets the picture's or window's size. A picture of a new size is shown whole.
  /// @param pixel_aspect  width : height of a pixel; a value that is not positive counts as 1
  /// @param left  columns of the output that stay free when the picture is shown whole
  void set(Size picture, double pixel_aspect, Size output, int left = 0);
  void fit();
  bool is_fitted() const { return fitted_; }
  /// Zooms around a fixed point of the output.
  void zoom(double factor, Point at);
  /// Moves the picture by output pixels; a part of it stays visible.
  void pan(double dx, double dy);

  Point to_picture(Point output) const;
  Point to_output(Point picture) const;
  /// Output pixels a picture pixel, downwards.
  double scale() const { return scale_; }
  double scale_x() const { return scale_ * aspect_; }
  Size picture() const { return picture_; }
  Size output() const { return output_; }

  /// The visible part of the picture in whole pixels, with one more on each side if available. Begins at even
  /// pixels, like chroma.
  Box visible() const;

 private:
  double fitting_scale() const;
  void keep_in_sight();

  Size picture_, output_;
  int left_ = 0;
  double aspect_ = 1;
  double scale_ = 1;
  Point origin_;  // position of the picture's corner in the output
  bool fitted_ = true;
};

}  // namespace sightline::labelling
