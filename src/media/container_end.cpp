#include "media/content_checks.hpp"

#include <libavutil/intreadwrite.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace sightline::media {
namespace {

/// Big-endian numbers and names at any place of a file.
class Bytes {
 public:
  explicit Bytes(AVIOContext& file) : file_(file), size_(avio_size(&file)) {}

  std::int64_t size() const { return size_; }
  /// Reads what there is from `at` on.
  std::span<const std::uint8_t> read(std::int64_t at, std::size_t count) {
    buffer_.resize(count);
    const bool is_there = at < size_ && avio_seek(&file_, at, SEEK_SET) == at;
    const int got = is_there ? avio_read(&file_, buffer_.data(), static_cast<int>(count)) : 0;
    return {buffer_.data(), static_cast<std::size_t>(std::max(got, 0))};
  }

 private:
  AVIOContext& file_;
  std::int64_t size_;
  std::vector<std::uint8_t> buffer_;
};

std::uint64_t big_endian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

/// An element of EBML: its name, where its content begins, and its length; none: not known by the writer.
struct Element {
  std::uint64_t id = 0;
  std::int64_t content = 0;
  std::optional<std::int64_t> length;
};

constexpr std::uint64_t kSegment = 0x18538067, kCluster = 0x1F43B675;

/// A number whose first byte tells its length. 0 bytes long where it is none, or the file ends in it.
struct EbmlNumber {
  int bytes = 0;
  std::uint64_t value = 0;  ///< including the length marker bit
};

EbmlNumber ebml_number(std::span<const std::uint8_t> from) {
  if (from.empty() || from[0] == 0) return {};
  int bytes = 1;
  while (!(from[0] & 0x80 >> (bytes - 1))) ++bytes;
  if (from.size() < static_cast<std::size_t>(bytes)) return {};
  return {bytes, big_endian(from.first(static_cast<std::size_t>(bytes)))};
}

std::optional<Element> element_at(Bytes& file, std::int64_t at) {
  const auto head = file.read(at, 12);
  const EbmlNumber id = ebml_number(head);
  if (id.bytes == 0 || id.bytes > 4) return std::nullopt;
  const EbmlNumber length = ebml_number(head.subspan(static_cast<std::size_t>(id.bytes)));
  if (length.bytes == 0) return std::nullopt;
  Element element{id.value, at + id.bytes + length.bytes, std::nullopt};
  const std::uint64_t most = (std::uint64_t{1} << (7 * length.bytes)) - 1;
  if (const std::uint64_t value = length.value & most; value != most)
    element.length = static_cast<std::int64_t>(value);
  return element;
}

// True for ids of a file, its segments and clusters; other data were appended by another program.
bool is_known(std::uint64_t id) {
  constexpr std::array<std::uint64_t, 18> kKnown{
      0x1A45DFA3, kSegment, kCluster, 0x114D9B74, 0x1549A966, 0x1654AE6B, 0x1C53BB6B, 0x1254C367, 0x1043A770,
      0x1941A469, 0xEC,     0xBF,     0xE7,       0xAB,       0xA7,       0xA3,       0xA0,       0xAF};
  return std::ranges::find(kKnown, id) != kKnown.end();
}

// Live recordings have segments and clusters without a length: their parts are looked at one by one.
bool is_matroska_cut(Bytes& file, bool has_skipped_blocks) {
  std::int64_t segment_end = 0;  // 0: not known
  for (std::int64_t at = 0; at < file.size();) {
    const bool is_damage = at < segment_end;  // where there is no element
    const std::optional<Element> element = element_at(file, at);
    if (!element)  // a head that is cut, or no more
      return is_damage || (file.read(at, 1)[0] != 0 && file.size() - at < 12);
    if (!is_known(element->id)) return is_damage;
    const bool is_segment = element->id == kSegment;
    const bool is_open = (is_segment || element->id == kCluster) && (!element->length || has_skipped_blocks);
    if (!element->length && !is_open) return false;
    if (is_segment && element->length) {
      const bool is_cut = *element->length > file.size() - element->content;
      if (is_cut || !has_skipped_blocks) return is_cut;
      segment_end = element->content + *element->length;
    }
    if (!is_open && *element->length > file.size() - element->content) return true;
    at = element->content + (is_open ? 0 : *element->length);
  }
  return false;
}

// Checks only the boxes that hold pictures, since padding may be missing.
bool is_mp4_cut(Bytes& file) {
  for (std::int64_t at = 0; at < file.size();) {
    const auto head = file.read(at, 16);
    if (head.size() < 8) return false;
    auto length = static_cast<std::int64_t>(big_endian(head.first(4)));
    const std::uint64_t type = big_endian(head.subspan(4, 4));
    if (length == 1 && head.size() == 16) length = static_cast<std::int64_t>(big_endian(head.last(8)));
    if (length < 8) return false;  // 0: up to the file's end
    if (length > file.size() - at) return type == 0x6D646174 || type == 0x6D6F6F66;  // mdat, moof
    at += length;
  }
  return false;
}

bool is_avi_cut(Bytes& file) {
  for (std::int64_t at = 0; at < file.size();) {
    const auto head = file.read(at, 8);
    if (head.size() < 8 || std::memcmp(head.data(), "RIFF", 4) != 0) return false;
    const std::uint32_t length = AV_RL32(head.data() + 4);
    if (length == 0 || length == 0xFFFFFFFF) return false;  // never filled in
    if (length > file.size() - at - 8) return true;
    at += 8 + std::int64_t{length} + length % 2;
  }
  return false;
}

bool is_ogg_cut(Bytes& file) {
  constexpr std::int64_t kHead = 27, kLargestPage = kHead + 255 + 255 * 255;
  const std::int64_t from = std::max<std::int64_t>(file.size() - 2 * kLargestPage, 0);
  const auto end = file.read(from, static_cast<std::size_t>(file.size() - from));
  constexpr std::array<std::uint8_t, 5> kPage{'O', 'g', 'g', 'S', 0};
  // A page in the content of another is no page: so from the first one on.
  auto page = std::search(end.begin(), end.end(), kPage.begin(), kPage.end());
  while (page != end.end()) {
    const auto left = static_cast<std::size_t>(end.end() - page);
    const std::size_t named = std::min(left, kPage.size());
    if (!std::equal(page, page + static_cast<std::ptrdiff_t>(named), kPage.begin())) return false;
    if (left < kHead) return true;
    const std::size_t parts = page[26];
    if (left < kHead + parts) return true;
    std::size_t length = kHead + parts;
    for (std::size_t i = 0; i < parts; ++i) length += page[static_cast<std::ptrdiff_t>(kHead + i)];
    if (left < length) return true;
    page += static_cast<std::ptrdiff_t>(length);
  }
  return false;
}

// End of the sub-blocks that begin at `at`; no value if the file ends before it.
std::optional<std::int64_t> end_of_gif_data(Bytes& file, std::int64_t at) {
  for (;;) {
    const auto length = file.read(at, 1);
    if (length.empty()) return std::nullopt;
    if (length[0] == 0) return at + 1;
    at += 1 + length[0];
  }
}

std::int64_t gif_palette_bytes(std::uint8_t flags) {
  return flags & 0x80 ? 3 << ((flags & 7) + 1) : 0;
}

// Some writers leave out the mark at the end: a file that ends behind a block is whole.
bool is_gif_cut(Bytes& file) {
  const auto head = file.read(0, 13);
  if (head.size() < 13) return true;
  for (std::int64_t at = 13 + gif_palette_bytes(head[10]); at < file.size();) {
    constexpr std::uint8_t kExtension = 0x21, kImage = 0x2C;
    const auto block = file.read(at, 10);
    if (block[0] != kExtension && block[0] != kImage) return false;
    if (block[0] == kImage && block.size() < 10) return true;
    const std::int64_t data = at + (block[0] == kExtension ? 2 : 11 + gif_palette_bytes(block[9]));
    const std::optional<std::int64_t> end = end_of_gif_data(file, data);
    if (!end) return true;
    at = *end;
  }
  return false;
}

// A line of text, then frames of one size behind a line each.
bool is_y4m_cut(Bytes& file, std::int64_t frame_bytes) {
  constexpr std::size_t kLongestLine = 256;
  constexpr std::string_view kFrame = "FRAME";
  for (std::int64_t at = 0; at < file.size();) {
    const auto line = file.read(at, kLongestLine);
    const auto end = std::ranges::find(line, '\n');
    if (at > 0 &&
        !std::ranges::equal(line.first(std::min(line.size(), kFrame.size())), kFrame.substr(0, line.size())))
      return false;
    if (end == line.end()) return line.size() < kLongestLine;
    const bool is_frame = at > 0;
    at += end - line.begin() + 1 + (is_frame ? frame_bytes : 0);
    if (at > file.size()) return true;
  }
  return false;
}

std::int64_t bytes_of_raw_frame(const AVCodecParameters& video) {
  return av_image_get_buffer_size(static_cast<AVPixelFormat>(video.format), video.width, video.height, 1);
}

}  // namespace

bool is_container_cut(AVIOContext& file, std::string_view format, const AVCodecParameters& video,
                      bool has_skipped_blocks) {
  Bytes bytes(file);
  if (format.starts_with("matroska")) return is_matroska_cut(bytes, has_skipped_blocks);
  if (format.starts_with("mov")) return is_mp4_cut(bytes);
  if (format == "avi") return is_avi_cut(bytes);
  if (format == "ogg") return is_ogg_cut(bytes);
  if (format == "gif") return is_gif_cut(bytes);
  if (format == "yuv4mpegpipe") return is_y4m_cut(bytes, bytes_of_raw_frame(video));
  return false;
}

}  // namespace sightline::media
