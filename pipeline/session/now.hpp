#pragma once
/// The clock that traces and captured frames share.

#include <chrono>
#include <cstdint>

namespace sightline::pipeline {

/// A second of now_ns.
inline constexpr std::int64_t kSecond = 1'000'000'000;

/// Nanoseconds of std::chrono::steady_clock.
inline std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace sightline::pipeline
