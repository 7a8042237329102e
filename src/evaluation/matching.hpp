#pragma once
/// Matching of an image's detections to its marked objects.

#include <span>
#include <vector>

#include "evaluation/ground_truth.hpp"
#include "frame/frame_result.hpp"

namespace sightline {

enum class MatchCriterion {
  overlap,  ///< intersection over union of at least `min_overlap`
  centre,   ///< the detection's centre lies in the marked box (edges included); for loosely marked objects
};

struct MatchOptions {
  MatchCriterion criterion = MatchCriterion::overlap;
  double min_overlap = 0.5;  ///< 0..1
  /// If above 0, both boxes are first set to this aspect ratio (width / height) around their centre; 0.41 for
  /// people. Ignore regions keep their shape.
  double aspect = 0;

  /// A box as it is compared with others: with that aspect, where there is one.
  Box compared(const Box& box) const;

  /// People as in P. Dollar, C. Wojek, B. Schiele, P. Perona, "Pedestrian Detection: An Evaluation of the
  /// State of the Art", PAMI 34(4), 2012, section 3.
  static MatchOptions people() { return {MatchCriterion::overlap, 0.5, 0.41}; }
  static MatchOptions faces() { return {MatchCriterion::overlap, 0.4, 0}; }
};

enum class Verdict {
  true_positive,   ///< the first to find its object
  false_positive,  ///< finds nothing, or an object that a surer detection has found
  ignored,         ///< lies in an ignore region: counts for nothing
};

struct MatchResult {
  std::vector<Verdict> verdicts;  ///< verdict on each detection, in the given order
  std::vector<int> truth;         ///< index of the marked box that each detection goes with, or -1
  std::vector<bool> found;        ///< by marked box; always false for an ignore region
  int positives = 0;              ///< marked boxes without the ignore flag
  int missed = 0;                 ///< objects not found
};

/// The box with width = aspect x height, the same height and the same centre.
Box with_aspect(const Box& box, double aspect);

/// Matches the detections of one image greedily, as the paper above prescribes: by falling score (equal
/// scores: the lowest index first; NaN last) each detection takes, of the objects that are still free and
/// that it fits, the one it overlaps most (equal: the lowest index). One that fits none is ignored where it
/// lies in an ignore region: at least `min_overlap` of the detection's own area, or its centre, inside; such
/// a region takes any number. Labels are not looked at: pass what belongs together. Thread-safety: a function
/// without state.
MatchResult match_detections(std::span<const Detection> detections, std::span<const TruthBox> truth,
                             const MatchOptions& options);

}  // namespace sightline
