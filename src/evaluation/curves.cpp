#include "evaluation/curves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "base/error.hpp"

namespace sightline {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Counts of accepted items at one threshold.
struct Accepted {
  double threshold = 0;
  std::int64_t right = 0;
  std::int64_t wrong = 0;
};

void check_set(std::int64_t positives, std::int64_t trials, const char* of_trials) {
  if (positives > 0 && trials > 0) return;
  throw Error(ExitCode::input,
              "nothing to evaluate: " + std::to_string(positives) + " positives in " +
                  std::to_string(trials) + ' ' + of_trials,
              "check that the ground truth belongs to these images");
}

void check_number(double score) {
  if (std::isnan(score)) throw std::invalid_argument("a score is not a number");
}

std::vector<Accepted> accepted_by_threshold(const ImageScores& scores) {
  check_set(scores.positives, scores.images, "images");
  for (const auto& detection : scores.detections) check_number(detection.score);
  auto sorted = scores.detections;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  std::vector<Accepted> result;
  Accepted sum;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    ++(sorted[i].true_positive ? sum.right : sum.wrong);
    if (i + 1 < sorted.size() && sorted[i + 1].score == sorted[i].score) continue;
    sum.threshold = sorted[i].score;
    result.push_back(sum);
  }
  return result;
}

std::vector<double> sorted_positives(std::span<const double> scores, const NegativeScores& negatives) {
  check_set(static_cast<std::int64_t>(scores.size()), static_cast<std::int64_t>(negatives.windows()),
            "windows");
  for (const double score : scores) check_number(score);
  std::vector<double> sorted(scores.begin(), scores.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  return sorted;
}

/// Number of the scores, sorted by falling, that are at least the threshold.
std::size_t count_from(std::span<const double> falling, double threshold) {
  const auto end = std::upper_bound(falling.begin(), falling.end(), threshold, std::greater<>());
  return static_cast<std::size_t>(end - falling.begin());
}

/// The most false positives whose share of the windows does not exceed the rate.
std::uint64_t allowed_false_positives(double rate, std::uint64_t windows) {
  const double all = static_cast<double>(windows);
  if (!(rate >= 0)) throw std::invalid_argument("a false positive rate is negative");
  if (rate >= 1) return windows;
  // rate * all may round across a whole number; the quotient that is compared with the rate is what decides.
  auto count = static_cast<std::uint64_t>(rate * all);
  while (count > 0 && static_cast<double>(count) / all > rate) --count;
  while (count < windows && static_cast<double>(count + 1) / all <= rate) ++count;
  return count;
}

double threshold_for(std::uint64_t allowed, std::span<const double> falling,
                     const NegativeScores& negatives) {
  if (allowed < falling.size()) return std::nextafter(falling[allowed], kInfinity);
  if (negatives.truncated()) {
    throw Error(ExitCode::failed,
                std::to_string(falling.size()) +
                    " negative scores were kept, too few to find the threshold for " +
                    std::to_string(allowed) + " false positives",
                "keep more scores or ask for a lower rate");
  }
  // The rest were rejected without a score, below every finite threshold; where there is no rest, anything
  // goes.
  return allowed < negatives.windows() ? std::numeric_limits<double>::lowest() : -kInfinity;
}

}  // namespace

void ImageScores::add(std::span<const Detection> found, const MatchResult& match) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (match.verdicts[i] == Verdict::ignored) continue;
    detections.push_back({found[i].score, match.verdicts[i] == Verdict::true_positive});
  }
  positives += match.positives;
  ++images;
}

std::vector<DetPoint> miss_rate_per_image(const ImageScores& scores) {
  std::vector<DetPoint> curve;
  for (const Accepted& at : accepted_by_threshold(scores)) {
    curve.push_back(
        {at.threshold, static_cast<double>(at.wrong) / static_cast<double>(scores.images),
         static_cast<double>(scores.positives - at.right) / static_cast<double>(scores.positives)});
  }
  return curve;
}

const DetPoint* point_at(std::span<const DetPoint> curve, double false_positive_rate) {
  const auto beyond =
      std::upper_bound(curve.begin(), curve.end(), false_positive_rate,
                       [](double rate, const DetPoint& p) { return rate < p.false_positive_rate; });
  return beyond == curve.begin() ? nullptr : &*std::prev(beyond);
}

