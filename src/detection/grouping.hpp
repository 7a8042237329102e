#pragma once
/// Grouping of overlapping windows into one box an object.

#include <vector>

#include "frame/frame_result.hpp"

namespace sightline {

/// Greedy non-maximum suppression: takes candidates by falling score (ties: the earlier one first) and drops
/// every candidate of the same label that overlaps one already taken by more than `max_overlap`. Overlap is
/// the area of the intersection over the area of the smaller box, which also removes a box inside a larger
/// one (P. Dollar et al., "Integral Channel Features", BMVC 2009, use it with 0.6-0.65).
///
/// The result is ordered by falling score and depends on the candidates' values and order alone.
std::vector<Detection> suppress_non_maxima(std::vector<Detection> candidates, double max_overlap);

/// Limits for suppressed candidates that contribute to a detection's box, see merge_boxes.
struct MergeLimits {
  double min_overlap = 0.5;  ///< intersection over union with the detection's own box, at least
  double max_behind = 1;     ///< its score is higher by this at most
};

/// Merges likewise, and averages each detection's box with the suppressed boxes within the limits, because
/// their errors are independent. Each score stays that of the best candidate.
std::vector<Detection> merge_boxes(std::vector<Detection> candidates, double max_overlap,
                                   const MergeLimits& limits);

}  // namespace sightline
