#pragma once
/// From a frame's pixels to the input of a network: resized, placed, and normalised.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "image/box.hpp"
#include "image/picture_view.hpp"
#include "image/view.hpp"

namespace sightline::network {

/// How a frame is fitted into the input, by the words of OpenVINO's `resize_type`.
enum class Fit {
  standard,                 ///< stretched to the input's size
  fit_to_window,            ///< its aspect kept, at the top left
  fit_to_window_letterbox,  ///< its aspect kept, centred
  crop                      ///< its aspect kept, cut to the middle
};
const char* to_string(Fit fit);
/// Throws Error (usage) for other words. @param where  for the message
Fit fit_named(const std::string& word, const std::string& where);

struct Preprocessing {
  Size size{};  ///< of the input, pixels
  Fit fit = Fit::fit_to_window_letterbox;
  /// For Fit::crop, above 0 and at most 1: the frame is resized so that the input covers this share of one
  /// side, and at most this share of the other.
  double crop_fraction = 1;
  bool antialias = false;  ///< a frame that shrinks is averaged, as Pillow and torchvision do
  double pad = 114;        ///< value of pixels around the frame, 0 to 255, before they are normalised
  bool rgb = true;         ///< order of channels; otherwise BGR
  int channels = 3;        ///< 1: luma
  bool channels_last = false;
  std::array<double, 3> mean{0, 0, 0};   ///< subtracted from pixels of 0 to 255, in the order of channels
  std::array<double, 3> scale{1, 1, 1};  ///< divides what is left
};
/// "416x416, BGR, fit_to_window, pad 114, mean 0 0 0, scale 1 1 1".
std::string text_of(const Preprocessing& preprocessing);

/// Values of the input's channels: what 256 bytes become in each, then what surrounds the frame in each.
std::vector<float> normalised_values(const Preprocessing& preprocessing);

/// Place of a frame in the input, in pixels of the input. Of Fit::crop, the frame exceeds the input: `left`
/// and `top` are 0 or negative.
struct Placement {
  int left = 0, top = 0, width = 0, height = 0;
  double ratio_x = 1, ratio_y = 1;  ///< of the input's pixels to the frame's; equal unless it is stretched
  /// A place of the input as one of the frame.
  double frame_x(double x) const { return (x - left) / ratio_x; }
  double frame_y(double y) const { return (y - top) / ratio_y; }
};
Placement place(Size frame, const Preprocessing& preprocessing);

/// Fills the input's tensor from frames of one size. Pixels are mixed bilinearly in integers: target i of n
/// samples (i + 0.5) * source / n - 0.5 with 11 fractional bits, edges repeated, and the mix is rounded to 8
/// bits, half up. Antialiased, they are Pillow's BILINEAR to the bit: a triangle as wide as two steps of the
/// target, first along rows, then along columns, each rounded to 8 bits. Each of the 256 values becomes
/// (value - mean) / scale, computed in double precision. Immutable once planned. Thread-safety: bands of rows
/// may be filled at once.
class Letterbox {
 public:
  Letterbox() = default;
  Letterbox(Size frame, const Preprocessing& preprocessing);
  const Placement& placement() const { return placement_; }
  /// Part of the input that shows the frame.
  const Crop& visible() const { return visible_; }
  /// Places of the frame that each visible place of its part of the input mixes, with the second's weight in
  /// 1/2048.
  struct Axis {
    std::vector<std::int32_t> first, second, weight;
    Axis() = default;
    /// @param begin, end  the visible places of the target
    Axis(int source, int target, int begin, int end);
  };
  const Axis& columns() const { return columns_; }
  const Axis& rows() const { return rows_; }
  /// Fills rows [begin, end) of all channels. Only rows of the frame that are mixed are converted to RGB (or
  /// luma); it takes memory for two, and antialiased for all of a band, as wide as the input.
  void fill(const PictureView& frame, float* tensor, int begin, int end) const;

 private:
  /// The same of places that are averaged.
  struct Average {
    struct Window {
      int first = 0;           ///< place of the frame
      std::size_t weight = 0;  ///< its index in `weights`; those of the next places follow
      int count = 0;
    };
    std::vector<Window> windows;
    std::vector<std::int32_t> weights;  ///< in 2^-22
    Average() = default;
    Average(int source, int target, int begin, int end);
  };
  class FrameRows;

  void mix_rows(const std::uint8_t* upper, const std::uint8_t* lower, int below, const float* values,
                float* row, std::ptrdiff_t step) const;
  Image<std::uint8_t> average_along_rows(FrameRows& rows, int first, int last) const;
  void average_down(const Image<std::uint8_t>& averaged, int first, const Average::Window& window, int colour,
                    const float* values, float* row, std::ptrdiff_t step) const;

  Preprocessing preprocessing_;
  Placement placement_;
  Crop visible_;
  Axis columns_, rows_;
  Average across_, down_;      // empty unless antialiased
  std::vector<float> values_;  // normalised_values
};

}  // namespace sightline::network
