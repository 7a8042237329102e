#pragma once
/// Whether a picture shows the object or not, as a detector decides it at every threshold: confusion
/// matrices, and what is computed from them.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "evaluation/curves.hpp"
#include "evaluation/report.hpp"

namespace sightline {

/// A confusion matrix: how many of what has the object, and of what has it not, was taken for which.
struct Confusion {
  std::int64_t true_positives = 0;
  std::int64_t false_negatives = 0;
  std::int64_t false_positives = 0;
  std::int64_t true_negatives = 0;

  std::int64_t positives() const { return true_positives + false_negatives; }
  std::int64_t negatives() const { return false_positives + true_negatives; }
  /// Shares, 0..1; 0 where there is nothing to take a share of, as of what was found where nothing was.
  double accuracy() const;
  double precision() const;
  double recall() const;
  /// Harmonic mean of precision and recall.
  double f1() const;
  friend bool operator==(const Confusion&, const Confusion&) = default;
};

/// A picture as a detector sees it.
struct PictureScore {
  double score = 0;  ///< highest of what was found in it; -infinity where nothing was
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
  std::string name;  ///< of the detector
  /// A decision for each distinct score, by falling threshold, behind the one that takes no picture for one
  /// with the object, at kFindsNothing: never empty.
  std::vector<Decision> points;

  /// At a threshold: the last whose own is not below it. Owned by this object.
  const Decision& at(double threshold) const;
  /// Of the highest F1; of equals, the one with the highest threshold. Owned by this object.
  const Decision& best() const;
};

/// Throws Error (input) where no picture has the object, or all have, and std::invalid_argument on a NaN
/// score.
Decisions decide(std::string name, std::span<const PictureScore> pictures);

/// The detector whose best decision has the highest F1; of equals, the first. Not of none.
const Decisions& best_of(std::span<const Decisions> detectors);

/// The best decision by F1 over objects: of the points of precision_recall, null where there are none. Owned
/// by the curve.
const PrecisionRecallPoint* best_by_f1(std::span<const PrecisionRecallPoint> curve);

/// The same of a stored curve per image, whose counts follow from its rates.
std::vector<PrecisionRecallPoint> precision_recall(const NamedCurve& curve);

/// Harmonic mean of two shares; 0 where both are 0.
double f1_score(double precision, double recall);

/// For people: a row for each of up to so many decisions, spread evenly over the pictures that are found from
/// the first to the last, the best among them and marked.
std::string decision_table(const Decisions& decisions, std::size_t rows = 12);
/// One row of that table and its heading, each with the line's end.
std::string decision_heading();
std::string decision_row(const Decision& decision, const std::string& note = "");

/// A table with the header `detector,threshold,true_positives,false_negatives,false_positives,true_negatives`
/// and what is computed of these, a row a decision; the threshold kFindsNothing is an empty field.
std::string decisions_as_csv(std::span<const Decisions> detectors);

/// Whether a file begins as decisions_as_csv does.
bool holds_decisions(const std::filesystem::path& file);

/// Reads what decisions_as_csv has written, by its counts alone. Throws Error (input) with the line where it
/// is something else, or holds no decision.
std::vector<Decisions> load_decisions(const std::filesystem::path& file);

}  // namespace sightline
