#pragma once
/// Kernels of Reduce for f32, SIMD, dispatched at run time. They give the bits of Reduce::evaluate on every
/// instruction set. Pointers need no alignment. Results must not overlap what is read. Thread-safety: no
/// shared data.

#include <cstddef>

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
/// Elements that lie in rows: element e of place i is rows[e][i]. Places are points (of planes, or of softmax
/// over an axis before the points), or lanes of blocks.
struct RowElements {
  const float* const* rows = nullptr;
  int count = 0;  ///< elements of a place
  int width = 0;  ///< places
};
/// out[i] = fold of the elements of place i.
void fold_across_rows(Fold fold, const RowElements& elements, float* out);
/// The same for elements that lie anywhere: out[p * out_step] = fold of the elements of point p. Fast are
/// elements in blocks or rows, as above; others are copied first.
/// @param scratch  (count + 1) * points floats, which overlap nothing else
void fold_channels(Fold fold, const Channels<const float>& elements, int count, int points, float* out,
                   std::ptrdiff_t out_step, float* scratch);

}  // namespace sightline::nn
