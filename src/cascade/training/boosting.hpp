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

#include "cascade/model.hpp"
#include "cascade/training/features.hpp"

namespace sightline::cascade {

inline constexpr int kBins = 256;

/// A byte for every feature of every sample: feature after feature, in each the positives and then the
/// negatives. LBP: the pattern. Haar: which of 256 equal parts of the range from the lowest to the highest
/// value among the samples the value is in.
class BinTable {
 public:
  explicit BinTable(const FeaturePool& pool) : pool_(pool) {}
  /// Takes the place of what was there; on all threads.
  /// @param chosen  which of the positives; all of the negatives are
  void assign(const SampleIntegrals& positives, std::span<const std::uint32_t> chosen,
              const SampleIntegrals& negatives);

  const FeaturePool& pool() const { return pool_; }
  std::size_t positives() const { return positives_; }
  std::size_t samples() const { return samples_; }
  std::span<const std::uint8_t> row(std::size_t feature) const {
    return {bins_.data() + feature * samples_, samples_};
  }
  /// Haar: what values of bins below `bin` are below, and all others are not.
  float edge(std::size_t feature, int bin) const;

 private:
  struct Range {
    float lowest = 0, bins = 0;  ///< bins a unit
    int bin(float value) const;
  };
  void assign_feature(std::size_t feature, const SampleIntegrals& positives,
                      std::span<const std::uint32_t> chosen, const SampleIntegrals& negatives,
                      std::vector<float>& values);

  const FeaturePool& pool_;
  std::size_t positives_ = 0, samples_ = 0;
  std::vector<Range> ranges_;
  std::vector<std::uint8_t> bins_;
};

/// A sample with its weight.
struct Weighed {
  std::uint32_t sample = 0;
  std::uint32_t weight = 0;  ///< those of all samples add up to about 2^30
};

/// The samples of both classes that a weak classifier is chosen by.
struct WeighedSamples {
  std::vector<Weighed> positives, negatives;
};

/// Of samples in the order of the table, those with the largest weights, which have `share` of all the weight
/// together at least. Share 1 takes all.
WeighedSamples weigh(std::span<const double> weights, std::size_t positives, double share);

/// A decision between two answers.
struct Stump {
  std::size_t feature = 0;  ///< of the pool
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

/// Where samples go: 1 left, 0 right.
std::vector<char> goes_left(const Stump& stump, const FeaturePool& pool, const SampleIntegrals& samples);

}  // namespace sightline::cascade
