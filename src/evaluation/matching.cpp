#include "evaluation/matching.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sightline {

namespace {

bool centre_inside(const Box& detection, const Box& region) {
  const double x = detection.x + detection.width / 2;
  const double y = detection.y + detection.height / 2;
  return x >= region.x && x <= region.x + region.width && y >= region.y && y <= region.y + region.height;
}

/// Indices by falling score; a stable sort keeps equal scores in their order.
std::vector<std::size_t> by_falling_score(std::span<const Detection> detections) {
  const auto key = [&](std::size_t i) {
    const double score = detections[i].score;
    return std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  };
  std::vector<std::size_t> order(detections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  return order;
}

bool in_ignore_region(const Box& detection, const Box& region, const MatchOptions& options) {
  if (options.criterion == MatchCriterion::centre) return centre_inside(detection, region);
  // The region's own size must not matter, so the share is of the detection instead of the union.
  return detection.area() > 0 &&
         intersection_area(detection, region) / detection.area() >= options.min_overlap;
}

}  // namespace

Box with_aspect(const Box& box, double aspect) {
  const double width = aspect * box.height;
  return {box.x + (box.width - width) / 2, box.y, width, box.height};
}

Box MatchOptions::compared(const Box& box) const {
  return aspect > 0 ? with_aspect(box, aspect) : box;
}

MatchResult match_detections(std::span<const Detection> detections, std::span<const TruthBox> truth,
                             const MatchOptions& options) {
  MatchResult result;
  result.verdicts.assign(detections.size(), Verdict::false_positive);
  result.truth.assign(detections.size(), -1);
  result.found.assign(truth.size(), false);

  std::vector<Box> objects;
  for (const TruthBox& object : truth) {
    objects.push_back(object.ignore ? object.box : options.compared(object.box));
    if (!object.ignore) ++result.positives;
  }
  result.missed = result.positives;

  for (const std::size_t d : by_falling_score(detections)) {
    const Box box = options.compared(detections[d].box);
    int best = -1;
    double best_overlap = 0;
    for (std::size_t t = 0; t < objects.size(); ++t) {
      if (truth[t].ignore || result.found[t]) continue;
      const double overlap = intersection_over_union(box, objects[t]);
      const bool fits = options.criterion == MatchCriterion::centre
                            ? centre_inside(box, objects[t])
                            : overlap > 0 && overlap >= options.min_overlap;
      if (fits && (best < 0 || overlap > best_overlap)) {
        best = static_cast<int>(t);
        best_overlap = overlap;
      }
    }
    if (best >= 0) {
      result.found[static_cast<std::size_t>(best)] = true;
      result.verdicts[d] = Verdict::true_positive;
      result.truth[d] = best;
      --result.missed;
      continue;
    }
    for (std::size_t t = 0; t < objects.size(); ++t) {
      if (truth[t].ignore && in_ignore_region(box, objects[t], options)) {
        result.verdicts[d] = Verdict::ignored;
        result.truth[d] = static_cast<int>(t);
        break;
      }
    }
  }
  return result;
}

}  // namespace sightline
