#pragma once
/// Rings of indices that a chain of reads follows.

#include <cstdint>
#include <vector>

namespace sightline::characterisation {

/// Bytes from one element of a cycle to the next: a line of most caches.
inline constexpr std::size_t kLine = 64;

/// A random cycle through all lines of an array: `next[i]` is the index, in words of 4 bytes, of the line
/// that follows the one at word i; other words are 0. It goes through the array in blocks of 64 KiB, in
/// random order, and through a block's lines in random order: no prefetcher guesses the next, and translating
/// addresses costs little, which would look like another level of cache otherwise. The same on every machine.
struct Cycle {
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> order;  ///< words that are read, from word 0 on

  /// Position of the reads after `steps` steps from the start of the order.
  std::uint32_t after(std::uint64_t steps) const { return order[steps % order.size()]; }
};

/// @param bytes  at least one line, and a whole number of them
Cycle random_cycle(std::size_t bytes);

/// Sizes of arrays from `least` to `most` bytes: powers of two and half way between them; with `fine`, also a
/// quarter and three quarters of the way.
std::vector<std::size_t> array_sizes(std::size_t least, std::size_t most, bool fine);

}  // namespace sightline::characterisation
