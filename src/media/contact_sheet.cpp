#include "media/contact_sheet.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "drawing/canvas.hpp"
#include "media/fit.hpp"

namespace sightline::media {
namespace {

constexpr Color kFaint{0.58, 0.61, 0.66, 1};

struct Tile {
  std::string name;  // picture name
  std::int64_t number = 0;
  double time = 0;
  std::size_t objects = 0;
  std::vector<std::uint8_t> rgb;
};

std::string clock(double seconds) {
  const long long hundredths = std::llround(std::max(seconds, 0.0) * 100);
  const long long minutes = hundredths / 6000;
  char text[48];
  if (minutes >= 60)
    std::snprintf(text, sizeof text, "%lld:%02lld:%05.2f", minutes / 60, minutes % 60,
                  static_cast<double>(hundredths % 6000) / 100);
  else
    std::snprintf(text, sizeof text, "%lld:%05.2f", minutes, static_cast<double>(hundredths % 6000) / 100);
  return text;
}

std::string count_text(std::size_t n) {
  return n == 0 ? "no objects" : counted(static_cast<std::int64_t>(n), "object");
}

// Cut in the middle, where names of files differ least.
std::string shorten(const Canvas& canvas, const std::string& text, double size, double width) {
  if (canvas.text_width(text, size, FontWeight::bold) <= width) return text;
  for (std::size_t keep = text.size() - 1; keep > 2; --keep) {
    const auto starts_character = [&](std::size_t at) {
      return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    };
    std::size_t head = keep / 2, tail = text.size() - (keep - head);
    while (head > 0 && !starts_character(head)) --head;
    while (tail < text.size() && !starts_character(tail)) ++tail;
    const std::string cut = text.substr(0, head) + "\u2026" + text.substr(tail);
    if (canvas.text_width(cut, size, FontWeight::bold) <= width) return cut;
  }
  return "";
}

// Index of the tile with the most objects of some, the first one of several.
std::size_t fullest(const std::vector<Tile>& tiles, std::size_t begin, std::size_t end) {
  std::size_t best = begin;
  for (std::size_t i = begin + 1; i < end; ++i)
    if (tiles[i].objects > tiles[best].objects) best = i;
  return best;
}

}  // namespace

struct ContactSheet::Impl {
  std::size_t count;
  int tile_width;
  std::int64_t offered = 0;
  std::int64_t step = 1;
  std::vector<Tile> tiles;
  Size tile;
  std::optional<FittedPicture> fitted;
  Scaler scaler;
  Annotator annotator;

  void start(const Frame& first) {
    const double proportion = static_cast<double>(first.size().height) / first.size().width;
    tile.width = tile_width / 2 * 2;
    tile.height =
        std::clamp(static_cast<int>(std::lround(tile.width * proportion / 2)) * 2, 16, 2 * tile.width);
    fitted.emplace(tile, ColorTags{});
  }

