#include "detection/score_calibration.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "detection/keys.hpp"

namespace sightline {
namespace {

bool rises(const std::vector<ScoreCalibration::Point>& points) {
  const auto does_not_rise = [](const ScoreCalibration::Point& a, const ScoreCalibration::Point& b) {
    return !(a.score < b.score && a.confidence < b.confidence);
  };
  return points.size() >= 2 && points.front().confidence >= 0 && points.back().confidence <= 1 &&
         std::ranges::adjacent_find(points, does_not_rise) == points.end();
}

// y at x on the line through two points. The ends are exact.
double interpolate(double x, double x0, double y0, double x1, double y1) {
  const double part = (x - x0) / (x1 - x0);
  return y0 * (1 - part) + y1 * part;
}

}  // namespace

ScoreCalibration::ScoreCalibration(std::vector<Point> points) : points_(std::move(points)) {
  if (!rises(points_)) throw std::invalid_argument("a calibration's points must rise");
}

ScoreCalibration ScoreCalibration::read(const ModelHeader& header, const std::string& key) {
  if (!header.find(key)) return {};
  const std::vector<double> numbers = header.numbers(key, ',');
  std::vector<Point> points;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) points.push_back({numbers[i], numbers[i + 1]});
  if (numbers.size() % 2 != 0 || !rises(points))
    header.fail("'" + key + "' is not a list of rising scores and confidences",
                "calibrate the model again: sightline evaluate frames --calibrate");
  return ScoreCalibration(std::move(points));
}

std::string ScoreCalibration::to_text() const {
  std::vector<double> numbers;
  for (const Point& point : points_) numbers.insert(numbers.end(), {point.score, point.confidence});
  return join_numbers(numbers, ',');
}

double ScoreCalibration::confidence(double score) const {
  if (!(score > points_.front().score)) return points_.front().confidence;  // NaN, too
  const auto above = std::ranges::upper_bound(points_, score, {}, &Point::score);
  if (above == points_.end()) return points_.back().confidence;
  const Point& below = *std::prev(above);
  return interpolate(score, below.score, below.confidence, above->score, above->confidence);
}

double ScoreCalibration::score_at(double confidence) const {
  if (confidence <= points_.front().confidence) return lowest();
  const auto above = std::ranges::lower_bound(points_, confidence, {}, &Point::confidence);
  if (above == points_.end()) return highest();
  const Point& below = *std::prev(above);
  return interpolate(confidence, below.confidence, below.score, above->confidence, above->score);
}

void ScoreCalibration::apply_to(std::vector<Detection>& detections) const {
  if (empty()) return;
  for (Detection& one : detections) one.confidence = confidence(one.score);
}

double read_threshold(const Config& config, const ScoreCalibration& calibration, double of_model) {
  const double threshold = keys::kThreshold.read(config, of_model);
  const std::optional<double> confidence = keys::kConfidence.read(config);
  if (!confidence) return threshold;
  if (calibration.empty()) {
    throw Error(ExitCode::usage,
                "cannot use the confidence in '" + config.name() + "': the model is not calibrated",
                "use a raw score (--threshold), or calibrate the model: "_message +
                    "sightline evaluate frames --calibrate");
  }
  return calibration.score_at(*confidence);
}

}  // namespace sightline
