#pragma once
/// Internal to src/media: conversion between pixel formats, ranges and sizes.

#include "frame/stream_info.hpp"
#include "image/colour.hpp"
#include "image/view.hpp"
#include "media/ffmpeg.hpp"

namespace sightline::media {

/// Whether samples of the picture span 0..255 rather than 16..235; gray and RGB count as full unless tagged
/// limited.
bool is_full_range(const AVFrame& picture);

/// Whether plane 0 is 8-bit luma, one byte a pixel.
bool has_plain_luma(AVPixelFormat format);

/// Whether the format is luma and chroma (neither RGB, gray nor palette).
bool is_yuv(AVPixelFormat format);

/// The colours that a picture says it has.
ColorTags color_tags(const AVFrame& picture);

/// The YUV matrix of a picture; where the stream does not say, BT.709 from 720 rows up and BT.601 below.
AVColorSpace matrix_of(const AVFrame& picture);

/// Whether that of BT.709, rather than of BT.601, is the nearer one to `matrix_of`.
bool is_near_bt709(const AVFrame& picture);
/// Of its matrix; BT.601's for matrices of other kinds, such as YCgCo.
LumaShares luma_shares(const AVFrame& picture);

/// Owns a swscale context and remakes it when the kind of conversion changes.
/// Thread-safety: one thread at a time.
class Scaler {
 public:
  /// Fills `to`, which has memory and the target size, format, `color_range` and `colorspace`.
  /// @throws Error (input) for formats that cannot be converted
  void convert(const AVFrame& from, AVFrame& to);

  /// The whole picture as full-range luma.
  void to_gray(const AVFrame& from, Image<std::uint8_t>& to);

 private:
  struct Kind {
    Size from, to;
    AVPixelFormat from_format = AV_PIX_FMT_NONE, to_format = AV_PIX_FMT_NONE;
    bool from_full = false, to_full = false;
    AVColorSpace from_matrix = AVCOL_SPC_UNSPECIFIED, to_matrix = AVCOL_SPC_UNSPECIFIED;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  void prepare(const Kind& kind);

  Kind kind_;
  ScaleContextPtr context_;
};

}  // namespace sightline::media
