#pragma once
/// Normalisation of a face's crop against noise and uneven light: it is blurred, or replaced by the
/// contrast-normalised difference of two blurs (in the manner of X. Tan and B. Triggs, "Enhanced Local
/// Texture Feature Sets for Face Recognition Under Difficult Lighting Conditions", TIP 2010), as it is or
/// relative to the wider blur (as H. Wang, S. Z. Li, Y. Wang, "Face Recognition under Varying Lighting
/// Conditions Using Self Quotient Image", FGR 2004): light multiplies what it falls on, so that a relative
/// difference is the same in a shadow. In integers: the same bits on every processor.
///
/// A blur is separable with weights in 1/256; the edge's pixel is repeated. Rows first, `h = sum of weight *
/// pixel`, then columns, `v = sum of weight * h`, both unrounded: 2^16 is one gray level. Of the blur alone,
/// a pixel is `(v + 2^15) >> 16`. Of a difference, with all shifts arithmetic and divisions of whole numbers:
///
///     d     = (v_inner - v_outer + 128) >> 8
///     d     = clamp(d * 2^14 / ((v_outer >> 8) + 2 * 2^8), -65535, 65535), rounded to 0, where it is
///     relative:
///             two levels more than there are, so that of what is black little more than noise is left
///     mean  = max(sum of |d| over the crop / pixels of the crop, 13)
///     pixel = clamp(128 + ((clamp(d, -7 mean, 7 mean) * ((20 << 16) / mean) + 2^15) >> 16), 0, 255)

#include <array>
#include <cstdint>
#include <span>

#include "image/view.hpp"

namespace sightline::recognition {

/// Blurs by their standard deviation in pixels: 1, 2, 3 or 4; 0 is none. With none, the crop stays as it is;
/// with an inner one alone, it is blurred; with an outer one, it is the difference of the two, perhaps
/// relative to the outer one.
struct Normalisation {
  int inner = 0;
  int outer = 0;
  bool is_relative = false;
  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

/// Throws Error (usage) if there is no such blur, or nothing to which anything could be relative.
void check(const Normalisation& normalisation);

/// Weights of a blur from its middle outwards; a single one for no blur. The deviation must be a supported
/// one.
std::span<const std::uint8_t> blur_weights(int deviation);
/// Pixels on each side that the widest blur mixes.
inline constexpr int kMostBlurReach = 11;

// Constants of a difference; see above.
inline constexpr int kMeanDifference = 20;    ///< levels that the mean becomes
inline constexpr int kLeastMean = 13;         ///< smallest mean in 1/256 level, or 2^-14
inline constexpr int kLargestDifference = 7;  ///< times the mean
inline constexpr int kRelativeBits = 14;      ///< a relative difference of 1 is 2^14
inline constexpr int kDarkness = 2 << 8;      ///< in 1/256 level: added to the divisor
inline constexpr int kMostRelative = 0xFFFF;  ///< so that sums over a crop fit 32 bits

/// Normalises crops and keeps memory for one. Thread-safety: one thread at a time.
class Normaliser {
 public:
  /// The normalised crop, valid until the next call and as long as `crop`, which it is where nothing is done.
  GrayView run(GrayView crop, const Normalisation& normalisation);

 private:
  AlignedBuffer<std::uint8_t> row_;
  AlignedBuffer<std::int16_t> inner_, outer_;
  AlignedBuffer<std::int32_t> differences_;
  Image<std::uint8_t> result_;
};

namespace reference {
/// The same by the definition. The result has the crop's size.
void normalise(GrayView crop, const Normalisation& normalisation, ImageView<std::uint8_t> result);
}  // namespace reference

}  // namespace sightline::recognition
