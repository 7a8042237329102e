#pragma once
/// Bilinear resampling as OpenCV's INTER_LINEAR_EXACT does it, in one step at any ratio: the same bits on
/// every processor. (The octave pyramid of pyramid.hpp, with its coarser weights, skips no pixel of the frame
/// however small the level; this one is for agreement with OpenCV.)
///
/// Sampling position of target element i: `(i + 0.5) * source / target - 0.5`, rounded to 1/256 (ties to
/// even) and clamped. A pixel is `(mix(upper) * (256 - wy) + mix(lower) * wy + 32768) >> 16`, where
/// `mix(row)` is `row[first] * (256 - wx) + row[second] * wx`.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/view.hpp"

namespace sightline {

/// Weights have 8 fractional bits.
inline constexpr int kSampleOne = 256;

/// Source samples of one axis by target element: a mix of `first` and `second`, the second with weight / 256.
/// `second` is `first` or the next element.
struct SampleAxis {
  std::vector<std::int32_t> first, second;
  std::vector<std::uint16_t> weight;
  SampleAxis() = default;
  /// @param source  elements, >= 1
  /// @param target  elements, >= 1
  SampleAxis(int source, int target);
};

/// Plan to resample an image to another size, for SIMD. Immutable.
struct SamplePlan {
  SampleAxis columns, rows;
  /// Eight samples of a row: bytes of two loads of 16.
  struct Group {
    std::int32_t base[2];
    std::uint8_t left[2][16];  ///< byte shuffles that spread the first samples into 16-bit lanes, 0 elsewhere
    std::uint8_t right[2][16];
    std::uint16_t left_weight[8];
    std::uint16_t right_weight[8];
  };
  std::vector<Group> groups;  ///< the leading columns; the others are sampled one by one
  bool is_copy = false;       ///< same size

  SamplePlan() = default;
  SamplePlan(Size source, Size target);
};

/// Pixel x of a target row that lies between the source rows `upper` and `lower`, the second weighted
/// weight / 256.
inline std::uint8_t sample_between(const std::uint8_t* upper, const std::uint8_t* lower, int weight,
                                   const SampleAxis& columns, int x) {
  const int right = columns.weight[x];
  const auto mix = [&](const std::uint8_t* row) {
    return row[columns.first[x]] * (kSampleOne - right) + row[columns.second[x]] * right;
  };
  constexpr int kOne = kSampleOne * kSampleOne;
  return static_cast<std::uint8_t>((mix(upper) * (kSampleOne - weight) + mix(lower) * weight + kOne / 2) /
                                   kOne);
}

/// Writes rows [y_begin, y_end) of the target, whose size, like the source's, is the plan's. SIMD, dispatched
/// at run time.
void resample_rows(GrayView source, const SamplePlan& plan, int y_begin, int y_end,
                   ImageView<std::uint8_t> target);
/// The same in plain scalar code: the reference that `resample_rows` and the OpenCL kernel equal bit for bit.
void resample_rows_reference(GrayView source, const SampleAxis& columns, const SampleAxis& rows, int y_begin,
                             int y_end, ImageView<std::uint8_t> target);

}  // namespace sightline
