#include "image/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.hpp"

namespace sightline {

ResizeAxis make_resize_axis(int source_size, int target_size, double ratio, int border) {
  ResizeAxis axis;
  axis.first.resize(target_size);
  axis.weight.resize(target_size);
  for (int i = 0; i < target_size; ++i) {
    const double position = (i - border + 0.5) * ratio - 0.5;
    const auto fixed = static_cast<std::int64_t>(std::floor(position * kResizeOne + 0.5));
    std::int64_t first = fixed >> kResizeWeightBits;
    std::int64_t weight = fixed & (kResizeOne - 1);
    if (first < 0) {
      first = 0;
      weight = 0;
    } else if (first >= source_size - 1) {  // also where the source has one element
      first = std::max(source_size - 2, 0);
      weight = source_size > 1 ? kResizeOne : 0;
    }
    axis.first[i] = static_cast<std::int32_t>(first);
    axis.weight[i] = static_cast<std::uint8_t>(weight);
  }
  return axis;
}

Resizer::Resizer(Size source, Size target, double ratio, int border)
    : columns_(make_resize_axis(source.width, target.width, ratio, border)),
      rows_(make_resize_axis(source.height, target.height, ratio, border)) {
  for (int x = 0; x + 8 <= target.width; x += 8) {
    ColumnGroup group{};
    group.base = std::min(columns_.first[x], source.width - 16);
    if (group.base < 0 || columns_.first[x + 7] - group.base > 14) break;
    for (int i = 0; i < 8; ++i) {
      const auto offset = static_cast<std::uint8_t>(columns_.first[x + i] - group.base);
      group.left[2 * i] = offset;
      group.right[2 * i] = static_cast<std::uint8_t>(offset + 1);
      group.left[2 * i + 1] = group.right[2 * i + 1] = 0x80;  // selects zero
      group.right_weight[i] = columns_.weight[x + i];
      group.left_weight[i] = static_cast<std::uint16_t>(kResizeOne - columns_.weight[x + i]);
    }
    groups_.push_back(group);
  }
}

void Resizer::run_columns(GrayView source, ImageView<std::uint8_t> target, int y, int x_begin) const {
  const int wy = rows_.weight[y];
  const std::uint8_t* top = source.row(rows_.first[y]);
  const std::uint8_t* bottom = wy == 0 ? top : top + source.stride();
  for (int x = x_begin; x < target.width(); ++x) {
    const int wx = columns_.weight[x];
    const int x0 = columns_.first[x];
    const int x1 = wx == 0 ? x0 : x0 + 1;
    const int h0 = (top[x0] * (kResizeOne - wx) + top[x1] * wx + 8) >> 4;
    const int h1 = (bottom[x0] * (kResizeOne - wx) + bottom[x1] * wx + 8) >> 4;
    target.at(x, y) = static_cast<std::uint8_t>((h0 * (kResizeOne - wy) + h1 * wy + 128) >> 8);
  }
}

void Resizer::run_reference(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end) const {
  for (int y = y_begin; y < y_end; ++y) run_columns(source, target, y, 0);
}

void halve_reference(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end) {
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < target.width(); ++x) {
      const int sum = source.at(2 * x, 2 * y) + source.at(2 * x + 1, 2 * y) + source.at(2 * x, 2 * y + 1) +
                      source.at(2 * x + 1, 2 * y + 1);
      target.at(x, y) = static_cast<std::uint8_t>((sum + 2) >> 2);
    }
  }
}

Resizer level_resizer(const PyramidLevel& level, std::span<const Size> octaves) {
  return {octaves[static_cast<std::size_t>(level.octave)], level.size,
          level.scale / std::ldexp(1.0, level.octave), level.border};
}

std::vector<PyramidLevel> plan_pyramid(Size frame, Size minimum, const PyramidOptions& options) {
  if (!(options.step > 1.001 && options.step <= 8)) {
    throw Error(ExitCode::usage, "scale step " + std::to_string(options.step) + " is out of range",
                "give a number above 1.001 and up to 8, for example 1.1");
  }
  if (!(options.first_scale >= 1.0 / 16 && options.first_scale <= 4096)) {
    throw Error(ExitCode::usage,
                "the first scale " + std::to_string(options.first_scale) + " is out of range",
                "frames can be enlarged 16 times at most: give a larger smallest object size");
  }
  std::vector<PyramidLevel> levels;
  for (int i = 0;; ++i) {
    PyramidLevel level;
    level.scale = options.first_scale * std::pow(options.step, i);
    if (level.scale > options.last_scale * (1 + 1e-9)) break;
    const Size inside{static_cast<int>(std::lround(frame.width / level.scale)),
                      static_cast<int>(std::lround(frame.height / level.scale))};
    if (2 * inside.width < minimum.width || 2 * inside.height < minimum.height) break;
    level.border = options.border;
    level.size = {inside.width + 2 * level.border, inside.height + 2 * level.border};
    if (level.size.width < minimum.width || level.size.height < minimum.height) break;
    while (level.scale >= std::ldexp(2.0, level.octave)) ++level.octave;
    levels.push_back(level);
  }
  return levels;
}

void PaddedImage::resize(Size size) {
  size_ = size;
  storage_.resize(2 * kOffset + size.width, size.height + 2);
}

void PaddedImage::bind(std::uint8_t* memory, Size size) {
  size_ = size;
  const std::ptrdiff_t stride = stride_for(size.width);
  storage_.bind(memory, {static_cast<int>(stride), size.height + 2}, stride);
}

void PaddedImage::fill_border(int y_begin, int y_end) {
  const ImageView<std::uint8_t> image = view();
  for (int y = y_begin; y < y_end; ++y) {
    std::uint8_t* row = image.row(y);
    row[-1] = row[0];
    row[size_.width] = row[size_.width - 1];
  }
  const auto copy_row = [&](int from, int to) {
    std::memcpy(image.row(to) - 1, image.row(from) - 1, static_cast<std::size_t>(size_.width) + 2);
  };
  if (y_begin == 0) copy_row(0, -1);
  if (y_end == size_.height) copy_row(size_.height - 1, size_.height);
}

}  // namespace sightline
