#pragma once
/// Bilinear samples at places that the network computes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "detectors/network/functions.hpp"
#include "detectors/network/operators.hpp"

namespace sightline::network {

/// How a place in -1..1 becomes one in elements.
inline float grid_place(float at, std::int64_t side, bool aligned) {
  const auto sides = static_cast<float>(side);
  return aligned ? (at + 1) * 0.5F * (sides - 1) : multiply_add(at + 1, sides, -1) * 0.5F;
}

/// Places of the picture that a sample mixes, and their weights. Offsets of those outside are -1; their
/// values are 0.
struct Sample {
  std::array<std::int64_t, 4> offset{};
  std::array<float, 4> weight{};
};

/// The samples of a GridSample node.
class Sampler {
 public:
  explicit Sampler(const Call& call)
      : height_(call.in(0).dim(2)),
        width_(call.in(0).dim(3)),
        aligned_(call.node.integer("align_corners", 0) != 0),
        nearest_(call.node.text("mode", "bilinear") == "nearest"),
        border_(call.node.text("padding_mode", "zeros") == "border") {}

  bool is_nearest() const { return nearest_; }
  /// @param at  column and row in -1..1
  Sample at(const float* at) const {
    const float column = grid_place(at[0], width_, aligned_), row = grid_place(at[1], height_, aligned_);
    if (nearest_) return {{offset(std::nearbyint(row), std::nearbyint(column)), -1, -1, -1}, {1, 0, 0, 0}};
    const float top = std::floor(row), left = std::floor(column);
    const float down = row - top, right = column - left;
    return {{offset(top, left), offset(top, left + 1), offset(top + 1, left), offset(top + 1, left + 1)},
            {(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right}};
  }

 private:
  std::int64_t offset(float row, float column) const {
    if (border_) {
      row = std::clamp(row, 0.0F, static_cast<float>(height_ - 1));
      column = std::clamp(column, 0.0F, static_cast<float>(width_ - 1));
    }
    // Written so that a NaN is outside, too.
    const bool inside =
        row >= 0 && column >= 0 && row < static_cast<float>(height_) && column < static_cast<float>(width_);
    return inside ? static_cast<std::int64_t>(row) * width_ + static_cast<std::int64_t>(column) : -1;
  }

  std::int64_t height_, width_;
  bool aligned_, nearest_, border_;
};

}  // namespace sightline::network
