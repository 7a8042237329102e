#pragma once
/// A picture of what a model has learned, for people.

#include "detectors/filterbank/model.hpp"
#include "image/canvas.hpp"

namespace sightline::filterbank {

/// Draws the dictionary, with how much the classifier uses each filter; where in the window the classifier
/// looks; and which structure it looks for there. Of a distance classifier, its templates take the place of
/// the weights.
///
/// Filters have no sign here (the detector takes |response|), so the structure of a cell is not an average of
/// filters, which would cancel, but the 3x3 pattern p that changes the score the most: of unit length, with
/// the largest (or least) sum_k w_k (f_k . p)^2 over the cell's weights w_k and filters f_k, an eigenvector
/// of their second moments.
/// Of a filter with two bins, both count together. Only for models that can be drawn: of 3x3 filters.
Canvas draw_model(const Model& model);
bool can_draw(const Model& model);

}  // namespace sightline::filterbank
