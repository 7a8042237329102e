#pragma once
/// Finds the points of a model in a box.

#include <array>
#include <cstdint>
#include <vector>

#include "faces/landmarks/model.hpp"
#include "faces/landmarks/patch.hpp"
#include "faces/landmarks/shape.hpp"
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
  /// How far apart the points end that begin a little larger and to the right, or smaller and to the left,
  /// from those that begin where the model has them: the mean difference of a coordinate, in parts of the
  /// box's side. Low where the pixels say where the points are; faces that are found right have 0.005, and
  /// what is no face 0.05.
  double doubt = 0;
};

/// With the model that ships, 99 of 100 faces whose points are right have less doubt, and of boxes beside
/// faces one in fifteen.
inline constexpr double kMuchDoubt = 0.025;

/// A model's trees, laid out to be run. Immutable.
class Finder {
 public:
  explicit Finder(const Model& model);

  /// Where the points are in a patch, from where the model begins or from a shape within kLeast..kMost.
  Shape find(const Patch& patch) const { return find(patch, mean_); }
  Shape find(const Patch& patch, const Shape& start) const;

  /// The same in a square of a frame.
  /// @param frame    not empty, sides up to 65,536
  /// @param sampler  of the calling thread
  Shape find(GrayView frame, const Square& square, PatchSampler& sampler) const;

  const Shape& mean() const { return mean_; }

  /// Of the two other starts that doubt looks at, `other` 0 or 1.
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
