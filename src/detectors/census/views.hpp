#pragma once
/// Views made of others: a cascade over census codes turns with the picture, exactly.

#include "detectors/census/model.hpp"

namespace sightline::census {

/// The view of the object turned counterclockwise by a number of quarters: windows of the turned picture have
/// the same sums as those of the original. The window must be square.
/// @param weak  of the view; each is turned
std::vector<WeakClassifier> turned(std::vector<WeakClassifier> weak, Size window, int quarters);

/// The model with each view in all four positions: after those that it has, all of them turned left, upside
/// down and turned right, called "NAME left", "NAME upside down" and "NAME right". Throws Error (usage) where
/// the window is not square, or the views or their stages are too many.
Model with_turned_views(const Model& model);

}  // namespace sightline::census
