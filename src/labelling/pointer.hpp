#pragma once
/// Editing of boxes with a mouse: drawing, selecting, moving and resizing.

#include <optional>

#include "labelling/session.hpp"
#include "labelling/viewport.hpp"

namespace sightline::labelling {

/// Object under the pointer, or held by it.
struct Grip {
  enum class Kind { none, body, edge };
  Kind kind = Kind::none;
  std::size_t mark = 0;
  int x = 0;  ///< edge or corner: -1 left, 1 right, 0 neither
  int y = 0;  ///< -1 the upper one, 1 the lower one
  friend bool operator==(const Grip&, const Grip&) = default;
};

/// Follows a pointer with one button. All points are pixels of the output. Edges come to lie between pixels
/// of the picture, and boxes within it.
///
/// On a handle or an edge of a box, dragging resizes it; inside the selected box, it moves it; elsewhere,
/// also inside other boxes, it draws a new one. A click selects the smallest box under it, or none.
/// Thread-safety: as Session.
class PointerTool {
 public:
  static constexpr double kReach = 6;     ///< distance within which an edge is hit
  static constexpr double kDragFrom = 3;  ///< less is a click
  static constexpr double kSmallest = 2;  ///< pixels of the picture that a new box has on both sides

  PointerTool(Session& session, Viewport& viewport) : session_(session), viewport_(viewport) {}

  /// @param draws  draw a new box, whatever is there
  void press(Point at, bool draws);
  void move(Point at);
  void release(Point at);
  /// Leaves all as it was before `press`.
  void cancel();
  bool is_dragging() const { return state_ == State::dragging; }
  bool is_pressed() const { return state_ != State::idle; }

  /// Grip that a press there would take; the current grip while one is held.
  Grip grip_at(Point at) const;

 private:
  enum class State { idle, pressed, dragging };

  void begin();
  void follow(Point at);
  Point snapped(Point output) const;

  Session& session_;
  Viewport& viewport_;
  State state_ = State::idle;
  Grip grip_;
  Point start_;  // position of the press
  Box box_;      // the held one's, at the press
};

}  // namespace sightline::labelling
