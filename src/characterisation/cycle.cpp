#include "characterisation/cycle.hpp"

#include <algorithm>
#include <numeric>

namespace sightline::characterisation {
namespace {

constexpr std::size_t kBlockLines = 1024;
constexpr std::uint32_t kLineWords = kLine / 4;

// Fast and the same everywhere; nothing here needs better random numbers (G. Marsaglia, "Xorshift RNGs",
// 2003).
class Xorshift {
 public:
  std::uint32_t below(std::uint32_t end) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>((state_ >> 32) % end);
  }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

template <typename Iterator>
void mix(Iterator begin, Iterator end, Xorshift& random) {
  for (auto count = static_cast<std::uint32_t>(end - begin); count > 1; --count)
    std::swap(begin[count - 1], begin[random.below(count)]);
}

}  // namespace

Cycle random_cycle(std::size_t bytes) {
  const std::size_t lines = std::max<std::size_t>(bytes / kLine, 1);
  Xorshift random;
  std::vector<std::uint32_t> blocks((lines + kBlockLines - 1) / kBlockLines);
  std::iota(blocks.begin(), blocks.end(), 0U);
  mix(blocks.begin(), blocks.end(), random);
  Cycle cycle;
  cycle.order.reserve(lines);
  for (const std::uint32_t block : blocks) {
    const std::size_t first = block * kBlockLines;
    const std::size_t begin = cycle.order.size();
    for (std::size_t line = first; line < std::min(first + kBlockLines, lines); ++line)
      cycle.order.push_back(static_cast<std::uint32_t>(line) * kLineWords);
    mix(cycle.order.begin() + static_cast<std::ptrdiff_t>(begin), cycle.order.end(), random);
  }
  std::rotate(cycle.order.begin(), std::ranges::find(cycle.order, 0U), cycle.order.end());
  cycle.next.assign(lines * kLineWords, 0);
  for (std::size_t i = 0; i < lines; ++i)
    cycle.next[cycle.order[i]] = cycle.order[i + 1 == lines ? 0 : i + 1];
  return cycle;
}

std::vector<std::size_t> array_sizes(std::size_t least, std::size_t most, bool fine) {
  std::vector<std::size_t> sizes;
  for (std::size_t power = least; power <= most; power *= 2) {
    for (std::size_t quarters = 4; quarters < 8; quarters += fine ? 1 : 2) {
      const std::size_t size = power / 4 * quarters / kLine * kLine;
      if (size <= most) sizes.push_back(size);
    }
  }
  return sizes;
}

}  // namespace sightline::characterisation
