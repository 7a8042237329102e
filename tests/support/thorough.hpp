#pragma once
// Extent of tests: a sample by default, everything with `tools/test --thorough`.

#include <algorithm>
#include <cstdlib>

namespace sightline::test {

/// True if $SIGHTLINE_THOROUGH is set: test everything instead of a sample.
inline bool is_thorough() {
  return std::getenv("SIGHTLINE_THOROUGH") != nullptr;
}

/// One in so many cases is tested if tests are not thorough.
inline constexpr long kSampling = 6;

/// Number of `count` cases to test: all if thorough, else about a sixth and at least `least`.
inline long sampled(long count, long least = 1) {
  return is_thorough() ? count : std::min(count, std::max(count / kSampling, least));
}

/// Every how many cases one is tested, where `step` is the distance of a thorough test.
inline long sampling_step(long step) {
  return is_thorough() ? step : kSampling * step;
}

}  // namespace sightline::test
