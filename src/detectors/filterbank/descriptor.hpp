#pragma once
/// Descriptor of a window, with the variants that M. Dikmen's thesis (UIUC) compares.

#include <optional>
#include <string>
#include <string_view>

#include "detectors/filterbank/layout.hpp"
#include "image/lbp.hpp"

namespace sightline::filterbank {

/// Normalisation of a block's four concatenated histograms v. Features are stored in eight bits, 255 for 1.
enum class Normalisation {
  l1_sqrt,  ///< sqrt(v / (|v|_1 + epsilon)): length 1
  l1,       ///< v / (|v|_1 + epsilon), times kL1Gain, kL1Largest at most
  l2,       ///< v / sqrt(|v|_2^2 + epsilon^2): length 1
};

/// Treatment of the responses' signs.
enum class Contrast {
  insensitive,   ///< the largest |response| counts, in one bin a filter
  sensitive,     ///< the same, in two: for responses from 0 up and for those below
  signed_value,  ///< the largest response above 0 counts: a filter's negative is another filter
};

/// Shares of a block's sum are small. Times 6, blocks are about as long as with the other two normalisations
/// (measured on people and photos: 0.9 on average), so that the same cost suits the support vector machine,
/// and one feature in 500 is cut off.
inline constexpr float kL1Gain = 6;
/// A larger feature would be 182 or more in eight bits, and the sum of two products with weights of 90 could
/// pass 2^15 (see kMaxWeight).
inline constexpr float kL1Largest = 181.0F / 255.0F;

/// No block's features are longer.
double largest_block_length(Normalisation normalisation);

/// A descriptor that is `exact` runs in exact arithmetic, in SIMD and on OpenCL devices. Every other one runs
/// on the CPU, where the float method (float_method.cpp) makes its features; in floating point, that method
/// runs some of them on devices as well (float_on_devices).
struct Descriptor {
  int patch = 3;                              ///< pixels a side of the filters: 3 or 5
  Contrast contrast = Contrast::insensitive;  ///< signed_value goes with 3x3 patches
  Normalisation normalisation = Normalisation::l1_sqrt;
  /// Each cell's histogram of uniform local binary patterns (image/lbp.hpp) is part of the descriptor.
  bool patterns = false;

  bool contrast_sensitive() const { return contrast == Contrast::sensitive; }
  bool signed_value() const { return contrast == Contrast::signed_value; }
  bool exact() const { return patch == 3 && normalisation == Normalisation::l1_sqrt && !signed_value(); }
  /// Whether devices, too, have the float method of it.
  bool float_on_devices() const {
    return patch == 3 && normalisation == Normalisation::l1_sqrt && !contrast_sensitive() && !patterns;
  }
  bool standard() const { return *this == Descriptor(); }
  int taps() const { return patch * patch; }
  /// Bins of a cell's histogram: the filters' in their order, then those of the responses below 0.
  int bins(int filters) const { return contrast_sensitive() ? 2 * filters : filters; }
  int pattern_bins() const { return patterns ? kUniformLbpBins : 0; }
  /// Filters that a dictionary may have.
  int max_filters() const { return contrast_sensitive() ? kMaxFilters / 2 : kMaxFilters; }
  /// Features of a block: the filters' bins of its four cells, then the patterns of its first.
  int block_features(int filters) const { return kBlockCells * bins(filters) + pattern_bins(); }
  friend bool operator==(const Descriptor&, const Descriptor&) = default;
};

/// "l1-sqrt", "l1", "l2"
std::string to_text(Normalisation normalisation);
std::optional<Normalisation> parse_normalisation(std::string_view text);

/// Text of the differences from the standard descriptor: "5x5 patches, contrast-sensitive, l2", "signed
/// responses"; "" for the standard one.
std::string describe(const Descriptor& descriptor);

}  // namespace sightline::filterbank
