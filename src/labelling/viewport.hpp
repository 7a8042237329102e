#pragma once
/// Which part of a picture is seen where in a window, at which scale.

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

  /// Another picture, or another size of the window. A picture of a new size is seen whole.
  /// @param pixel_aspect  width : height of one of the picture's pixels; what is not positive counts as 1
  /// @param left  columns of the output that a picture that is seen whole leaves free
  void set(Size picture, double pixel_aspect, Size output, int left = 0);
  void fit();
  bool is_fitted() const { return fitted_; }
  /// Keeps what is at a point of the output there.
  void zoom(double factor, Point at);
  /// Moves the picture by so many pixels of the output; a part of it stays in sight.
  void pan(double dx, double dy);

  Point to_picture(Point output) const;
  Point to_output(Point picture) const;
  /// Output pixels a picture pixel, downwards.
  double scale() const { return scale_; }
  double scale_x() const { return scale_ * aspect_; }
  Size picture() const { return picture_; }
  Size output() const { return output_; }

  /// What is seen of the picture, in whole pixels of it, one more on each side where there is one. Begins at
  /// even ones, as chroma does.
  Box visible() const;

 private:
  double fitting_scale() const;
  void keep_in_sight();

  Size picture_, output_;
  int left_ = 0;
  double aspect_ = 1;
  double scale_ = 1;
  Point origin_;  // where the picture's corner is in the output
  bool fitted_ = true;
};

}  // namespace sightline::labelling
