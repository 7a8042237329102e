#pragma once
/// One decoded picture of a source.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "image/picture_view.hpp"

struct AVFrame;

namespace sightline::media {

class Scaler;

/// Range of 8-bit luma: black 16 and white 235 (limited), or black 0 and white 255 (full).
enum class LumaRange { limited, full };

/// When a live picture came about, in nanoseconds of std::chrono::steady_clock; 0 if that is not known, or
/// means nothing, as for a file's.
struct FrameTimes {
  std::int64_t captured = 0;  ///< the camera took it; where it does not tell, its data had arrived
  std::int64_t decoded = 0;   ///< the decoder had it ready
};

/// A decoded picture with its number and time. A handle: copies are cheap and share the pixels, which live
/// until the last copy is gone and are never changed.
///
/// Upright: the display matrix or EXIF orientation has been applied. Thread-safety: constant after
/// construction; copies may be used from different threads at once.
class Frame {
 public:
  /// No picture; `empty()`.
  Frame() = default;

  bool empty() const { return picture_ == nullptr; }
  /// From 1, counted from the first frame at or after ReadOptions::start; grows over loops; frames that
  /// ReadOptions::every leaves out are counted too.
  std::int64_t number() const { return number_; }
  /// Presentation time in seconds from the start of the source (not from ReadOptions::start); rises from
  /// frame to frame, over loops as well.
  double time() const { return time_; }
  Size size() const { return view_.size(); }
  /// Picture for a detector, valid as long as any copy of this frame. A view of the decoder's own pixels
  /// where these are 8-bit luma in a plane of its own (yuv420p, yuv422p, nv12, gray, ...), with the chroma
  /// beside it, or packed full-range colour (rgb24, bgr24, rgba, bgra, rgb0, bgr0), which is not converted
  /// here. Everything else (palette, 10-bit, packed YUV, planar RGB, ...) was converted on decoding: to luma,
  /// or to luma and chroma or packed colour with the same luma where colour is kept. Samples of more than 8
  /// bits are rounded to the nearest of 8, never dithered, so equal pixels have equal luma in every format.
  /// The stride may be negative; bytes past a row's end must not be read.
  PictureView view() const { return view_; }
  /// The view of a frame that is luma. Throws std::bad_variant_access for packed colour; `to_gray` takes
  /// both.
  GrayView gray() const { return view_.gray(); }
  /// Luma is as stored, also where it was of more than 8 bits: the range is the source's. That of colour and
  /// palettes is of full range.
  LumaRange luma_range() const { return range_; }
  /// Whether `view` shows the decoder's own pixels.
  bool is_by_reference() const { return converted_ == nullptr; }
  /// Why a picture of a folder could not be read whole; empty for a frame that was. A damaged frame has no
  /// pixels: it is `empty()`, of size 0x0.
  const std::string& damage() const { return damage_; }
  static Frame damaged(std::string reason, std::int64_t number, double time, std::string name);
  /// The file's path in the folder for a picture out of a folder, else empty.
  const std::string& name() const { return name_; }
  /// The same picture under another number.
  Frame renumbered(std::int64_t number) const {
    Frame frame = *this;
    frame.number_ = number;
    return frame;
  }
  /// The same picture at another time.
  Frame retimed(double time) const {
    Frame frame = *this;
    frame.time_ = time;
    return frame;
  }
  /// When it was captured, for live sources.
  const FrameTimes& times() const { return times_; }
  /// The same picture with the moments at which it was captured and decoded.
  Frame stamped(const FrameTimes& times) const {
    Frame frame = *this;
    frame.times_ = times;
    return frame;
  }
  /// The whole decoded picture, upright, owned by the frame; null if `empty()`.
  const AVFrame* picture() const { return picture_.get(); }

 private:
  friend class FrameBuilder;
  std::shared_ptr<const AVFrame> picture_;
  std::shared_ptr<const void> converted_;  ///< owns the view's pixels; null: `picture_` does
  PictureView view_;
  LumaRange range_ = LumaRange::limited;
  std::int64_t number_ = 0;
  double time_ = 0;
  FrameTimes times_;
  std::string name_;
  std::string damage_;
};

/// Makes frames out of decoded pictures. Reader has one; other sources (a camera, a test) may have theirs.
/// Thread-safety: one thread at a time.
class FrameBuilder {
 public:
  /// @param keep_colour  as ReadOptions::keep_colour
  explicit FrameBuilder(bool keep_colour = false);
  ~FrameBuilder();
  FrameBuilder(FrameBuilder&&) noexcept;
  FrameBuilder& operator=(FrameBuilder&&) noexcept;

  /// Shares the picture, which must not change from now on; makes a turned copy if it has a display matrix.
  /// @throws Error (input) for a pixel format that has no conversion to gray
  Frame build(std::shared_ptr<const AVFrame> picture, std::int64_t number, double time,
              std::string name = {});

 private:
  std::unique_ptr<Scaler> scaler_;
  bool keep_colour_;
};

/// A frame of RGB pixels, 3 bytes each, copied from `rgb` (row after row, no padding).
Frame frame_from_rgb(const std::uint8_t* rgb, Size size, std::int64_t number = 1, double time = 0);

/// A frame of gray pixels (full range), copied.
Frame frame_from_gray(GrayView gray, std::int64_t number = 1, double time = 0);

/// A frame that shares gray pixels (full range), which must not change from now on.
Frame frame_of_gray(std::shared_ptr<const Image<std::uint8_t>> gray, std::int64_t number, double time);

/// Whether a frame is anything but shades of gray.
bool has_colour(const Frame& frame);

/// Bits of a sample of the decoded picture; 8 for a palette's colours, 32 for floating point.
int sample_bits(const Frame& frame);

/// The sample values that are black and white; those between are spread over 0 to 255.
using SampleRange = std::optional<std::pair<double, double>>;

/// Luma and RGB of a frame with more than 8 bits a sample, for given black and white.
/// @throws Error (input) for luma and chroma, whose format defines black and white
Image<std::uint8_t> to_gray(const Frame& frame, const SampleRange& range);
std::vector<std::uint8_t> to_rgb(const Frame& frame, const SampleRange& range);

/// The luma of a frame, copied. Packed colour becomes BT.601 luma of full range by the integer formula of
/// image/gray.hpp, as in a detector; it may differ by a few levels from what swscale makes of the same
/// picture.
Image<std::uint8_t> to_gray(const Frame& frame);

/// RGB pixels of a frame, 3 bytes each, row after row without padding.
/// @throws Error (input) for a pixel format that has no conversion
std::vector<std::uint8_t> to_rgb(const Frame& frame);

}  // namespace sightline::media
