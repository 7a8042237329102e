#include "detection/grouping.hpp"

#include <algorithm>

namespace sightline {

std::vector<Detection> suppress_non_maxima(std::vector<Detection> candidates, double max_overlap) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<Detection> kept;
  for (const Detection& candidate : candidates) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const Detection& k) {
      const double smaller = std::min(k.box.area(), candidate.box.area());
      return k.label == candidate.label && intersection_area(k.box, candidate.box) > max_overlap * smaller;
    });
    if (!covered) kept.push_back(candidate);
  }
  return kept;
}

}  // namespace sightline
