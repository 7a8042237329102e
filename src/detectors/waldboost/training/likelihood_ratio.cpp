#include "detectors/waldboost/training/likelihood_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {
namespace {

constexpr int kBins = 1024;
constexpr double kOfSilverman = 0.5;
// 0 is Wald's test. A window that survives long costs many evaluations.
constexpr double kPatience = 0.5;

struct Range {
  double lowest = 0, width = 1;  ///< lower edge of the first bin, and bin width
  int bin(double sum) const { return std::clamp(static_cast<int>((sum - lowest) / width), 0, kBins - 1); }
};

// Silverman's rule of thumb: 0.9 min(deviation, interquartile range / 1.34) n^(-1/5).
double kernel_width(std::span<const std::int32_t> sums) {
  double mean = 0, square = 0;
  for (const std::int32_t s : sums) {
    mean += s;
    square += static_cast<double>(s) * s;
  }
  const auto n = static_cast<double>(sums.size());
  mean /= n;
  double spread = std::sqrt(std::max(square / n - mean * mean, 0.0));
  std::vector<std::int32_t> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end());
  const double quartiles = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
  if (quartiles > 0) spread = std::min(spread, quartiles / 1.34);
  return 0.9 * spread * std::pow(n, -0.2);
}

// In parts of the whole class.
std::vector<double> histogram(const ClassSums& of, const Range& range) {
  std::vector<double> shares(kBins);
  for (const std::int32_t s : of.sums)
    shares[range.bin(s)] += of.survived / static_cast<double>(of.sums.size());
  return shares;
}

std::vector<double> density(const ClassSums& of, const std::vector<double>& shares, const Range& range) {
  const double sigma = std::max(kOfSilverman * kernel_width(of.sums) / range.width, 0.5);
  const int reach = std::min(static_cast<int>(std::ceil(4 * sigma)), kBins);
  std::vector<double> kernel(reach + 1);
  double total = 0;
  for (int i = 0; i <= reach; ++i) {
    kernel[i] = std::exp(-0.5 * i * i / (sigma * sigma));
    total += i == 0 ? kernel[i] : 2 * kernel[i];
  }
  std::vector<double> smooth(kBins);
  for (int from = 0; from < kBins; ++from) {
    if (shares[from] == 0) continue;
    for (int to = std::max(from - reach, 0); to <= std::min(from + reach, kBins - 1); ++to)
      smooth[to] += shares[from] / total * kernel[std::abs(to - from)];
  }
  return smooth;
}

}  // namespace

std::int32_t rejection_threshold(const ClassSums& positives, const ClassSums& negatives, double alpha) {
  if (positives.sums.empty() || negatives.sums.empty()) return kNoThreshold;
  const auto [low_p, high_p] = std::minmax_element(positives.sums.begin(), positives.sums.end());
  const auto [low_n, high_n] = std::minmax_element(negatives.sums.begin(), negatives.sums.end());
  const double lowest = std::min(*low_p, *low_n), highest = std::max(*high_p, *high_n);
  const Range range{lowest, std::max((highest - lowest) / kBins, 1.0)};
  const std::vector<double> p_shares = histogram(positives, range), n_shares = histogram(negatives, range);
  const std::vector<double> p = density(positives, p_shares, range), n = density(negatives, n_shares, range);
  // The odds at which a window is given up.
  const double odds = alpha * std::pow(negatives.survived, -kPatience);
  double p_below = 0, n_below = 0;
  int end = 0;
  for (int bin = 0; bin + 1 < kBins; ++bin) {
    p_below += p_shares[bin];
    n_below += n_shares[bin];
    if (odds * n[bin] >= p[bin] && odds * n_below >= p_below && 1 - positives.survived + p_below <= alpha)
      end = bin + 1;
  }
  const auto threshold = static_cast<std::int32_t>(std::floor(lowest + end * range.width));
  const std::int32_t at_least = *low_p;
  return std::max(threshold, at_least) <= *low_n ? kNoThreshold : std::max(threshold, at_least);
}

}  // namespace sightline::waldboost
