#include "detection/tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "image/size_text.hpp"

namespace sightline {
namespace {

constexpr double kMostInCommon = 0.5;
constexpr double kNearEdge = 0.01;  // of a tile's side

// Tiles that a side of a picture is divided into.
std::size_t tiles_along(int length, int tile, double overlap) {
  if (length <= tile) return 1;
  const int step = std::max(1, static_cast<int>(tile * (1 - overlap)));
  return static_cast<std::size_t>((length - tile + step - 1) / step) + 1;
}

int start_of(std::size_t tile, std::size_t tiles, int length, int size) {
  if (tiles == 1) return 0;
  return static_cast<int>(std::int64_t{length - size} * static_cast<std::int64_t>(tile) /
                          static_cast<std::int64_t>(tiles - 1));
}

// Whether a box ends at an edge of its tile within the picture, along one axis.
bool is_cut_along(double begin, double end, int tile_begin, int tile_size, int picture) {
  const double near = kNearEdge * tile_size;
  const int tile_end = tile_begin + tile_size;
  return (tile_begin > 0 && begin < tile_begin + near) || (tile_end < picture && end > tile_end - near);
}

bool is_cut(const Box& box, const Crop& tile, Size picture) {
  return is_cut_along(box.x, box.x + box.width, tile.x, tile.size.width, picture.width) ||
         is_cut_along(box.y, box.y + box.height, tile.y, tile.size.height, picture.height);
}

}  // namespace

std::optional<Size> tile_size(const std::string& text) {
  const std::optional<Size> size = to_size(text.find('x') == std::string::npos ? text + 'x' + text : text);
  const auto fits = [](int side) { return side >= TileOptions::kSmallest && side <= TileOptions::kLargest; };
  return size && fits(size->width) && fits(size->height) ? size : std::nullopt;
}

TileLayout::TileLayout(Size picture, const TileOptions& options)
    : picture_(picture),
      size_{std::min(options.size.width, picture.width), std::min(options.size.height, picture.height)},
      columns_(tiles_along(picture.width, options.size.width, options.overlap)),
      rows_(tiles_along(picture.height, options.size.height, options.overlap)) {}

Crop TileLayout::place(std::size_t tile) const {
  if (tile == 0) return {0, 0, picture_};
  return {start_of((tile - 1) % columns_, columns_, picture_.width, size_.width),
          start_of((tile - 1) / columns_, rows_, picture_.height, size_.height), size_};
}

void TileMerger::add(const TileLayout& layout, std::size_t tile, std::vector<Detection> objects) {
  const Crop place = layout.place(tile);
  for (Detection& object : objects) {
    object.box.x += place.x;
    object.box.y += place.y;
    object.attributes = object.attributes.moved(place.x, place.y);
    const bool cut = is_cut(object.box, place, layout.picture());
    found_.push_back({std::move(object), tile, cut});
  }
}

bool TileMerger::is_same(const Found& kept, const Found& one) {
  const Box &a = kept.object.box, &b = one.object.box;
  if (kept.tile == one.tile || kept.object.label != one.object.label) return false;
  return intersection_over_union(a, b) > kMostInCommon ||
         (one.is_cut && intersection_area(a, b) > kMostInCommon * b.area());
}

std::vector<Detection> TileMerger::take() {
  std::vector<Found> kept;
  const bool has_several = !found_.empty() && found_.front().tile != found_.back().tile;
  if (has_several) {
    std::ranges::stable_sort(found_, [](const Found& a, const Found& b) {
      return a.is_cut != b.is_cut ? b.is_cut : a.object.score > b.object.score;
    });
    for (Found& one : found_) {
      if (std::ranges::none_of(kept, [&](const Found& other) { return is_same(other, one); }))
        kept.push_back(std::move(one));
    }
    std::ranges::stable_sort(kept,
                             [](const Found& a, const Found& b) { return a.object.score > b.object.score; });
    found_.clear();
  } else {
    kept = std::exchange(found_, {});
  }
  std::vector<Detection> objects;
  objects.reserve(kept.size());
  for (Found& one : kept) objects.push_back(std::move(one.object));
  return objects;
}

}  // namespace sightline
