#include "pipeline/planning/transfers.hpp"

#include <algorithm>

namespace sightline::pipeline {
namespace {

using Point = std::pair<double, double>;

// Where x is on the line through two points.
double on_line(double x, const Point& from, const Point& to) {
  const double across = to.first - from.first;
  return across > 0 ? from.second + (x - from.first) * (to.second - from.second) / across : from.second;
}

Point turned(const Point& point) {
  return {point.second, point.first};
}

}  // namespace

TransferCurve::TransferCurve(std::vector<Point> points) : points_(std::move(points)) {
  std::ranges::sort(points_);
  for (std::size_t i = 1; i < points_.size(); ++i)
    points_[i].second = std::max(points_[i].second, points_[i - 1].second);
}

double TransferCurve::seconds(double bytes) const {
  if (points_.empty()) return 0;
  if (points_.size() == 1 || bytes <= points_.front().first) return points_.front().second;
  auto next = std::ranges::lower_bound(points_, bytes, {}, &Point::first);
  if (next == points_.end()) --next;
  return on_line(bytes, *(next - 1), *next);
}

double TransferCurve::bytes(double seconds) const {
  if (points_.empty() || seconds < points_.front().second) return 0;
  if (points_.size() == 1) return points_.front().first;
  auto next = std::ranges::lower_bound(points_, seconds, {}, &Point::second);
  if (next == points_.end()) --next;
  if (next == points_.begin()) return next->first;
  return on_line(seconds, turned(*(next - 1)), turned(*next));
}

}  // namespace sightline::pipeline
