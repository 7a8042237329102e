#include "damaged/damage.hpp"

#include <algorithm>
#include <array>

namespace sightline::damaged {
namespace {

/// SplitMix64: the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// 0 to limit - 1; 0 where the limit is 0.
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : next() % limit; }

 private:
  std::uint64_t state_;
};

struct Range {
  std::size_t begin, length;
};

Range part_of(const Bytes& bytes, Random& random, std::size_t longest) {
  const std::size_t begin = random.below(bytes.size());
  return {begin, std::min(1 + random.below(longest), bytes.size() - begin)};
}

void flip(Bytes& bytes, std::size_t within, Random& random) {
  const std::size_t count = std::size_t{1} << random.below(7);
  for (std::size_t i = 0; i < count && within > 0; ++i)
    bytes[random.below(within)] ^= static_cast<std::uint8_t>(1U << random.below(8));
}

// Big-endian or little-endian, of 2, 4 or 8 bytes, mostly in front.
void put_extremes(Bytes& bytes, Random& random) {
  constexpr std::array<std::uint64_t, 8> kValues{
      0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF};
  const std::size_t count = 1 + random.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t within = random.below(2) ? std::min<std::size_t>(bytes.size(), 600) : bytes.size();
    const std::size_t at = random.below(within);
    const std::size_t length = std::size_t{2} << random.below(3);
    const std::uint64_t value = kValues[random.below(kValues.size())];
    const bool little = random.below(2) == 0;
    for (std::size_t k = 0; k < length && at + k < bytes.size(); ++k)
      bytes[at + k] = static_cast<std::uint8_t>(value >> 8 * (little ? k : length - 1 - k));
  }
}

void swap_parts(Bytes& bytes, Random& random) {
  const std::size_t length = 1 + random.below(bytes.size() / 3 + 1);
  if (2 * length > bytes.size()) return;
  const std::size_t first = random.below(bytes.size() - 2 * length + 1);
  const std::size_t second = first + length + random.below(bytes.size() - first - 2 * length + 1);
  std::swap_ranges(bytes.begin() + first, bytes.begin() + first + length, bytes.begin() + second);
}

void apply(Damage damage, Bytes& bytes, const Clip& other, Random& random) {
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  switch (damage) {
    case Damage::cut:
      bytes.resize(random.below(bytes.size()));
      break;
    case Damage::bits:
      flip(bytes, bytes.size(), random);
      break;
    case Damage::head_bits:
      flip(bytes, std::min<std::size_t>(bytes.size(), 600), random);
      break;
    case Damage::zeros: {
      const Range part = part_of(bytes, random, 4096);
      std::fill_n(at(part.begin), part.length, std::uint8_t{0});
      break;
    }
    case Damage::huge:
      put_extremes(bytes, random);
      break;
    case Damage::removed: {
      const Range part = part_of(bytes, random, 2048);
      bytes.erase(at(part.begin), at(part.begin + part.length));
      break;
    }
    case Damage::repeated: {
      const Range part = part_of(bytes, random, 4096);
      const Bytes copy(at(part.begin), at(part.begin + part.length));
      bytes.insert(at(random.below(bytes.size())), copy.begin(), copy.end());
      break;
    }
    case Damage::swapped:
      swap_parts(bytes, random);
      break;
    case Damage::garbage: {
      Bytes noise(1 + random.below(600));
      for (std::uint8_t& byte : noise) byte = static_cast<std::uint8_t>(random.next());
      bytes.insert(bytes.begin(), noise.begin(), noise.end());
      break;
    }
    case Damage::spliced:
      bytes.resize(1 + random.below(bytes.size()));
      bytes.insert(bytes.end(), other.bytes.begin(), other.bytes.end());
      break;
  }
}

}  // namespace

const char* to_string(Damage damage) {
  constexpr std::array<const char*, kDamages> kNames{
      "cut", "bits", "head_bits", "zeros", "huge", "removed", "repeated", "swapped", "garbage", "spliced"};
  return kNames[static_cast<std::size_t>(damage)];
}

Damaged damage_clip(std::span<const Clip> clips, std::uint64_t seed) {
  Random random(seed);
  Damaged result;
  result.clip = seed % clips.size();
  result.damage = static_cast<Damage>(seed / clips.size() % kDamages);
  const Clip& clip = clips[result.clip];
  result.bytes = clip.bytes;
  apply(result.damage, result.bytes, clips[random.below(clips.size())], random);
  result.name = std::string(to_string(result.damage)) + "-" + std::to_string(seed) + "-" + clip.name;
  return result;
}

}  // namespace sightline::damaged
