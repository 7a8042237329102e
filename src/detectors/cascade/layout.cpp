#include "detectors/cascade/layout.hpp"

#include <algorithm>
#include <cmath>

#include "image/integral.hpp"

namespace sightline::cascade {
namespace {

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

// OpenCV divides the rows of every level into the same number of stripes. If their height is rounded down, it
// skips the last rows, and so does this code.
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
  // The layout depends only on the levels' sizes and steps.
  std::vector<SheetLevel> places(layout.levels.begin(), layout.levels.end());
  const SheetContents contents{.planes = model.kind == FeatureKind::lbp ? 1
                                         : model.has_tilted             ? 3
                                                                        : 2,
                               .element_bytes = has_small_sums(model) ? 2 : 4};
  static_cast<IntegralSheet&>(layout) = plan_sheet(places, contents);
  for (std::size_t i = 0; i < places.size(); ++i) static_cast<SheetLevel&>(layout.levels[i]) = places[i];
  return layout;
}

Rect box_in_frame(const Level& level, int x, int y) {
  return {round_to_int(static_cast<float>(x) * level.scale),
          round_to_int(static_cast<float>(y) * level.scale), level.object.width, level.object.height};
}

}  // namespace sightline::cascade
