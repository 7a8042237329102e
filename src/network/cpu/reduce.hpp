#pragma once
/// Kernels of Reduce and ArgReduce for f32, SIMD, dispatched at run time. They give the bits of
/// Reduce::evaluate and ArgReduce::evaluate on every instruction set. Pointers need no alignment. Results
/// must not overlap what is read. Thread-safety: no shared data.

#include <cstddef>
#include <cstdint>

#include "network/cpu/channels.hpp"
#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// Elements within each point of a tile: channels in blocks, or a row of a plain tensor, which is blocks that
/// lie one behind the other. Element c of point p is blocks[c / 16][p * point_step + c % 16]. The last block
/// may be incomplete: lanes from `count` on are not read.
struct PointElements {
  const float* const* blocks = nullptr;
  int count = 0;  ///< elements
  int points = 0;
  std::ptrdiff_t point_step = kBlock;  ///< floats from point to point, in all blocks
};
/// out[p * out_step] = fold of the elements of point p.
void fold_within_points(Fold fold, const PointElements& elements, float* out, std::ptrdiff_t out_step = 1);
/// out[p] = place of the largest or smallest element of point p. `count` is at least 1.
void find_within_points(const ArgReduce& how, const PointElements& elements, std::int64_t* out);

/// Elements that lie in rows: element e of place i is rows[e][i]. Places are points (of planes, or of softmax
/// over an axis before the points), or lanes of blocks.
struct RowElements {
  const float* const* rows = nullptr;
  int count = 0;  ///< elements of a place
  int width = 0;  ///< places
};
/// out[i] = fold of the elements of place i.
void fold_across_rows(Fold fold, const RowElements& elements, float* out);
/// out[i] = place of the largest or smallest element of place i. `count` is at least 1.
void find_across_rows(const ArgReduce& how, const RowElements& elements, std::int64_t* out);

/// The same for elements that lie anywhere: out[p * out_step] = fold of the elements of point p. Fast are
/// elements in blocks or rows, as above; others are copied first.
/// @param scratch  (count + 1) * points floats, which overlap nothing else
void fold_channels(Fold fold, const Channels<const float>& elements, int count, int points, float* out,
                   std::ptrdiff_t out_step, float* scratch);
void find_channels(const ArgReduce& how, const Channels<const float>& elements, int count, int points,
                   std::int64_t* out, float* scratch);

/// One block of a map. Its rows may have ends: row y begins at points + y * row_step.
struct BlockMap {
  const float* points = nullptr;
  std::ptrdiff_t row_step = 0;  ///< floats
  int height = 0, width = 0;    ///< points
};
/// out[lane] = fold of a block's channel over all points, in row-major order. `out` has 16 floats. Lanes
/// without a channel are folded as they are.
void fold_map(Fold fold, const BlockMap& map, float* out);

}  // namespace sightline::nn