double miss_rate_at(std::span<const DetPoint> curve, double false_positive_rate) {
  const DetPoint* const point = point_at(curve, false_positive_rate);
  return point ? point->miss_rate : 1.0;
}

double log_average_miss_rate(std::span<const DetPoint> curve) {
  constexpr int points = 9;
  double sum = 0;
  for (int i = 0; i < points; ++i) {
    const double rate = std::pow(10.0, -2.0 + 0.25 * i);
    sum += std::log(std::max(miss_rate_at(curve, rate), 1e-10));
  }
  return std::exp(sum / points);
}

std::vector<PrecisionRecallPoint> precision_recall(const ImageScores& scores) {
  std::vector<PrecisionRecallPoint> curve;
  for (const Accepted& at : accepted_by_threshold(scores)) {
    curve.push_back({at.threshold, static_cast<double>(at.right) / static_cast<double>(scores.positives),
                     static_cast<double>(at.right) / static_cast<double>(at.right + at.wrong)});
  }
  return curve;
}

double average_precision(std::span<const PrecisionRecallPoint> curve) {
  double area = 0;
  double highest = 0;
  for (std::size_t i = curve.size(); i-- > 0;) {
    highest = std::max(highest, curve[i].precision);
    area += highest * (curve[i].recall - (i > 0 ? curve[i - 1].recall : 0.0));
  }
  return area;
}

void NegativeScores::add(double score) {
  check_number(score);
  ++windows_;
  if (heap_.size() < capacity_) {
    heap_.push_back(score);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    return;
  }
  truncated_ = true;
  if (heap_.empty() || score <= heap_.front()) return;
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  heap_.back() = score;
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

void NegativeScores::merge(const NegativeScores& other) {
  // Each side has kept its own highest `capacity`, so together they hold the highest `capacity` of both. With
  // a smaller other side there could be gaps among its scores that would go unnoticed.
  if (capacity_ != other.capacity_) throw std::invalid_argument("merging scores of different capacities");
  const std::uint64_t windows = windows_ + other.windows_;
  const std::vector<double> scores = other.heap_;  // a copy: `other` may be this object
  truncated_ = truncated_ || other.truncated_;
  for (const double score : scores) add(score);
  windows_ = windows;
}

std::vector<double> NegativeScores::sorted() const {
  std::vector<double> scores = heap_;
  std::sort(scores.begin(), scores.end(), std::greater<>());
  return scores;
}

std::vector<WindowOperatingPoint> miss_rates_per_window(std::span<const double> positives,
                                                        const NegativeScores& negatives,
                                                        std::span<const double> false_positive_rates) {
  const auto found = sorted_positives(positives, negatives);
  const auto wrong = negatives.sorted();
  std::vector<WindowOperatingPoint> points;
  for (const double rate : false_positive_rates) {
    WindowOperatingPoint point;
    point.requested_rate = rate;
    point.windows = negatives.windows();
    point.positives = found.size();
    const std::uint64_t allowed = allowed_false_positives(rate, point.windows);
    point.threshold = threshold_for(allowed, wrong, negatives);
    // At -infinity the windows that have no score are accepted as well.
    point.false_positives = allowed == point.windows ? allowed : count_from(wrong, point.threshold);
    point.missed = found.size() - count_from(found, point.threshold);
    points.push_back(point);
  }
  return points;
}

std::vector<DetPoint> miss_rate_per_window(std::span<const double> positives,
                                           const NegativeScores& negatives) {
  const auto found = sorted_positives(positives, negatives);
  const auto wrong = negatives.sorted();
  const double windows = static_cast<double>(negatives.windows());
  std::vector<DetPoint> curve;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i + 1 < found.size() && found[i + 1] == found[i]) continue;
    // Below the lowest score that was kept, nothing is known; the rejected of a cascade are below everything.
    const bool known = !negatives.truncated() || (!wrong.empty() && found[i] > wrong.back());
    if (!known || found[i] == -kInfinity) break;
    curve.push_back({found[i], static_cast<double>(count_from(wrong, found[i])) / windows,
                     static_cast<double>(found.size() - i - 1) / static_cast<double>(found.size())});
  }
  return curve;
}

}  // namespace sightline
