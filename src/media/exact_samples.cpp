#include "media/exact_samples.hpp"

#include <libavutil/intreadwrite.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "image/gray.hpp"
#include "media/scaler.hpp"

namespace sightline::media {
namespace {

const AVPixFmtDescriptor& description_of(const AVFrame& picture) {
  return *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
}

bool is_xyz(AVPixelFormat format) {
  return format == AV_PIX_FMT_XYZ12LE || format == AV_PIX_FMT_XYZ12BE;
}

std::uint8_t spread(double value, const std::pair<double, double>& range) {
  const double scale = 255 / (range.second - range.first);
  const double level = (value - range.first) * scale + 0.5;
  return static_cast<std::uint8_t>(level >= 255 ? 255 : level >= 0 ? std::floor(level) : 0);
}

/// Reads the components of one picture.
class Samples {
 public:
  Samples(const AVFrame& picture, const SampleRange& range)
      : picture_(picture), format_(description_of(picture)), range_(range) {
    if (!is_float()) make_levels();
    if (format_.flags & AV_PIX_FMT_FLAG_BITSTREAM || bits() < 8 || end_of_bits() > 16)
      scratch_.resize(static_cast<std::size_t>(picture.width));
  }

  /// A row of a component, `width` samples; each is written `step` bytes behind the one before.
  void read(int component, int y, int width, std::uint8_t* out, int step) {
    // A copy, because the compiler must assume that written bytes alias.
    const AVComponentDescriptor place = format_.comp[component];
    const std::uint8_t* const row = picture_.data[place.plane] +
                                    static_cast<std::ptrdiff_t>(y) * picture_.linesize[place.plane] +
                                    place.offset;
    const std::uint8_t* const levels = levels_[static_cast<std::size_t>(component)].data();
    const auto put = [=](auto value_at) {
      std::uint8_t* to = out;
      for (int x = 0; x < width; ++x, to += step) *to = value_at(x);
    };
    const bool is_big_endian = format_.flags & AV_PIX_FMT_FLAG_BE;
    const unsigned mask = (1u << (place.depth & 31)) - 1;
    if (is_float()) {
      const std::pair<double, double> range = range_.value_or(std::pair{0.0, 1.0});
      put([=](int x) {
        const std::uint8_t* const at = row + x * place.step;
        return spread(std::bit_cast<float>(is_big_endian ? AV_RB32(at) : AV_RL32(at)), range);
      });
    } else if (!scratch_.empty()) {
      av_read_image_line(scratch_.data(), const_cast<const std::uint8_t**>(picture_.data), picture_.linesize,
                         &format_, 0, y, component, width, 0);
      put([=, values = scratch_.data()](int x) { return levels[values[x]]; });
    } else if (place.depth == 8 && place.shift == 0) {
      put([=](int x) { return levels[row[x * place.step]]; });
    } else if (is_big_endian) {
      put([=](int x) { return levels[AV_RB16(row + x * place.step) >> place.shift & mask]; });
    } else {
      put([=](int x) { return levels[AV_RL16(row + x * place.step) >> place.shift & mask]; });
    }
  }

 private:
  bool is_float() const { return format_.flags & AV_PIX_FMT_FLAG_FLOAT; }
  int bits() const {
    int least = 32;
    for (int i = 0; i < format_.nb_components; ++i) least = std::min(least, format_.comp[i].depth);
    return least;
  }
  int end_of_bits() const {
    int most = 0;
    for (int i = 0; i < format_.nb_components; ++i)
      most = std::max(most, format_.comp[i].depth + format_.comp[i].shift);
    return most;
  }
  // Components of rgb565 and the like differ in depth.
  void make_levels() {
    for (int i = 0; i < format_.nb_components && i < 3; ++i) {
      std::vector<std::uint8_t>& levels = levels_[static_cast<std::size_t>(i)];
      const int depth = format_.comp[i].depth;
      levels.resize(std::size_t{1} << depth);
      for (unsigned value = 0; value < levels.size(); ++value) levels[value] = level_of(value, depth);
    }
  }
  std::uint8_t level_of(unsigned value, int depth) const {
    if (range_ && depth > 8) return spread(value, *range_);
    const unsigned largest = (1u << depth) - 1;
    if (picture_.format == AV_PIX_FMT_MONOWHITE) value = largest - value;
    if (depth == 8) return static_cast<std::uint8_t>(value);
    if (depth > 8 && !is_full_range(picture_))
      return static_cast<std::uint8_t>(std::min(255u, (value + (1u << (depth - 9))) >> (depth - 8)));
    return static_cast<std::uint8_t>((value * 255u + largest / 2) / largest);
  }

