#pragma once
/// Internal to src/media: samples of any depth as 8 bits, by one rule for all formats and containers.
///
/// A sample of full range becomes `value * 255 / largest`, rounded to the nearest; luma of limited range,
/// whose black is 16 at 8 bits, 64 at 10, and so on, becomes `value / 2^(depth - 8)`, rounded, and stays of
/// limited range. If black and white are given, the values between them are spread over 0 to 255 as in
/// texture/tiles. There is no dithering (unlike in swscale), so equal samples stay equal.

#include <cstdint>
#include <vector>

#include "frame/frame.hpp"
#include "image/view.hpp"
#include "media/decoded_picture.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Whether the luma of a picture is read here: gray, luma with chroma, palettes, and red, green and blue of
/// full range.
bool has_exact_luma(const AVFrame& picture);

/// Luma; of RGB pictures by image/gray.hpp. It has limited range if the picture has.
void exact_luma(const AVFrame& picture, const SampleRange& range, Image<std::uint8_t>& luma);

/// Whether red, green and blue of a picture are read here: as for luma, but without those that have chroma or
/// are of limited range.
bool has_exact_rgb(const AVFrame& picture);

/// Red, green and blue, 3 bytes a pixel, without gaps.
std::vector<std::uint8_t> exact_rgb(const AVFrame& picture, const SampleRange& range);

/// A picture of luma and chroma, packed or of other depths, in planes of 8 bits; null if there is no such
/// format.
FramePtr exact_yuv8(const AVFrame& picture);

}  // namespace sightline::media
