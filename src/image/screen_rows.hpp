#pragma once
/// Rows of video to rows of a screen: BGRA in memory order (0xAARRGGBB on little-endian machines), A = 255.
/// image/colour.hpp converts luma and chroma.
///
/// Works row by row, so that intermediate rows stay in the L1 cache and the screen's memory is written once.
/// Thread-safety: pure functions. Errors: none.

#include <cstdint>
#include <vector>

#include "image/gray.hpp"

namespace sightline {

void packed_to_bgra(const std::uint8_t* packed, PackedFormat format, int width, std::uint8_t* bgra);

/// Splits `width` pairs.
void split_pairs(const std::uint8_t* pairs, int width, std::uint8_t* first, std::uint8_t* second);

/// Fixed-point 1 of the weights.
inline constexpr int kMixOne = 128;

/// out = a + (b - a) weight / 128, rounded, for weights 0..128. SIMD.
void mix_rows(const std::uint8_t* a, const std::uint8_t* b, int weight, int bytes, std::uint8_t* out);

/// out[x] = mean of the four samples 2x and 2x + 1 of both rows, rounded. SIMD.
void halve_rows(const std::uint8_t* a, const std::uint8_t* b, int width, std::uint8_t* out);
/// The same for pixels of `channels` bytes.
void halve_rows(const std::uint8_t* a, const std::uint8_t* b, int width, int channels, std::uint8_t* out);

/// Horizontal resampling of a row: sample x mixes the source's first[x] and the next one by weight[x]
/// (0..128).
struct Columns {
  /// Eight samples out of sixteen source samples from `base` on.
  struct Group {
    std::int32_t base;
    std::uint8_t pairs[16];  ///< first and second of each, from the base
    std::int16_t weight[8];
  };
  static constexpr int kSlack = 32;  ///< bytes that may be read past the source's last sample
  std::vector<std::int32_t> first, weight;
  std::vector<Group> groups;  ///< groups of the leading samples; the rest is scalar

  /// `from` source samples to `to`, `ratio` source samples apart; centres fall on centres.
  Columns() = default;
  Columns(int from, int to, double ratio);
};

/// Samples of one byte. SIMD.
void mix_columns(const std::uint8_t* row, const Columns& columns, std::uint8_t* out);
/// Pixels of four bytes.
void mix_columns_bgra(const std::uint8_t* row, const Columns& columns, std::uint8_t* out);

/// Blends a colour (0xRRGGBB) over pixels: `alpha` 0 (nothing) to 256 (the colour). SIMD.
void blend_color(std::uint8_t* bgra, int width, std::uint32_t color, int alpha);

}  // namespace sightline
