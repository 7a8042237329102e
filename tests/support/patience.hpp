#pragma once
// Waiting for what another process does.

#include <chrono>
#include <functional>
#include <thread>

#include "support/program.hpp"

namespace sightline::test {

inline constexpr double kPatience = kSanitized ? 120 : 60;  ///< seconds for anything that must happen

/// Whether the condition becomes true within `kPatience`.
inline bool becomes_true(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(kPatience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace sightline::test
