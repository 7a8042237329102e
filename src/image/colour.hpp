#pragma once
/// Colour of pictures as RGB, in integers: the same bits on every processor.

#include <cstdint>

#include "image/picture_view.hpp"

namespace sightline {

/// Shares of red and blue in luma; the rest is green's (ITU-T H.273, table 4).
struct LumaShares {
  double red = 0, blue = 0;
};
inline constexpr LumaShares kBt601{0.299, 0.114}, kBt709{0.2126, 0.0722}, kBt2020{0.2627, 0.0593},
    kSmpte240m{0.212, 0.087}, kFcc{0.30, 0.11};

/// Of samples 0..255 (full range) or 16..235 and 16..240.
YuvWeights yuv_weights(const LumaShares& shares, bool full_range);
/// BT.709 or BT.601.
inline YuvWeights yuv_weights(bool bt709, bool full_range) {
  return yuv_weights(bt709 ? kBt709 : kBt601, full_range);
}

/// A row of video to BGRA in memory order, A = 255. `u` and `v` have (width + 1) / 2 samples, each for two
/// pixels. SIMD, dispatched at run time; within one level of the exact formula.
void yuv_to_bgra(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width,
                 const YuvWeights& weights, std::uint8_t* bgra);
/// The same in plain scalar code, bit for bit.
void yuv_to_bgra_reference(const std::uint8_t* y, const std::uint8_t* u, const std::uint8_t* v, int width,
                           const YuvWeights& weights, std::uint8_t* bgra);

/// Planar RGB is one image of three times the picture's height: the rows of red, then of green, then of blue.
/// Returns one of them: 0 is red, 1 green, 2 blue.
inline GrayView colour_plane(GrayView rgb, int colour) {
  const int height = rgb.height() / 3;
  return {rgb.row(colour * height), rgb.width(), height, rgb.stride()};
}

/// Writes rows [y_begin, y_end) of each plane of a picture's planar RGB. A pixel of luma and chroma has the
/// nearest chroma sample; one of a picture without colour is grey. SIMD, dispatched at run time.
/// Thread-safety: bands may be written at once.
void to_planar_rgb(const PictureView& picture, ImageView<std::uint8_t> rgb, int y_begin, int y_end);
/// The same in plain scalar code, from column `x_begin` on: the reference that `to_planar_rgb` and the OpenCL
/// kernel equal bit for bit.
void to_planar_rgb_reference(const PictureView& picture, ImageView<std::uint8_t> rgb, int y_begin, int y_end,
                             int x_begin = 0);

}  // namespace sightline
