#pragma once
/// Overlay of the labelling window. Plain data, filled by the window's user.

#include <optional>
#include <string>
#include <vector>

#include "display/geometry.hpp"
#include "display/overlay.hpp"
#include "display/scene.hpp"
#include "image/box.hpp"

namespace sightline::display {

/// A shown part of a picture, in whole pixels, and its place in the output, which may reach past the output.
struct PicturePart {
  Rect part;
  Rect place;
};

struct LabelBox {
  Box box;  ///< pixels of the output
  std::string caption;
  int color = 0;          ///< class, for media::label_color
  bool selected = false;  ///< drawn with handles, on top
  bool proposed = false;  ///< dashed
  bool ignored = false;   ///< dimmed
};

/// A row of the list of classes.
struct LabelClass {
  std::string key;  ///< key that selects it; may be empty
  std::string name;
  int count = 0;  ///< number of boxes in the picture
  bool chosen = false;
};

struct LabelOverlay {
  std::vector<LabelBox> boxes;
  std::vector<LabelClass> classes;

  bool panels = true;     ///< panels on the left
  bool help = false;      ///< the panel with all keys
  std::string name;       ///< the picture's
  std::string position;   ///< "12 of 240"
  bool seen = false;      ///< whether this one is
  std::string progress;   ///< "57 seen", with the filter where it is on
  std::string details;    ///< size and zoom
  std::string selection;  ///< description of the selection
  std::string state;      ///< "saved"
  StateKind state_kind = StateKind::good;
  std::string message;                ///< shown as long as it is set
  std::string hint;                   ///< text in the middle if there is no picture, or prompt
  std::optional<std::string> typing;  ///< typed text
  std::optional<Rect> crosshair;      ///< x, y: the pointer's; the rest: within which lines are drawn
};

/// Columns on the left that the panels take; 0 if the output is so narrow that they lie on the picture.
int label_panels_width(Size output, double density = 1);

/// Adds the overlay to a scene for an output of this size. Returns the places of the class rows, in order;
/// rows without room are missing.
std::vector<Rect> add_labels(Scene& scene, TextCache& text, const LabelOverlay& overlay, Size output,
                             double density = 1);

}  // namespace sightline::display
