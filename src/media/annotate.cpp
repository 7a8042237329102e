#include "media/annotate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "media/caption_places.hpp"

namespace sightline::media {
namespace {

struct Yuv {
  std::uint8_t y, u, v;
};

struct Rect {
  int left, top, right, bottom;  // the last two exclusive
  bool empty() const { return left >= right || top >= bottom; }
};

Rect clip(const Rect& r, int width, int height) {
  return {std::clamp(r.left, 0, width), std::clamp(r.top, 0, height), std::clamp(r.right, 0, width),
          std::clamp(r.bottom, 0, height)};
}

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

double brightness(const Color& c, bool bt709) {
  return bt709 ? 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue
               : 0.299 * c.red + 0.587 * c.green + 0.114 * c.blue;
}

// ITU-R BT.601 and BT.709: luma as a weighted sum, chroma as scaled differences to it.
Yuv to_yuv(const Color& c, const Yuv420View& picture) {
  const double y = brightness(c, picture.bt709);
  const double u = (c.blue - y) / (picture.bt709 ? 1.8556 : 1.772);
  const double v = (c.red - y) / (picture.bt709 ? 1.5748 : 1.402);
  if (picture.range == LumaRange::full)
    return {to_byte(255 * y), to_byte(128 + 255 * u), to_byte(128 + 255 * v)};
  return {to_byte(16 + 219 * y), to_byte(128 + 224 * u), to_byte(128 + 224 * v)};
}

void fill_plane(const ImageView<std::uint8_t>& plane, const Rect& r, std::uint8_t value) {
  for (int y = r.top; y < r.bottom; ++y)
    std::memset(plane.row(y) + r.left, value, static_cast<std::size_t>(r.right - r.left));
}

void fill(const Yuv420View& picture, const Rect& rect, const Yuv& color) {
  const Rect r = clip(rect, picture.y.width(), picture.y.height());
  if (r.empty()) return;
  fill_plane(picture.y, r, color.y);
  // Every chroma sample that the rectangle touches: a line's colour matters more than half a pixel beside it.
  const Rect half = clip({r.left / 2, r.top / 2, (r.right + 1) / 2, (r.bottom + 1) / 2}, picture.u.width(),
                         picture.u.height());
  fill_plane(picture.u, half, color.u);
  fill_plane(picture.v, half, color.v);
}

void darken(const Yuv420View& picture, const Rect& rect, std::uint8_t black) {
  const Rect r = clip(rect, picture.y.width(), picture.y.height());
  for (int y = r.top; y < r.bottom; ++y) {
    std::uint8_t* row = picture.y.row(y);
    for (int x = r.left; x < r.right; ++x) row[x] = static_cast<std::uint8_t>((row[x] + black + 1) / 2);
  }
}

// Calls paint for the four sides of a frame that is `thickness` wide, inwards from `r`.
template <typename Paint>
void outline(const Rect& r, int thickness, Paint paint) {
  const int across = std::min(thickness, (r.bottom - r.top + 1) / 2),
            down = std::min(thickness, (r.right - r.left + 1) / 2);
  paint(Rect{r.left, r.top, r.right, r.top + across});
  paint(Rect{r.left, r.bottom - across, r.right, r.bottom});
  paint(Rect{r.left, r.top + across, r.left + down, r.bottom - across});
  paint(Rect{r.right - down, r.top + across, r.right, r.bottom - across});
}

void blend(const Yuv420View& picture, const TextMask& mask, int x, int y, const Yuv& ink) {
  const auto coverage = mask.coverage.view();
  const int left = x + mask.left, top = y + mask.top;
  const int y_from = std::max(0, -top), y_to = std::min(coverage.height(), picture.y.height() - top);
  const int x_from = std::max(0, -left), x_to = std::min(coverage.width(), picture.y.width() - left);
  for (int row = y_from; row < y_to; ++row) {
    const std::uint8_t* cover = coverage.row(row);
    std::uint8_t* out = picture.y.row(top + row) + left;
    for (int i = x_from; i < x_to; ++i)
      out[i] = static_cast<std::uint8_t>((out[i] * (255 - cover[i]) + ink.y * cover[i] + 127) / 255);
  }
  // Ink is black or white, without colour: the tag's is taken back under the letters, by the mean coverage of
  // the four pixels that share a chroma sample.
  const auto at = [&](int column, int row) -> int {
    return column < x_from || column >= x_to || row < y_from || row >= y_to ? 0 : coverage.at(column, row);
  };
  if (x_from >= x_to || y_from >= y_to) return;
  for (int cy = (top + y_from) / 2; cy <= (top + y_to - 1) / 2; ++cy)
    for (int cx = (left + x_from) / 2; cx <= (left + x_to - 1) / 2; ++cx) {
      const int column = 2 * cx - left, row = 2 * cy - top;
      const int cover = at(column, row) + at(column + 1, row) + at(column, row + 1) + at(column + 1, row + 1);
      for (const auto* plane : {&picture.u, &picture.v}) {
        std::uint8_t& value = plane->at(cx, cy);
        value = static_cast<std::uint8_t>((value * (1020 - cover) + 128 * cover + 510) / 1020);
      }
    }
}

// Rounded to pixels; far beyond any picture is as good as where it was.
int to_pixel(double value) {
  return static_cast<int>(std::lround(std::clamp(value, -1e6, 1e6)));
}

std::string score_text(double score) {
  if (!std::isfinite(score)) return "";
  char text[32];
  std::snprintf(text, sizeof text, std::fabs(score) < 1e6 ? "%.2f" : "%.3g", score);
  return text;
}

// The object's own name or, where it has none, its label's.
const std::string& name_of(const Detection& object, std::span<const std::string> labels) {
  static const std::string none;
  if (const std::string& name = object.attributes.name(); !name.empty()) return name;
  const auto label = static_cast<std::size_t>(object.label);
  return object.label < 0 || label >= labels.size() ? none : labels[label];
}

std::string label_text(const Detection& object, std::span<const std::string> labels) {
  // A tag is no place for prose; cut between characters.
  constexpr std::size_t longest = 80;
  const std::string& label = name_of(object, labels);
  if (label.size() <= longest) return label;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xC0) == 0x80) --end;
  return label.substr(0, end) + "\u2026";
}

