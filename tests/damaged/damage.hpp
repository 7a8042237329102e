#pragma once
// Damages files, the same way for the same seed.

#include <cstdint>
#include <span>
#include <string>

#include "damaged/clips.hpp"

namespace sightline::damaged {

enum class Damage {
  cut,        ///< the end is missing
  bits,       ///< single bits are flipped
  head_bits,  ///< in the first bytes, where headers are
  zeros,      ///< a part is zero
  huge,       ///< numbers are replaced by the largest, the smallest, and what is next to them
  removed,    ///< a part is missing
  repeated,   ///< a part is there twice
  swapped,    ///< two parts have changed places
  garbage,    ///< noise goes before
  spliced,    ///< another file goes on where this one is cut
};
inline constexpr int kDamages = 10;

const char* to_string(Damage damage);

struct Damaged {
  std::string name;  ///< for example "huge-17-h264.mp4"
  Bytes bytes;
  Damage damage = Damage::cut;
  std::size_t clip = 0;  ///< which was damaged
};

/// The damaged file of a seed: seeds go through clips and kinds of damage evenly.
Damaged damage_clip(std::span<const Clip> clips, std::uint64_t seed);

}  // namespace sightline::damaged
