#pragma once
/// Gentle AdaBoost over stumps (J. Friedman, T. Hastie and R. Tibshirani, "Additive Logistic Regression: a
/// Statistical View of Boosting", Annals of Statistics 28(2), 2000, algorithm 4): of all features, the one
/// whose best cut in two leaves the least weighted square error; either part answers with the mean of its
/// classes, which are 1 and -1.
///
/// Weights are whole numbers while features are compared, so that sums are the same whatever they are added
/// up in parallel with.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "detectors/cascade/model.hpp"
#include "detectors/cascade/training/features.hpp"

namespace sightline::cascade {

inline constexpr int kBins = 256;

/// A byte for every feature of every sample: feature after feature. LBP: the pattern. Haar: which of 256
/// equal parts of the range from the lowest to the highest value among the samples (and 0) the value is in.
class BinTable {
 public:
  explicit BinTable(const FeaturePool& pool) : pool_(pool) {}
  /// Replaces the content; on all threads.
  /// @param positives  how many samples are; they come first
  void assign(const SampleIntegrals& samples, std::size_t positives);

  const FeaturePool& pool() const { return pool_; }
  std::size_t positives() const { return positives_; }
  std::size_t samples() const { return samples_; }
  std::span<const std::uint8_t> row(std::size_t feature) const {
    return {bins_.data() + feature * stride_, samples_};
  }
  /// Bytes from row to row. kMostRows rows may be read from any row on, even past the last feature.
  std::size_t stride() const { return stride_; }
  static constexpr std::size_t kMostRows = 8;
  /// Haar: what values of bins below `bin` are below, and all others are not.
  float edge(std::size_t feature, int bin) const;

 private:
  void assign_some(const SampleIntegrals& samples, std::size_t begin, std::size_t end);

  const FeaturePool& pool_;
  std::size_t positives_ = 0, samples_ = 0;
  std::size_t stride_ = 0;  ///< whole blocks
  std::vector<ValueRange> ranges_;
  std::vector<std::uint8_t> bins_;
};

/// A sample with its weight.
struct Weighed {
  std::uint32_t sample = 0;
  std::uint32_t weight = 0;  ///< the sum over all samples is about 2^30
};

/// The samples of both classes that a weak classifier is chosen by.
struct WeighedSamples {
  std::vector<Weighed> positives, negatives;
};

/// Samples in table order: those with the largest weights that make up at least `share` of the total weight.
/// Share 1 takes all.
WeighedSamples weigh(std::span<const double> weights, std::size_t positives, double share);

/// A decision between two answers.
struct Stump {
  std::size_t feature = 0;  ///< index in the pool
  /// LBP: the patterns that go left. Patterns that no sample has do: they are no object's.
  std::array<std::uint32_t, kSubsetWords> patterns{};
  float threshold = 0;  ///< Haar: values below it go left
  float left = 0;       ///< answers, -1 to 1
  float right = 0;
  friend bool operator==(const Stump&, const Stump&) = default;
};

/// The feature that tells the samples apart best; ties to the first. On all threads.
/// @return pool().size() where none tells anything
std::size_t best_feature(const BinTable& table, const WeighedSamples& samples);

/// The best stump of one feature.
Stump best_stump(const BinTable& table, std::size_t feature, const WeighedSamples& samples);

/// The inner loop of comparing cuts, in SIMD; `reference` has a plain one, which gives the same bits. For
/// each of kBins parts of the samples, the last of which is all: reduction of the square error by separate
/// answers for the part and the rest. NaN if either is empty.
/// @param weights, sums  totals of each part: of its samples, and of its positives minus its negatives; up to
///   2^30
void explained_by_cuts(const std::int32_t* weights, const std::int32_t* sums, double* explained);
namespace reference {
void explained_by_cuts(const std::int32_t* weights, const std::int32_t* sums, double* explained);
}

/// Side of each sample: 1 left, 0 right.
std::vector<char> goes_left(const Stump& stump, const FeaturePool& pool, const SampleIntegrals& samples);

}  // namespace sightline::cascade