// Text after the name: the distance to whom it was recognised as; else the track ("#9"); else the confidence
// ("93%") or, of models that are not calibrated, the score.
std::string number_text(const Detection& object) {
  if (object.attributes && object.attributes->distance) return score_text(*object.attributes->distance);
  if (object.track > 0) return "#" + std::to_string(object.track);
  if (object.confidence) return std::to_string(std::min(std::lround(100 * *object.confidence), 99L)) + "%";
  return score_text(object.score);
}

bool is_unknown(const Detection& object) {
  return object.attributes.name() == kUnknownName;
}

}  // namespace

Color label_color(int label) {
  // Light enough for dark text, far apart in hue; neighbours in the list differ most.
  static constexpr std::array<std::uint32_t, 10> palette = {0x3DDC84, 0xFFB000, 0x4FC3F7, 0xFF6E6E, 0xD9A7FF,
                                                            0xF4E04D, 0x2DD4BF, 0xFF8AC4, 0xA3E635, 0xFFA07A};
  const std::uint32_t c = palette[static_cast<std::size_t>(label < 0 ? 0 : label) % palette.size()];
  return {(c >> 16 & 255) / 255.0, (c >> 8 & 255) / 255.0, (c & 255) / 255.0, 1};
}

Color color_of(const Detection& object) {
  if (is_unknown(object)) return {0.78, 0.8, 0.84, 1};  // without label and track
  return label_color(static_cast<int>(object.track > 0 ? object.track % 10 : object.label));
}

std::string caption_of(const Detection& object, std::span<const std::string> labels) {
  const std::string label = label_text(object, labels), rest = number_text(object);
  if (object.track > 0 && may_shorten_caption(object, labels)) return rest;
  return label.empty() || rest.empty() ? label + rest : label + " " + rest;
}

std::string short_caption_of(const Detection& object, std::span<const std::string> labels) {
  const std::string number = number_text(object);
  return number.empty() ? label_text(object, labels) : number;
}

bool may_shorten_caption(const Detection& object, std::span<const std::string> labels) {
  return labels.size() == 1 && object.attributes.name().empty();
}

const TextMask& Annotator::mask_of(const std::string& text, int size) {
  // Labels and single digits: bounded unless labels are; the bound is for those.
  if (masks_.size() > 1024) masks_.clear();
  const auto [entry, is_new] = masks_.try_emplace({text, size});
  if (is_new) entry->second = make_text_mask(text, size);
  return entry->second;
}

