#pragma once
/// Classification of pictures by a detector at every threshold (object present or not): confusion matrices,
/// and measures computed from them.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "evaluation/curves.hpp"
#include "evaluation/report.hpp"

namespace sightline {

/// A confusion matrix: counts by actual and predicted presence of the object.
struct Confusion {
  std::int64_t true_positives = 0;
  std::int64_t false_negatives = 0;
  std::int64_t false_positives = 0;
  std::int64_t true_negatives = 0;

  std::int64_t positives() const { return true_positives + false_negatives; }
  std::int64_t negatives() const { return false_positives + true_negatives; }
  /// Shares, 0..1; 0 if the denominator is 0.
  double accuracy() const;
  double precision() const;
  double recall() const;
  /// Harmonic mean of precision and recall.
  double f1() const;
  friend bool operator==(const Confusion&, const Confusion&) = default;
};

/// A picture as a detector sees it.
struct PictureScore {
  double score = 0;  ///< highest score of its detections; -infinity without any
  bool has_object = false;
};

/// The threshold that no score reaches.
inline constexpr double kFindsNothing = std::numeric_limits<double>::infinity();

/// The matrix where pictures from a score on are taken for ones with the object.
struct Decision {
  double threshold = 0;
  Confusion counts;
  friend bool operator==(const Decision&, const Decision&) = default;
};

/// A detector's decisions over all thresholds.
struct Decisions {
  std::string name;  ///< name of the detector
  /// A decision for each distinct score, by falling threshold, after a first one at kFindsNothing that
  /// accepts no picture: never empty.
  std::vector<Decision> points;

  /// The decision at a threshold: the last one whose own is not below it. Owned by this object.
  const Decision& at(double threshold) const;
  /// The decision with the highest F1; ties go to the highest threshold. Owned by this object.
  const Decision& best() const;
};

/// Throws Error (input) if no picture has the object, or all have, and std::invalid_argument on a NaN
/// score.
Decisions decide(std::string name, std::span<const PictureScore> pictures);

/// The detector whose best decision has the highest F1; ties go to the first. `detectors` must not be empty.
const Decisions& best_of(std::span<const Decisions> detectors);

/// The best decision by F1 over objects: of the points of precision_recall, null if there are none. Owned
/// by the curve.
const PrecisionRecallPoint* best_by_f1(std::span<const PrecisionRecallPoint> curve);

/// The same for a stored curve per image, with counts computed from its rates.
std::vector<PrecisionRecallPoint> precision_recall(const NamedCurve& curve);

/// Harmonic mean of two shares; 0 if both are 0.
double f1_score(double precision, double recall);

/// Text table with up to the given number of decisions, spread evenly over the found pictures, including the
/// best one, which is marked.
std::string decision_table(const Decisions& decisions, std::size_t rows = 12);
/// One row of that table and its heading, each with the line's end.
std::string decision_heading();
std::string decision_row(const Decision& decision, const std::string& note = "");

/// A table with the header `detector,threshold,true_positives,false_negatives,false_positives,true_negatives`
/// and computed measures, one row per decision; the threshold kFindsNothing is an empty field.
std::string decisions_as_csv(std::span<const Decisions> detectors);

/// Whether a file begins as decisions_as_csv does.
bool holds_decisions(const std::filesystem::path& file);

/// Reads the output of decisions_as_csv, using only its counts. Throws Error (input) with the line if it is
/// invalid or holds no decision.
std::vector<Decisions> load_decisions(const std::filesystem::path& file);

}  // namespace sightline
