#pragma once
/// How often this program has asked for memory: it has an allocation of its own, which counts.

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace sightline::test {

/// Not with a sanitizer, which has one of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
inline constexpr bool kCountsAllocations = false;
#else
inline constexpr bool kCountsAllocations = true;
#endif

inline std::atomic<std::int64_t> allocations{0};

}  // namespace sightline::test
