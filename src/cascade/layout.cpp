#include "cascade/layout.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::cascade {
namespace {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Half to even, as OpenCV rounds.
int round_to_int(double value) {
  return static_cast<int>(std::lrint(value));
}
int round_to_int(float value) {
  return static_cast<int>(std::lrintf(value));
}

bool exceeds(Size size, Size limit) {
  return size.width > limit.width || size.height > limit.height;
}

std::vector<Level> plan_levels(Size frame, Size window, const Search& search) {
  const bool limited = search.max_size.width > 0 && search.max_size.height > 0;
  const Size largest = limited ? search.max_size : frame;
  std::vector<Level> levels;
  for (double factor = 1;; factor *= search.scale_step) {
    const Size scaled{round_to_int(window.width * factor), round_to_int(window.height * factor)};
    if (exceeds(scaled, largest) || exceeds(scaled, frame)) break;
    if (scaled.width < search.min_size.width || scaled.height < search.min_size.height) continue;
    Level level;
    level.scale = static_cast<float>(factor);
    level.step = level.scale >= 2 ? 1 : 2;
    const auto in_level = [&](int length) { return round_to_int(static_cast<float>(length) / level.scale); };
    const auto in_frame = [&](int length) { return round_to_int(static_cast<float>(length) * level.scale); };
    level.size = {in_level(frame.width), in_level(frame.height)};
    level.object = {in_frame(window.width), in_frame(window.height)};
    levels.push_back(level);
  }
  return levels;
}

// Corners in a level: [0, positions) both ways.
Size positions(const Level& level, Size window) {
  return {std::max(level.size.width + 1 - window.width, 0),
          std::max(level.size.height + 1 - window.height, 0)};
}

// OpenCV divides the rows of every level into the same number of stripes. Where their height comes out
// rounded down, it leaves out the last rows; so do we.
void count_windows(std::vector<Level>& levels, Size window) {
  if (levels.empty()) return;
  constexpr int kStripeWidth = 32;
  const int stripes = (positions(levels[0], window).width + kStripeWidth - 1) / kStripeWidth;
  for (Level& level : levels) {
    if (stripes == 0) break;
    const Size places = positions(level, window);
    const int stripe = std::max((places.height / level.step + stripes - 1) / stripes, 1) * level.step;
    const int height = std::min(stripes * stripe, places.height);
    level.windows = {(places.width + level.step - 1) / level.step, (height + level.step - 1) / level.step};
    if (level.windows.width == 0 || level.windows.height == 0) level.windows = {};
  }
}

// Places levels on the sheet: side by side from left to right while there is room, then on a new shelf.
class Shelves {
 public:
  Shelves(int width, std::int64_t first_row) : width_(width), top_(first_row), bottom_(first_row) {}

  std::int64_t place(int width, int height, std::int64_t stride) {
    if (left_ + width > width_) {
      left_ = 0;
      top_ = bottom_;
    }
    const std::int64_t origin = top_ * stride + left_;
    left_ += width;
    bottom_ = std::max(bottom_, top_ + height);
    return origin;
  }
  std::int64_t bottom() const { return bottom_; }

 private:
  int width_;
  int left_ = 0;
  std::int64_t top_;
  std::int64_t bottom_;
};

// Columns that a level takes: SIMD code writes whole vectors of pixels.
int padded_columns(const Level& level) {
  return static_cast<int>(round_up(level.size.width, kPixelUnit)) + 2;
}

void place_levels(Layout& layout) {
  constexpr int kPageElements = 1024;
  int widest = 0;
  for (const Level& level : layout.levels) widest = std::max(widest, padded_columns(level));
  layout.stride = static_cast<int>(round_up(widest, 2 * kStrideUnit));
  // Rows a page apart would fight for the same few places of the cache.
  if (layout.stride % kPageElements == 0) layout.stride += 2 * kStrideUnit;
  Shelves halves(layout.stride / 2, 0);
  for (Level& level : layout.levels) {
    if (level.step != 2) continue;
    const auto width = static_cast<int>(round_up(padded_columns(level) / 2, kPixelUnit));
    level.origin = halves.place(width, level.size.height + 1, layout.stride);
  }
  Shelves wholes(layout.stride, halves.bottom());
  for (Level& level : layout.levels) {
    if (level.step != 1) continue;
    const auto width = static_cast<int>(round_up(padded_columns(level), kPixelUnit));
    level.origin = wholes.place(std::min(width, layout.stride), level.size.height + 1, layout.stride);
  }
  layout.plane = wholes.bottom() * layout.stride + kLanePad;
}

}  // namespace

bool has_small_sums(const Model& model) {
  return model.kind == FeatureKind::lbp && std::all_of(model.lbp.begin(), model.lbp.end(), [](const Rect& r) {
           return r.width * r.height <= kMaxSmallBlock;
         });
}

Layout plan_layout(Size frame, const Model& model, const Search& search) {
  Layout layout;
  layout.frame = frame;
  layout.levels = plan_levels(frame, model.window, search);
  count_windows(layout.levels, model.window);
  layout.element_bytes = has_small_sums(model) ? 2 : 4;
  layout.planes = model.kind == FeatureKind::lbp ? 1 : model.has_tilted ? 3 : 2;
  for (Level& level : layout.levels) {
    level.image = layout.image_bytes;
    level.image_stride = static_cast<int>(round_up(level.size.width, kStrideUnit));
    layout.image_bytes += static_cast<std::int64_t>(level.image_stride) * level.size.height;
  }
  if (!layout.levels.empty()) place_levels(layout);
  return layout;
}

Rect box_in_frame(const Level& level, int x, int y) {
  return {round_to_int(static_cast<float>(x) * level.scale),
          round_to_int(static_cast<float>(y) * level.scale), level.object.width, level.object.height};
}

SampleAxis::SampleAxis(int source, int target) {
  constexpr double kOne = 256;
  const double ratio = 1.0 / (static_cast<double>(target) / source);
  for (int i = 0; i < target; ++i) {
    const double position = ratio * (i + 0.5) - 0.5;
    const int whole = static_cast<int>(std::floor(position));
    const int inside = std::clamp(whole, 0, source - 1);
    const bool between = whole >= 0 && whole + 1 < source;
    first.push_back(inside);
    second.push_back(std::min(inside + 1, source - 1));
    weight.push_back(static_cast<std::uint16_t>(between ? round_to_int((position - whole) * kOne) : 0));
  }
}

}  // namespace sightline::cascade
