#include "texture/totals.hpp"

#include <stdexcept>

namespace sightline::texture {
namespace {

// Sums of a picture's squares go beyond 64 bits once they are multiplied with its pixels.
__extension__ using Wide = unsigned __int128;

template <typename T>
void add_counts(std::vector<std::uint64_t>& sums, const std::vector<T>& counts) {
  if (sums.size() != counts.size()) throw std::logic_error("a tile's histogram is of other settings");
  for (std::size_t bin = 0; bin < sums.size(); ++bin) sums[bin] += counts[bin];
}

}  // namespace

ContrastSummary summarise_contrast(std::span<const std::uint64_t> counts) {
  std::uint64_t pixels = 0;
  Wide sum = 0;
  Wide squares = 0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    pixels += counts[value];
    sum += Wide{counts[value]} * value;
    squares += Wide{counts[value]} * value * value;
  }
  ContrastSummary summary;
  if (pixels == 0) return summary;
  constexpr double kOne = kContrastOne;
  const auto n = static_cast<double>(pixels);
  summary.mean = static_cast<double>(sum) / (n * kOne);
  summary.variance = static_cast<double>(squares * pixels - sum * sum) / (n * kOne) / (n * kOne);
  std::uint64_t below = 0;
  std::size_t next = 0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    below += counts[value];
    for (;
         next < kContrastPercentiles.size() && Wide{below} * 100 >= Wide{pixels} * kContrastPercentiles[next];
         ++next) {
      summary.percentiles[next] = static_cast<double>(value) / kOne;
    }
  }
  return summary;
}

int bins_of(const LbpOperator& op, LbpMapping mapping) {
  return LbpBins(op.points(), mapping).count();
}

TextureTotals::TextureTotals(const TextureSettings& settings, std::size_t channels) : channels_(channels) {
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (const LbpOperator& op : settings.operators) {
      OperatorTotals& totals = totals_.emplace_back();
      totals.bins.resize(static_cast<std::size_t>(bins_of(op, settings.mapping)));
      if (settings.contrast) totals.contrast.resize(kContrastValues);
    }
  }
}

void TextureTotals::add(std::size_t channel, const TextureOutput& tile) {
  if (channel >= channels_ || tile.operators.size() != operators())
    throw std::logic_error("a tile's histograms are of other settings");
  for (std::size_t op = 0; op < operators(); ++op) {
    OperatorTotals& totals = totals_[channel * operators() + op];
    add_counts(totals.bins, tile.operators[op].bins);
    add_counts(totals.contrast, tile.operators[op].contrast);
  }
}

void TextureTotals::add(std::size_t channel, std::size_t op, const OperatorTotals& more) {
  if (channel >= channels_ || op >= operators()) throw std::logic_error("histograms are of other settings");
  OperatorTotals& totals = totals_[channel * operators() + op];
  add_counts(totals.bins, more.bins);
  add_counts(totals.contrast, more.contrast);
}

}  // namespace sightline::texture
