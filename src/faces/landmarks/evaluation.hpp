#pragma once
/// Distances of found points from marked ones.

#include <array>
#include <span>
#include <vector>

#include "faces/landmarks/finder.hpp"

namespace sightline::landmarks {

/// Distance between found and marked point, in parts of the distance between the marked eyes, by kPointNames.
using PointErrors = std::array<double, kPoints>;

PointErrors errors_of(const Points& found, const Points& marked);

/// Mean error above which a face counts as failure.
inline constexpr double kFailure = 0.1;

/// The errors of many faces.
class ErrorSummary {
 public:
  void add(const PointErrors& errors) { faces_.push_back(errors); }
  std::size_t faces() const { return faces_.size(); }
  /// Over all faces; 0 if there is none.
  double mean() const;
  double mean_of(int point) const;
  /// Share of the faces with a larger mean error over the points.
  double share_above(double error) const;

 private:
  std::vector<PointErrors> faces_;
};

}  // namespace sightline::landmarks
