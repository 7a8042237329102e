#pragma once
/// Kernels of Resample, GridSample, Pad and nearest upsampling for f32, SIMD, dispatched at run time. They
/// give the bits of the primitives' `evaluate` on every instruction set. Pointers need no alignment; results
/// must not overlap what is read. Points have 16 floats (blocks of channels), or one (planes): `lanes`.
/// Thread-safety: no shared data.

#include <cstddef>
#include <cstdint>
#include <span>

#include "network/cpu/epilogue.hpp"
#include "network/primitives/sample.hpp"

namespace sightline::nn {

/// Part of one row of a resampled map: each point mixes two points of two rows.
struct ResampledRow {
  const float* upper = nullptr;  ///< the rows' first points
  const float* lower = nullptr;
  float weight = 0;  ///< of the lower row
  // By output point, as in Taps:
  const std::int32_t* first = nullptr;
  const std::int32_t* second = nullptr;
  const float* weights = nullptr;
  int width = 0;  ///< output points
  int lanes = kBlock;
  float* out = nullptr;
};
void resample_row(const ResampledRow& row);

/// out[p] = point places[p] of a row, or `filling` in all lanes where the place is negative. So rows are
/// padded, repeated, mirrored or upsampled to the nearest point.
void pick_points(const float* row, std::span<const std::int32_t> places, int lanes, float filling,
                 float* out);

/// The samples of places: `columns` and `rows` in -1..1, with `step` floats from one place to the next.
void find_samples(const GridSample& how, const SampledMap& map, const float* columns, const float* rows,
                  std::ptrdiff_t step, std::span<Sample> samples);

/// out[p] = the mix that sample p is of a block or plane.
/// @param map      the map's first point; samples have offsets in floats from it
/// @param nearest  as in GridSample
void mix_samples(const float* map, std::span<const Sample> samples, int lanes, bool nearest, float* out);

}  // namespace sightline::nn
