// The map of a picture's classes beside its legend.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "apps/texture/class_map.hpp"
#include "base/text.hpp"

namespace sightline::apps {
namespace {

constexpr std::int64_t kLongestSide = 1200;  // of the map, in pixels
constexpr std::int64_t kLargestCell = 48;
constexpr double kMapEdge = 24, kMapHeading = 62, kLegend = 300, kEntry = 46, kSwatch = 28;
constexpr Color kMapFaint{0.58, 0.61, 0.66, 1};

constexpr std::array<std::uint32_t, 12> kBaseColours{0x4E9AF1, 0xF2A541, 0x5BC489, 0xE4637C,
                                                     0xA98BEA, 0xF3DF63, 0x3FC1C9, 0xC98B5E,
                                                     0xF39BD1, 0xA8D84E, 0x8FA3BF, 0xE0D3B8};
constexpr std::array<double, 3> kShades{1, 0.72, 0.5};
static_assert(kBaseColours.size() * kShades.size() == texture::CellClassifier::kMostClasses);

// The map with a pixel a cell or a square of cells, which is of its most common class.
struct ReducedMap {
  std::int64_t columns, rows;
  std::vector<std::int8_t> labels;
};

ReducedMap reduce(const ClassMap& map, std::int64_t together) {
  ReducedMap reduced{(map.columns + together - 1) / together, (map.rows + together - 1) / together, {}};
  for (std::int64_t y = 0; y < map.rows; y += together) {
    for (std::int64_t x = 0; x < map.columns; x += together) {
      std::array<std::int64_t, texture::CellClassifier::kMostClasses + 1> counts{};  // [1 + label]
      for (std::int64_t row = y; row < std::min(y + together, map.rows); ++row) {
        for (std::int64_t column = x; column < std::min(x + together, map.columns); ++column)
          ++counts[static_cast<std::size_t>(
              1 + map.labels[static_cast<std::size_t>(row * map.columns + column)])];
      }
      reduced.labels.push_back(
          static_cast<std::int8_t>(std::ranges::max_element(counts) - counts.begin() - 1));
    }
  }
  return reduced;
}

class MapPicture {
 public:
  explicit MapPicture(const ClassMap& map)
      : map_(map),
        shares_(class_shares(map)),
        together_((std::max(map.columns, map.rows) + kLongestSide - 1) / kLongestSide),
        zoom_(std::clamp(kLongestSide / std::max(map.columns, map.rows), std::int64_t{1}, kLargestCell)),
        reduced_(reduce(map, together_)),
        canvas_(static_cast<int>(3 * kMapEdge + std::max(map_width(), 320.0) + kLegend),
                static_cast<int>(kMapHeading + kMapEdge + std::max(map_height(), legend_height())),
                kSheetPaper) {}

  std::string png() {
    const std::string title = std::filesystem::path(map_.picture).filename().string();
    canvas_.text(kMapEdge, 32, fitting(title, 20, canvas_.width() - 2 * kMapEdge), 20, kSheetInk, Align::left,
                 FontWeight::bold);
    canvas_.text(kMapEdge, 52, subtitle(), 13, kMapFaint);
    draw_cells();
    draw_legend();
    return canvas_.png();
  }

 private:
  double map_width() const { return static_cast<double>(reduced_.columns * zoom_); }
  double map_height() const { return static_cast<double>(reduced_.rows * zoom_); }
  double legend_height() const { return kEntry * static_cast<double>(map_.classes.size() + 1); }

  std::string subtitle() const {
    return fmt::format("{} x {} pixels, cells of {} x {}", grouped(static_cast<std::uint64_t>(map_.width)),
                       grouped(static_cast<std::uint64_t>(map_.height)), map_.cell, map_.cell) +
           (together_ > 1 ? fmt::format("; most common class of {} x {} cells", together_, together_) : "");
  }

  // The beginning of a text where not all of it has room.
  std::string fitting(const std::string& text, double size, double room) const {
    if (canvas_.text_width(text, size, FontWeight::bold) <= room) return text;
    std::string part = text;
    while (!part.empty() && canvas_.text_width(part + "…", size, FontWeight::bold) > room) {
      while (part.size() > 1 && (static_cast<unsigned char>(part.back()) & 0xC0) == 0x80) part.pop_back();
      part.pop_back();
    }
    return part + "…";
  }

  void draw_cells() {
    const Size size{static_cast<int>(reduced_.columns * zoom_), static_cast<int>(reduced_.rows * zoom_)};
    std::vector<std::uint8_t> pixels;
    pixels.reserve(std::size_t{3} * size.width * size.height);
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        const Color colour =
            class_colour(reduced_.labels[static_cast<std::size_t>(y / zoom_ * reduced_.columns + x / zoom_)]);
        for (const double value : {colour.red, colour.green, colour.blue})
          pixels.push_back(static_cast<std::uint8_t>(std::lround(255 * value)));
      }
    }
    canvas_.draw_rgb(pixels.data(), size, kMapEdge, kMapHeading, size.width, size.height);
  }

  void draw_legend() {
    double top = kMapHeading;
    for (std::size_t i = 0; i < map_.classes.size(); ++i, top += kEntry) {
      const MappedClass& one = map_.classes[i];
      entry(top, class_colour(static_cast<int>(i)), one.name, shares_[i],
            shares_[i].cells == 0
                ? "no cell"
                : fmt::format("median distance {:.3f}, limit {:.3f}", shares_[i].median, one.limit));
    }
    entry(top, class_colour(ClassMap::kUnknown), "unknown", shares_.back(), "farther than the limit");
  }

  void entry(double top, const Color& colour, const std::string& name, const ClassShare& share,
             const std::string& figures) {
    const double left = canvas_.width() - kMapEdge - kLegend, right = canvas_.width() - kMapEdge;
    canvas_.fill_rectangle(left, top, kSwatch, kSwatch, colour);
    const std::string part = percent(share.share);
    canvas_.text(right, top + 13, part, 15, kSheetInk, Align::right, FontWeight::bold);
    const double room = kLegend - kSwatch - 24 - canvas_.text_width(part, 15, FontWeight::bold);
    canvas_.text(left + kSwatch + 12, top + 13, fitting(name, 15, room), 15, kSheetInk, Align::left,
                 FontWeight::bold);
    canvas_.text(left + kSwatch + 12, top + 29, figures, 12, kMapFaint);
  }

  const ClassMap& map_;
  std::vector<ClassShare> shares_;
  std::int64_t together_;  ///< side of a square of cells that has a pixel
  std::int64_t zoom_;      ///< side of a cell in the map, in pixels
  ReducedMap reduced_;
  Canvas canvas_;
};

}  // namespace

Color class_colour(int label) {
  if (label == ClassMap::kUnknown) return {0.25, 0.27, 0.31, 1};
  const auto number = static_cast<std::size_t>(label);
  const std::uint32_t base = kBaseColours[number % kBaseColours.size()];
  const double shade = kShades[number / kBaseColours.size()] / 255;
  return {shade * (base >> 16 & 255), shade * (base >> 8 & 255), shade * (base & 255), 1};
}

std::string draw_class_map(const ClassMap& map) {
  return MapPicture(map).png();
}

}  // namespace sightline::apps
