#pragma once
/// Internal to src/tiles: samples of any kind to 8 bits.

#include <cstdint>

#include "texture/tiles/tiff_layout.hpp"

namespace sightline::tiles {

/// Converts the first samples of the pixels of a row.
/// @param raw     the row as it is decoded: `step` samples for each pixel, in the machine's byte order; bits
///                from the highest on
/// @param pixels  how many
/// @param count   how many samples of each are wanted; with a palette 1
/// @param out     gets them, `out_step` bytes from pixel to pixel; with a palette that has colours, all three
///                of them
void convert_samples(const SampleFormat& format, const std::uint8_t* raw, int step, int pixels, int count,
                     std::uint8_t* out, int out_step);

}  // namespace sightline::tiles
