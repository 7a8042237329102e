#pragma once
/// Internal to this folder: how a crop's pixels are sampled, for the scalar and the SIMD form.

#include <cstddef>
#include <cstdint>

#include "faces/recognition/crop.hpp"

namespace sightline::recognition {

inline constexpr int kStepBits = 16;
inline constexpr int kWeightBits = 7;
inline constexpr int kWeightOne = 1 << kWeightBits;

/// Position of a crop's pixel in its octave.
struct Place {
  int x, y;          ///< pixel to the upper left
  int right, lower;  ///< weights of its neighbours, of kWeightOne
};

inline Place place_of(const Similarity& from, int column, int row) {
  const std::int32_t x = from.x + from.step_x * column - from.step_y * row;
  const std::int32_t y = from.y + from.step_y * column + from.step_x * row;
  constexpr int kCut = kStepBits - kWeightBits;
  return {x >> kStepBits, y >> kStepBits, (x >> kCut) & (kWeightOne - 1), (y >> kCut) & (kWeightOne - 1)};
}

inline std::uint8_t mix(int upper_left, int upper_right, int lower_left, int lower_right, const Place& at) {
  const int upper = upper_left * (kWeightOne - at.right) + upper_right * at.right;
  const int lower = lower_left * (kWeightOne - at.right) + lower_right * at.right;
  constexpr int kBits = 2 * kWeightBits;
  return static_cast<std::uint8_t>(
      (upper * (kWeightOne - at.lower) + lower * at.lower + (1 << (kBits - 1))) >> kBits);
}

/// Pixels [0, count) of a crop's row. `first` is the position of the first one in 2^-16 pixel of the octave,
/// `pixels` the octave's pixel (0, 0). The neighbours of every position must be readable.
struct SampledRow {
  const std::uint8_t* pixels;
  std::ptrdiff_t stride;
  std::int32_t x, y;
  std::int32_t step_x, step_y;
  int count;
};
void sample_row(const SampledRow& row, std::uint8_t* target);

}  // namespace sightline::recognition
