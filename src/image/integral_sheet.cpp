#include "image/integral_sheet.hpp"

#include <algorithm>

namespace sightline {
namespace {

constexpr int kStrideUnit = 64;  // elements; a half of a row begins on a cache line

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
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
int padded_columns(const SheetLevel& level) {
  return static_cast<int>(round_up(level.size.width, kPixelUnit)) + 2;
}

void place_images(IntegralSheet& sheet, std::span<SheetLevel> levels) {
  for (SheetLevel& level : levels) {
    level.image = sheet.image_bytes;
    level.image_stride = static_cast<int>(round_up(level.size.width, kStrideUnit));
    sheet.image_bytes += static_cast<std::int64_t>(level.image_stride) * level.size.height;
  }
}

void place_integrals(IntegralSheet& sheet, std::span<SheetLevel> levels) {
  constexpr int kPageElements = 1024;
  int widest = 0;
  for (const SheetLevel& level : levels) widest = std::max(widest, padded_columns(level));
  sheet.stride = static_cast<int>(round_up(widest, 2 * kStrideUnit));
  // Rows a page apart would fight for the same few places of the cache.
  if (sheet.stride % kPageElements == 0) sheet.stride += 2 * kStrideUnit;
  Shelves halves(sheet.stride / 2, 0);
  for (SheetLevel& level : levels) {
    if (level.step != 2) continue;
    const auto width = static_cast<int>(round_up(padded_columns(level) / 2, kPixelUnit));
    level.origin = halves.place(width, level.size.height + 1, sheet.stride);
  }
  Shelves wholes(sheet.stride, halves.bottom());
  for (SheetLevel& level : levels) {
    if (level.step != 1) continue;
    const auto width = static_cast<int>(round_up(padded_columns(level), kPixelUnit));
    level.origin = wholes.place(std::min(width, sheet.stride), level.size.height + 1, sheet.stride);
  }
  sheet.plane = wholes.bottom() * sheet.stride + kSheetSlack;
}

}  // namespace

IntegralSheet plan_sheet(std::span<SheetLevel> levels, SheetContents contents) {
  IntegralSheet sheet{contents};
  place_images(sheet, levels);
  if (!levels.empty()) place_integrals(sheet, levels);
  return sheet;
}

}  // namespace sightline
