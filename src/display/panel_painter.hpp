#pragma once
/// Internal to src/display: panels, their rows of words, and their style.

#include <span>
#include <string>
#include <vector>

#include "display/keys.hpp"
#include "display/overlay.hpp"
#include "display/scene.hpp"

namespace sightline::display {

inline constexpr Ink kGround{13, 16, 20, 196};
inline constexpr Ink kLine{255, 255, 255, 30};
inline constexpr Ink kTrack{255, 255, 255, 20};
inline constexpr Ink kDim{156, 165, 176, 255};
inline constexpr Ink kBright{240, 243, 247, 255};
inline constexpr Ink kGood{61, 220, 132, 255};
inline constexpr Ink kWaiting{255, 190, 70, 255};
inline constexpr Ink kBad{255, 110, 104, 255};

constexpr Ink ink_of(StateKind kind) {
  return kind == StateKind::bad ? kBad : kind == StateKind::waiting ? kWaiting : kGood;
}

/// A stretch of a row in one ink.
struct Part {
  std::string text;
  Ink ink;
  bool bold = false;
};

/// Puts panels into a scene. All lengths follow from the letters' size, which follows from the output's and
/// its density: pixels a unit of the window.
class PanelPainter {
 public:
  PanelPainter(Scene& scene, TextCache& text, Size output, double density);

 protected:
  int natural_size() const;
  void set_size(int em);
  Font font(bool bold = false) const { return {em_, bold}; }
  bool is_narrow() const { return output_.width < 44 * em_; }

  void fill(const Rect& rect, const Ink& ink);
  /// With its corners taken off.
  void rounded(const Rect& r, const Ink& ink, int radius);
  void panel(const Rect& r, const Ink& ground = kGround) { rounded(r, ground, em_ / 3); }

  /// Text in a row that begins at y, cut off at `limit` pixels. Returns the width.
  int words(int x, int y, const std::string& what, const Ink& ink, int limit, bool bold = false);
  int words_right(int right, int y, const std::string& what, const Ink& ink, int limit, bool bold = false);
  int width_of(const std::vector<Part>& parts);

  /// One line in a panel of its own.
  void pill(int x, int y, int width, const std::vector<Part>& parts);
  int pill_height() const { return row_ + padding_ / 2; }

  /// Help on all keys in a panel in the middle.
  void help(std::span<const HelpLine> all);

  Scene& scene_;
  TextCache& text_;
  const Size output_;
  const double density_;
  int em_ = 12, row_ = 18, padding_ = 8, margin_ = 8;

 private:
  int help_keys_width(std::span<const HelpLine> all);
  int help_width(std::span<const HelpLine> all);
};

}  // namespace sightline::display
