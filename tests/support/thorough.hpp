#pragma once
// How much is tested: a sample each time, all of it with `tools/test --thorough`.

#include <algorithm>
#include <cstdlib>

namespace sightline::test {

/// Whether to take the time for what is only sampled otherwise: where $SIGHTLINE_THOROUGH is set.
inline bool is_thorough() {
  return std::getenv("SIGHTLINE_THOROUGH") != nullptr;
}

/// How many of `count` cases to test: all where thorough, else about a third, at least `least` of them.
inline long sampled(long count, long least = 1) {
  return is_thorough() ? count : std::min(count, std::max(count / 3, least));
}

/// Every how many cases one is tested, where `step` is the distance of a thorough test.
inline long sampling_step(long step) {
  return is_thorough() ? step : 3 * step;
}

}  // namespace sightline::test
