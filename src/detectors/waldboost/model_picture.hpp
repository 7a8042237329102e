#pragma once
/// A picture of where a WaldBoost model looks, for people.

#include <cstdint>
#include <vector>

#include "detectors/waldboost/model.hpp"
#include "image/canvas.hpp"

namespace sightline::waldboost {

/// How many weak classifiers' grids cover each pixel of the window, row after row.
std::vector<std::int32_t> coverage(const Model& model);

/// Draws the grids of the first weak classifiers in their windows, 24 at most, and a map of how many of all
/// weak classifiers look at each pixel. Of LRP and LRD, the two blocks that are compared are filled,
/// of Haar-like features the dark cells darker than the bright ones.
Canvas draw_model(const Model& model);

}  // namespace sightline::waldboost
