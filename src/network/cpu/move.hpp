#pragma once
/// Kernels that move f32 between blocks, planes and plain tensors, SIMD, dispatched at run time. Pointers
/// need no alignment; results must not overlap what is read. All bits are kept. Thread-safety: no shared
/// data.

#include <cstdint>

#include "network/cpu/channels.hpp"

namespace sightline::nn {

/// Copies channels of a tile of points. Fast are channels side by side (a block, a row of [points, channels])
/// and points side by side (planes), in runs of channels as long as possible.
void copy_channels(const Channels<const float>& from, const Channels<float>& to, int channels, int points);
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

}  // namespace sightline::nn
