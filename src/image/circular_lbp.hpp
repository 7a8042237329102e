#pragma once
/// Local binary patterns of a circle of points (T. Ojala et al., "Multiresolution gray-scale and rotation
/// invariant texture classification with local binary patterns", PAMI 2002): bit p of a pixel's code says
/// whether the sample at angle 2 pi p / P, east first and then counter-clockwise, at distance R, is at least
/// as bright as the pixel.
///
/// Samples lie between pixels. Each is a bilinear mix of four with weights in 1/128 that add up to 128, made
/// once (of offsets rounded to 1/256 pixel) and mirror-symmetric; it is compared unrounded: the bit is `sum
/// of weight * pixel >= 128 * middle`. So codes are the same bits on every processor, and where all pixels
/// are equal, all bits are set. (lbp.hpp has the 3x3 neighbourhood, without mixing.)

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "image/view.hpp"

namespace sightline {

inline constexpr int kLbpSampleOne = 128;
inline constexpr double kLargestLbpRadius = 32;

/// One point of the circle: pixels (x, y), (x + 1, y), (x, y + 1) and (x + 1, y + 1) from the middle, with
/// their weights. If a single pixel has all the weight, it is the first.
struct LbpSample {
  int x = 0;
  int y = 0;
  std::array<std::uint8_t, 4> weights{};
  bool is_pixel() const { return weights[0] == kLbpSampleOne; }
  friend bool operator==(const LbpSample&, const LbpSample&) = default;
};

/// The points of a circle, and codes of single pixels by their definition. Immutable.
class CircularLbp {
 public:
  /// Throws Error (usage) where `points` is not 8, 16 or 24 or `radius` not in 1 .. kLargestLbpRadius pixels.
  CircularLbp(int points, double radius);

  int points() const { return static_cast<int>(samples_.size()); }
  const std::vector<LbpSample>& samples() const { return samples_; }
  /// Maximum distance of read pixels from the middle: `radius` rounded up.
  int reach() const { return reach_; }
  /// The code of a pixel that is at least `reach` pixels from every edge.
  std::uint32_t code(GrayView image, int x, int y) const;

 private:
  std::vector<LbpSample> samples_;
  int reach_ = 0;
};

/// Writes the codes of pixels [x_begin, x_end) of row y, all of which are at least `reach` from every edge.
/// Codes have at least as many bits as the circle has points. SIMD, dispatched at run time.
/// Thread-safety: pure functions.
void circular_lbp_row(GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
                      std::uint8_t* codes);
void circular_lbp_row(GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
                      std::uint16_t* codes);
void circular_lbp_row(GrayView image, const CircularLbp& circle, int y, int x_begin, int x_end,
                      std::uint32_t* codes);

/// Mapping of codes to histogram bins.
enum class LbpMapping {
  plain,             ///< a bin a code
  uniform,           ///< u2: uniform codes (at most two changes around the circle) in rising order, then one
                     ///< for all others
  rotation,          ///< ri: a bin for codes that are rotations of each other, by their least one
  rotation_uniform,  ///< riu2: uniform codes by their number of ones, then one for all others
};
/// "plain", "u2", "ri" or "riu2".
const char* to_string(LbpMapping mapping);
/// No value for any other text.
std::optional<LbpMapping> parse_lbp_mapping(std::string_view text);

/// Whether the bits of a code change at most twice around its circle.
constexpr bool is_uniform_lbp(std::uint32_t code, int points) {
  const std::uint32_t turned = (code >> 1) | ((code & 1U) << (points - 1));
  return std::popcount(code ^ turned) <= 2;
}

/// Bins of mapping u2, the last of which is that of codes that are not uniform.
constexpr int uniform_lbp_bins(int points) {
  return points * (points - 1) + 3;
}

/// Bin of a code in mapping u2, computed without a table, as on devices: codes whose highest bit is clear are
/// a block of ones, ordered by its upper and then by falling lower end; the others are their complements, in
/// the opposite order.
constexpr int uniform_lbp_bin(std::uint32_t code, int points) {
  if (!is_uniform_lbp(code, points)) return uniform_lbp_bins(points) - 1;
  const std::uint32_t all = (1U << points) - 1;
  const bool is_high = (code >> (points - 1)) != 0;
  const std::uint32_t block = is_high ? ~code & all : code;
  int rank = 0;
  if (block != 0) {
    const int top = std::bit_width(block) - 1;
    rank = 1 + top * (top + 1) / 2 + top - std::countr_zero(block);
  }
  return is_high ? uniform_lbp_bins(points) - 2 - rank : rank;
}

/// Bins of a circle's codes under a mapping. Immutable.
class LbpBins {
 public:
  /// Throws Error (usage) if there would be more than kMostBins: plain codes of 16 and 24 points, and
  /// those of 24 points by rotation.
  LbpBins(int points, LbpMapping mapping);
  static constexpr int kMostBins = 8192;

  int count() const { return count_; }
  int points() const { return points_; }
  LbpMapping mapping() const { return mapping_; }
  /// 0 .. count() - 1.
  int bin(std::uint32_t code) const;
  /// The same by code, for up to 16 points; empty for 24.
  const std::vector<std::uint16_t>& table() const { return table_; }

 private:
  int points_;
  LbpMapping mapping_;
  int count_ = 0;
  std::vector<std::uint16_t> table_;
};

}  // namespace sightline
