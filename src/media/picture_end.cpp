#include "media/picture_end.hpp"

#include <libavutil/intreadwrite.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "media/jpeg_check.hpp"

namespace sightline::media {
namespace {

using Content = std::span<const std::uint8_t>;

// --- JPEG and JPEG-LS

constexpr std::uint8_t kEndOfImage = 0xD9, kStartOfScan = 0xDA, kJpegLs = 0xF7;

struct JpegWalk {
  std::size_t end = 0;          ///< behind the mark at the end; 0: there is none
  bool has_more_scans = false;  ///< perhaps: only the mark tells which one is the last
  bool has_zeros = false;       ///< a long run of zeros in the compressed data
};

/// The next marker at or behind `at`; `content.size()` where there is none.
std::size_t next_marker(Content content, std::size_t at, bool is_jpeg_ls) {
  while (at + 1 < content.size()) {
    const void* const found = std::memchr(content.data() + at, 0xFF, content.size() - 1 - at);
    if (!found) break;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - content.data());
    const std::uint8_t code = content[at + 1];
    const bool is_data = is_jpeg_ls ? code < 0x80 : code == 0 || (code >= 0xD0 && code <= 0xD7);
    if (code != 0xFF && !is_data) return at;
    at += code == 0xFF ? 1 : 2;
  }
  return content.size();
}

bool has_long_run_of_zeros(Content data) {
  constexpr std::size_t kLong = 64;
  for (std::size_t at = kLong - 1; at < data.size(); at += kLong) {
    if (data[at] != 0) continue;
    std::size_t from = at, to = at + 1;
    while (from > 0 && data[from - 1] == 0) --from;
    while (to < data.size() && data[to] == 0) ++to;
    if (to - from >= kLong) return true;
  }
  return false;
}

JpegWalk walk(Content content) {
  JpegWalk result;
  bool is_jpeg_ls = false;
  for (std::size_t at = 2; at < content.size();) {
    at = next_marker(content, at, is_jpeg_ls);
    if (at + 4 > content.size()) {
      if (at + 2 <= content.size() && content[at + 1] == kEndOfImage) result.end = at + 2;
      return result;
    }
    const std::uint8_t code = content[at + 1];
    if (code == kEndOfImage) {
      result.end = at + 2;
      return result;
    }
    is_jpeg_ls = is_jpeg_ls || code == kJpegLs;
    const bool is_frame = code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
    if (is_frame || is_jpeg_ls) result.has_more_scans = is_jpeg_ls || code % 4 >= 2;
    at += std::size_t{2} + AV_RB16(content.data() + at + 2);
    if (code == kStartOfScan && at < content.size()) {
      const std::size_t end = next_marker(content, at, is_jpeg_ls);
      result.has_zeros = result.has_zeros || has_long_run_of_zeros(content.subspan(at, end - at));
      at = end;
    }
  }
  return result;
}

// Some programs omit the end marker. The decoder can judge the data without it, unless more scans might have
// followed.
bool is_jpeg_cut(Content content) {
  if (content.size() < 4 || content[0] != 0xFF || content[1] != 0xD8) return false;
  const JpegWalk found = walk(content);
  if (found.end > 0) return found.has_zeros && is_jpeg_damaged(content.first(found.end));
  if (found.has_more_scans) return true;
  std::vector<std::uint8_t> ended(content.begin(), content.end());
  ended.insert(ended.end(), {0xFF, kEndOfImage});
  return is_jpeg_damaged(ended);
}

// --- Formats of which the data is counted

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

bool is_qoi_cut(Content content) {
  constexpr std::size_t kHead = 14;
  if (content.size() < kHead) return !content.empty();
  std::int64_t left = product(AV_RB32(content.data() + 4), AV_RB32(content.data() + 8));
  std::size_t at = kHead;
  while (left > 0 && at < content.size()) {
    const std::uint8_t code = content[at];
    const bool is_run = code >= 0xC0 && code < 0xFE;
    left -= is_run ? code - 0xBF : 1;
    at += code == 0xFE ? 4 : code == 0xFF ? 5 : code >> 6 == 2 ? 2 : 1;
  }
  return left > 0 || at > content.size();
}

/// Sun's runs: 128, count - 1, value; 128, 0 is a single 128.
bool are_sun_runs_cut(Content data, std::int64_t bytes) {
  std::size_t at = 0;
  while (bytes > 0 && at < data.size()) {
    if (data[at] != 0x80) {
      --bytes;
      ++at;
    } else if (at + 1 < data.size() && data[at + 1] == 0) {
      --bytes;
      at += 2;
    } else {
      bytes -= at + 1 < data.size() ? data[at + 1] + 1 : 1;
      at += 3;
    }
  }
  return bytes > 0 || at > data.size();
}

bool is_sun_raster_cut(Content content) {
  constexpr std::size_t kHead = 32;
  constexpr std::uint32_t kRuns = 2, kLastKnown = 3;
  if (content.size() < kHead) return !content.empty();
  const auto field = [&](std::size_t index) { return AV_RB32(content.data() + 4 * index); };
  const std::int64_t row = (product(field(1), field(3)) + 15) / 16 * 2, bytes = product(row, field(2));
  const std::uint32_t type = field(5);
  const std::size_t begin = kHead + field(7);
  if (type > kLastKnown) return false;
  if (begin > content.size()) return true;
  const Content data = content.subspan(begin);
  return type == kRuns ? are_sun_runs_cut(data, bytes) : static_cast<std::int64_t>(data.size()) < bytes;
}

bool is_pcx_cut(Content content) {
  constexpr std::size_t kHead = 128;
  if (content.size() < kHead) return !content.empty();
  const int planes = content[65];
  const std::int64_t rows = AV_RL16(content.data() + 10) - AV_RL16(content.data() + 6) + 1;
  std::int64_t bytes = rows * planes * AV_RL16(content.data() + 66);
  std::size_t at = kHead;
  if (content[2] == 0) {
    at += static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0));
    return at > content.size();
  }
  while (bytes > 0 && at < content.size()) {
    const bool is_run = content[at] >= 0xC0;
    bytes -= is_run ? content[at] & 0x3F : 1;
    at += is_run ? 2 : 1;
  }
  return bytes > 0 || at > content.size();
}

