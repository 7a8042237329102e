#pragma once
/// A picture at whatever resolution something in it is looked at.

#include <vector>

#include "image/view.hpp"

namespace sightline::training {

/// Bilinear between pixels' centres, (0, 0) being the centre of the first; beyond the edge its pixel is
/// repeated.
double bilinear(GrayView picture, double x, double y);

/// A picture with its halves, as a detector's pyramid samples it (image/pyramid.hpp): bilinear from the
/// octave below, so that no pixel is skipped however small it gets. Thread-safety: constant after
/// construction.
class Octaves {
 public:
  /// @param picture  must outlive this object
  explicit Octaves(GrayView picture);

  /// Value of the picture at a point, for target pixels that are `side` picture pixels wide.
  /// @param x, y  in picture pixels from the left and upper edge
  double sample(double x, double y, double side) const;

  Size size() const { return levels_.front().size(); }

 private:
  std::vector<Image<std::uint8_t>> halves_;
  std::vector<GrayView> levels_;  ///< the picture, then its halves
};

}  // namespace sightline::training
