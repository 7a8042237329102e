#pragma once
/// Similarity transform from the mean shape to the current points, by which pixels follow the points.

#include <algorithm>
#include <cstdint>

#include "faces/landmarks/model.hpp"

namespace sightline::landmarks {

/// Points stay within a patch's side of the patch, so that sums of theirs fit in their types.
inline constexpr std::int32_t kLeast = -kPatchSide * kUnit;
inline constexpr std::int32_t kMost = 2 * kPatchSide * kUnit;

/// Rotation and zoom, with kTurnBits fractional bits: (x, y) goes to (cosine x - sine y, sine x + cosine y).
struct SimilarityTransform {
  static constexpr int kBits = 12;
  static constexpr int kLargest = 4 << kBits;
  int cosine = 1 << kBits, sine = 0;
  friend bool operator==(const SimilarityTransform&, const SimilarityTransform&) = default;
};

/// The mean shape, prepared for the transform to any other.
class MeanShape {
 public:
  MeanShape() = default;
  explicit MeanShape(const Shape& mean) : centred_(centred(mean)) {
    for (const std::int64_t value : centred_) norm_ += value * value;
  }

  /// Rotation and scale with the least squared distance between the mean shape and a shape within
  /// kLeast..kMost, limited to SimilarityTransform::kLargest.
  SimilarityTransform transform_to(const Shape& shape) const {
    const std::array<std::int64_t, kCoordinates> other = centred(shape);
    std::int64_t along = 0, across = 0;
    for (std::size_t i = 0; i < kCoordinates; i += 2) {
      along += centred_[i] * other[i] + centred_[i + 1] * other[i + 1];
      across += centred_[i] * other[i + 1] - centred_[i + 1] * other[i];
    }
    return {quotient(along), quotient(across)};
  }

  /// kPoints times the coordinates, from the middle of all points.
  const std::array<std::int64_t, kCoordinates>& centred() const { return centred_; }
  /// Sum of their squares.
  std::int64_t norm() const { return norm_; }

 private:
  static std::array<std::int64_t, kCoordinates> centred(const Shape& shape) {
    std::array<std::int64_t, kCoordinates> result{};
    std::int64_t sums[2] = {0, 0};
    for (std::size_t i = 0; i < kCoordinates; ++i) sums[i % 2] += shape[i];
    for (std::size_t i = 0; i < kCoordinates; ++i) result[i] = kPoints * std::int64_t{shape[i]} - sums[i % 2];
    return result;
  }
  // In units of 2^-kBits, rounded half up.
  int quotient(std::int64_t sum) const {
    const std::int64_t twice = (sum << SimilarityTransform::kBits) * 2 + norm_, divisor = 2 * norm_;
    const std::int64_t floor = twice >= 0 ? twice / divisor : -((divisor - 1 - twice) / divisor);
    return static_cast<int>(
        std::clamp<std::int64_t>(floor, -SimilarityTransform::kLargest, SimilarityTransform::kLargest));
  }

  std::array<std::int64_t, kCoordinates> centred_{};
  std::int64_t norm_ = 0;
};

/// Index of a place's pixel in the patch; of the nearest one if it is outside.
inline int patch_index(const Shape& shape, const SimilarityTransform& transform, const PixelPlace& place) {
  constexpr int kHalf = 1 << (SimilarityTransform::kBits - 1);
  const auto at = [](int anchor, int offset) {
    return std::clamp((anchor + ((offset + kHalf) >> SimilarityTransform::kBits)) >> 8, 0, kPatchSide - 1);
  };
  static_assert(kUnit == 1 << 8);
  const std::size_t anchor = 2 * std::size_t{place.anchor};
  const int x = at(shape[anchor], transform.cosine * place.x - transform.sine * place.y);
  const int y = at(shape[anchor + 1], transform.sine * place.x + transform.cosine * place.y);
  return y * kPatchSide + x;
}

/// Adds a stage's sums of leaves.
/// @param sums  of kCoordinates leaves' values, below 2^21 each
inline void move_points(Shape& shape, const std::int32_t* sums, int shift) {
  for (std::size_t i = 0; i < kCoordinates; ++i)
    shape[i] = std::clamp(shape[i] + sums[i] * (1 << shift), kLeast, kMost);
}

}  // namespace sightline::landmarks
