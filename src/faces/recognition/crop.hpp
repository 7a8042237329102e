#pragma once
/// Aligned face crops: turned and scaled so that a face's points have standard positions, for descriptors. In
/// integers, the same bits on every processor.

#include <array>
#include <cstdint>
#include <span>

#include "image/box.hpp"
#include "image/point.hpp"
#include "image/view.hpp"

namespace sightline::recognition {

/// The crop of the CSU face identification evaluation system, pixels.
inline constexpr Size kCropSize{130, 150};

/// Standard positions of the left eye (as seen in the picture), the right eye, the nose and the corners of
/// the mouth in a crop. Symmetric about its middle, so that a mirrored face gives a mirrored crop. The eyes
/// are those of the CSU crop, the others means of many faces.
inline constexpr std::array<Point, 5> kCropPoints{
    {{39, 60}, {91, 60}, {65, 91.25}, {42, 117.75}, {88, 117.75}}};

/// Position of the eyes in a model's crops; the other points follow in proportion. With a larger eye
/// distance, a crop shows less of a face's surroundings.
struct CropGeometry {
  int eye_distance = 52;  ///< pixels
  int eye_row = 60;       ///< pixels below the crop's upper edge
  friend bool operator==(const CropGeometry&, const CropGeometry&) = default;
};
/// Standard positions for a geometry; kCropPoints are those of the default.
std::array<Point, 5> crop_points(const CropGeometry& geometry);

/// Similarity transform from a crop to an octave of the frame. Octave k of a frame has the means of its
/// squares of 2^k x 2^k pixels, each rounded once, halves up; beyond the frame, the pixel of its edge is
/// repeated. The middle of the crop's pixel (column, row) is at
///
///     ((x + step_x * column - step_y * row) / 2^16, (y + step_y * column + step_x * row) / 2^16)
///
/// in pixels of the octave, where whole numbers are the middles of these. There it is sampled bilinearly, at
/// places cut off to 1 / 128 pixel (x and y have half of that added), rounded once, halves up.
struct Similarity {
  std::int32_t octave = 0;  ///< 0 .. kMostOctave
  std::int32_t x = 0, y = 0;
  std::int32_t step_x = 0, step_y = 0;
  friend bool operator==(const Similarity&, const Similarity&) = default;
};

/// The octave is the one in which steps are at least 1 and below 2 pixels, so that nothing is skipped, but no
/// further than this one.
inline constexpr int kMostOctave = 4;
/// Limit of coordinates and frame sides, in pixels.
inline constexpr int kFarthest = 30000;

/// Least-squares similarity from points of a crop to points of a frame; exact for the eyes alone. Points are
/// rounded to 1/256 pixel. If all points coincide, so do all pixels of the crop. Throws Error (failed) if a
/// point is beyond kFarthest or NaN.
/// @param found   points in the frame: the first two or more of five
/// @param points  all five points of a crop
Similarity similarity_of(std::span<const Point> found, const std::array<Point, 5>& points = kCropPoints);

/// The same where nothing is known of a face but its box, as detectors of frontal faces have it: the eyes are
/// taken to be 0.38 of its width apart, 0.39 of its height below its top.
Similarity similarity_of(const Box& face);

/// Makes crops of any size, by default kCropSize. Keeps memory for the part of the frame in use.
/// Thread-safety: one thread at a time.
class Cropper {
 public:
  /// @param frame  not empty, sides up to kFarthest
  void crop(GrayView frame, const Similarity& from, ImageView<std::uint8_t> crop);

 private:
  void make_patch(GrayView frame, const Similarity& from, int left, int top, Size size);

  Image<std::uint8_t> patch_;
  AlignedBuffer<std::uint16_t> sums_;
};

namespace reference {
/// Reference implementation by the definition, pixel by pixel. Cropper and the OpenCL kernel equal it bit for
/// bit.
void crop(GrayView frame, const Similarity& from, ImageView<std::uint8_t> crop);
}  // namespace reference

}  // namespace sightline::recognition
