#pragma once
/// Random numbers with the same sequence under every standard library (unlike the distributions of <random>).

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace sightline {

/// Spreads a number over all 64 bits (S. Vigna's splitmix64): near numbers give far ones.
inline std::uint64_t mix_bits(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

class Random {
 public:
  /// Independent streams: one for each (seed, stream).
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::seed_seq sequence{seed, seed >> 32, stream, stream >> 32};
    engine_.seed(sequence);
  }
  /// Uniform in [0, count); the bias of the modulus is below 2^-32 for the counts used here.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  /// 64 random bits.
  std::uint64_t bits() { return engine_(); }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

/// A number from the normal distribution with mean 0 and standard deviation 1 (G. E. P. Box and M. E. Muller,
/// "A Note on the Generation of Random Normal Deviates", 1958).
inline double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

}  // namespace sightline
