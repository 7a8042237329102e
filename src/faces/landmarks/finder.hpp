#pragma once
/// Finds the points of a model in a box.

#include <array>
#include <cstdint>
#include <vector>

#include "faces/landmarks/model.hpp"
#include "faces/landmarks/patch.hpp"
#include "faces/landmarks/shape.hpp"
#include "frame/attributes.hpp"
#include "image/box.hpp"
#include "image/point.hpp"
#include "image/view.hpp"

namespace sightline::landmarks {

/// In pixels of the frame, by kPointNames.
using Points = std::array<Point, kPoints>;

/// Points in frame pixels; exact, as both scale and units are powers of two.
Points frame_points(const Shape& shape, const Square& square);

/// The points of a face, and how much to doubt them.
struct FoundPoints {
  Points points;
  /// Disagreement between the points from the model's start shape and from two disturbed starts (slightly
  /// larger and to the right, smaller and to the left): mean difference of a coordinate, relative to the
  /// box's side. Correct faces have about 0.005, non-faces 0.05.
  double doubt = 0;
};

/// With the shipped model, 99% of the faces with correct points have less doubt, and 1 in 15 boxes beside
/// faces.
inline constexpr double kMuchDoubt = 0.025;

/// A model's trees, laid out to be run. Immutable.
class Finder {
 public:
  explicit Finder(const Model& model);

  /// Points in a patch, from the model's start shape or from a shape within kLeast..kMost.
  Shape find(const Patch& patch) const { return find(patch, mean_); }
  Shape find(const Patch& patch, const Shape& start) const;

  /// The square to find a face's points in: of its box. Where the face's detector has found the points
  /// itself, its boxes may differ from those that the model learnt on: then the square in which the mean
  /// shape lies on these points.
  Square square_of(const Box& box, const SharedAttributes& attributes) const;

  /// The same in a square of a frame.
  /// @param frame    not empty, sides up to 65,536
  /// @param sampler  of the calling thread
  Shape find(GrayView frame, const Square& square, PatchSampler& sampler) const;

  const Shape& mean() const { return mean_; }

  /// One of the two disturbed starts for `doubt`; `other` is 0 or 1.
  Shape other_start(int other) const;
  /// The points of a face in a box of a frame. Three times the work of `find`.
  /// @param frame    not empty, sides up to 65,536
  /// @param sampler  of the calling thread
  FoundPoints find_points(GrayView frame, const Box& box, PatchSampler& sampler) const;

 private:
  // Leaves are padded, so that their values are added as vectors.
  static constexpr int kPadded = 16;
  struct Node {
    std::uint8_t first, second;
    std::int16_t threshold;
  };
  template <int kDepth>
  void add_trees(int stage, const std::uint8_t* pixels, std::int32_t* sums) const;

  Shape mean_;
  MeanShape mean_shape_;
  int depth_, stages_, trees_, pixels_;
  std::vector<PixelPlace> places_;
  std::vector<std::uint8_t> shifts_;
  std::vector<Node> nodes_;
  AlignedBuffer<std::int8_t> leaves_;
};

namespace reference {
/// The same by the model as it is, in plain code: what Finder and the OpenCL kernel equal bit for bit.
Shape find(const Model& model, const Patch& patch, const Shape& start);
}  // namespace reference

}  // namespace sightline::landmarks
