#include <algorithm>

#include "texture/tiles/picture.hpp"

namespace sightline::tiles {

namespace {

/// Pixels of a line that stand beside each other in the picture, too: in the same order or the other.
struct Run {
  int at = 0;  // position in the region
  int length = 0;
  std::int64_t from = 0;  // the lowest of them in the picture
  bool backwards = false;
};

std::vector<Run> runs_of(std::int64_t begin, int length, std::int64_t inside, BorderRule border) {
  std::vector<Run> runs;
  std::int64_t last = 0, step = 0;
  for (int i = 0; i < length; ++i) {
    const std::int64_t place = inside_index(begin + i, inside, border);
    const std::int64_t change = place - last;
    const bool goes_on = !runs.empty() && (change == 1 || change == -1) && (step == 0 || step == change);
    if (goes_on) {
      step = change;
      runs.back().backwards = change < 0;
      runs.back().from = std::min(runs.back().from, place);
      ++runs.back().length;
    } else {
      runs.push_back({i, 1, place, false});
      step = 0;
    }
    last = place;
  }
  return runs;
}

/// The part of a plane that a run of columns and one of rows stand for.
ImageView<std::uint8_t> part(ImageView<std::uint8_t> plane, const Run& across, const Run& down) {
  return {&plane.at(across.at, down.at), across.length, down.length, plane.stride()};
}

void mirror(ImageView<std::uint8_t> pixels, bool across, bool down) {
  for (int y = 0; across && y < pixels.height(); ++y)
    std::reverse(pixels.row(y), pixels.row(y) + pixels.width());
  for (int y = 0; down && y < pixels.height() / 2; ++y)
    std::swap_ranges(pixels.row(y), pixels.row(y) + pixels.width(), pixels.row(pixels.height() - 1 - y));
}

}  // namespace

std::vector<Damage> read_with_border(Picture& picture, const Region& region, BorderRule border,
                                     std::span<const Channel> channels,
                                     std::span<const ImageView<std::uint8_t>> planes) {
  const std::vector<Run> columns = runs_of(region.x, region.width, picture.info().width, border);
  const std::vector<Run> rows = runs_of(region.y, region.height, picture.info().height, border);
  std::vector<Damage> damage;
  std::vector<ImageView<std::uint8_t>> parts(planes.size());
  for (const Run& down : rows) {
    for (const Run& across : columns) {
      for (std::size_t i = 0; i < planes.size(); ++i) parts[i] = part(planes[i], across, down);
      const Region where{across.from, down.from, across.length, down.length};
      for (Damage& one : picture.read(where, channels, parts)) {
        if (std::find(damage.begin(), damage.end(), one) == damage.end()) damage.push_back(std::move(one));
      }
      for (const ImageView<std::uint8_t>& pixels : parts) mirror(pixels, across.backwards, down.backwards);
    }
  }
  return damage;
}

}  // namespace sightline::tiles
