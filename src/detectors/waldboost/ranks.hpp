#pragma once
/// The ranks of the nine blocks of a grid in one word, for LRP and LRD: the rank of a block is the number of
/// blocks with a larger sum, 0..8.
///
/// Why so. A plane of codes for each pair of blocks, as LBP has one for each block size, would be 144 bytes a
/// pixel. From planes of block sums, a look at a window is nine loads and 16 comparisons, about 45
/// operations, which a processor does for one window at a time. The ranks of all blocks take 81 comparisons,
/// but for a vector of grids at once, some 15 operations a pixel for each block size; then a look is one load
/// and ten operations. That is less from two or three looks a window on, and models have 2 (alpha 0.2) to 12
/// (0.01). (OpenCL devices have the sums: kernels/waldboost/sums.cl says why.)
///
/// Four bits for each rank would be 36. But rank 8 is that of a single block: three bits for each, rank 8
/// written as 7, and four for which block has it. A half of the word has blocks 0 to 4, the other 5 to 8 and
/// those four bits: both are made in lanes of 16 bits.

#include <cstdint>

#include "detectors/waldboost/model.hpp"

namespace sightline::waldboost {

inline constexpr int kRanksInFirstHalf = 5;
inline constexpr std::uint32_t kRankMask = 7;
inline constexpr int kLowestShift = 12;  ///< position in the second half of 1 + the block of rank 8; 0: none

/// Position of a block's three bits.
constexpr int rank_shift(int block) {
  return block < kRanksInFirstHalf ? 3 * block : 16 + 3 * (block - kRanksInFirstHalf);
}
constexpr int rank_in(std::uint32_t ranks, int block) {
  return static_cast<int>((ranks >> rank_shift(block) & kRankMask) +
                          (ranks >> (16 + kLowestShift) == static_cast<std::uint32_t>(block + 1) ? 1 : 0));
}

}  // namespace sightline::waldboost
