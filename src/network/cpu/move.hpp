#pragma once
/// Kernels that move f32 between blocks, planes and plain tensors, SIMD, dispatched at run time, and copies
/// of other types by strides. Pointers need no alignment; results must not overlap what is read. All bits are
/// kept. Thread-safety: no shared data.

#include <cstddef>
#include <cstdint>

#include "network/cpu/channels.hpp"
#include "network/strided.hpp"
#include "network/view.hpp"

namespace sightline::nn {

/// Copies channels of a tile of points. Fast are channels side by side (a block, a row of [points, channels])
/// and points side by side (planes), in runs of channels as long as possible.
void copy_channels(const Channels<const float>& from, const Channels<float>& to, int channels, int points);
/// Sets lanes of a block from `first` on to +0.
void clear_lanes(float* block, int first, int points);
/// to[p * 16 + lane] = from[points[p] + lane]
void pick_points(const float* from, const std::int32_t* points, int count, float* to);
/// Vectors of up to 16 floats: `reach` of them may be read from from[points[p]] on.
struct PointVectors {
  const float* from = nullptr;
  const std::int32_t* points = nullptr;
  int count = 0, reach = kBlock;
};
/// The same for some lanes, in any order: to[p * 16 + lane] = from[points[p] + places[lane]] where
/// keys[lane] == key.
void pick_lanes(const PointVectors& vectors, const std::int32_t* places, const std::int32_t* keys,
                std::int32_t key, float* to);
/// out[p * 16 + lane] = values[p]: one value a point as an operand of blocks.
void spread_points(const float* values, int points, float* out);

/// to[j * to_row + i] = from[i * from_row + j], of which i is below `rows`, and j below `columns`.
void transpose_matrix(const float* from, std::int64_t from_row, float* to, std::int64_t to_row,
                      std::int64_t rows, std::int64_t columns);

/// Copies what a view shows into a tensor.
/// @param bytes       of an element: 1, 4 or 8
/// @param from        the element at the view's first place
/// @param axes        the view: strides in elements
/// @param to          the first element of the target
/// @param to_strides  by axis, in elements
void copy_view(std::size_t bytes, const void* from, const FactoredAxes& axes, void* to,
               const Strides& to_strides);

}  // namespace sightline::nn
