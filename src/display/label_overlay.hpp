#pragma once
/// What a window for marking objects shows over the picture. Plain data, filled by whoever runs it.

#include <optional>
#include <string>
#include <vector>

#include "display/geometry.hpp"
#include "display/overlay.hpp"
#include "display/scene.hpp"
#include "image/box.hpp"

namespace sightline::display {

/// Where a picture is shown: a part of it, in whole pixels, and the pixels of the output that this takes,
/// which may reach past the output.
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
  std::string key;  ///< that chooses it; may be empty
  std::string name;
  int count = 0;  ///< of boxes in the picture
  bool chosen = false;
};

struct LabelOverlay {
  std::vector<LabelBox> boxes;
  std::vector<LabelClass> classes;

  bool panels = true;     ///< all that is on the left
  bool help = false;      ///< the panel with all keys
  std::string name;       ///< the picture's
  std::string position;   ///< "12 of 240"
  bool seen = false;      ///< whether this one is
  std::string progress;   ///< "57 seen", with the filter where it is on
  std::string details;    ///< size and zoom
  std::string selection;  ///< what is selected, in words
  std::string state;      ///< "saved"
  StateKind state_kind = StateKind::good;
  std::string message;                ///< shown as long as it is set
  std::string hint;                   ///< in the middle, where there is no picture, or what is to be typed
  std::optional<std::string> typing;  ///< what has been typed so far
  std::optional<Rect> crosshair;      ///< x, y: the pointer's; the rest: within which lines are drawn
};

/// Columns on the left that the panels take; 0 where the output is so narrow that they lie on the picture.
int label_panels_width(Size output);

/// What is drawn over the picture, within an output of this size. Returns where the rows of classes are, in
/// their order; those that find no room are not there.
std::vector<Rect> add_labels(Scene& scene, TextCache& text, const LabelOverlay& overlay, Size output);

}  // namespace sightline::display
