#pragma once
/// The dictionary of 3x3 filters, in the exact 8-bit form, the float form it comes from, and packed for SIMD;
/// or of 5x5 filters, in float alone.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "detectors/filterbank/layout.hpp"

namespace sightline::filterbank {

using Filter = std::array<std::int8_t, kTaps>;  ///< row-major, sums to exactly 0
using FloatFilter = std::array<float, kTaps>;   ///< row-major, zero mean, unit L2 norm
using LargeFilter = std::array<float, 25>;      ///< the same of 5x5

/// Largest sum of the positive coefficients of a filter. With 8-bit pixels it keeps every |response| below
/// 2^16, so that a response fits into 24 bits, and a cell's sum of 64 responses below 2^24, exact in float as
/// well.
inline constexpr int kMaxPositiveSum = 257;

/// Rounds filters to 8 bits: one scale for all, the largest |coefficient| becomes 127 (less where
/// kMaxPositiveSum would be passed), and the rounding of each is corrected where it costs least, so that the
/// filter still sums to exactly 0.
std::vector<Filter> quantise(std::span<const FloatFilter> filters);

/// Immutable after construction, safe to share between threads.
class Dictionary {
 public:
  Dictionary() = default;
  /// Both forms have the same number of filters, 1..256. Throws Error (model) if a filter does not sum to
  /// zero, is too large (see kMaxPositiveSum) or is not finite.
  Dictionary(std::vector<Filter> filters, std::vector<FloatFilter> reference);
  /// 5x5 filters, 1..256. Throws Error (model) if one is not finite.
  explicit Dictionary(std::vector<LargeFilter> large);

  /// The dictionary of the first `count` filters, 1..size().
  Dictionary first(int count) const;

  int size() const { return static_cast<int>(large_.empty() ? filters_.size() : large_.size()); }
  /// Pixels a side of a filter: 3 or 5.
  int patch() const { return large_.empty() ? 3 : 5; }
  /// The 3x3 filters; none if the filters are 5x5.
  std::span<const Filter> filters() const { return filters_; }
  std::span<const FloatFilter> reference() const { return reference_; }
  /// The 5x5 filters.
  std::span<const LargeFilter> large() const { return large_; }

  /// For each filter three words, one a row: bytes (left, middle, right, 0), for the four-element 8-bit dot
  /// product.
  std::span<const std::int32_t> quads() const { return quads_; }
  /// For each filter three words: bytes (upper left, upper, upper right, left) and (right, lower left, lower,
  /// lower right), and 128 times the middle one. Pixels' differences from the middle one, plus 128, times the
  /// first two words, plus the third, are the response, since a filter sums to 0.
  std::span<const std::int32_t> rings() const { return rings_; }
  /// For each filter five words of two int16: rows' (left, middle); (right of row 0, right of row 1); (right
  /// of row 2, 0), for the two-element 16-bit dot product.
  std::span<const std::int32_t> pairs() const { return pairs_; }

 private:
  std::vector<Filter> filters_;
  std::vector<FloatFilter> reference_;
  std::vector<LargeFilter> large_;
  std::vector<std::int32_t> quads_;
  std::vector<std::int32_t> rings_;
  std::vector<std::int32_t> pairs_;
};

}  // namespace sightline::filterbank
