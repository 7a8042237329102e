#pragma once
/// Blocks of operands that do not lie as kernels read them.

#include <array>
#include <vector>

#include "network/plan/operand.hpp"

namespace sightline::nn {

/// Packs blocks of 16 channels. Thread-safety: `pack` may run on many threads.
class BlockPacker {
 public:
  BlockPacker(const Stored& stored, const Operand& operand);

  /// Whether a block's 16 lanes lie side by side at each point.
  bool has_lanes(std::int64_t block) const { return mixes_[static_cast<std::size_t>(block)].is_whole; }
  /// Writes a block as [count][16], from point `first` on. Lanes behind the last channel get any values.
  /// @param operand  the constructor's
  /// @param bases    by source of the operand: the float that offsets count from
  void pack(const Operand& operand, std::int64_t block, const float* const* bases, std::int64_t first,
            int count, float* to) const;

 private:
  /// A block's lanes, by the vectors of 16 floats that they are part of.
  struct Mix {
    bool is_whole = false;                                    ///< one vector has all lanes, in order
    std::vector<Operand::Channel> vectors;                    ///< {}: lanes are packed one by one
    std::array<std::int32_t, kLanes> vector = {}, lane = {};  ///< by lane: its vector, and its place there
    int reach = kLanes;                                       ///< floats of a vector that may be read
  };
  static Mix mix_of(const Stored& stored, const Operand& operand, std::int64_t block);
  static Mix plain_mix(std::span<const Operand::Channel> channels);

  std::vector<Mix> mixes_;  ///< by block
};

}  // namespace sightline::nn
