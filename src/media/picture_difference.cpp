#include "media/picture_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace sightline::media {

std::string picture_difference(const AVFrame& a, const AVFrame& b) {
  if (a.format != b.format || a.width != b.width || a.height != b.height)
    return fmt::format("{}x{} {} instead of {}x{} {}", a.width, a.height,
                       av_get_pix_fmt_name(static_cast<AVPixelFormat>(a.format)), b.width, b.height,
                       av_get_pix_fmt_name(static_cast<AVPixelFormat>(b.format)));
  const auto format = static_cast<AVPixelFormat>(a.format);
  const AVPixFmtDescriptor& description = *av_pix_fmt_desc_get(format);
  for (int plane = 0; plane < av_pix_fmt_count_planes(format); ++plane) {
    const int rows = plane == 0 ? a.height : AV_CEIL_RSHIFT(a.height, description.log2_chroma_h);
    const auto bytes = static_cast<std::size_t>(av_image_get_linesize(format, a.width, plane));
    for (int y = 0; y < rows; ++y) {
      const std::uint8_t* const left = a.data[plane] + static_cast<std::ptrdiff_t>(a.linesize[plane]) * y;
      const std::uint8_t* const right = b.data[plane] + static_cast<std::ptrdiff_t>(b.linesize[plane]) * y;
      if (std::memcmp(left, right, bytes) == 0) continue;
      const auto at = std::mismatch(left, left + bytes, right).first - left;
      return fmt::format("plane {} differs in row {}, byte {}", plane, y, at);
    }
  }
  return "";
}

}  // namespace sightline::media
