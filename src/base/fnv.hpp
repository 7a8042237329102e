#pragma once
/// The hash FNV-1a of 64 bits (G. Fowler, L. C. Noll, K.-P. Vo): the same number on every machine.

#include <cstddef>
#include <cstdint>

namespace sightline {

inline constexpr std::uint64_t kFnvSeed = 0xcbf29ce484222325ULL;

/// @param seed  hash of the preceding data, or any number
inline std::uint64_t fnv1a(const void* data, std::size_t size, std::uint64_t seed = kFnvSeed) {
  const auto* const bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) seed = (seed ^ bytes[i]) * 0x100000001b3ULL;
  return seed;
}

}  // namespace sightline
