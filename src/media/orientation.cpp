#include "media/orientation.hpp"

#include <libavutil/intreadwrite.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "media/scaler.hpp"

namespace sightline::media {
namespace {

using FileData = std::span<const std::uint8_t>;

constexpr std::size_t kMatrixBytes = 9 * sizeof(std::int32_t);

bool begins_with(FileData bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/// Numbers of a TIFF, which EXIF data are, too; 0 beyond its end.
class TiffNumbers {
 public:
  explicit TiffNumbers(FileData bytes) : bytes_(bytes), is_big_endian_(begins_with(bytes, "MM")) {}
  std::uint64_t at(std::uint64_t place, std::size_t bytes) const {
    if (place > bytes_.size() || bytes_.size() - place < bytes) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value = value << 8 | bytes_[static_cast<std::size_t>(place) + (is_big_endian_ ? i : bytes - 1 - i)];
    return value;
  }

 private:
  FileData bytes_;
  bool is_big_endian_;
};

int orientation_of_tiff(FileData bytes) {
  constexpr std::uint64_t kTag = 0x112, kByte = 1, kShort = 3;
  if (begins_with(bytes, {"Exif\0\0", 6})) bytes = bytes.subspan(6);
  if (!begins_with(bytes, "II") && !begins_with(bytes, "MM")) return 1;
  const TiffNumbers numbers(bytes);
  const bool is_big = numbers.at(2, 2) == 43;
  if (!is_big && numbers.at(2, 2) != 42) return 1;
  const std::size_t word = is_big ? 8 : 4;
  const std::uint64_t directory = numbers.at(is_big ? 8 : 4, word);
  const std::size_t count_bytes = is_big ? 8 : 2, entry_bytes = is_big ? 20 : 12;
  if (directory > bytes.size()) return 1;
  const std::uint64_t first = directory + count_bytes;
  const std::uint64_t count =
      std::min<std::uint64_t>(numbers.at(directory, count_bytes), bytes.size() / entry_bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t entry = first + i * entry_bytes;
    if (numbers.at(entry, 2) != kTag) continue;
    const std::uint64_t type = numbers.at(entry + 2, 2);
    const std::uint64_t value = numbers.at(entry + 4 + word, type == kByte ? 1 : type == kShort ? 2 : 4);
    return value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int orientation_of_png(FileData file) {
  // FFmpeg keeps an animation's head without the signature.
  for (std::size_t at = begins_with(file, "\x89PNG") ? 8 : 0; file.size() > at && file.size() - at >= 12;) {
    const std::size_t length = AV_RB32(&file[at]);
    if (length > file.size() - at - 12) return 1;
    if (begins_with(file.subspan(at + 4), "eXIf")) return orientation_of_tiff(file.subspan(at + 8, length));
    at += 12 + length;
  }
  return 1;
}

int orientation_of_webp(FileData file) {
  if (!begins_with(file, "RIFF")) return 1;
  for (std::size_t at = 12; file.size() > at && file.size() - at >= 8;) {
    const std::size_t length = AV_RL32(&file[at + 4]);
    if (length > file.size() - at - 8) return 1;
    if (begins_with(file.subspan(at), "EXIF")) return orientation_of_tiff(file.subspan(at + 8, length));
    at += 8 + length + length % 2;
  }
  return 1;
}

/// Content of an EBML element, and the data after it.
struct EbmlElement {
  std::uint64_t id = 0;
  FileData content;
  FileData rest;
};

/// A number whose first byte tells its length; its bytes are taken off the front. None if it is cut.
std::optional<std::uint64_t> take_ebml_number(FileData& from, bool with_marker) {
  if (from.empty() || from[0] == 0) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(std::countl_zero(from[0])) + 1;
  if (from.size() < bytes) return std::nullopt;
  std::uint64_t value = with_marker ? from[0] : from[0] & (0xFFU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) value = value << 8 | from[i];
  from = from.subspan(bytes);
  return value;
}

std::optional<EbmlElement> ebml_element(FileData from) {
  const std::optional<std::uint64_t> id = take_ebml_number(from, true);
  const std::optional<std::uint64_t> length = id ? take_ebml_number(from, false) : std::nullopt;
  if (!length) return std::nullopt;
  const auto inside = static_cast<std::size_t>(std::min<std::uint64_t>(*length, from.size()));
  return EbmlElement{*id, from.first(inside), from.subspan(inside)};
}

/// The content of the first element of a name; empty if there is none.
FileData find_ebml(FileData in, std::uint64_t id) {
  while (const std::optional<EbmlElement> element = ebml_element(in)) {
    if (element->id == id) return element->content;
    in = element->rest;
  }
  return {};
}

double ebml_float(FileData bytes) {
  if (bytes.size() == 4) return std::bit_cast<float>(AV_RB32(bytes.data()));
  return bytes.size() == 8 ? std::bit_cast<double>(AV_RB64(bytes.data())) : 0;
}

/// Roll is counter-clockwise, after a yaw that mirrors where it is half a turn.
int orientation_of_projection(FileData projection) {
  constexpr std::array kTurned{1, 8, 3, 6}, kMirrored{2, 5, 4, 7};
  const double yaw = ebml_float(find_ebml(projection, 0x7673));
  const double pitch = ebml_float(find_ebml(projection, 0x7674));
  const double roll = ebml_float(find_ebml(projection, 0x7675));
  const bool is_mirrored = std::abs(yaw) == 180;
  if (!(std::abs(roll) <= 360) || pitch != 0 || (yaw != 0 && !is_mirrored)) return 1;
  const auto quarters = static_cast<std::size_t>(std::lround(roll / 90) + 4) % 4;
  return is_mirrored ? kMirrored[quarters] : kTurned[quarters];
}

Turn turn_of_matroska(FileData head) {
  constexpr std::uint64_t kMatroskaSegment = 0x18538067, kTracks = 0x1654AE6B, kTrack = 0xAE, kVideo = 0xE0,
                          kProjection = 0x7670, kProjectionType = 0x7671;
  FileData tracks = find_ebml(find_ebml(head, kMatroskaSegment), kTracks);
  while (const std::optional<EbmlElement> track = ebml_element(tracks)) {
    tracks = track->rest;
    const FileData video = track->id == kTrack ? find_ebml(track->content, kVideo) : FileData();
    if (video.empty()) continue;
    const FileData projection = find_ebml(video, kProjection);
    const FileData type = find_ebml(projection, kProjectionType);
    const bool is_rectangular = std::ranges::all_of(type, [](std::uint8_t byte) { return byte == 0; });
    return is_rectangular ? turn_of_orientation(orientation_of_projection(projection)) : Turn();
  }
  return {};
}

/// A box of MP4 and related formats, and the data after it.
struct ContainerBox {
  std::string_view type;
  FileData content;
  FileData rest;
};

std::optional<ContainerBox> box_at(FileData from) {
  if (from.size() < 8) return std::nullopt;
  const std::size_t length = AV_RB32(from.data());
  const std::size_t inside =
      std::min(length == 0 ? from.size() : length, from.size());  // 0: to the file's end
  if (inside < 8) return std::nullopt;
  return ContainerBox{
      {reinterpret_cast<const char*>(from.data()) + 4, 4}, from.subspan(8, inside - 8), from.subspan(inside)};
}

FileData find_box(FileData in, std::string_view type) {
  while (const std::optional<ContainerBox> box = box_at(in)) {
    if (box->type == type) return box->content;
    in = box->rest;
  }
  return {};
}

/// Properties irot (quarters, counter-clockwise) and then imir (1: columns), which all items of a file share.
Turn turn_of_heif(FileData head) {
  constexpr std::array kTurned{1, 8, 3, 6};
  const FileData meta = find_box(head, "meta");
  if (meta.size() < 4) return {};
  const FileData properties = find_box(find_box(meta.subspan(4), "iprp"), "ipco");
  const FileData rotation = find_box(properties, "irot"), mirror = find_box(properties, "imir");
  Turn turn = rotation.empty() ? Turn() : turn_of_orientation(kTurned[rotation[0] & 3]);
  if (mirror.empty()) return turn;
  bool& mirrored = mirror[0] & 1 ? turn.mirror_columns : turn.mirror_rows;
  mirrored = !mirrored;
  return turn;
}

// The nearest turn goes by the larger products; a sign of 0 counts as plus.
Turn nearest_turn(double a, double b, double c, double d) {
  if (std::abs(b) + std::abs(c) > std::abs(a) + std::abs(d)) return {true, c < 0, b < 0};
  return {false, a < 0, d < 0};
}

bool is_j(AVPixelFormat format) {
  return std::string_view(av_get_pix_fmt_name(format)).starts_with("yuvj");
}

bool is_subsampled(const AVPixFmtDescriptor& format, int plane) {
  return format.nb_components >= 3 && (plane == 1 || plane == 2) && !(format.flags & AV_PIX_FMT_FLAG_RGB);
}

/// Bytes of a pixel of a plane; none if the plane cannot be turned pixel by pixel.
std::optional<int> pixel_bytes(const AVPixFmtDescriptor& format, int plane) {
  std::optional<int> bytes;
  for (int i = 0; i < format.nb_components; ++i) {
    const AVComponentDescriptor& component = format.comp[i];
    if (component.plane != plane) continue;
    if (bytes && *bytes != component.step) return std::nullopt;
    bytes = component.step;
  }
  return bytes;
}

bool has_turnable_planes(AVPixelFormat pixel_format) {
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(pixel_format);
  constexpr auto unlike = AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER;
  if (!format || (format->flags & unlike) || format->nb_components < 1) return false;
  const int planes = av_pix_fmt_count_planes(pixel_format);
  const int own = format->flags & AV_PIX_FMT_FLAG_PAL ? 1 : planes;
  for (int plane = 0; plane < own; ++plane)
    if (!pixel_bytes(*format, plane)) return false;
  // Packed luma and chroma of several pixels.
  return planes > 1 || (format->log2_chroma_w == 0 && format->log2_chroma_h == 0);
}

bool has_equal_components(const AVPixFmtDescriptor& a, const AVPixFmtDescriptor& b) {
  if (a.nb_components != b.nb_components || a.flags != b.flags) return false;
  for (int i = 0; i < a.nb_components; ++i) {
    const AVComponentDescriptor &one = a.comp[i], &other = b.comp[i];
    if (one.plane != other.plane || one.step != other.step || one.offset != other.offset ||
        one.shift != other.shift || one.depth != other.depth)
      return false;
  }
  return true;
}

/// The format with chroma halved in the other direction (4:4:0 for 4:2:2), if FFmpeg has it.
AVPixelFormat transposed_format(AVPixelFormat from) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(from);
  if (format.log2_chroma_w == format.log2_chroma_h) return from;
  for (const AVPixFmtDescriptor* other = av_pix_fmt_desc_next(nullptr); other;
       other = av_pix_fmt_desc_next(other)) {
    const AVPixelFormat found = av_pix_fmt_desc_get_id(other);
    if (other->log2_chroma_w == format.log2_chroma_h && other->log2_chroma_h == format.log2_chroma_w &&
        is_j(found) == is_j(from) && has_equal_components(format, *other))
      return found;
  }
  return AV_PIX_FMT_NONE;
}

/// A format that can be turned and holds what `from` holds.
AVPixelFormat turnable_format(AVPixelFormat from) {
  const AVPixFmtDescriptor* const format = av_pix_fmt_desc_get(from);
  const bool is_deep = format && format->comp[0].depth > 8;
  if (!format || (format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_BAYER)))
    return is_deep ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_RGB24;
  if (format->nb_components < 3) return is_deep ? AV_PIX_FMT_GRAY16 : AV_PIX_FMT_GRAY8;
  return is_deep ? AV_PIX_FMT_YUV444P16 : AV_PIX_FMT_YUV444P;
}

FramePtr new_picture(const AVFrame& like, AVPixelFormat format, Size size) {
  FramePtr picture = make_picture(format, size.width, size.height);
  if (av_frame_copy_props(picture.get(), &like) < 0) throw std::bad_alloc();
  while (picture->nb_side_data > 0) av_frame_remove_side_data(picture.get(), picture->side_data[0]->type);
  return picture;
}

FramePtr converted(const AVFrame& picture) {
  const auto from = static_cast<AVPixelFormat>(picture.format);
  FramePtr result = new_picture(picture, turnable_format(from), {picture.width, picture.height});
  if (is_full_range(picture)) result->color_range = AVCOL_RANGE_JPEG;
  Scaler().convert(picture, *result);
  return result;
}

FramePtr turned_picture(const AVFrame& picture, AVPixelFormat target, const Turn& turn) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
  const Size stored{picture.width, picture.height};
  FramePtr result = new_picture(picture, target, turned(stored, turn));
  const bool has_palette = format.flags & AV_PIX_FMT_FLAG_PAL;
  const int planes = has_palette ? 1 : av_pix_fmt_count_planes(target);
  for (int plane = 0; plane < planes; ++plane) {
    Size size = stored;
    if (is_subsampled(format, plane))
      size = {AV_CEIL_RSHIFT(size.width, format.log2_chroma_w),
              AV_CEIL_RSHIFT(size.height, format.log2_chroma_h)};
    turn_pixels({picture.data[plane], picture.linesize[plane], size, *pixel_bytes(format, plane)}, turn,
                result->data[plane], result->linesize[plane]);
  }
  if (has_palette) std::memcpy(result->data[1], picture.data[1], AVPALETTE_SIZE);
  if (turn.transpose && picture.sample_aspect_ratio.num > 0)
    result->sample_aspect_ratio = av_inv_q(picture.sample_aspect_ratio);
  return result;
}

}  // namespace

Turn turn_of_matrix(std::span<const std::int32_t, 9> matrix) {
  return nearest_turn(matrix[0], matrix[1], matrix[3], matrix[4]);
}

Turn turn_of_matrix(FileData bytes) {
  if (bytes.size() < kMatrixBytes) return {};
  std::array<std::int32_t, 9> matrix{};
  std::memcpy(matrix.data(), bytes.data(), kMatrixBytes);
  return turn_of_matrix(matrix);
}

FileData matrix_of_stream(const AVStream& stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
  const AVPacketSideData* const found = av_packet_side_data_get(
      stream.codecpar->coded_side_data, stream.codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return found && found->size >= kMatrixBytes ? FileData(found->data, kMatrixBytes) : FileData();
#else
  std::size_t size = 0;
  const std::uint8_t* const data = av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return data && size >= kMatrixBytes ? FileData(data, kMatrixBytes) : FileData();
#endif
}

int orientation_of_file(AVCodecID codec, FileData file) {
  switch (codec) {
    case AV_CODEC_ID_PNG:
    case AV_CODEC_ID_APNG:
      return orientation_of_png(file);
    case AV_CODEC_ID_WEBP:
      return orientation_of_webp(file);
    case AV_CODEC_ID_TIFF:
      return orientation_of_tiff(file);
    default:
      return 1;
  }
}

Turn turn_of_head(FileData head) {
  return begins_with(head.subspan(std::min<std::size_t>(head.size(), 4)), "ftyp") ? turn_of_heif(head)
                                                                                  : turn_of_matroska(head);
}

void set_turn(AVPacket& packet, const Turn& turn) {
  constexpr std::int32_t kOne = 1 << 16;
  if (turn.is_none()) return;
  std::array<std::int32_t, 9> matrix{};
  matrix[turn.transpose ? 3 : 0] = turn.mirror_columns ? -kOne : kOne;
  matrix[turn.transpose ? 1 : 4] = turn.mirror_rows ? -kOne : kOne;
  matrix[8] = 1 << 30;
  std::uint8_t* const data = av_packet_new_side_data(&packet, AV_PKT_DATA_DISPLAYMATRIX, kMatrixBytes);
  if (!data) throw std::bad_alloc();
  std::memcpy(data, matrix.data(), kMatrixBytes);
}

Turn turn_of(const AVFrame& picture) {
  const AVFrameSideData* const found = av_frame_get_side_data(&picture, AV_FRAME_DATA_DISPLAYMATRIX);
  return found ? turn_of_matrix(FileData(found->data, found->size)) : Turn();
}

std::shared_ptr<const AVFrame> upright(std::shared_ptr<const AVFrame> picture) {
  const Turn turn = turn_of(*picture);
  if (turn.is_none()) return picture;
  FramePtr changed;
  const auto format_of = [&] { return static_cast<AVPixelFormat>((changed ? *changed : *picture).format); };
  const auto target_of = [&] { return turn.transpose ? transposed_format(format_of()) : format_of(); };
  if (!has_turnable_planes(format_of()) || target_of() == AV_PIX_FMT_NONE) changed = converted(*picture);
  return turned_picture(changed ? *changed : *picture, target_of(), turn);
}

}  // namespace sightline::media
