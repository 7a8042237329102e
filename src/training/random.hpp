#pragma once
/// Random numbers whose sequence is the same with every standard library (the distributions of <random> are
/// not).

#include <cstdint>
#include <random>

namespace sightline::training {

class Random {
 public:
  /// Independent streams: one for each (seed, stream).
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::seed_seq sequence{seed, seed >> 32, stream, stream >> 32};
    engine_.seed(sequence);
  }
  /// Uniform in [0, count); the bias of the modulus is below 2^-32 for the counts used here.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sightline::training
