#pragma once
/// Histograms of whole pictures, added up of those of their tiles.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "texture/output.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// Summary of a contrast histogram, in gray levels: 0 to 255.
struct ContrastSummary {
  double mean = 0;
  double variance = 0;  ///< mean square of all pixels minus the square of the mean
  /// Percentiles by kContrastPercentiles: the smallest value not exceeded by that percentage of the pixels.
  std::array<double, 7> percentiles{};
  friend bool operator==(const ContrastSummary&, const ContrastSummary&) = default;
};
inline constexpr std::array<int, 7> kContrastPercentiles{1, 5, 25, 50, 75, 95, 99};

/// Summarises a histogram in steps of 1/kContrastOne gray level ([kContrastValues]). Sums are integers, so
/// each figure is rounded once. All 0 without pixels.
ContrastSummary summarise_contrast(std::span<const std::uint64_t> counts);

/// Totals of one operator in one channel.
struct OperatorTotals {
  std::vector<std::uint64_t> bins;      ///< counts by the mapping
  std::vector<std::uint64_t> contrast;  ///< [kContrastValues] if contrast is requested, else empty
};

/// Adds up tiles, in whatever order they come: whole numbers of 64 bits. Thread-safety: none.
class TextureTotals {
 public:
  TextureTotals(const TextureSettings& settings, std::size_t channels);

  /// Adds one channel of a tile. Throws std::logic_error if its settings differ.
  void add(std::size_t channel, const TextureOutput& tile);

  /// Sums of other tiles, of one operator in one channel. Throws as above.
  void add(std::size_t channel, std::size_t op, const OperatorTotals& more);

  std::size_t channels() const { return channels_; }
  std::size_t operators() const { return totals_.size() / channels_; }
  const OperatorTotals& of(std::size_t channel, std::size_t op) const {
    return totals_[channel * operators() + op];
  }

 private:
  std::size_t channels_;
  std::vector<OperatorTotals> totals_;  ///< [channel][operator]
};

/// Bins of an operator under a mapping. Throws Error (usage) as LbpBins does.
int bins_of(const LbpOperator& op, LbpMapping mapping);

}  // namespace sightline::texture
