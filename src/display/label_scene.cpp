// The window for marking: boxes with handles, classes, where one is.
#include <algorithm>
#include <cmath>

#include "display/box_painter.hpp"
#include "display/label_keys.hpp"
#include "display/label_overlay.hpp"
#include "display/panel_painter.hpp"
#include "media/annotate.hpp"

namespace sightline::display {
namespace {

constexpr Ink kChosen{255, 255, 255, 36};
constexpr Ink kHandle{255, 255, 255, 255};
constexpr Ink kDark{0, 0, 0, 200};

class Labels : private PanelPainter {
 public:
  Labels(Scene& scene, TextCache& text, const LabelOverlay& overlay, Size output, double density)
      : PanelPainter(scene, text, output, density),
        overlay_(overlay),
        boxes_(scene, text, {0, 0, output.width, output.height}, output.height, density) {}

  std::vector<Rect> add() {
    // Large boxes first, so that small ones inside them stay in sight.
    std::vector<const LabelBox*> order;
    for (const LabelBox& box : overlay_.boxes) order.push_back(&box);
    std::stable_sort(order.begin(), order.end(), [](const LabelBox* a, const LabelBox* b) {
      return a->selected != b->selected ? b->selected : a->box.area() > b->box.area();
    });
    for (const LabelBox* box : order) draw(*box);
    crosshair();
    if (output_.width < 4 * margin_ + em_ || output_.height < 2 * margin_ + row_) return {};
    int bottom = margin_;
    if (overlay_.panels) bottom = where();
    std::vector<Rect> rows;
    if (overlay_.panels) rows = classes(bottom);
    state();
    below();
    if (!overlay_.hint.empty()) hint();
    if (overlay_.help) help(label_help_lines());
    return rows;
  }

  int panels_width() const { return panel_width() + margin_; }

 private:
  void draw(const LabelBox& one) {
    if (!is_drawable(one.box)) return;
    const int left = to_pixel(one.box.x), top = to_pixel(one.box.y);
    const Rect box{left, top, std::max(1, to_pixel(one.box.x + one.box.width) - left),
                   std::max(1, to_pixel(one.box.y + one.box.height) - top)};
    Ink ink = ink_of(media::label_color(one.color));
    if (one.ignored) ink = {168, 172, 178, 255};
    const int t = boxes_.thickness();
    if (one.selected) {
      boxes_.fill(box, {ink.red, ink.green, ink.blue, 30});
      boxes_.outline({box.x - t, box.y - t, box.width + 2 * t, box.height + 2 * t}, kHandle);
    }
    if (one.proposed || one.ignored) {
      boxes_.dashes(box, ink);
    } else {
      boxes_.outline(box, ink);
    }
    const Rect outer{box.x - 2 * t, box.y - 2 * t, box.width + 4 * t, box.height + 4 * t};
    if (!one.caption.empty())
      boxes_.tag(one.caption, boxes_.place_tag(one.caption, one.selected ? outer : box), ink);
    if (one.selected) handles(box);
  }

  void handles(const Rect& box) {
    const int side = std::max(7, em_ / 2 | 1), half = side / 2;
    const int middle_x = box.x + box.width / 2, middle_y = box.y + box.height / 2;
    for (const int x : {box.x, middle_x, box.right()})
      for (const int y : {box.y, middle_y, box.bottom()}) {
        if (x == middle_x && y == middle_y) continue;
        // Short sides have only corner handles.
        if (x == middle_x && box.width < 5 * side) continue;
        if (y == middle_y && box.height < 5 * side) continue;
        boxes_.fill({x - half - 1, y - half - 1, side + 2, side + 2}, kDark);
        boxes_.fill({x - half, y - half, side, side}, kHandle);
      }
  }

  void crosshair() {
    if (!overlay_.crosshair) return;
    const int x = overlay_.crosshair->x, y = overlay_.crosshair->y;
    for (const auto& [shift, ink] : {std::pair{1, Ink{0, 0, 0, 90}}, {0, Ink{255, 255, 255, 150}}}) {
      fill({x + shift, 0, 1, output_.height}, ink);
      fill({0, y + shift, output_.width, 1}, ink);
    }
  }

  int panel_width() const { return std::min(output_.width - 2 * margin_, 20 * em_); }

