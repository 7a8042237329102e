#include "processing/opencl/kernel_sweep.hpp"

#include <algorithm>
#include <cmath>

namespace sightline {
namespace {

bool is_faster(const SweepPoint& a, const SweepPoint& b) {
  return a.seconds < b.seconds;
}

}  // namespace

std::size_t KernelSweep::best_place() const {
  return static_cast<std::size_t>(std::ranges::min_element(points, is_faster) - points.begin());
}

double KernelSweep::slowest() const {
  return std::ranges::max_element(points, is_faster)->seconds;
}

std::vector<int> sweep_values(int lowest, int highest, int count) {
  const int span = highest - lowest;
  const int last = std::min(count - 1, span);
  std::vector<int> values{lowest};
  for (int k = 1; k <= last; ++k) {
    // Powers, without duplicates.
    const int apart = static_cast<int>(std::lround(std::pow(span + 1, static_cast<double>(k) / last))) - 1;
    values.push_back(std::max(lowest + apart, values.back() + 1));
  }
  return values;
}

std::size_t nearest(const std::vector<int>& values, double value) {
  const auto distance = [&](int one) { return std::abs(one - value); };
  return static_cast<std::size_t>(std::ranges::min_element(values, {}, distance) - values.begin());
}

}  // namespace sightline
