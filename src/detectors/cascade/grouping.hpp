#pragma once
/// Grouping of a cascade's windows into one box an object, as OpenCV's groupRectangles does it.

#include <span>
#include <vector>

#include "detectors/cascade/layout.hpp"
#include "frame/frame_result.hpp"

namespace sightline::cascade {

/// A box with what speaks for it.
struct ScoredBox {
  Rect box;
  double margin = 0;  ///< see Candidate
};

/// Boxes form a group if their edges differ by at most 0.1 times the sum of the smaller width and the smaller
/// height, directly or through others. Each group of more than `min_neighbors` boxes becomes their mean;
/// groups inside another one that has more boxes (and at least 3), as OpenCV has it, are left out. With
/// `min_neighbors` 0, every box is reported. Boxes are clipped to the frame.
///
/// The score of a detection is n + m / (1 + m), where n is its number of boxes and m their largest margin:
/// more windows are surer, and with equal numbers the one that the last stage is surest of.
///
/// The result is ordered by falling score, ties by y, x and width, and does not depend on the order of the
/// boxes.
std::vector<Detection> group_boxes(std::span<const ScoredBox> boxes, int min_neighbors, Size frame);

}  // namespace sightline::cascade
