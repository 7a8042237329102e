#pragma once
/// Middle values.

#include <algorithm>
#include <cmath>
#include <vector>

namespace sightline {

/// The middle of the values, between the middle two where their number is even; 0 if there are none.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Nearest-rank percentile of values in rising order, `share` 0 to 1; 0 if there are none.
inline double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[std::min(sorted.size(), static_cast<std::size_t>(std::max(rank, 1.0))) - 1];
}

}  // namespace sightline
