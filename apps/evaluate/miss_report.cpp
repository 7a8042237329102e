#include "apps/evaluate/miss_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "base/text.hpp"
#include "evaluation/report.hpp"
#include "drawing/canvas.hpp"

namespace sightline::apps {
namespace {

constexpr std::size_t kTiles = 48;  ///< of a sheet
constexpr int kColumns = 12;
constexpr double kTileWidth = 150, kTileHeight = 250, kCaption = 38;  ///< pixels
constexpr double kHead = 58;                                          ///< pixels of title and legend
constexpr int kFewestColumns = 4;                                     ///< as wide as the legend
constexpr double kAround = 0.35;  ///< of the object's height, on each side of what is shown

constexpr Color kMarked{0.35, 0.85, 0.45, 1};
constexpr Color kFound{0.95, 0.35, 0.3, 1};

// Less comes first: the least covered, then the highest.
auto rank(const ExaminedObject& object) {
  return std::tuple(object.cover_class(), -object.box.height);
}

}  // namespace

void MissReport::add(const Frame& frame, const std::string& name, std::span<const Detection> detections,
                     std::span<const Detection> windows, std::span<const TruthBox> truth) {
  const std::vector<ExaminedObject> objects =
      examine_misses(detections, windows, truth, frame.size(), options_);
  objects_.insert(objects_.end(), objects.begin(), objects.end());
  if (!with_pictures_) return;
  const auto is_missed = [](const ExaminedObject& object) { return !object.found; };
  if (std::none_of(objects.begin(), objects.end(), is_missed)) return;
  const Image<std::uint8_t> luma = to_gray(frame);
  for (const ExaminedObject& object : objects) {
    if (is_missed(object)) keep(name, luma.view(), object, truth);
  }
}

void MissReport::keep(const std::string& name, GrayView luma, const ExaminedObject& object,
                      std::span<const TruthBox> truth) {
  if (worst_.size() == kTiles && rank(object) >= rank(worst_.back().object)) return;
  const double height = object.box.height * (1 + 2 * kAround);
  const double width = height * kTileWidth / kTileHeight;
  const auto inside = [](double at, int end) {
    return std::clamp(static_cast<int>(std::lround(at)), 0, end);
  };
  const double middle = object.box.x + object.box.width / 2, top = object.box.y - kAround * object.box.height;
  const int x0 = inside(middle - width / 2, luma.width()), x1 = inside(middle + width / 2, luma.width());
  const int y0 = inside(top, luma.height()), y1 = inside(top + height, luma.height());
  if (x1 <= x0 || y1 <= y0) return;
  Tile tile{object, name, {}, 0, 0, {}};
  tile.x = x0;
  tile.y = y0;
  tile.pixels.resize(x1 - x0, y1 - y0);
  for (int y = y0; y < y1; ++y) std::copy_n(luma.row(y) + x0, x1 - x0, tile.pixels.view().row(y - y0));
  const Box shown{tile.x, tile.y, static_cast<double>(x1 - x0), static_cast<double>(y1 - y0)};
  for (const TruthBox& other : truth) {
    if (!other.ignore && intersection_area(other.box, shown) > 0) tile.marked.push_back(other.box);
  }
  const auto before = [](const Tile& a, const Tile& b) { return rank(a.object) < rank(b.object); };
  worst_.insert(std::upper_bound(worst_.begin(), worst_.end(), tile, before), std::move(tile));
  if (worst_.size() > kTiles) worst_.pop_back();
}

std::string MissReport::text() const {
  std::string text = fmt::format("{:<26}{:>8}{:>9}", "", "objects", "missed");
  for (const MissCause cause : kMissCauses) text += fmt::format("{:>12}", to_string(cause));
  text += '\n';
  for (const MissCount& one : count_misses(objects_)) {
    const auto share = [&](std::int64_t count) {
      return percent(static_cast<double>(count) / static_cast<double>(one.objects));
    };
    text += fmt::format("{:<26}{:>8}{:>9}", one.kind, one.objects, share(one.missed_in_all()));
    for (const std::int64_t count : one.missed)
      text += fmt::format("{:>12}", count == 0 ? "-" : share(count));
    text += '\n';
  }
  return text;
}

void MissReport::write_sheet(const std::string& file) const {
  const auto count = static_cast<int>(worst_.size());
  const int columns = std::clamp(count, kFewestColumns, kColumns);
  const int rows = std::max(1, (count + kColumns - 1) / kColumns);
  Canvas canvas(static_cast<int>(columns * kTileWidth),
                static_cast<int>(kHead + rows * (kTileHeight + kCaption)), kSheetPaper);
  const auto missed =
      std::count_if(objects_.begin(), objects_.end(), [](const auto& one) { return !one.found; });
  canvas.text(4, 22, fmt::format("The worst {} of {} missed objects", count, missed), 17, kSheetInk,
              Align::left, FontWeight::bold);
  double pen = 4;
  const auto explain = [&](const Color& color, double line, const std::string& meaning) {
    canvas.stroke_rectangle(pen + 2, 36, 14, 14, color, line);
    canvas.text(pen + 23, 48, meaning, 13, kSheetInk);
    pen += 40 + canvas.text_width(meaning, 13);
  };
  explain(kMarked, 3, "missed object");
  explain(kMarked, 1, "other marked objects");
  explain(kFound, 2, "nearest window, with its score");
  for (int i = 0; i < count; ++i) {
    const Tile& tile = worst_[static_cast<std::size_t>(i)];
    const double left = i % kColumns * kTileWidth, top = kHead + i / kColumns * (kTileHeight + kCaption);
    const double zoom = std::min((kTileWidth - 4) / tile.pixels.width(), kTileHeight / tile.pixels.height());
    const double width = tile.pixels.width() * zoom, height = tile.pixels.height() * zoom;
    canvas.draw(tile.pixels.view(), left, top, width, height);
    const auto outline = [&](const Box& box, const Color& color, double line) {
      const Box part = clipped({box.x - tile.x, box.y - tile.y, box.width, box.height},
                               {tile.pixels.width(), tile.pixels.height()});
      canvas.stroke_rectangle(left + part.x * zoom, top + part.y * zoom, part.width * zoom,
                              part.height * zoom, color, line);
    };
    for (const Box& box : tile.marked) outline(box, kMarked, 1);
    outline(tile.object.box, kMarked, 3);
    if (tile.object.nearest) outline(tile.object.nearest->box, kFound, 2);
    const std::string score = tile.object.nearest ? fmt::format(" {:.2f}", tile.object.nearest->score) : "";
    canvas.text(left + 2, top + kTileHeight + 14,
                fmt::format("{}{}, {:.0f} px", to_string(tile.object.cause), score, tile.object.box.height),
                12, kSheetInk);
    canvas.text(left + 2, top + kTileHeight + 30, std::filesystem::path(tile.name).stem().string(), 11,
                kSheetInk);
  }
  canvas.write_png(file);
}

}  // namespace sightline::apps
