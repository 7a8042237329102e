#include "evaluation/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/error.hpp"

namespace sightline {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

double Confusion::accuracy() const {
  return share(true_positives + true_negatives, positives() + negatives());
}

double Confusion::precision() const {
  return share(true_positives, true_positives + false_positives);
}

double Confusion::recall() const {
  return share(true_positives, positives());
}

double Confusion::f1() const {
  return share(2 * true_positives, 2 * true_positives + false_positives + false_negatives);
}

const Decision& Decisions::at(double threshold) const {
  const auto below =
      std::ranges::find_if(points, [&](const Decision& one) { return one.threshold < threshold; });
  return below == points.begin() ? points.front() : *std::prev(below);
}

const Decision& Decisions::best() const {
  return *std::ranges::max_element(points, {}, [](const Decision& one) { return one.counts.f1(); });
}

Decisions decide(std::string name, std::span<const PictureScore> pictures) {
  const auto positives = std::ranges::count_if(pictures, &PictureScore::has_object);
  const auto negatives = static_cast<std::int64_t>(pictures.size()) - positives;
  if (positives == 0 || negatives == 0) {
    throw Error(
        ExitCode::input,
        fmt::format("nothing to decide: {} pictures with the object and {} without", positives, negatives),
        "give pictures of both kinds");
  }
  if (std::ranges::any_of(pictures, [](const PictureScore& one) { return std::isnan(one.score); }))
    throw std::invalid_argument("a score is not a number");
  std::vector<PictureScore> sorted(pictures.begin(), pictures.end());
  std::ranges::sort(sorted, std::ranges::greater(), &PictureScore::score);
  Decisions result{std::move(name), {{kFindsNothing, {0, positives, 0, negatives}}}};
  Confusion counts = result.points.front().counts;
  for (std::size_t i = 0; i < sorted.size() && sorted[i].score > -kFindsNothing; ++i) {
    ++(sorted[i].has_object ? counts.true_positives : counts.false_positives);
    --(sorted[i].has_object ? counts.false_negatives : counts.true_negatives);
    if (i + 1 < sorted.size() && sorted[i + 1].score == sorted[i].score) continue;
    result.points.push_back({sorted[i].score, counts});
  }
  return result;
}

const Decisions& best_of(std::span<const Decisions> detectors) {
  return *std::ranges::max_element(detectors, {},
                                   [](const Decisions& one) { return one.best().counts.f1(); });
}

double f1_score(double precision, double recall) {
  return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0.0;
}

const PrecisionRecallPoint* best_by_f1(std::span<const PrecisionRecallPoint> curve) {
  const auto best = std::ranges::max_element(
      curve, {}, [](const PrecisionRecallPoint& one) { return f1_score(one.precision, one.recall); });
  return best == curve.end() ? nullptr : &*best;
}

std::vector<PrecisionRecallPoint> precision_recall(const NamedCurve& curve) {
  std::vector<PrecisionRecallPoint> points;
  for (const DetPoint& at : curve.points) {
    const double right = std::round((1 - at.miss_rate) * static_cast<double>(curve.positives));
    const double wrong = std::round(at.false_positive_rate * static_cast<double>(curve.trials));
    points.push_back({at.threshold, 1 - at.miss_rate, right + wrong > 0 ? right / (right + wrong) : 0.0});
  }
  return points;
}

std::string decision_heading() {
  return fmt::format("{:>10}{:>7}{:>7}{:>7}{:>7}{:>10}{:>11}{:>8}{:>8}\n", "score from", "TP", "FN", "FP",
                     "TN", "accuracy", "precision", "recall", "F1");
}

std::string decision_row(const Decision& decision, const std::string& note) {
  const Confusion& c = decision.counts;
  const std::string threshold =
      decision.threshold == kFindsNothing ? "none" : fmt::format("{:.4g}", decision.threshold);
  return fmt::format("{:>10}{:>7}{:>7}{:>7}{:>7}{:>10.3f}{:>11.3f}{:>8.3f}{:>8.3f}{}{}\n", threshold,
                     c.true_positives, c.false_negatives, c.false_positives, c.true_negatives, c.accuracy(),
                     c.precision(), c.recall(), c.f1(), note.empty() ? "" : "  ", note);
}

std::string decision_table(const Decisions& decisions, std::size_t rows) {
  const std::vector<Decision>& points = decisions.points;
  const auto best = static_cast<std::size_t>(&decisions.best() - points.data());
  const auto found = [](const Decision& one) {
    return one.counts.true_positives + one.counts.false_positives;
  };
  std::set<std::size_t> shown{best};
  for (std::size_t i = 1; i < rows; ++i) {
    const double wanted =
        static_cast<double>(found(points.back())) * static_cast<double>(i) / static_cast<double>(rows - 1);
    const auto at = std::ranges::lower_bound(points, std::llround(wanted), {}, found);
    shown.insert(at == points.end() ? points.size() - 1 : static_cast<std::size_t>(at - points.begin()));
  }
  std::string table = decision_heading();
  for (const std::size_t i : shown) table += decision_row(points[i], i == best ? "best F1" : "");
  return table;
}

}  // namespace sightline
