#include "detectors/filterbank/dictionary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/error.hpp"

namespace sightline::filterbank {

std::vector<Filter> quantise(std::span<const FloatFilter> filters) {
  double largest = 0;
  double largest_sum = 0;
  for (const FloatFilter& filter : filters) {
    double positive = 0;
    for (const double c : filter) {
      largest = std::max(largest, std::fabs(c));
      positive += std::max(c, 0.0);
    }
    largest_sum = std::max(largest_sum, positive);
  }
  // Rounding adds at most half a unit a coefficient, and nine of them at most four and a half.
  const double scale = largest > 0 ? std::min(127.0 / largest, (kMaxPositiveSum - 5) / largest_sum) : 0.0;
  std::vector<Filter> result;
  result.reserve(filters.size());
  for (const FloatFilter& filter : filters) {
    std::array<double, kTaps> error;  // rounded minus true value
    std::array<int, kTaps> rounded;
    for (int i = 0; i < kTaps; ++i) {
      const double value = filter[i] * scale;
      rounded[i] = static_cast<int>(std::lround(value));
      error[i] = rounded[i] - value;
    }
    // Each step moves the coefficient that has been rounded furthest the other way.
    for (int sum = std::accumulate(rounded.begin(), rounded.end(), 0); sum != 0;) {
      const int step = sum > 0 ? -1 : 1;
      int best = -1;
      for (int i = 0; i < kTaps; ++i) {
        if (std::abs(rounded[i] + step) > 127) continue;
        if (best < 0 || -step * error[i] > -step * error[best]) best = i;
      }
      rounded[best] += step;
      error[best] += step;
      sum += step;
    }
    Filter out;
    for (int i = 0; i < kTaps; ++i) out[i] = static_cast<std::int8_t>(rounded[i]);
    result.push_back(out);
  }
  return result;
}

namespace {
std::int32_t pack_bytes(int a, int b, int c, int d) {
  const auto byte = [](int v) { return static_cast<std::uint32_t>(v) & 0xFFU; };
  return static_cast<std::int32_t>(byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24);
}

std::int32_t pack_words(int a, int b) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(a) & 0xFFFFU) | static_cast<std::uint32_t>(b)
                                                                                   << 16);
}

template <typename Filters>
void expect_finite(const Filters& filters) {
  for (std::size_t k = 0; k < filters.size(); ++k) {
    for (const float c : filters[k]) {
      if (!std::isfinite(c)) {
        throw Error(ExitCode::model,
                    "reference filter " + std::to_string(k) + " holds a value that is not finite");
      }
    }
  }
}
}  // namespace

Dictionary::Dictionary(std::vector<Filter> filters, std::vector<FloatFilter> reference)
    : filters_(std::move(filters)), reference_(std::move(reference)) {
  if (filters_.empty() || filters_.size() > kMaxFilters || filters_.size() != reference_.size()) {
    throw Error(ExitCode::model,
                "a dictionary of " + std::to_string(filters_.size()) + " filters and " +
                    std::to_string(reference_.size()) + " reference filters is not usable",
                "both need the same number, from 1 to 256");
  }
  for (std::size_t k = 0; k < filters_.size(); ++k) {
    const Filter& f = filters_[k];
    const int sum = std::accumulate(f.begin(), f.end(), 0);
    int positive = 0;
    for (const int c : f) positive += std::max(c, 0);
    if (sum != 0 || positive > kMaxPositiveSum) {
      throw Error(ExitCode::model,
                  "dictionary filter " + std::to_string(k) + " is not usable: its coefficients sum to " +
                      std::to_string(sum) + ", the positive ones to " + std::to_string(positive),
                  "they must sum to 0 and the positive ones to at most " + std::to_string(kMaxPositiveSum));
    }
    for (int r = 0; r < 3; ++r) quads_.push_back(pack_bytes(f[3 * r], f[3 * r + 1], f[3 * r + 2], 0));
    rings_.push_back(pack_bytes(f[0], f[1], f[2], f[3]));
    rings_.push_back(pack_bytes(f[5], f[6], f[7], f[8]));
    rings_.push_back(128 * f[4]);
    for (int r = 0; r < 3; ++r) pairs_.push_back(pack_words(f[3 * r], f[3 * r + 1]));
    pairs_.push_back(pack_words(f[2], f[5]));
    pairs_.push_back(pack_words(f[8], 0));
  }
  expect_finite(reference_);
}

Dictionary::Dictionary(std::vector<LargeFilter> large) : large_(std::move(large)) {
  if (large_.empty() || large_.size() > kMaxFilters) {
    throw Error(ExitCode::model,
                "a dictionary of " + std::to_string(large_.size()) + " filters of 5x5 is not usable",
                "it needs from 1 to 256");
  }
  expect_finite(large_);
}

Dictionary Dictionary::first(int count) const {
  if (!large_.empty()) return Dictionary(std::vector(large_.begin(), large_.begin() + count));
  return {{filters_.begin(), filters_.begin() + count}, {reference_.begin(), reference_.begin() + count}};
}

}  // namespace sightline::filterbank
