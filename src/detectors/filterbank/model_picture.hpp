#pragma once
/// Picture of a model's content.

#include "detectors/filterbank/model.hpp"
#include "drawing/canvas.hpp"

namespace sightline::filterbank {

/// Draws the dictionary with the classifier's use of each filter, the importance of each part of the window,
/// and the structure that the classifier responds to. A distance classifier is drawn by its templates instead
/// of weights.
///
/// Filters have no sign here (the detector takes |response|), so the structure of a cell is not an average of
/// filters, which would cancel, but the 3x3 pattern p that changes the score the most: of unit length, with
/// the largest (or least) sum_k w_k (f_k . p)^2 over the cell's weights w_k and filters f_k, an eigenvector
/// of their second moments. The two bins of a filter count together. Only for models that can be drawn: of
/// 3x3 filters.
Canvas draw_model(const Model& model);
bool can_draw(const Model& model);

}  // namespace sightline::filterbank
