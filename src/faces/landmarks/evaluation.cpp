#include "faces/landmarks/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sightline::landmarks {
namespace {

double distance(const Point& a, const Point& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

double mean_over_points(const PointErrors& errors) {
  return std::accumulate(errors.begin(), errors.end(), 0.0) / kPoints;
}

}  // namespace

PointErrors errors_of(const Points& found, const Points& marked) {
  const double eyes = distance(marked[0], marked[1]);
  PointErrors errors;
  for (std::size_t i = 0; i < kPoints; ++i) errors[i] = distance(found[i], marked[i]) / eyes;
  return errors;
}

double ErrorSummary::mean() const {
  double sum = 0;
  for (const PointErrors& face : faces_) sum += mean_over_points(face);
  return faces_.empty() ? 0 : sum / static_cast<double>(faces_.size());
}

double ErrorSummary::mean_of(int point) const {
  double sum = 0;
  for (const PointErrors& face : faces_) sum += face[static_cast<std::size_t>(point)];
  return faces_.empty() ? 0 : sum / static_cast<double>(faces_.size());
}

double ErrorSummary::share_above(double error) const {
  const auto above =
      std::ranges::count_if(faces_, [&](const PointErrors& face) { return mean_over_points(face) > error; });
  return faces_.empty() ? 0 : static_cast<double>(above) / static_cast<double>(faces_.size());
}

}  // namespace sightline::landmarks
