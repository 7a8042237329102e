#pragma once
/// Search options of the filter-bank detector.

#include <limits>

#include "detection/keys.hpp"
#include "detectors/filterbank/layout.hpp"

namespace sightline::filterbank {

/// Arithmetic of the stages.
enum class Arithmetic {
  /// Integers and correctly rounded roots: the same bits everywhere. With a non-standard descriptor, this
  /// holds only for the classifier: the float method computes the features, which are rounded to the eight
  /// bits that the classifier was trained on.
  exact,
  floating_point,  ///< the method as published, with the float dictionary: the reference for accuracy, not
                   ///< for speed
};

struct Options {
  double scale_step = 1.1;  ///< ratio of neighbouring pyramid scales
  double min_size = 0;      ///< height in frame pixels of the smallest object; 0: the model's own, unenlarged
  double max_size = 0;      ///< height of the largest object; 0: limited by the frame
  double threshold = 0;     ///< lowest score that is reported
  ScoreCalibration calibration;  ///< calibration of these scores; may be empty
  /// Distance that windows may reach past the frame, in window pixels at every scale: a multiple of a cell.
  /// Edge pixels are repeated there. 0: none.
  int border = 0;
  bool clip = true;  ///< boxes end at the frame's edge
  /// Whether the model's network, if there is one, verifies the classifier's candidates.
  bool verify = true;
  /// It verifies all of these windows; otherwise, of windows that lie next to each other on a level, only
  /// the best by the classifier's score, and the others are rejected. All is the plain method; a
  /// configuration has it with `exact`, or where it says so.
  bool verify_all = true;
  /// Whether boxes are moved to where the network says that the object lies, where it does, and those of
  /// windows on one object are averaged (merge_boxes).
  bool refine = true;
  double max_overlap = 0.65;   ///< see suppress_non_maxima
  int max_candidates = 20000;  ///< windows that `classify` leaves to the stages after it, the best ones
  Arithmetic arithmetic = Arithmetic::exact;
  /// Levels an octave that are filtered; the others sum up the responses of the nearest one
  /// (filtered_levels.hpp). 0: all are. Exact arithmetic only.
  int computed_scales = 0;
  /// Windows are rejected whose estimate (class PreRejection) is further than this below what `classify` lets
  /// through; infinite: none are. Linear classifier and exact arithmetic only.
  double rejection_margin = std::numeric_limits<double>::infinity();
};

/// Parameters in section [detector], with those that families share.
namespace keys {
using namespace sightline::keys;

inline constexpr Whole kFilters(
    "filters", {1, kMaxFilters}, "--filters N",
    "Number of filters, one of those that `sightline model show` lists: fewer filters are faster and miss "
    "more (default: the configuration's, or the largest of --model)",
    {.of_model = true});
inline constexpr Whole kComputedScales(
    "computed_scales", {0, 1000}, "--computed-scales N",
    "Number of filtered scales per octave; the others are approximated from the nearest of them; 0: all "
    "(default: the configuration's)",
    {.shows_range = true, .alias = "--real-levels", .former = "real_levels"});
inline constexpr Flag kExact(
    "exact", "--exact",
    "Use the plain, slower method: filter every scale, classify every window, verify all candidates");
inline constexpr Whole kBorder(
    "border", {0, 128}, "--border PX",
    "Distance that windows may reach past the frame, in window pixels; edge pixels are repeated; filter "
    "banks: a multiple of 8 (default: the window's margin and 8)",
    {.shows_range = true});
inline constexpr Flag kVerify(
    "verify", "--no-verify",
    "Skip the model's verification network, if it has one: faster, more false boxes");
inline constexpr Flag kVerifyAll("verify_all", "", "Verify neighbours of the best windows, too");
inline constexpr Flag kRefine(
    "refine", "--no-refine",
    "Report boxes of the window's size; otherwise the verification network fits them to the object");
inline constexpr Number kRejectionMargin("rejection_margin", {0, 1e9}, "", "Margin of estimated scores",
                                         {.former = "screen_margin"});
inline constexpr Text kArithmetic("arithmetic", "--arithmetic KIND",
                                  "Arithmetic: exact (integers) or float (the reference method, slow)",
                                  {.suggested = [] {
                                    return Choices{{{"exact", ""}, {"float", ""}}};
                                  }});

}  // namespace keys

/// Defaults of a configuration. With `exact = true`, the plain method is used: it filters every level and
/// classifies every window.
///
/// Chosen by agreement with the plain method on a street (16 frames of 960x540, scale step 1.1, 171
/// detections) and on 481 enlarged training people. Computed scales 4 an octave keep 170 of the detections
/// and add 10, scores differ by 0.09 (root mean square); 2, which are faster: 167, 21 and 0.14; 1: 170, 35
/// and 0.14. Scores rise by 0.03 to 0.06 on average, so that some windows more reach a threshold. The margin
/// loses none of detections and people; 0.5 loses one detection.
inline constexpr int kComputedScales = 4;
inline constexpr double kRejectionMargin = 0.75;
/// With a network that verifies windows, `classify` passes many non-objects, and a smaller margin suffices:
/// on a street (16 frames of 1920x1080) it loses 2 of 367 detections.
inline constexpr double kVerifiedRejectionMargin = 0.4;

}  // namespace sightline::filterbank
