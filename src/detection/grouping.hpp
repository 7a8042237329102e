#pragma once
/// Grouping of overlapping windows into one box an object.

#include <vector>

#include "detection/detection.hpp"

namespace sightline {

/// Greedy non-maximum suppression: takes candidates by falling score (ties: the earlier one first) and drops
/// every candidate of the same label that overlaps one already taken by more than `max_overlap`. Overlap is
/// the area of the intersection over the area of the smaller box, which also removes a box inside a larger
/// one (P. Dollar et al., "Integral Channel Features", BMVC 2009, use it with 0.6-0.65).
///
/// The result is ordered by falling score and depends on the candidates' values and order alone.
std::vector<Detection> suppress_non_maxima(std::vector<Detection> candidates, double max_overlap);

}  // namespace sightline
