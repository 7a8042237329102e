#pragma once
/// Patch: an object's box and its surroundings, resampled to a fixed size, as input of the landmark trees.
///
/// A box is taken as a square of whole pixels. A pixel of the patch is the mean of the frame over the square
/// that it covers, or over one frame pixel's area about its middle where it covers less: area averages where
/// the box is reduced, so that nothing is skipped, and bilinear interpolation where it is enlarged. In
/// integers: the same bits on every processor.
///
/// Along an axis, in units of 1 / (2 * kBoxPixels) of a frame pixel, patch pixel i covers
/// `c - h .. c + h` with `c = 2 * kBoxPixels * first + (2 * (i - kPatchMargin) + 1) * side` and
/// `h = max(side, kBoxPixels)`. Of 256, the part that frame pixels up to some place take of it is rounded
/// half up, and a pixel's weight is the difference of two such parts. A patch's pixel is
/// `(sum of weight_y * weight_x * pixel + 32768) >> 16`. Beyond the frame, the edge's pixel is repeated.

#include <array>
#include <cstdint>
#include <vector>

#include "image/box.hpp"
#include "image/view.hpp"

namespace sightline::landmarks {

inline constexpr int kBoxPixels = 64;   ///< patch pixels along a side of the box
inline constexpr int kPatchMargin = 8;  ///< pixels of the patch around the box
inline constexpr int kPatchSide = kBoxPixels + 2 * kPatchMargin;
inline constexpr int kLargestSide = 1 << 16;  ///< frame pixels of a box

/// A box in whole pixels of the frame.
struct Square {
  int x = 0, y = 0;
  int side = 1;
  friend bool operator==(const Square&, const Square&) = default;
};

/// The square around the box's middle with the rounded mean of the box's sides as side, 1 to kLargestSide.
Square square_of(const Box& box);

/// kPatchSide rows of as many pixels.
using Patch = std::array<std::uint8_t, kPatchSide * kPatchSide>;

/// Cuts patches out. Keeps its memory. Thread-safety: one thread at a time.
class PatchSampler {
 public:
  /// @param frame   not empty, sides up to 65,536
  /// @param square  anywhere
  void sample(GrayView frame, const Square& square, Patch& patch);

 private:
  struct Column {
    int first = 0;    ///< frame pixel, within the frame
    int weights = 0;  ///< index of its first weight
    int count = 0;
  };
  void make_columns(int width, const Square& square);

  std::array<Column, kPatchSide> columns_;
  std::vector<std::uint16_t> weights_;
  std::vector<std::uint16_t> mixed_;  ///< one row of the patch, in columns of the frame
};

namespace reference {
/// The same as the definition says it: what PatchSampler and the OpenCL kernel equal bit for bit.
void sample(GrayView frame, const Square& square, Patch& patch);
}  // namespace reference

}  // namespace sightline::landmarks
