#pragma once
/// Packed colour to 8-bit luma, in integers: the same bits on every processor.
///
/// `luma = (77 R + 150 G + 29 B + 128) >> 8`: BT.601's 0.299, 0.587 and 0.114 in 1/256, rounded half up. The
/// weights sum to 256, so full-range colour gives full-range luma, grey is unchanged, and every sum fits in
/// 16 unsigned bits.

#include <cstddef>
#include <cstdint>

#include "image/view.hpp"

namespace sightline {

/// Bytes of a pixel in memory order. The fourth is ignored, so that RGB0 and BGR0 are as RGBA and BGRA.
enum class PackedFormat { rgb24, bgr24, rgba, bgra };

constexpr int bytes_per_pixel(PackedFormat format) {
  return format == PackedFormat::rgb24 || format == PackedFormat::bgr24 ? 3 : 4;
}
/// Place of the red byte in a pixel; blue is at 2 minus that, green at 1.
constexpr int red_byte(PackedFormat format) {
  return format == PackedFormat::rgb24 || format == PackedFormat::rgba ? 0 : 2;
}

/// Non-owning view of packed pixels. `stride` is in bytes and may be negative (bottom-up pictures).
struct PackedView {
  const std::uint8_t* data = nullptr;
  int width = 0;  ///< pixels
  int height = 0;
  std::ptrdiff_t stride = 0;
  PackedFormat format = PackedFormat::rgb24;

  const std::uint8_t* row(int y) const { return data + y * stride; }
  Size size() const { return {width, height}; }
};

/// Writes rows [y_begin, y_end) of the target, which has the source's size, and reads nothing but the pixels
/// of these rows: bands may run at once. SIMD, dispatched at run time.
void to_gray(const PackedView& source, ImageView<std::uint8_t> target, int y_begin, int y_end);
/// The same in plain scalar code: the reference that `to_gray` and the OpenCL kernel equal bit for bit.
void to_gray_reference(const PackedView& source, ImageView<std::uint8_t> target, int y_begin, int y_end);

}  // namespace sightline
