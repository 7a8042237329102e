#pragma once
/// Calibration of a model's scores: confidences from 0 to 1 that mean the same for all models.

#include <string>
#include <vector>

#include "frame/frame_result.hpp"
#include "model/header.hpp"
#include "params/config.hpp"

namespace sightline {

/// Maps raw scores to confidences: of the boxes with a confidence of 0.8, 80% are right on the pictures that
/// the model was calibrated on (`sightline evaluate frames --calibrate`). Piecewise linear and rising, in
/// additions, multiplications and divisions alone, so the same on every machine.
/// Thread-safety: immutable.
class ScoreCalibration {
 public:
  struct Point {
    double score = 0;
    double confidence = 0;  ///< 0 to 1
  };

  /// No calibration: such a model has raw scores alone.
  ScoreCalibration() = default;
  /// @param points  at least two, both numbers rising from point to point
  /// Throws std::invalid_argument for others.
  explicit ScoreCalibration(std::vector<Point> points);

  /// From a model file's header, as `to_text` writes it; empty if the header lacks the key. Throws
  /// Error (model).
  static ScoreCalibration read(const ModelHeader& header, const std::string& key = "calibration");
  /// "score,confidence,score,confidence,...".
  std::string to_text() const;

  bool empty() const { return points_.empty(); }
  const std::vector<Point>& points() const { return points_; }
  /// Interpolated; below the first and above the last point it is theirs. Not for an empty calibration.
  double confidence(double score) const;
  /// The lowest score with at least this confidence: lowest() up to the first point's confidence, highest()
  /// above the last point's. Not for an empty calibration.
  double score_at(double confidence) const;
  /// Sets Detection::confidence of each; does nothing where the calibration is empty.
  void apply_to(std::vector<Detection>& detections) const;

  static constexpr double lowest() { return -1e9; }
  static constexpr double highest() { return 1e9; }

 private:
  std::vector<Point> points_;
};

/// Lowest score to report, from section [detector] of a configuration: `confidence`, else `threshold`, else
/// the model's own threshold. Throws Error (usage) for values out of range and for a confidence with an
/// uncalibrated model.
double read_threshold(const Config& config, const ScoreCalibration& calibration, double of_model);

}  // namespace sightline
