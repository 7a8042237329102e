#include "media/content_checks.hpp"

extern "C" {
#include <libavutil/intreadwrite.h>
}

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace sightline::media {
namespace {

using Content = std::span<const std::uint8_t>;

// --- JPEG and JPEG-LS

constexpr std::uint8_t kEndOfImage = 0xD9, kStartOfScan = 0xDA, kJpegLs = 0xF7;

struct JpegWalk {
  std::size_t end = 0;          ///< behind the mark at the end; 0: there is none
  bool has_more_scans = false;  ///< perhaps: only the mark tells which one is the last
  bool has_zeros = false;       ///< a long run of zeros in the compressed data
  bool is_jpeg_ls = false;
  std::vector<std::size_t> ends;  ///< of the scans' data
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
  for (std::size_t at = 2; at < content.size();) {
    at = next_marker(content, at, result.is_jpeg_ls);
    if (at + 4 > content.size()) {
      if (at + 2 <= content.size() && content[at + 1] == kEndOfImage) result.end = at + 2;
      return result;
    }
    const std::uint8_t code = content[at + 1];
    if (code == kEndOfImage) {
      result.end = at + 2;
      return result;
    }
    result.is_jpeg_ls = result.is_jpeg_ls || code == kJpegLs;
    const bool is_frame = code >= 0xC0 && code <= 0xCF && code != 0xC4 && code != 0xC8 && code != 0xCC;
    if (is_frame || result.is_jpeg_ls) result.has_more_scans = result.is_jpeg_ls || code % 4 >= 2;
    at += std::size_t{2} + AV_RB16(content.data() + at + 2);
    if (code == kStartOfScan && at < content.size()) {
      const std::size_t end = next_marker(content, at, result.is_jpeg_ls);
      result.has_zeros = result.has_zeros || has_long_run_of_zeros(content.subspan(at, end - at));
      result.ends.push_back(end);
      at = end;
    }
  }
  return result;
}

// The decoded picture; null where it cannot be decoded.
FramePtr decoded(AVCodecID codec, std::vector<std::uint8_t> content) {
  const AVCodec* const decoder = avcodec_find_decoder(codec);
  const CodecContextPtr context(avcodec_alloc_context3(decoder));
  const PacketPtr packet = make_av_packet();
  FramePtr picture = make_av_frame();
  if (context) context->max_pixels = std::int64_t{1} << 26;
  if (!decoder || !context || avcodec_open2(context.get(), decoder, nullptr) < 0) return {};
  packet->size = static_cast<int>(content.size());
  content.resize(content.size() + AV_INPUT_BUFFER_PADDING_SIZE);
  packet->data = content.data();
  if (avcodec_send_packet(context.get(), packet.get()) < 0) return {};
  return avcodec_receive_frame(context.get(), picture.get()) < 0 ? FramePtr() : std::move(picture);
}

bool are_equal(const AVFrame& a, const AVFrame& b) {
  if (a.format != b.format || a.width != b.width || a.height != b.height) return false;
  const auto format = static_cast<AVPixelFormat>(a.format);
  for (int plane = 0; plane < av_pix_fmt_count_planes(format); ++plane) {
    const int bytes = av_image_get_linesize(format, a.width, plane);
    const bool is_chroma = plane == 1 || plane == 2;
    const int rows =
        is_chroma ? AV_CEIL_RSHIFT(a.height, av_pix_fmt_desc_get(format)->log2_chroma_h) : a.height;
    for (int y = 0; y < rows; ++y) {
      const auto row = [&](const AVFrame& one) {
        return one.data[plane] + static_cast<std::ptrdiff_t>(y) * one.linesize[plane];
      };
      if (std::memcmp(row(a), row(b), static_cast<std::size_t>(bytes)) != 0) return false;
    }
  }
  return true;
}

// JPEG-LS has no codes that could be wrong, and FFmpeg's decoder goes on with zeros where the data ends. A
// picture that changes with what follows a scan's data was not complete.
bool are_scans_short(Content content, const JpegWalk& found) {
  std::vector<std::uint8_t> longer;
  std::size_t from = 0;
  for (const std::size_t end : found.ends) {
    longer.insert(longer.end(), content.begin() + static_cast<std::ptrdiff_t>(from),
                  content.begin() + static_cast<std::ptrdiff_t>(end));
    longer.insert(longer.end(), 256, 0x55);
    from = end;
  }
  longer.insert(longer.end(), content.begin() + static_cast<std::ptrdiff_t>(from), content.end());
  const FramePtr plain = decoded(AV_CODEC_ID_JPEGLS, {content.begin(), content.end()});
  const FramePtr other = decoded(AV_CODEC_ID_JPEGLS, std::move(longer));
  return plain && other && !are_equal(*plain, *other);
}

// Some programs omit the end marker. The decoder can judge the data without it, unless more scans might have
// followed.
bool is_jpeg_cut(Content content) {
  if (content.size() < 4 || content[0] != 0xFF || content[1] != 0xD8) return false;
  const JpegWalk found = walk(content);
  if (found.end > 0 && found.is_jpeg_ls) return are_scans_short(content.first(found.end), found);
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

// --- GIF

/// Pixels that LZW data stand for (GIF89a, appendix F), up to the data's end or the first code that cannot
/// be.
std::int64_t lzw_pixels(Content data, int bits) {
  constexpr int kMostCodes = 4096, kMostBits = 12;
  const int clear = 1 << bits, end = clear + 1;
  std::vector<std::int64_t> length(kMostCodes, 1);  // of the pixels that a code stands for
  int next = end + 1, width = bits + 1, former = -1;
  std::int64_t pixels = 0;
  std::uint32_t buffer = 0;
  int filled = 0;
  for (std::size_t at = 0;;) {
    for (; filled < width && at < data.size(); filled += 8) buffer |= std::uint32_t{data[at++]} << filled;
    if (filled < width) return pixels;
    const int code = static_cast<int>(buffer & ((1U << width) - 1));
    buffer >>= width;
    filled -= width;
    if (code == end) return pixels;
    if (code == clear) {
      next = end + 1;
      width = bits + 1;
      former = -1;
      continue;
    }
    if (former < 0 ? code > clear : code > next || next > kMostCodes) return pixels;
    if (former >= 0 && next < kMostCodes) {
      length[static_cast<std::size_t>(next)] = length[static_cast<std::size_t>(former)] + 1;
      if (++next == 1 << width && width < kMostBits) ++width;
    }
    pixels += length[static_cast<std::size_t>(code)];
    former = code;
  }
}

/// The joined parts of a block, each of which begins with its length; `at` is moved behind the block.
std::vector<std::uint8_t> gif_block(Content content, std::size_t& at) {
  std::vector<std::uint8_t> data;
  while (at < content.size() && content[at] != 0) {
    const std::size_t length = std::min<std::size_t>(content[at], content.size() - at - 1);
    const Content part = content.subspan(at + 1, length);
    data.insert(data.end(), part.begin(), part.end());
    at += length + 1;
  }
  ++at;
  return data;
}

// A frame of a GIF, with or without the file's head. FFmpeg's decoder takes frames without all pixels for
// whole.
bool is_gif_frame_cut(Content content) {
  constexpr std::size_t kFileHead = 13, kFrameHead = 10;
  const auto colours = [](std::uint8_t flags) {
    return flags & 0x80 ? std::size_t{6} << (flags & 7) : std::size_t{0};
  };
  std::size_t at = 0;
  if (content.size() > kFileHead && std::memcmp(content.data(), "GIF8", 4) == 0)
    at = kFileHead + colours(content[10]);
  while (at + 2 < content.size() && content[at] == 0x21) {  // an extension
    at += 2;
    gif_block(content, at);
  }
  if (at + kFrameHead >= content.size() || content[at] != 0x2C) return false;
  const std::int64_t width = AV_RL16(content.data() + at + 5), height = AV_RL16(content.data() + at + 7);
  at += kFrameHead + colours(content[at + 9]);
  if (at >= content.size()) return true;
  const int bits = content[at++];
  if (bits < 1 || bits > 8) return true;
  return lzw_pixels(gif_block(content, at), bits) < width * height;
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
    case AV_CODEC_ID_GIF:
      return is_gif_frame_cut;
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
