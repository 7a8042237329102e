#pragma once
/// Calibrating a model: which share of its boxes is right at which score.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "detection/score_calibration.hpp"

namespace sightline {

/// A box that was compared with the truth.
struct JudgedBox {
  double score = 0;
  bool is_right = false;
};

/// Fits a logistic curve to boxes by maximum likelihood with the targets of J. Platt, "Probabilistic Outputs
/// for Support Vector Machines", 1999, and Newton's method of H.-T. Lin, C.-J. Lin and R. Weng, "A Note on
/// Platt's Probabilistic Outputs", 2007; then samples it at confidences from 0.001 to 0.999.
/// Throws Error (input) unless at least 20 boxes are right and 20 wrong, and higher scores are right more
/// often.
ScoreCalibration fit_calibration(std::span<const JudgedBox> boxes);

/// One row of a reliability table: boxes of similar confidence.
struct ReliabilityRow {
  double confidence = 0;     ///< mean, 0 to 1
  double right = 0;          ///< share that is right, 0 to 1
  double low = 0, high = 0;  ///< 95% interval of that share (Wilson)
  std::int64_t boxes = 0;
};

/// Reliability of confidences by five-fold cross-validation: the pictures are divided into five consecutive
/// blocks, and each block's boxes get confidences fitted on the other four.
struct Reliability {
  std::vector<ReliabilityRow> rows;  ///< one for each tenth of the confidence that has boxes, rising
  double error = 0;  ///< mean of |confidence - right| over boxes with a confidence of at least 0.1
};

/// @param pictures  the boxes of each picture, in the pictures' order
/// Throws as fit_calibration.
Reliability cross_validate_calibration(std::span<const std::vector<JudgedBox>> pictures);

/// The table as text, with a heading.
std::string reliability_table(const Reliability& reliability);

}  // namespace sightline