void Annotator::draw(const Yuv420View& picture, std::span<const Detection> objects,
                     std::span<const std::string> labels) {
  const int width = picture.y.width(), height = picture.y.height();
  const int thickness = height < 120 ? 1 : std::max(2, static_cast<int>(std::lround(height / 400.0)));
  const int text_size = std::clamp(static_cast<int>(std::lround(height / 54.0)), 11, 72);
  const int padding = std::max(2, text_size / 4);
  const int ascent =
      static_cast<int>(std::lround(text_size * 0.76));  // height of capitals and digits in DejaVu Sans
  const int tag_height = text_size + padding;
  const auto black = static_cast<std::uint8_t>(picture.range == LumaRange::full ? 0 : 16);

  struct Drawn {
    Rect box;
    Color color;
    std::vector<std::string> caption;  // one after the other
    CaptionPlaces::Area tag;
  };
  std::vector<Drawn> drawn;
  CaptionPlaces places({0, 0, width, height});
  for (const Detection& object : objects) {
    const Box& b = object.box;
    if (!std::isfinite(b.x) || !std::isfinite(b.y) || !std::isfinite(b.width) || !std::isfinite(b.height))
      continue;
    if (b.width <= 0 || b.height <= 0) continue;
    const Rect box{to_pixel(b.x), to_pixel(b.y), std::max(to_pixel(b.x + b.width), to_pixel(b.x) + 1),
                   std::max(to_pixel(b.y + b.height), to_pixel(b.y) + 1)};
    if (clip(box, width, height).empty()) continue;

    // Numbers are composed of digits, so that the cache does not grow with new numbers.
    std::vector<std::string> parts;
    const auto append = [&](const std::string& number) {
      for (const char c : number) parts.emplace_back(1, c);
    };
    const bool is_track_alone = object.track > 0 && may_shorten_caption(object, labels);
    const std::string label = label_text(object, labels);
    if (!label.empty() && !is_track_alone) parts = {label, " "};
    append(number_text(object));
    const auto width_of_tag = [&] {
      double text_width = 0;
      for (const std::string& part : parts) text_width += mask_of(part, text_size).advance;
      return static_cast<int>(std::ceil(text_width)) + 2 * padding;
    };
    int tag_width = width_of_tag();
    // Small boxes side by side: their tags would hide each other to repeat the only name there is.
    if (may_shorten_caption(object, labels) && parts.size() > 2 && tag_width > 1.3 * b.width) {
      parts.clear();
      append(short_caption_of(object, labels));
      tag_width = width_of_tag();
    }
    Drawn& one = drawn.emplace_back(Drawn{box, color_of(object), std::move(parts), {}});
    if (!one.caption.empty())
      one.tag = places.next({box.left, box.top, box.right, box.bottom}, {tag_width, tag_height});
  }

  // From the least to the surest, so that the surest is on top; captions above all boxes.
  for (std::size_t i = drawn.size(); i-- > 0;) {
    const Rect& box = drawn[i].box;
    const Yuv yuv = to_yuv(drawn[i].color, picture);
    // A dark hairline around, so that the outline shows on a ground of its own colour.
    outline({box.left - 1, box.top - 1, box.right + 1, box.bottom + 1}, 1,
            [&](const Rect& side) { darken(picture, side, black); });
    outline(box, thickness, [&](const Rect& side) { fill(picture, side, yuv); });
  }
  for (std::size_t i = drawn.size(); i-- > 0;) {
    const auto& [box, color, caption, tag] = drawn[i];
    if (caption.empty() || tag.empty()) continue;
    fill(picture, {tag.left, tag.top, tag.right, tag.bottom}, to_yuv(color, picture));
    const bool dark_ink = brightness(color, picture.bt709) > 0.45;
    const Yuv ink = to_yuv(dark_ink ? Color{0.06, 0.06, 0.06, 1} : Color{1, 1, 1, 1}, picture);
    double pen = tag.left + padding;
    const int baseline = tag.top + (tag_height + ascent) / 2;
    for (const std::string& part : caption) {
      const TextMask& mask = mask_of(part, text_size);
      blend(picture, mask, static_cast<int>(std::lround(pen)), baseline, ink);
      pen += mask.advance;
    }
  }
}

}  // namespace sightline::media
