#include "evaluation/coco_figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

namespace sightline {
namespace {

constexpr std::size_t kOverlaps = 10;
constexpr int kMost = 100;  // detections of an image
constexpr int kRecalls = 101;

// Square pixels of all, small, medium and large objects, both ends included.
struct SizeRange {
  double least, most;
  bool holds(double area) const { return area >= least && area <= most; }
};
constexpr std::array kSizeRanges{SizeRange{0, 1e10}, SizeRange{0, 32 * 32}, SizeRange{32 * 32, 96 * 96},
                                 SizeRange{96 * 96, 1e10}};

// As numpy's linspace rounds them, so that overlaps and recalls at the edge count as for others.
double least_overlap(std::size_t i) {
  return 0.5 + static_cast<double>(i) * ((0.95 - 0.5) / (kOverlaps - 1));
}
double recall_point(int i) {
  return i * 0.01;
}

bool is_region(const TruthBox& object) {
  return object.ignore && !object.counts_in_coco;
}

double coco_overlap(const Box& found, const TruthBox& object) {
  if (!is_region(object)) return intersection_over_union(found, object.box);
  return found.area() > 0 ? intersection_area(found, object.box) / found.area() : 0.0;
}

double area_of(const TruthBox& object) {
  return object.area > 0 ? object.area : object.box.area();
}

std::vector<Detection> best_hundred(std::span<const Detection> found) {
  std::vector<Detection> best(found.begin(), found.end());
  for (const Detection& one : best) {
    if (std::isnan(one.score)) throw std::invalid_argument("a score is not a number");
  }
  std::ranges::stable_sort(best, std::ranges::greater(), &Detection::score);
  best.resize(std::min<std::size_t>(best.size(), kMost));
  return best;
}

}  // namespace

void CocoClass::add(std::span<const Detection> all_found, std::span<const TruthBox> truth) {
  const std::vector<Detection> found = best_hundred(all_found);
  std::vector<Scored> scored;
  std::vector<double> overlaps;
  for (const Detection& one : found) {
    scored.push_back({one.score, static_cast<std::uint8_t>(scored.size()), {}, {}});
    for (const TruthBox& object : truth) overlaps.push_back(coco_overlap(one.box, object));
  }
  for (std::size_t size = 0; size < kSizes; ++size) {
    const SizeRange& range = kSizeRanges[size];
    const auto counts = [&](std::size_t t) { return !is_region(truth[t]) && range.holds(area_of(truth[t])); };
    std::vector<std::size_t> order(truth.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto others = std::stable_partition(order.begin(), order.end(), counts);
    objects_[size] += others - order.begin();
    for (std::size_t i = 0; i < kOverlaps; ++i) {
      std::vector<bool> taken(truth.size());
      for (std::size_t d = 0; d < found.size(); ++d) {
        double most = std::min(least_overlap(i), 1 - 1e-10);
        auto best = order.end();
        const auto look = [&](auto from, auto end) {
          for (; from != end; ++from) {
            const double overlap = overlaps[d * truth.size() + *from];
            if (taken[*from] || !(overlap >= most)) continue;
            most = overlap;
            best = from;
          }
        };
        look(order.begin(), others);
        if (best == order.end()) look(others, order.end());
        const bool is_right = best < others;
        if (best != order.end() && !is_region(truth[*best])) taken[*best] = true;
        const bool is_counted = is_right || (best == order.end() && range.holds(found[d].box.area()));
        scored[d].right[size] = static_cast<std::uint16_t>(scored[d].right[size] | is_right << i);
        scored[d].counts[size] = static_cast<std::uint16_t>(scored[d].counts[size] | is_counted << i);
      }
    }
  }
  found_.insert(found_.end(), scored.begin(), scored.end());
}

CocoClass::Average CocoClass::average(std::span<const Scored> found, std::size_t size, int most,
                                      std::size_t overlap) const {
  std::vector<double> precisions, recalls;
  std::int64_t right = 0, wrong = 0;
  for (const Scored& one : found) {
    if (one.rank >= most || !(one.counts[size] >> overlap & 1)) continue;
    ++(one.right[size] >> overlap & 1 ? right : wrong);
    precisions.push_back(static_cast<double>(right) / static_cast<double>(right + wrong));
    recalls.push_back(static_cast<double>(right) / static_cast<double>(objects_[size]));
  }
  for (std::size_t i = precisions.size(); i-- > 1;)
    precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  double sum = 0;
  for (int i = 0; i < kRecalls; ++i) {
    const auto at = std::ranges::lower_bound(recalls, recall_point(i)) - recalls.begin();
    if (at < std::ssize(precisions)) sum += precisions[static_cast<std::size_t>(at)];
  }
  return {sum / kRecalls, recalls.empty() ? 0 : recalls.back()};
}

CocoFigures CocoClass::figures() const {
  std::vector<Scored> found = found_;
  std::ranges::stable_sort(found, std::ranges::greater(), &Scored::score);
  CocoFigures figures;
  for (std::size_t size = 0; size < kSizes; ++size) {
    if (objects_[size] == 0) continue;
    const auto set = [&](int most, std::size_t recall, std::optional<std::size_t> precision) {
      Average sum{};
      for (std::size_t i = 0; i < kOverlaps; ++i) {
        const Average one = average(found, size, most, i);
        sum.precision += one.precision;
        sum.recall += one.recall;
        if (size == 0 && precision && i == 0) figures[1] = one.precision;
        if (size == 0 && precision && i == 5) figures[2] = one.precision;
      }
      figures[recall] = sum.recall / kOverlaps;
      if (precision) figures[*precision] = sum.precision / kOverlaps;
    };
    // The places of kCocoFigureNames.
    if (size > 0) {
      set(kMost, 8 + size, 2 + size);
    } else {
      set(1, 6, {});
      set(10, 7, {});
      set(kMost, 8, 0);
    }
  }
  return figures;
}

CocoFigures mean_of(std::span<const CocoFigures> classes) {
  CocoFigures mean;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    int count = 0;
    for (const CocoFigures& one : classes) {
      if (!one[i]) continue;
      sum += *one[i];
      ++count;
    }
    if (count > 0) mean[i] = sum / count;
  }
  return mean;
}

}  // namespace sightline
