#include "display/panel_painter.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::display {

PanelPainter::PanelPainter(Scene& scene, TextCache& text, Size output, double density)
    : scene_(scene), text_(text), output_(output), density_(density) {
  set_size(natural_size());
}

int PanelPainter::natural_size() const {
  const double natural = std::min(output_.height / 62.0, output_.width / 52.0);
  const bool is_tiny = output_.width < 320 * density_ || output_.height < 240 * density_;
  return static_cast<int>(std::lround(std::clamp(natural, (is_tiny ? 9 : 12) * density_, 40 * density_)));
}

void PanelPainter::set_size(int em) {
  em_ = em;
  row_ = em * 3 / 2;
  padding_ = std::max(3, em * 2 / 3);
  margin_ = std::max(2, em * 2 / 3);
}

void PanelPainter::fill(const Rect& rect, const Ink& ink) {
  if (const Rect r = intersection(rect, {0, 0, output_.width, output_.height}); !r.empty())
    scene_.push_back(Fill{r, ink});
}

void PanelPainter::rounded(const Rect& r, const Ink& ink, int radius) {
  radius = std::min({radius, r.height / 2, r.width / 2});
  for (int i = 0; i < radius; ++i) {
    const double up = radius - i - 0.5;
    const int inset = static_cast<int>(std::lround(radius - std::sqrt(radius * radius - up * up)));
    fill({r.x + inset, r.y + i, r.width - 2 * inset, 1}, ink);
    fill({r.x + inset, r.bottom() - 1 - i, r.width - 2 * inset, 1}, ink);
  }
  fill({r.x, r.y + radius, r.width, r.height - 2 * radius}, ink);
}

int PanelPainter::words(int x, int y, const std::string& what, const Ink& ink, int limit, bool bold) {
  std::string shown = text_.fit(what, font(bold), limit);
  if (shown.empty()) return 0;
  const int width = text_.width(shown, font(bold));
  const Rect room = intersection({x - 1, y, width + 2, row_}, {0, 0, output_.width, output_.height});
  const int ascent = static_cast<int>(std::lround(em_ * 0.73));
  scene_.push_back(Words{std::move(shown), font(bold), ink, x, y + (row_ + ascent) / 2, room});
  return width;
}

int PanelPainter::words_right(int right, int y, const std::string& what, const Ink& ink, int limit,
                              bool bold) {
  const std::string shown = text_.fit(what, font(bold), limit);
  const int width = text_.width(shown, font(bold));
  words(right - width, y, shown, ink, width, bold);
  return width;
}

int PanelPainter::width_of(const std::vector<Part>& parts) {
  int width = 0;
  for (const Part& part : parts) width += text_.width(part.text, font(part.bold));
  return width;
}

void PanelPainter::pill(int x, int y, int width, const std::vector<Part>& parts) {
  panel({x, y, width, row_ + padding_ / 2});
  int pen = x + padding_;
  for (const Part& part : parts)
    pen += words(pen, y + padding_ / 4, part.text, part.ink, x + width - padding_ - pen, part.bold);
}

void PanelPainter::help(std::span<const HelpLine> all) {
  const int rows = static_cast<int>(all.size()) + 1;
  // Smaller letters before lines are left out.
  while (em_ > 8 && (rows * row_ + 3 * padding_ > output_.height - 2 * margin_ ||
                     help_width(all) > output_.width - 2 * margin_))
    set_size(em_ - 1);
  const int count = std::min(rows, (output_.height - 2 * margin_ - 3 * padding_) / row_);
  if (count < 2) return;
  const int width = std::min(output_.width - 2 * margin_, help_width(all));
  const int height = count * row_ + 3 * padding_;
  const Rect area{(output_.width - width) / 2, (output_.height - height) / 2, width, height};
  panel(area, {13, 16, 20, 232});
  const int left = area.x + 2 * padding_, right = area.right() - 2 * padding_;
  int y = area.y + padding_;
  words(left, y, "Keys", kBright, right - left, true);
  y += row_;
  fill({left, y + padding_ / 2, right - left, 1}, kLine);
  y += padding_;
  for (int i = 0; i + 1 < count; ++i, y += row_) {
    const HelpLine& line = all[static_cast<std::size_t>(i)];
    words(left, y, std::string(line.keys), kBright, right - left, true);
    const int x = left + help_keys_width(all) + 2 * em_;
    words(x, y, std::string(line.text), kDim, right - x);
  }
}

int PanelPainter::help_keys_width(std::span<const HelpLine> all) {
  int width = 0;
  for (const HelpLine& line : all) width = std::max(width, text_.width(line.keys, font(true)));
  return width;
}

int PanelPainter::help_width(std::span<const HelpLine> all) {
  int width = 0;
  for (const HelpLine& line : all) width = std::max(width, text_.width(line.text, font()));
  return help_keys_width(all) + 2 * em_ + width + 4 * padding_;
}

}  // namespace sightline::display
