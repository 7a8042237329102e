#pragma once
/// Projection of a face's histograms to a short template, compared by squared Euclidean distance: a learned
/// linear projection of the counts' square roots, normalised to a fixed length. In integers: the same bits on
/// every processor.
///
///     x_j = round(9 sqrt(count_j)),  a_d = sum over j of weight[d][j] * x_j
///     y_d = ((a_d - bias_d) * scale_d) >> 18                    (64 bits, arithmetic shift)
///     n   = floor(sqrt(sum of y_d^2));  all 0 where n is 0
///     t_d = sign(y_d) * min(127, (2 |y_d| length + n) / (2 n))  (division of whole numbers)

#include <array>
#include <cstdint>
#include <vector>

#include "image/view.hpp"

namespace sightline::recognition {

inline constexpr int kRootScale = 9;
inline constexpr int kMostCount = 720;  ///< largest count with a root
inline constexpr int kScaleShift = 18;

/// round(9 sqrt(count)) by count, 0 .. 241.
inline constexpr std::array<std::uint8_t, kMostCount + 1> kRoots = [] {
  std::array<std::uint8_t, kMostCount + 1> roots{};
  int root = 0;
  for (int count = 0; count <= kMostCount; ++count) {
    // Rounds up where root + 1/2 is passed; it is never met.
    while ((2 * root + 1) * (2 * root + 1) < 4 * kRootScale * kRootScale * count) ++root;
    roots[static_cast<std::size_t>(count)] = static_cast<std::uint8_t>(root);
  }
  return roots;
}();

/// Learned parameters. Sums a_d must stay below 2^29 in magnitude for all counts of a crop; the loader checks
/// it.
struct Projection {
  int dims = 0;
  int values = 0;
  std::vector<std::int8_t> weights;  ///< [dims][values]
  std::vector<std::int32_t> bias;    ///< [dims], below 2^29 in magnitude
  std::vector<std::uint16_t> scale;  ///< [dims]
  int length = 500;                  ///< length of templates, 1 .. 2^15
};

/// A projection laid out to be run. Immutable.
class Projector {
 public:
  /// Throws std::invalid_argument if arrays do not have the stated lengths.
  explicit Projector(Projection projection);

  int dims() const { return projection_.dims; }
  int values() const { return projection_.values; }
  /// The original projection.
  const Projection& projection() const { return projection_; }

  /// Weights with rows of stride() values, padded with 0 to a multiple of 64.
  const AlignedBuffer<std::int8_t>& padded_weights() const { return weights_; }
  std::size_t stride() const { return stride_; }

  /// Memory for one face at a time.
  struct Scratch {
    AlignedBuffer<std::int16_t> roots;
    AlignedBuffer<std::int32_t> sums;
  };
  /// Writes the template, dims() numbers, of values() counts, each at most kMostCount. SIMD.
  void project(const std::uint16_t* counts, Scratch& scratch, std::int8_t* result) const;

 private:
  Projection projection_;
  std::size_t stride_ = 0;
  AlignedBuffer<std::int8_t> weights_;
};

/// The last steps, from sums a_d: bias, scale and length. `sums` are overwritten.
void normalise_sums(const Projection& projection, std::int32_t* sums, std::int8_t* result);

namespace reference {
/// Reference implementation by the definition.
void project(const Projection& projection, const std::uint16_t* counts, std::int8_t* result);
}  // namespace reference

}  // namespace sightline::recognition
