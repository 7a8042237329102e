#pragma once
/// Frames whose pixels FFmpeg decoded, and what only its description of them tells.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frame/frame.hpp"

struct AVFrame;

namespace sightline::media {

class Scaler;

/// A picture in FFmpeg's memory, and the view of it that detectors read.
class DecodedPicture : public FrameStorage {
 public:
  /// @param picture    upright
  /// @param converted  owns the view's pixels; null: `picture` does
  DecodedPicture(std::shared_ptr<const AVFrame> picture, std::shared_ptr<const void> converted,
                 const PictureView& view, LumaRange range)
      : picture_(std::move(picture)), converted_(std::move(converted)), view_(view), range_(range) {}

  PictureView view() const override { return view_; }
  LumaRange luma_range() const override { return range_; }
  /// The whole decoded picture.
  const std::shared_ptr<const AVFrame>& picture() const { return picture_; }

 private:
  std::shared_ptr<const AVFrame> picture_;
  std::shared_ptr<const void> converted_;
  PictureView view_;
  LumaRange range_;
};

/// FFmpeg's description of a frame: of the picture that it decoded, or else of the luma or packed colour that
/// the frame has on the host, whose pixels it shares. Null for an empty frame.
std::shared_ptr<const AVFrame> picture_of(const Frame& frame);

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
  std::shared_ptr<const DecodedPicture> with_view(std::shared_ptr<const AVFrame> picture);

  std::unique_ptr<Scaler> scaler_;
  bool keep_colour_;
};

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

/// RGB pixels of a frame, 3 bytes each, row after row without padding.
/// @throws Error (input) for a pixel format that has no conversion
std::vector<std::uint8_t> to_rgb(const Frame& frame);

}  // namespace sightline::media