  // Panel with the picture's name and number. Returns its end.
  int where() {
    const int width = panel_width(), inner = width - 2 * padding_;
    const bool has_selection = !overlay_.selection.empty();
    const int rows = 3 + has_selection;
    const Rect area{margin_, margin_, width, rows * row_ + padding_};
    if (area.bottom() > output_.height - margin_) return margin_;
    panel(area);
    const int left = area.x + padding_, right = area.right() - padding_;
    int y = area.y + padding_ / 2;
    words(left, y, overlay_.name, kBright, inner, true);
    y += row_;
    const int mark =
        words(left, y, overlay_.seen ? "\u25CF " : "\u25CB ", overlay_.seen ? kGood : kDim, inner);
    words(left + mark, y, overlay_.seen ? "seen" : "not yet seen", overlay_.seen ? kBright : kDim, inner / 2);
    words_right(right, y, overlay_.position, kBright, inner / 2);
    y += row_;
    const int done = words_right(right, y, overlay_.progress, kDim, inner);
    words(left, y, overlay_.details, kDim, inner - done - em_);
    y += row_;
    if (has_selection) words(left, y, overlay_.selection, kBright, inner);
    return area.bottom() + margin_ / 2;
  }

  std::vector<Rect> classes(int top) {
    std::vector<Rect> rows;
    const int room = (output_.height - margin_ - pill_height() - top - padding_) / row_;
    const int count = std::min(static_cast<int>(overlay_.classes.size()), room);
    if (count <= 0) return rows;
    const int width = panel_width();
    panel({margin_, top, width, count * row_ + padding_});
    const int swatch = em_ * 3 / 4, key_width = text_.width("0", font()) + em_ / 2;
    for (int i = 0; i < count; ++i) {
      const LabelClass& one = overlay_.classes[static_cast<std::size_t>(i)];
      const Rect row{margin_, top + padding_ / 2 + i * row_, width, row_};
      rows.push_back(row);
      if (one.chosen) fill({row.x + padding_ / 2, row.y, row.width - padding_, row.height}, kChosen);
      const int left = row.x + padding_, right = row.right() - padding_;
      rounded({left, row.y + (row_ - swatch) / 2, swatch, swatch}, ink_of(media::label_color(i)), em_ / 5);
      words(left + swatch + em_ / 2, row.y, one.key, kDim, key_width);
      const int name = left + swatch + em_ / 2 + key_width;
      const int number =
          one.count > 0 ? words_right(right, row.y, std::to_string(one.count), kDim, 4 * em_) : 0;
      words(name, row.y, one.name, one.chosen ? kBright : kDim, right - name - number - em_ / 2, one.chosen);
    }
    return rows;
  }

  void state() {
    if (overlay_.state.empty()) return;
    const std::vector<Part> parts{{"\u25CF ", ink_of(overlay_.state_kind)}, {overlay_.state, kBright}};
    const int beside = overlay_.panels ? panel_width() + margin_ : 0;
    const int room = output_.width - 2 * margin_ - (beside < output_.width / 2 ? beside : 0);
    const int width = std::min(room, width_of(parts) + 2 * padding_);
    // Under the panels where there is no room beside them.
    const int y = beside < output_.width / 2 ? margin_ : output_.height - 2 * (margin_ + pill_height());
    pill(output_.width - margin_ - width, y, width, parts);
  }

  void below() {
    std::vector<Part> parts;
    if (overlay_.typing) {
      parts = {{"new class: ", kDim},
               {*overlay_.typing, kBright, true},
               {"\u258F", kWaiting},
               {"  Enter: accept, Esc: cancel", kDim}};
    } else if (!overlay_.message.empty()) {
      parts = {{overlay_.message, kBright}};
    }
    const int y = output_.height - margin_ - pill_height();
    const std::vector<Part> keys{{"h", kBright, true}, {"  all keys", kDim}};
    if (overlay_.panels && !overlay_.typing) pill(margin_, y, width_of(keys) + 2 * padding_, keys);
    if (parts.empty()) return;
    const int width = std::min(output_.width - 2 * margin_, width_of(parts) + 2 * padding_);
    pill((output_.width - width) / 2, y, width, parts);
  }

  void hint() {
    const std::vector<Part> parts{{overlay_.hint, kBright}};
    const int width = std::min(output_.width - 2 * margin_, width_of(parts) + 2 * padding_);
    pill((output_.width - width) / 2, (output_.height - pill_height()) / 2, width, parts);
  }

  const LabelOverlay& overlay_;
  BoxPainter boxes_;
};

}  // namespace

int label_panels_width(Size output, double density) {
  Scene scene;
  TextCache text;
  const LabelOverlay nothing;
  const int width = Labels(scene, text, nothing, output, density).panels_width();
  return width < output.width / 3 ? width : 0;
}

std::vector<Rect> add_labels(Scene& scene, TextCache& text, const LabelOverlay& overlay, Size output,
                             double density) {
  return Labels(scene, text, overlay, output, density).add();
}

}  // namespace sightline::display
