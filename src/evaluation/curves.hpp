#pragma once
/// Error rates over all thresholds: from scored detections in images, or from scored windows.
///
/// An item is accepted if its score is at least the threshold. Items of equal score are one point of a curve.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "evaluation/matching.hpp"
#include "frame/frame_result.hpp"

namespace sightline {

/// One point of a detection error trade-off (DET) curve.
struct DetPoint {
  double threshold = 0;
  double false_positive_rate = 0;  ///< false positives per image, or per window
  double miss_rate = 0;            ///< share of the positives that are not found, 0..1
  friend bool operator==(const DetPoint&, const DetPoint&) = default;
};

// ---- Images
// -------------------------------------------------------------------------------------------------

struct ScoredDetection {
  double score = 0;
  bool true_positive = false;
  friend bool operator==(const ScoredDetection&, const ScoredDetection&) = default;
};

/// The outcome of a set of images, collected image by image. Thread-safety: none.
struct ImageScores {
  std::vector<ScoredDetection> detections;  ///< without ignored detections
  std::int64_t positives = 0;
  std::int64_t images = 0;

  /// Adds an image; `match` is what match_detections said about `found`.
  void add(std::span<const Detection> found, const MatchResult& match);
};

/// Miss rate against false positives per image: a point for each distinct score, by falling threshold, so
/// that false positives never fall and the miss rate never rises. Empty if there are no detections. Throws
/// Error(input) if there are no positives or no images, std::invalid_argument on a NaN score.
std::vector<DetPoint> miss_rate_per_image(const ImageScores& scores);

/// The last point of the curve whose false positive rate does not exceed this one; null if there is none.
/// Owned by the curve.
const DetPoint* point_at(std::span<const DetPoint> curve, double false_positive_rate);

/// The miss rate at a false positive rate: that of `point_at`, or 1 where there is none (the convention of
/// P. Dollar's toolbox; nothing is interpolated).
double miss_rate_at(std::span<const DetPoint> curve, double false_positive_rate);

/// Geometric mean of miss_rate_at over nine rates from 0.01 to 1, evenly spaced in log; each miss rate counts
/// at least 1e-10. P. Dollar et al., PAMI 34(4), 2012, section 3.1.
double log_average_miss_rate(std::span<const DetPoint> curve);

struct PrecisionRecallPoint {
  double threshold = 0;
  double recall = 0;
  double precision = 0;
};

/// A point for each distinct score, by falling threshold. Throws as miss_rate_per_image does.
std::vector<PrecisionRecallPoint> precision_recall(const ImageScores& scores);

/// Area under the precision/recall curve after each precision is raised to the highest one at any recall as
/// high or higher (PASCAL VOC since 2010, all points). 0 for an empty curve.
double average_precision(std::span<const PrecisionRecallPoint> curve);

// ---- Windows
// ------------------------------------------------------------------------------------------------

/// Scores of negative windows in bounded memory: all are counted, the highest are kept. The result does not
/// depend on the order of the calls. Thread-safety: none; give each thread its own and merge them.
class NegativeScores {
 public:
  /// @param capacity  scores kept; false positives per window are known up to capacity / windows
  explicit NegativeScores(std::size_t capacity = std::size_t{1} << 20) : capacity_(capacity) {}

  /// Adds a window's score. Throws std::invalid_argument on NaN.
  void add(double score);
  /// Adds windows that an early stage turned away without a score: they are below every threshold.
  void add_rejected(std::uint64_t windows) { windows_ += windows; }
  /// Adds what another has seen. Throws std::invalid_argument where its capacity is different.
  void merge(const NegativeScores& other);

  /// Number of all windows, including those without a kept score.
  std::uint64_t windows() const { return windows_; }
  /// Whether scores were let go because there were more than the capacity.
  bool truncated() const { return truncated_; }
  /// The kept scores, highest first.
  std::vector<double> sorted() const;

 private:
  std::size_t capacity_;
  std::uint64_t windows_ = 0;
  bool truncated_ = false;
  std::vector<double> heap_;  ///< lowest on top
};

/// Miss rate of a detector at one false positive rate, with the counts behind it.
struct WindowOperatingPoint {
  double requested_rate = 0;  ///< false positives per window asked for
  double threshold = 0;
  std::uint64_t false_positives =
      0;                        ///< negative windows accepted; fewer than allowed where scores are equal
  std::uint64_t windows = 0;    ///< negative windows in all
  std::uint64_t missed = 0;     ///< positive windows turned away
  std::uint64_t positives = 0;  ///< positive windows in all
  double false_positive_rate() const {
    return static_cast<double>(false_positives) / static_cast<double>(windows);
  }
  double miss_rate() const { return static_cast<double>(missed) / static_cast<double>(positives); }
};

/// The miss rate at each requested false positive rate, without interpolation: the threshold is the smallest
/// number at which false positives / windows does not exceed the rate. If the first excess negative has equal
/// scores beside it, none of them is accepted: the threshold is the next number above their score, and
/// positives with that score are missed. A positive rejected by an early stage has the score -infinity.
/// Throws Error(input) if there are no positives or no windows, Error(failed) if the scores kept do not reach
/// down to a rate, std::invalid_argument on NaN.
std::vector<WindowOperatingPoint> miss_rates_per_window(std::span<const double> positives,
                                                        const NegativeScores& negatives,
                                                        std::span<const double> false_positive_rates);

/// The whole curve, by falling threshold, as far down as the kept negatives reach: a point for each distinct
/// score of a positive, that is for each miss rate the lowest false positive rate that goes with it. Throws
/// as miss_rates_per_window does.
std::vector<DetPoint> miss_rate_per_window(std::span<const double> positives,
                                           const NegativeScores& negatives);

}  // namespace sightline
