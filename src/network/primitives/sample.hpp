#pragma once
/// Places of a map that a GridSample mixes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "network/primitives/primitive.hpp"

namespace sightline::nn {

/// Elements that a sample mixes, and their weights. Offsets of those outside are -1; their values are 0. The
/// nearest sample has the first one alone.
struct Sample {
  std::array<std::int64_t, 4> offset{-1, -1, -1, -1};
  std::array<float, 4> weight{};
};

/// A map's sides, and how its elements lie.
struct SampledMap {
  std::int64_t height = 0, width = 0;
  std::int64_t row_step = 0, column_step = 1;
};

/// A place in -1..1 in elements.
inline float in_elements(float at, std::int64_t side, bool aligned) {
  const auto sides = static_cast<float>(side);
  return aligned ? (at + 1) * 0.5F * (sides - 1) : std::fma(at + 1, sides, -1.0F) * 0.5F;
}

/// @param place  column and row in -1..1
inline Sample sample_at(const GridSample& how, const float* place, const SampledMap& map) {
  const auto offset = [&](float row, float column) -> std::int64_t {
    if (how.border == Border::edge) {
      row = std::clamp(row, 0.0F, static_cast<float>(map.height - 1));
      column = std::clamp(column, 0.0F, static_cast<float>(map.width - 1));
    }
    // Written so that a NaN is outside, too.
    const bool is_inside = row >= 0 && column >= 0 && row < static_cast<float>(map.height) &&
                           column < static_cast<float>(map.width);
    return is_inside ? static_cast<std::int64_t>(row) * map.row_step +
                           static_cast<std::int64_t>(column) * map.column_step
                     : -1;
  };
  const float column = in_elements(place[0], map.width, how.aligned),
              row = in_elements(place[1], map.height, how.aligned);
  if (how.nearest) return {{offset(std::nearbyint(row), std::nearbyint(column)), -1, -1, -1}, {1, 0, 0, 0}};
  const float top = std::floor(row), left = std::floor(column);
  const float down = row - top, right = column - left;
  return {{offset(top, left), offset(top, left + 1), offset(top + 1, left), offset(top + 1, left + 1)},
          {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right}};
}

}  // namespace sightline::nn
