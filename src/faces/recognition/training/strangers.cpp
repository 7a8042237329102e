#include "faces/recognition/training/strangers.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::recognition {

std::vector<FalseMatchRate> false_match_rates(std::vector<std::uint32_t> distances) {
  constexpr double kRates[] = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3};
  constexpr double kFewestPairs = 10;  // below the distance
  std::ranges::sort(distances);
  std::vector<FalseMatchRate> result;
  for (const double rate : kRates) {
    const double pairs = rate * static_cast<double>(distances.size());
    if (pairs < kFewestPairs) continue;
    // At most this number of pairs is as near: one step below the next pair's distance.
    const std::uint32_t next = distances[static_cast<std::size_t>(pairs)];
    result.push_back({rate, next == 0 ? 0 : next - 1});
  }
  return result;
}

}  // namespace sightline::recognition
