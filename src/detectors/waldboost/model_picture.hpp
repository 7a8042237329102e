#pragma once
/// Picture of the parts of the window that a WaldBoost model uses.

#include <cstdint>
#include <vector>

#include "detectors/waldboost/model.hpp"
#include "drawing/canvas.hpp"

namespace sightline::waldboost {

/// Number of weak classifiers whose grids cover each pixel of the window, row by row.
std::vector<std::int32_t> coverage(const Model& model);

/// Draws the grids of the first weak classifiers in their windows, 24 at most, and a map of the number of
/// weak classifiers over each pixel. Fills the two compared blocks of LRP and LRD; draws the dark cells of
/// Haar-like features darker than the bright ones.
Canvas draw_model(const Model& model);

}  // namespace sightline::waldboost
