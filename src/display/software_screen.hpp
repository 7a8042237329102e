#pragma once
/// Draws pictures and scenes into a screen's memory on the processor.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "display/scene.hpp"
#include "image/screen_rows.hpp"
#include "media/planes.hpp"

namespace sightline::display {

/// Memory of a screen: four bytes a pixel, blue, green, red and an unused one.
struct Pixels {
  std::uint8_t* data = nullptr;
  Size size;
  std::ptrdiff_t stride = 0;  ///< bytes
  std::uint8_t* at(int x, int y) const { return data + y * stride + 4 * static_cast<std::ptrdiff_t>(x); }
};

/// Scales, converts and writes a picture in one pass over the screen's rows. Bilinear; where a picture is
/// shown at half its size or less, it is first averaged down by powers of two. Keeps tables and rows between
/// calls. Thread-safety: one thread at a time.
class PictureScaler {
 public:
  static constexpr int kMaxHalvings = 6;

  /// `place` lies within the screen.
  void draw(const media::DisplayPlanes& planes, const Rect& place, const Pixels& screen);

 private:
  // Resampling of one axis of a plane.
  struct Axis {
    int from = 0, to = 0;  // lengths
    double ratio = 0;      // source samples a target sample
    Columns columns;
    bool is_identity() const { return from == to && ratio == 1; }
    void set(int from_length, int to_length, double samples);
  };
  // The last two rows, by parity, of a plane that was halved some times.
  struct Level {
    std::vector<std::uint8_t> rows[2];
    int number[2] = {-1, -1};
  };
  struct Plane {
    const std::uint8_t* data = nullptr;
    std::ptrdiff_t stride = 0;
    int full_width = 0, width = 0;  // samples, before and after halving
    int channels = 1;               // bytes a sample
    Axis across, down;
    Level levels[kMaxHalvings];
    std::vector<std::uint8_t> mixed, resampled;
  };

  void prepare(Plane& plane, const std::uint8_t* data, std::ptrdiff_t stride, Size size, int channels,
               Size target);
  const std::uint8_t* source_row(Plane& plane, int row) const;
  static const std::uint8_t* halved_row(Plane& plane, int times, int row);
  const std::uint8_t* mixed_row(Plane& plane, int row) const;
  static const std::uint8_t* resample(Plane& plane, const std::uint8_t* row);
  void draw_yuv(const media::DisplayPlanes& planes, const Rect& place, const Pixels& screen);
  void draw_packed(const media::DisplayPlanes& planes, const Rect& place, const Pixels& screen);

  int halvings_ = 0;                  // times that both sides are halved
  double ratio_x_ = 1, ratio_y_ = 1;  // samples after averaging for one of the target
  Plane planes_[3];
  std::vector<std::uint8_t> split_[2], bgra_;
};

/// Fills what lies around `place`.
void fill_around(const Rect& place, const Ink& ink, const Pixels& screen);

/// Draws rectangles and words over the picture, clipped to the screen.
void paint(const Scene& scene, TextCache& text, const Pixels& screen);

}  // namespace sightline::display
