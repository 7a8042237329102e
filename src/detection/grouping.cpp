#include "detection/grouping.hpp"

#include <algorithm>
#include <utility>

namespace sightline {
namespace {

// At 1, nothing is: a box within another may overlap it by more than itself, by a rounding error.
bool is_covered(const Detection& candidate, const Detection& by, double max_overlap) {
  if (max_overlap >= 1) return false;
  const double smaller = std::min(by.box.area(), candidate.box.area());
  return by.label == candidate.label && intersection_area(by.box, candidate.box) > max_overlap * smaller;
}

// Calls `suppressed` with the place among those kept of the detection that a candidate falls to, and with
// the candidate.
template <typename Suppressed>
std::vector<Detection> suppress(std::vector<Detection> candidates, double max_overlap,
                                const Suppressed& suppressed) {
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<Detection> kept;
  for (const Detection& candidate : candidates) {
    const auto surer = std::find_if(kept.begin(), kept.end(), [&](const Detection& one) {
      return is_covered(candidate, one, max_overlap);
    });
    if (surer == kept.end()) {
      kept.push_back(candidate);
    } else {
      suppressed(static_cast<std::size_t>(surer - kept.begin()), *surer, candidate);
    }
  }
  return kept;
}

// Mean of boxes, from a running sum.
struct BoxMean {
  Box sum;
  int count = 0;
  void add(const Box& box) {
    sum = {sum.x + box.x, sum.y + box.y, sum.width + box.width, sum.height + box.height};
    ++count;
  }
  Box mean() const { return {sum.x / count, sum.y / count, sum.width / count, sum.height / count}; }
};

}  // namespace

std::vector<Detection> suppress_non_maxima(std::vector<Detection> candidates, double max_overlap) {
  return suppress(std::move(candidates), max_overlap, [](std::size_t, const Detection&, const Detection&) {});
}

std::vector<Detection> merge_boxes(std::vector<Detection> candidates, double max_overlap,
                                   const MergeLimits& limits) {
  std::vector<BoxMean> means;
  std::vector<Detection> kept =
      suppress(std::move(candidates), max_overlap,
               [&](std::size_t place, const Detection& surer, const Detection& candidate) {
                 if (candidate.score < surer.score - limits.max_behind ||
                     intersection_over_union(surer.box, candidate.box) < limits.min_overlap)
                   return;
                 if (means.size() <= place) means.resize(place + 1);
                 if (means[place].count == 0) means[place].add(surer.box);
                 means[place].add(candidate.box);
               });
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (means[i].count > 0) kept[i].box = means[i].mean();
  }
  return kept;
}

}  // namespace sightline
