#pragma once
/// The mirror image of a cascade, for objects that differ from theirs: faces seen from the side.

#include "detectors/cascade/model.hpp"

namespace sightline::cascade {

/// A cascade that gives the mirror image of a window the sums that the model gives the window, to the bit.
/// Throws Error (model) for cascades with tilted features: OpenCV's sums of these reach beyond the window on
/// one side.
Model mirrored(Model model);

}  // namespace sightline::cascade
