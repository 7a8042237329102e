#include "detection/sliding_window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "image/pyramid.hpp"

namespace sightline {
namespace {

constexpr std::int64_t kMaxPyramidPixels = std::int64_t{1} << 28;
constexpr double kMostEnlarged = 16;  // largest enlargement accepted by plan_pyramid

SlidingWindowWorkspace& own_workspace(Workspace& workspace) {
  return static_cast<SlidingWindowWorkspace&>(workspace);
}

}  // namespace

void add_bands(std::vector<Band>& bands, int level, Rows rows, int step) {
  for (int y = rows.begin; y < rows.end; y += step) bands.push_back({level, y, std::min(y + step, rows.end)});
}

std::vector<Rows> partition_windows(std::span<const LevelCost> levels, Partition partition) {
  double all = 0;
  for (const LevelCost& level : levels) all += level.work;
  double done = 0;
  std::vector<Rows> rows(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelCost& level = levels[i];
    if (level.work <= 0) continue;
    const auto row_at = [&](double part) {
      const double of_level = std::clamp((part * all - done) / level.work, 0.0, 1.0);
      return static_cast<int>(std::lround(of_level * level.window_rows));
    };
    rows[i] = {row_at(partition.begin), row_at(partition.end)};
    done += level.work;
  }
  return rows;
}

PyramidOptions scales_for(double natural, double smallest, double largest, double step, int border) {
  PyramidOptions options;
  options.step = step;
  options.border = border;
  options.first_scale = smallest > 0 ? smallest / natural : 1.0;
  if (largest > 0) options.last_scale = largest / natural;
  if (largest > 0 && options.last_scale < options.first_scale)
    throw Error(ExitCode::usage, "the largest object size is below the smallest",
                "use a larger --max-size"_message);
  if (smallest > 0 && smallest < natural / kMostEnlarged) {
    throw Error(ExitCode::usage,
                fmt::format("the smallest object size of {:g} pixels is too small", smallest),
                "use a --min-size"_message +
                    fmt::format(" of {:g} or more: this model's objects are {:g} pixels high, "
                                "and frames are enlarged at most {:g} times",
                                std::ceil(natural / kMostEnlarged * 1e3) / 1e3, natural, kMostEnlarged));
  }
  plan_pyramid({1, 1}, {2, 2}, options);  // checks the options
  return options;
}

void check_pyramid_size(Size frame, std::int64_t pixels) {
  if (pixels <= kMaxPyramidPixels) return;
  throw Error(ExitCode::usage,
              "the pyramid of a " + std::to_string(frame.width) + "x" + std::to_string(frame.height) +
                  " frame would have " + std::to_string(pixels / 1'000'000) + " million pixels",
              "use a larger --min-size or a larger --scale-step"_message);
}

void SlidingWindowWorkspace::plan_octaves(int count) {
  octaves_.resize(count);
  for (int i = 0; i < count; ++i)
    octaves_[i].resize(frame.size().width >> (i + 1), frame.size().height >> (i + 1));
}

void SlidingWindowWorkspace::make_octaves() {
  if (has_octaves_) return;
  make_luma();
  GrayView source = luma();
  for (Image<std::uint8_t>& octave : octaves_) {
    const ImageView<std::uint8_t> target = octave.view();
    for_each_rows(target.height(), *this, [&](int begin, int end) { halve(source, target, begin, end); });
    source = target;
  }
  has_octaves_ = true;
}

std::vector<Size> SlidingWindowWorkspace::octave_sizes() const {
  std::vector<Size> sizes{frame.size()};
  for (const auto& octave : octaves_) sizes.push_back({octave.width(), octave.height()});
  return sizes;
}

void SlidingWindowDetector::merge(Workspace& workspace, Workspace& other) const {
  std::vector<Candidate>& all = own_workspace(workspace).candidates;
  const std::vector<Candidate>& more = own_workspace(other).candidates;
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
}

std::vector<Detection> SlidingWindowDetector::take_detections(Workspace& workspace) const {
  return std::move(own_workspace(workspace).detections);
}

}  // namespace sightline