// --- OpenEXR

/// End of the attributes. Each has a name, a type and a size.
std::size_t end_of_exr_head(Content content) {
  constexpr std::size_t kMagicAndVersion = 8;
  const auto end_of_name = [&](std::size_t at) {
    while (at < content.size() && content[at] != 0) ++at;
    return at + 1;
  };
  std::size_t at = kMagicAndVersion;
  while (at < content.size() && content[at] != 0) {
    at = end_of_name(end_of_name(at));
    if (at + 4 > content.size()) return content.size();
    at += std::size_t{4} + AV_RL32(content.data() + at);
  }
  return at + 1;
}

// Places of the chunks follow the head; the first chunk in the file follows them.
bool is_exr_cut(Content content) {
  constexpr std::uint32_t kTiled = 0x200, kDeepOrParts = 0x1800;
  if (content.size() < 8) return !content.empty();
  const std::uint32_t version = AV_RL32(content.data() + 4);
  if (version & kDeepOrParts) return false;
  std::uint64_t first = content.size(), last = 0;
  std::size_t at = end_of_exr_head(content);
  if (at >= content.size()) return true;
  for (; at + 8 <= first; at += 8) {
    const std::uint64_t chunk = AV_RL64(content.data() + at);
    if (chunk <= at) return true;  // never written
    first = std::min(first, chunk);
    last = std::max(last, chunk);
  }
  const std::uint64_t head = version & kTiled ? 20 : 8;  // the head ends with the data size
  if (last == 0 || last > content.size() || content.size() - last < head) return true;
  return content.size() - last - head < AV_RL32(content.data() + last + head - 4);
}

}  // namespace

PictureCheck picture_check(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_MJPEG:
    case AV_CODEC_ID_JPEGLS:
      return is_jpeg_cut;
    case AV_CODEC_ID_QOI:
      return is_qoi_cut;
    case AV_CODEC_ID_SUNRAST:
      return is_sun_raster_cut;
    case AV_CODEC_ID_PCX:
      return is_pcx_cut;
    case AV_CODEC_ID_EXR:
      return is_exr_cut;
    default:
      return nullptr;
  }
}

}  // namespace sightline::media
