#include "apps/label/label_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sightline::apps {
namespace {

using display::LabelOverlay;
using display::PointerShape;
using labelling::Grip;
using labelling::Mark;
using labelling::Session;
using labelling::Viewport;

void add_boxes(const Session& session, const Viewport& viewport, LabelOverlay& overlay) {
  const auto& marks = session.marks();
  const auto& classes = session.classes();
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const Box& box = marks[i].box;
    const auto first = viewport.to_output({box.x, box.y});
    const auto last = viewport.to_output({box.x + box.width, box.y + box.height});
    const std::string& name = classes[static_cast<std::size_t>(marks[i].label)].name;
    overlay.boxes.push_back({{first.x, first.y, last.x - first.x, last.y - first.y},
                             marks[i].proposed ? name + "?" : name,
                             marks[i].label,
                             session.selected() == i,
                             marks[i].proposed,
                             marks[i].ignore});
  }
}

void add_classes(const Session& session, LabelOverlay& overlay) {
  const auto& classes = session.classes();
  const auto selected = session.selected();
  const int chosen = selected ? session.marks()[*selected].label : session.current_class();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const int index = static_cast<int>(i);
    const auto count = std::ranges::count_if(
        session.marks(), [&](const Mark& mark) { return mark.label == index && !mark.proposed; });
    overlay.classes.push_back({i < 10 ? std::to_string((i + 1) % 10) : "", classes[i].name,
                               static_cast<int>(count), index == chosen});
  }
}

}  // namespace

LabelOverlay overlay_of(const Session& session, const Viewport& viewport) {
  LabelOverlay overlay;
  add_boxes(session, viewport, overlay);
  add_classes(session, overlay);
  if (const auto selected = session.selected()) {
    const Mark& mark = session.marks()[*selected];
    overlay.selection = fmt::format("{:.0f}, {:.0f}: {:.0f} x {:.0f}{}", mark.box.x, mark.box.y,
                                    mark.box.width, mark.box.height,
                                    mark.proposed ? ", proposed"
                                    : mark.ignore ? ", ignored"
                                                  : "");
  }
  if (!session.problem().empty()) overlay.hint = session.problem();
  return overlay;
}

display::PicturePart visible_part(const Viewport& viewport) {
  const Box part = viewport.visible();
  const auto first = viewport.to_output({part.x, part.y});
  const auto last = viewport.to_output({part.x + part.width, part.y + part.height});
  const int left = static_cast<int>(std::lround(first.x)), top = static_cast<int>(std::lround(first.y));
  return {.part = {static_cast<int>(part.x), static_cast<int>(part.y), static_cast<int>(part.width),
                   static_cast<int>(part.height)},
          .place = {left, top, static_cast<int>(std::lround(last.x)) - left,
                    static_cast<int>(std::lround(last.y)) - top}};
}

PointerShape shape_of(const Grip& grip) {
  if (grip.kind == Grip::Kind::none) return PointerShape::cross;
  if (grip.kind == Grip::Kind::body) return PointerShape::move;
  if (grip.x == 0) return PointerShape::down;
  if (grip.y == 0) return PointerShape::across;
  return grip.x == grip.y ? PointerShape::falling : PointerShape::rising;
}

}  // namespace sightline::apps
