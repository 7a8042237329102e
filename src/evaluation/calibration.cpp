#include "evaluation/calibration.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/error.hpp"

namespace sightline {
namespace {

constexpr std::int64_t kFewest = 20;  // right and wrong boxes
constexpr std::size_t kBlocks = 5;
constexpr std::size_t kRows = 10;
constexpr std::array kConfidences{0.001, 0.01, 0.02, 0.05, 0.1,  0.2,  0.3,  0.4,  0.5,
                                  0.6,   0.7,  0.8,  0.9,  0.95, 0.98, 0.99, 0.999};

// Probability that a box is right: 1 / (1 + exp(-(slope x score + offset))).
struct Logistic {
  double slope = 0;
  double offset = 0;
};

// Negative log-likelihood of a curve: value, gradient and Hessian.
struct Likelihood {
  double value = 0;
  double by_slope = 0, by_offset = 0;
  double slope_slope = 1e-12, slope_offset = 0, offset_offset = 1e-12;  // never singular
};

Likelihood likelihood_of(std::span<const JudgedBox> boxes, double right_target, double wrong_target,
                         const Logistic& curve) {
  Likelihood sum;
  for (const JudgedBox& box : boxes) {
    const double target = box.is_right ? right_target : wrong_target;
    const double margin = curve.slope * box.score + curve.offset;
    const double small = std::exp(-std::abs(margin));
    const double p = margin >= 0 ? 1 / (1 + small) : small / (1 + small);
    sum.value += (margin >= 0 ? (1 - target) * margin : -target * margin) + std::log1p(small);
    const double error = p - target;
    const double weight = p * (1 - p);
    sum.by_slope += error * box.score;
    sum.by_offset += error;
    sum.slope_slope += weight * box.score * box.score;
    sum.slope_offset += weight * box.score;
    sum.offset_offset += weight;
  }
  return sum;
}

Logistic fit(std::span<const JudgedBox> boxes, std::int64_t right) {
  constexpr int most_steps = 100;
  const auto n_right = static_cast<double>(right);
  const double n_wrong = static_cast<double>(boxes.size()) - n_right;
  const double right_target = (n_right + 1) / (n_right + 2);
  const double wrong_target = 1 / (n_wrong + 2);
  Logistic curve{0, std::log((n_right + 1) / (n_wrong + 1))};
  for (int step = 0; step < most_steps; ++step) {
    const Likelihood at = likelihood_of(boxes, right_target, wrong_target, curve);
    if (std::abs(at.by_slope) < 1e-7 && std::abs(at.by_offset) < 1e-7) break;
    const double determinant = at.slope_slope * at.offset_offset - at.slope_offset * at.slope_offset;
    const double d_slope = -(at.offset_offset * at.by_slope - at.slope_offset * at.by_offset) / determinant;
    const double d_offset = -(at.slope_slope * at.by_offset - at.slope_offset * at.by_slope) / determinant;
    const double descent = at.by_slope * d_slope + at.by_offset * d_offset;
    double length = 1;
    for (; length > 1e-10; length /= 2) {
      const Logistic next{curve.slope + length * d_slope, curve.offset + length * d_offset};
      if (likelihood_of(boxes, right_target, wrong_target, next).value >= at.value + 1e-4 * length * descent)
        continue;
      curve = next;
      break;
    }
    if (length <= 1e-10) break;
  }
  return curve;
}

ReliabilityRow row_of(std::span<const std::pair<double, bool>> boxes) {
  ReliabilityRow row;
  row.boxes = std::ssize(boxes);
  const auto n = static_cast<double>(boxes.size());
  for (const auto& [confidence, is_right] : boxes) {
    row.confidence += confidence / n;
    row.right += is_right / n;
  }
  constexpr double z = 1.959964;
  const double middle = (row.right + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(row.right * (1 - row.right) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  row.low = std::max(0.0, middle - half);
  row.high = std::min(1.0, middle + half);
  return row;
}

}  // namespace

ScoreCalibration fit_calibration(std::span<const JudgedBox> boxes) {
  const std::int64_t right = std::ranges::count_if(boxes, &JudgedBox::is_right);
  const std::int64_t wrong = std::ssize(boxes) - right;
  if (right < kFewest || wrong < kFewest) {
    throw Error(ExitCode::input, fmt::format("cannot calibrate on {} right and {} wrong boxes", right, wrong),
                fmt::format("use more pictures: at least {} of each are needed", kFewest));
  }
  const Logistic curve = fit(boxes, right);
  if (!(curve.slope > 0))
    throw Error(ExitCode::input, "cannot calibrate: higher scores are not right more often",
                "check that --truth, --label and --protocol fit the pictures"_message);
  std::vector<ScoreCalibration::Point> points;
  for (const double confidence : kConfidences) {
    const double score = (std::log(confidence / (1 - confidence)) - curve.offset) / curve.slope;
    points.push_back({std::round(score * 1e4) / 1e4, confidence});
  }
  return ScoreCalibration(std::move(points));
}

Reliability cross_validate_calibration(std::span<const std::vector<JudgedBox>> pictures) {
  const auto block_of = [&](std::size_t picture) { return picture * kBlocks / pictures.size(); };
  std::vector<std::pair<double, bool>> judged;  // confidence, and whether it is right
  for (std::size_t block = 0; block < kBlocks; ++block) {
    std::vector<JudgedBox> others;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (block_of(i) != block) others.insert(others.end(), pictures[i].begin(), pictures[i].end());
    }
    const ScoreCalibration calibration = fit_calibration(others);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      if (block_of(i) != block) continue;
      for (const JudgedBox& box : pictures[i])
        judged.emplace_back(calibration.confidence(box.score), box.is_right);
    }
  }
  Reliability result;
  std::int64_t shown = 0;
  for (std::size_t row = 0; row < kRows; ++row) {
    std::vector<std::pair<double, bool>> boxes;
    std::ranges::copy_if(judged, std::back_inserter(boxes), [&](const auto& box) {
      return std::min(static_cast<std::size_t>(box.first * kRows), kRows - 1) == row;
    });
    if (boxes.empty()) continue;
    result.rows.push_back(row_of(boxes));
    const ReliabilityRow& last = result.rows.back();
    if (row == 0) continue;
    result.error += std::abs(last.confidence - last.right) * static_cast<double>(last.boxes);
    shown += last.boxes;
  }
  if (shown > 0) result.error /= static_cast<double>(shown);
  return result;
}

std::string reliability_table(const Reliability& reliability) {
  std::string text =
      fmt::format("{:>10} {:>8} {:>16} {:>8}\n", "confidence", "right", "95% interval", "boxes");
  for (const ReliabilityRow& row : reliability.rows) {
    text += fmt::format("{:>10.3f} {:>8.3f} {:>7.3f} to {:.3f} {:>8}\n", row.confidence, row.right, row.low,
                        row.high, row.boxes);
  }
  return text + fmt::format("mean difference {:.3f} for boxes with a confidence of at least 0.1\n",
                            reliability.error);
}

}  // namespace sightline
