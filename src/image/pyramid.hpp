#pragma once
/// Image pyramid in fixed-point arithmetic: the same bits on every processor.
///
/// A level at scale `s` (frame pixels per level pixel) is sampled bilinearly from the octave 2^k <= max(s,
/// 1), which is the frame halved k times by exact 2x2 means. So the ratio of every bilinear step is below 2
/// and nothing is skipped, however small the level.
///
/// Sampling position of level pixel x in its octave: `(x + 0.5) * ratio - 0.5`, rounded to 1/64 pixel and
/// clamped to the octave. Horizontal: `h = (p0 * (64 - w) + p1 * w + 8) >> 4` (10 bits); vertical:
/// `(h0 * (64 - w) + h1 * w + 128) >> 8`. All of it fits in 16 unsigned bits.

#include <cstdint>
#include <span>
#include <vector>

#include "image/view.hpp"

namespace sightline {

/// Weights have 6 fractional bits.
inline constexpr int kResizeWeightBits = 6;
inline constexpr int kResizeOne = 1 << kResizeWeightBits;

/// Source samples of one axis: `first[i]` and `first[i] + 1`, the second with weight `weight[i]` / 64.
/// `first[i] + 1` is inside the source unless the source has one element; then the weight is 0.
struct ResizeAxis {
  std::vector<std::int32_t> first;
  std::vector<std::uint8_t> weight;
};

/// @param source_size   elements in the source, >= 1
/// @param target_size   elements in the result
/// @param ratio         source elements per result element, > 0
/// @param border        leading elements of the result that lie before the source, >= 0: its first element
///                      is repeated there, and its last one behind its end
ResizeAxis make_resize_axis(int source_size, int target_size, double ratio, int border = 0);

/// A bilinear resize, prepared once per pair of sizes. Thread-safety: immutable after construction.
class Resizer {
 public:
  /// @param ratio   source pixels per target pixel, 0 < ratio
  /// @param border  see make_resize_axis; of both axes, in target pixels
  Resizer(Size source, Size target, double ratio, int border = 0);

  /// Writes rows [y_begin, y_end) of the target. SIMD where the ratio is at most 2.
  void run(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end) const;
  /// The same in plain scalar code: the reference that `run` equals bit for bit.
  void run_reference(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end) const;

  const ResizeAxis& columns() const { return columns_; }
  const ResizeAxis& rows() const { return rows_; }

  /// Eight target columns at once: one 16-byte load at `base`, inside of the row, two byte shuffles, two
  /// multiplies.
  struct ColumnGroup {
    std::int32_t base;
    std::uint8_t left[16];   ///< byte shuffle that spreads the left samples into 16-bit lanes
    std::uint8_t right[16];  ///< the same for the right samples
    std::uint16_t left_weight[8];
    std::uint16_t right_weight[8];
  };

 private:
  /// Columns [x_begin, width) of target row y, in scalar code.
  void run_columns(GrayView source, ImageView<std::uint8_t> target, int y, int x_begin) const;

  ResizeAxis columns_;
  ResizeAxis rows_;
  std::vector<ColumnGroup> groups_;  ///< the leading columns whose samples lie inside one 16-byte load
};

/// Halves an image by 2x2 means rounded half up; an odd last row or column is dropped. Writes rows
/// [y_begin, y_end) of the target, whose size is half the source's, rounded down.
void halve(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end);
void halve_reference(GrayView source, ImageView<std::uint8_t> target, int y_begin, int y_end);

/// Geometry of one pyramid level.
struct PyramidLevel {
  double scale = 1;  ///< frame pixels per level pixel
  int border = 0;    ///< pixels of the level on each side that lie beyond the frame and repeat its edge
  Size size;         ///< pixels, borders included
  int octave = 0;    ///< number of halvings before the bilinear step
};

/// Resizer from a level's octave to the level.
Resizer level_resizer(const PyramidLevel& level, std::span<const Size> octaves);

/// Searched part of the scale space.
struct PyramidOptions {
  double first_scale = 1;  ///< below 1: the frame is enlarged
  double last_scale = 1e9;
  double step = 1.1;  ///< ratio of neighbouring scales, > 1
  int border = 0;     ///< border of every level, see PyramidLevel; >= 0
};

/// The levels from `first_scale` in steps of `step` while `minimum` fits, borders included, half of each of
/// its sides fits without them, and `last_scale` is not passed. Empty where even the first level is too
/// small. Throws Error (usage) on options out of range.
std::vector<PyramidLevel> plan_pyramid(Size frame, Size minimum, const PyramidOptions& options);

/// A level's pixels with a border of one replicated pixel all round, so that a 3x3 neighbourhood exists
/// everywhere, and slack on the right for SIMD loads.
class PaddedImage {
 public:
  /// Bytes from row to row, and of an image with its border, in memory given to `bind`.
  static std::ptrdiff_t stride_for(int width) { return (2 * kOffset + width + 63) / 64 * 64; }
  static std::int64_t bytes_for(Size size) {
    return static_cast<std::int64_t>(stride_for(size.width)) * (size.height + 2);
  }
  /// Offset of the interior's first pixel in that memory.
  static std::ptrdiff_t first_pixel(int width) { return stride_for(width) + kOffset; }

  void resize(Size size);
  /// Uses the caller's memory until the next `resize`: bytes_for(size), aligned to 64, followed by 64 bytes
  /// that may be read.
  void bind(std::uint8_t* memory, Size size);
  /// The interior; `at(-1, -1)` .. `at(width, height)` may be read through it as well.
  ImageView<std::uint8_t> view() {
    return {storage_.view().data() + first_pixel(size_.width), size_.width, size_.height, storage_.stride()};
  }
  GrayView view() const {
    return {storage_.view().data() + first_pixel(size_.width), size_.width, size_.height, storage_.stride()};
  }
  /// Fills the border pixels of rows [y_begin, y_end), and the rows above and below the image where the range
  /// touches them.
  void fill_border(int y_begin, int y_end);

 private:
  static constexpr int kOffset = 64;  // keeps interior rows on a cache line
  Image<std::uint8_t> storage_;
  Size size_;
};

}  // namespace sightline
