#pragma once
/// View of a session for the window.

#include "display/label_overlay.hpp"
#include "display/label_window.hpp"
#include "labelling/pointer.hpp"
#include "labelling/session.hpp"
#include "labelling/viewport.hpp"

namespace sightline::apps {

/// Boxes, classes, and what is said of the picture and of the selected box, as the session has them.
display::LabelOverlay overlay_of(const labelling::Session& session, const labelling::Viewport& viewport);

/// The part of the picture that is seen, and where.
display::PicturePart visible_part(const labelling::Viewport& viewport);

/// The pointer over what it would grip.
display::PointerShape shape_of(const labelling::Grip& grip);

}  // namespace sightline::apps
