#include "labelling/pointer.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::labelling {
namespace {

// Edge at a coordinate: the nearer of two within reach, else 0.
int edge_of(double at, double low, double high) {
  const double to_low = std::abs(at - low), to_high = std::abs(at - high);
  if (std::min(to_low, to_high) > PointerTool::kReach) return 0;
  return to_low < to_high ? -1 : 1;
}

Box between(Point a, Point b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
}

}  // namespace

Grip PointerTool::grip_at(Point at) const {
  if (state_ == State::dragging) return grip_;
  const auto& marks = session_.marks();
  const auto on = [&](std::size_t i) -> Grip {
    const Box& box = marks[i].box;
    const Point first = viewport_.to_output({box.x, box.y});
    const Point last = viewport_.to_output({box.x + box.width, box.y + box.height});
    if (at.x < first.x - kReach || at.x > last.x + kReach || at.y < first.y - kReach ||
        at.y > last.y + kReach)
      return {};
    const int x = edge_of(at.x, first.x, last.x), y = edge_of(at.y, first.y, last.y);
    // A box so small that its edges' reach fills it: held by its middle, it moves.
    const bool is_middle = std::abs(at.x - (first.x + last.x) / 2) < (last.x - first.x) / 4 &&
                           std::abs(at.y - (first.y + last.y) / 2) < (last.y - first.y) / 4;
    if ((x == 0 && y == 0) || is_middle) return {Grip::Kind::body, i};
    return {Grip::Kind::edge, i, x, y};
  };
  // The selected one is on top; of the others' edges, the smallest box's.
  Grip found;
  if (const auto selected = session_.selected()) {
    found = on(*selected);
    if (found.kind != Grip::Kind::none) return found;
  }
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Grip grip = on(i);
    if (grip.kind != Grip::Kind::edge) continue;
    if (found.kind == Grip::Kind::none || marks[i].box.area() < marks[found.mark].box.area()) found = grip;
  }
  return found;
}

void PointerTool::press(Point at, bool draws) {
  if (!session_.problem().empty() || session_.size() == 0) return;
  cancel();
  grip_ = draws ? Grip{} : grip_at(at);
  start_ = at;
  state_ = State::pressed;
}

// The first movement that is no click's trembling.
void PointerTool::begin() {
  session_.begin_edit();
  state_ = State::dragging;
  if (grip_.kind == Grip::Kind::none) {
    const Point from = snapped(start_);
    session_.select(std::nullopt);
    session_.add({from.x, from.y, 0, 0});
    grip_ = {Grip::Kind::edge, session_.marks().size() - 1, 1, 1};
  }
  session_.select(grip_.mark);
  box_ = session_.marks()[grip_.mark].box;
}

void PointerTool::move(Point at) {
  if (state_ == State::pressed && std::hypot(at.x - start_.x, at.y - start_.y) >= kDragFrom) begin();
  if (state_ == State::dragging) follow(at);
}

void PointerTool::follow(Point at) {
  if (grip_.kind == Grip::Kind::body) {
    // Relative to the press, so that rounding errors do not accumulate.
    const Point from = viewport_.to_picture(start_), to = viewport_.to_picture(at);
    session_.set_box(grip_.mark, box_);
    session_.move_selected(std::round(to.x - from.x), std::round(to.y - from.y));
    return;
  }
  const Point to = snapped(at);
  Point moving{grip_.x < 0 ? box_.x : box_.x + box_.width, grip_.y < 0 ? box_.y : box_.y + box_.height};
  const Point fixed{grip_.x < 0 ? box_.x + box_.width : box_.x, grip_.y < 0 ? box_.y + box_.height : box_.y};
  if (grip_.x != 0) moving.x = to.x;
  if (grip_.y != 0) moving.y = to.y;
  session_.set_box(grip_.mark, between(fixed, moving));
}

void PointerTool::release(Point at) {
  if (state_ == State::pressed) {
    const Point point = viewport_.to_picture(start_);
    // An edge may be caught from outside.
    session_.select(grip_.kind == Grip::Kind::edge ? std::optional(grip_.mark)
                                                   : session_.mark_at(point.x, point.y));
  } else if (state_ == State::dragging) {
    follow(at);
    const Box& box = session_.marks()[grip_.mark].box;
    if (box.width < kSmallest || box.height < kSmallest) return cancel();
    session_.end_edit();
  }
  state_ = State::idle;
}

void PointerTool::cancel() {
  if (state_ == State::dragging) session_.cancel_edit();
  state_ = State::idle;
}

Point PointerTool::snapped(Point output) const {
  const Point at = viewport_.to_picture(output);
  const Size size = session_.picture_size();
  return {std::clamp(std::round(at.x), 0.0, static_cast<double>(size.width)),
          std::clamp(std::round(at.y), 0.0, static_cast<double>(size.height))};
}

}  // namespace sightline::labelling
