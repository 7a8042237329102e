#pragma once
/// What the tests of live inputs and cameras share.

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "support/media.hpp"

namespace sightline::media::test {

/// Seconds of the clock that frames are dated by.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline ReadOptions live(double patience = 5) {
  ReadOptions options;
  options.low_delay = true;
  options.patience = patience;
  return options;
}

/// The next frames; fewer where the input ends.
inline std::vector<Frame> read_some(Reader& reader, std::size_t count) {
  std::vector<Frame> frames;
  while (frames.size() < count) {
    auto frame = reader.read();
    if (!frame) break;
    frames.push_back(std::move(*frame));
  }
  return frames;
}

}  // namespace sightline::media::test
