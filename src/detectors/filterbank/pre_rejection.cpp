// The pre-rejection's basis and weights. Plain double arithmetic in a fixed order, never fused
// (-ffp-contract=off), and no library function but the square root: the same bits on every machine.
#include <algorithm>
#include <cmath>

#include "detectors/filterbank/kernels.hpp"

namespace sightline::filterbank {
namespace {

constexpr int kRank = PreRejection::kRank;
constexpr int kIterations = 30;
// A block's features have a length of at most 370 with patterns and their rounding, a vector of the basis one
// of at most 90 * 33, so that the components of a block sum up to less than 12,200, and a window's sum stays
// below 2^31.
constexpr int kLargestWeight = 1000;
constexpr int kLargestSum = 170'000;  // largest sum of a window's largest weights

using Matrix = std::vector<double>;  // [row][kRank]

// Makes the columns orthogonal and of unit length, the first one first; a column that depends on those before
// it becomes 0.
void orthonormalise(Matrix& m) {
  const std::size_t rows = m.size() / kRank;
  for (int j = 0; j < kRank; ++j) {
    for (int other = 0; other <= j; ++other) {
      double product = 0;
      for (std::size_t i = 0; i < rows; ++i) product += m[i * kRank + j] * m[i * kRank + other];
      if (other < j) {
        for (std::size_t i = 0; i < rows; ++i) m[i * kRank + j] -= product * m[i * kRank + other];
      } else {
        const double factor = product > 1e-12 ? 1 / std::sqrt(product) : 0;
        for (std::size_t i = 0; i < rows; ++i) m[i * kRank + j] *= factor;
      }
    }
  }
}

// Leading eigenvectors of the weights' Gram matrix by subspace iteration. `weights`: [block][feature].
Matrix leading_vectors(const std::vector<double>& weights, std::size_t features) {
  const std::size_t blocks = weights.size() / features;
  Matrix basis(features * kRank);
  std::uint32_t state = 1;
  for (double& value : basis) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
  }
  orthonormalise(basis);
  for (int i = 0; i < kIterations; ++i) {
    Matrix next(features * kRank, 0.0);
    for (std::size_t b = 0; b < blocks; ++b) {
      const double* row = weights.data() + b * features;
      double along[kRank] = {};
      for (std::size_t f = 0; f < features; ++f) {
        for (int r = 0; r < kRank; ++r) along[r] += row[f] * basis[f * kRank + r];
      }
      for (std::size_t f = 0; f < features; ++f) {
        for (int r = 0; r < kRank; ++r) next[f * kRank + r] += row[f] * along[r];
      }
    }
    basis = std::move(next);
    double largest = 0;
    for (const double value : basis) largest = std::max(largest, std::fabs(value));
    for (double& value : basis) value /= largest > 0 ? largest : 1;
    orthonormalise(basis);
  }
  return basis;
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

}  // namespace

PreRejection::PreRejection(const PackedWeights& packed) {
  const WindowShape window = packed.window();
  const std::size_t features = static_cast<std::size_t>(packed.quads()) * 4;
  std::vector<double> weights(window.blocks() * features);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(packed.row(0)[i / 4] >> (8 * (i % 4)));

  Matrix basis = leading_vectors(weights, features);
  basis_.assign(features / 4 * kRank, 0);
  for (int r = 0; r < kRank; ++r) {
    double largest = 0;
    for (std::size_t f = 0; f < features; ++f) largest = std::max(largest, std::fabs(basis[f * kRank + r]));
    for (std::size_t f = 0; f < features; ++f) {
      double& value = basis[f * kRank + r];
      value = largest > 0 ? std::floor(value * kMaxWeight / largest + 0.5) : 0;
      const auto byte = static_cast<std::uint32_t>(static_cast<int>(value)) & 0xFFU;
      std::int32_t& word = basis_[f / 4 * kRank + r];
      word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) | byte << (8 * (f % 4)));
    }
  }
  std::vector<double> along(static_cast<std::size_t>(window.blocks()) * kRank, 0.0);
  for (int r = 0; r < kRank; ++r) {
    double energy = 0;
    for (std::size_t f = 0; f < features; ++f) energy += basis[f * kRank + r] * basis[f * kRank + r];
    for (int b = 0; b < window.blocks() && energy > 0; ++b) {
      double product = 0;
      for (std::size_t f = 0; f < features; ++f) product += weights[b * features + f] * basis[f * kRank + r];
      along[b * kRank + r] = product / energy;
    }
  }
  const double largest = largest_of(along);
  const int largest_weight = std::clamp(kLargestSum / window.blocks(), 1, kLargestWeight);
  const double step = largest > 0 ? largest / largest_weight : 1;
  std::vector<std::int32_t> words(along.size() / 2, 0);
  for (std::size_t i = 0; i < along.size(); ++i) {
    const auto weight = static_cast<std::int32_t>(std::floor(along[i] / step + 0.5));
    words[i / 2] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(words[i / 2]) |
                                  (static_cast<std::uint32_t>(weight) & 0xFFFFU) << (16 * (i % 2)));
  }
  weights_ = PackedWeights(std::move(words), window);
  unit_ = step * (1 << kShift);
}

}  // namespace sightline::filterbank