  Tile shrink(const Frame& frame, std::span<const Detection> objects, std::span<const std::string> labels) {
    fitted->put(frame);
    std::vector<Detection> mapped(objects.begin(), objects.end());
    for (Detection& object : mapped) object.box = fitted->map(object.box);
    annotator.draw(fitted->view(), mapped, labels);
    FramePtr rgb = make_picture(AV_PIX_FMT_RGB24, tile.width, tile.height);
    rgb->color_range = AVCOL_RANGE_JPEG;
    scaler.convert(fitted->picture(), *rgb);
    const std::size_t row = static_cast<std::size_t>(tile.width) * 3;
    Tile result{frame.name(), frame.number(), frame.time(), objects.size(), {}};
    for (int y = 0; y < tile.height; ++y) {
      const std::uint8_t* from = rgb->data[0] + static_cast<std::ptrdiff_t>(y) * rgb->linesize[0];
      result.rgb.insert(result.rgb.end(), from, from + row);
    }
    return result;
  }
};

ContactSheet::ContactSheet(int count, int tile_width) : impl_(std::make_unique<Impl>()) {
  if (count < 1 || count > kMaxCount)
    throw Error(ExitCode::usage, "a contact sheet holds 1 to " + std::to_string(kMaxCount) + " pictures");
  if (tile_width < 64 || tile_width > 1920)
    throw Error(ExitCode::usage, "a contact sheet's pictures are 64 to 1920 pixels wide");
  impl_->count = static_cast<std::size_t>(count);
  impl_->tile_width = tile_width;
}

ContactSheet::~ContactSheet() = default;
ContactSheet::ContactSheet(ContactSheet&&) noexcept = default;
ContactSheet& ContactSheet::operator=(ContactSheet&&) noexcept = default;

std::int64_t ContactSheet::offered() const {
  return impl_->offered;
}

void ContactSheet::add(const Frame& frame, std::span<const Detection> objects,
                       std::span<const std::string> labels) {
  Impl& self = *impl_;
  if (frame.empty()) return;
  const bool begins_span = self.offered++ % self.step == 0;
  if (!begins_span && objects.size() <= self.tiles.back().objects) return;
  if (!self.fitted) self.start(frame);
  Tile tile = self.shrink(frame, objects, labels);
  if (begins_span) {
    self.tiles.push_back(std::move(tile));
  } else {
    self.tiles.back() = std::move(tile);
  }
  if (!begins_span || self.tiles.size() < 2 * self.count) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < self.tiles.size(); i += 2, ++kept) {
    const std::size_t better = fullest(self.tiles, i, std::min(i + 2, self.tiles.size()));
    if (kept != better) self.tiles[kept] = std::move(self.tiles[better]);
  }
  self.tiles.resize(kept);
  self.step *= 2;
}

std::string ContactSheet::png(const std::string& title) const {
  const Impl& self = *impl_;
  if (self.tiles.empty()) throw Error(ExitCode::failed, "there is no frame to put on the contact sheet");
  const std::size_t shown = std::min(self.tiles.size(), self.count);
  const int columns = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(shown))));
  const int rows = (static_cast<int>(shown) + columns - 1) / columns;
  const double unit = std::max(self.tile.width / 35.0, 11.0);  // text size
  const int gap = static_cast<int>(unit * 1.25), caption = static_cast<int>(unit * 2.1),
            head = static_cast<int>(unit * 3.4);
  const int width = gap + columns * (self.tile.width + gap);
  const int height = head + rows * (self.tile.height + caption) + gap / 2;
  Canvas canvas(width, height, kSheetPaper);

  const std::string summary = counted(self.offered, self.tiles.front().name.empty() ? "frame" : "picture");
  const double title_room = width - 3 * gap - canvas.text_width(summary, unit);
  canvas.text(gap, head * 0.62, shorten(canvas, title, unit * 1.35, title_room), unit * 1.35, kSheetInk,
              Align::left, FontWeight::bold);
  canvas.text(width - gap, head * 0.62, summary, unit, kFaint, Align::right);

  for (std::size_t i = 0; i < shown; ++i) {
    const Tile& tile =
        self.tiles[fullest(self.tiles, i * self.tiles.size() / shown, (i + 1) * self.tiles.size() / shown)];
    const int x = gap + static_cast<int>(i) % columns * (self.tile.width + gap);
    const int y = head + static_cast<int>(i) / columns * (self.tile.height + caption);
    canvas.draw_rgb(tile.rgb.data(), self.tile, x, y, self.tile.width, self.tile.height);
    const double baseline = y + self.tile.height + unit * 1.4;
    const std::string count = count_text(tile.objects);
    if (!tile.name.empty()) {
      const double room = self.tile.width - canvas.text_width(count, unit) - unit;
      canvas.text(x, baseline, shorten(canvas, tile.name, unit, room), unit, kSheetInk);
      canvas.text(x + self.tile.width, baseline, count, unit, kFaint, Align::right);
      continue;
    }
    canvas.text(x, baseline, "frame " + std::to_string(tile.number), unit, kSheetInk);
    if (self.tile.width > 20 * unit)
      canvas.text(x + self.tile.width / 2.0, baseline, count, unit, kFaint, Align::center);
    canvas.text(x + self.tile.width, baseline, clock(tile.time), unit, kFaint, Align::right);
  }
  return canvas.png();
}

void ContactSheet::write(const std::string& path, const std::string& title) const {
  write_whole(path, png(title), "contact sheet");
}

}  // namespace sightline::media
