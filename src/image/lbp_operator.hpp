#pragma once
/// The operators that make codes of a pixel's neighbourhood: the 3x3 grid (lbp.hpp) or a circle
/// (circular_lbp.hpp), and the contrast of either.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "image/circular_lbp.hpp"
#include "image/view.hpp"

namespace sightline {

/// Immutable.
class LbpOperator {
 public:
  /// The 3x3 grid: eight neighbours, bit 0 the upper left, clockwise.
  LbpOperator() = default;
  /// A circle; see CircularLbp. Throws Error (usage).
  LbpOperator(int points, double radius) : circle_(CircularLbp(points, radius)), radius_(radius) {}
  /// "grid", or points and radius of a circle as "8,1" or "16,2.5". Throws Error (usage).
  static LbpOperator parse(std::string_view text);

  bool is_grid() const { return !circle_; }
  /// The circle of an operator that is no grid.
  const CircularLbp& circle() const { return *circle_; }
  int points() const { return circle_ ? circle_->points() : 8; }
  double radius() const { return radius_; }
  /// Maximum distance of read pixels from the middle.
  int reach() const { return circle_ ? circle_->reach() : 1; }
  /// Name in the form that `parse` accepts.
  std::string name() const;

  /// The code of a pixel that is at least `reach` pixels from every edge.
  std::uint32_t code(GrayView image, int x, int y) const;
  /// The contrast of such a pixel in 1/kContrastOne of a gray level, rounded half up: the mean of the
  /// neighbours at least as bright as the pixel less the mean of the others (T. Ojala et al., "A comparative
  /// study of texture measures", 1996); 0 if all are of one kind. Neighbours are those of the code, mixed
  /// or not. In whole numbers: the same on every processor.
  int contrast(GrayView image, int x, int y) const;

 private:
  std::optional<CircularLbp> circle_;
  double radius_ = 1;
};

inline constexpr int kContrastOne = 16;
/// Values of the contrast: 0 .. kContrastValues - 1.
inline constexpr int kContrastValues = 255 * kContrastOne + 1;

}  // namespace sightline