  const AVFrame& picture_;
  const AVPixFmtDescriptor& format_;
  const SampleRange range_;
  std::array<std::vector<std::uint8_t>, 3> levels_;
  std::vector<std::uint16_t> scratch_;  // samples of formats that FFmpeg unpacks
};

bool is_palette(const AVFrame& picture) {
  return description_of(picture).flags & AV_PIX_FMT_FLAG_PAL;
}

bool is_rgb(const AVFrame& picture) {
  return description_of(picture).flags & AV_PIX_FMT_FLAG_RGB;
}

/// A row as red, green and blue.
void read_rgb_row(const AVFrame& picture, Samples& samples, int y, std::uint8_t* out) {
  const int width = picture.width;
  if (is_palette(picture)) {
    const std::uint8_t* const row = picture.data[0] + static_cast<std::ptrdiff_t>(y) * picture.linesize[0];
    for (int x = 0; x < width; ++x, out += 3) {
      const std::uint32_t colour = AV_RN32(picture.data[1] + 4 * row[x]);  // ARGB in the machine's byte order
      for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(colour >> (16 - 8 * c));
    }
    return;
  }
  for (int c = 0; c < 3; ++c) samples.read(is_rgb(picture) ? c : 0, y, width, out + c, 3);
}

bool is_planar_yuv(const AVPixFmtDescriptor& format) {
  return format.nb_components == 3 && (format.flags & AV_PIX_FMT_FLAG_PLANAR) && format.comp[2].plane == 2 &&
         !(format.flags & AV_PIX_FMT_FLAG_RGB);
}

/// The planar format of 8 bits with chroma in the same places.
AVPixelFormat yuv8_format(const AVPixFmtDescriptor& like) {
  for (const AVPixFmtDescriptor* format = av_pix_fmt_desc_next(nullptr); format;
       format = av_pix_fmt_desc_next(format)) {
    if (is_planar_yuv(*format) && format->comp[0].depth == 8 && format->log2_chroma_w == like.log2_chroma_w &&
        format->log2_chroma_h == like.log2_chroma_h)
      return av_pix_fmt_desc_get_id(format);
  }
  return AV_PIX_FMT_NONE;
}

}  // namespace

bool has_exact_luma(const AVFrame& picture) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  const AVPixFmtDescriptor* const description = av_pix_fmt_desc_get(format);
  if (!description || description->nb_components < 1 || is_xyz(format) ||
      (description->flags & (AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER)))
    return false;
  if ((description->flags & AV_PIX_FMT_FLAG_RGB) && !is_full_range(picture)) return false;
  const int depth = description->comp[0].depth;
  return description->flags & AV_PIX_FMT_FLAG_FLOAT ? depth == 32 : depth <= 16;
}

void exact_luma(const AVFrame& picture, const SampleRange& range, Image<std::uint8_t>& luma) {
  Samples samples(picture, range);
  luma.resize(picture.width, picture.height);
  const ImageView<std::uint8_t> target = luma.view();
  if (!is_palette(picture) && !is_rgb(picture)) {
    for (int y = 0; y < picture.height; ++y) samples.read(0, y, picture.width, target.row(y), 1);
    return;
  }
  std::vector<std::uint8_t> row(static_cast<std::size_t>(picture.width) * 3);
  for (int y = 0; y < picture.height; ++y) {
    read_rgb_row(picture, samples, y, row.data());
    const PackedView rgb{row.data(), picture.width, 1, 0, PackedFormat::rgb24};
    to_gray(rgb, ImageView<std::uint8_t>(target.row(y), picture.width, 1, target.stride()), 0, 1);
  }
}

bool has_exact_rgb(const AVFrame& picture) {
  if (!has_exact_luma(picture) || !is_full_range(picture)) return false;
  return is_palette(picture) || is_rgb(picture) || description_of(picture).nb_components < 3;
}

std::vector<std::uint8_t> exact_rgb(const AVFrame& picture, const SampleRange& range) {
  Samples samples(picture, range);
  const std::size_t row = static_cast<std::size_t>(picture.width) * 3;
  std::vector<std::uint8_t> rgb(row * static_cast<std::size_t>(picture.height));
  for (int y = 0; y < picture.height; ++y)
    read_rgb_row(picture, samples, y, rgb.data() + static_cast<std::size_t>(y) * row);
  return rgb;
}

FramePtr exact_yuv8(const AVFrame& picture) {
  if (!has_exact_luma(picture) || !is_yuv(static_cast<AVPixelFormat>(picture.format))) return nullptr;
  const AVPixFmtDescriptor& from = description_of(picture);
  const AVPixelFormat format = yuv8_format(from);
  if (format == AV_PIX_FMT_NONE) return nullptr;
  FramePtr result = make_picture(format, picture.width, picture.height);
  if (av_frame_copy_props(result.get(), &picture) < 0) throw std::bad_alloc();
  Samples samples(picture, std::nullopt);
  for (int c = 0; c < 3; ++c) {
    const int width = c == 0 ? picture.width : AV_CEIL_RSHIFT(picture.width, from.log2_chroma_w);
    const int height = c == 0 ? picture.height : AV_CEIL_RSHIFT(picture.height, from.log2_chroma_h);
    for (int y = 0; y < height; ++y)
      samples.read(c, y, width, result->data[c] + static_cast<std::ptrdiff_t>(y) * result->linesize[c], 1);
  }
  return result;
}

}  // namespace sightline::media
