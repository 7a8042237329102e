#pragma once
/// Offsets of points that lie in even rows.

#include <cstdint>
#include <vector>

namespace sightline::nn {

/// A list of offsets as rows of one step, without memory for each point: tiles read one of them, and would
/// wait for memory.
class PointOffsets {
 public:
  PointOffsets() = default;
  /// @param points  offsets by point, whose rows have one step
  /// @param row     points of a row, which divides all
  PointOffsets(const std::vector<std::int32_t>& points, std::int64_t row)
      : row_(row), step_(row > 1 ? points[1] - points[0] : 0) {
    for (std::size_t p = 0; p < points.size(); p += static_cast<std::size_t>(row))
      starts_.push_back(points[p]);
  }
  /// Points of a row.
  std::int64_t width() const { return row_; }
  std::int64_t at(std::int64_t row, std::int64_t column) const {
    return starts_[static_cast<std::size_t>(row)] + column * step_;
  }

 private:
  std::vector<std::int32_t> starts_;  ///< by row
  std::int64_t row_ = 1, step_ = 0;
};

}  // namespace sightline::nn
