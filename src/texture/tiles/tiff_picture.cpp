#include "texture/tiles/tiff_picture.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fault.hpp"
#include "image/gray.hpp"
#include "texture/tiles/jpeg_luma.hpp"
#include "texture/tiles/samples.hpp"

namespace sightline::tiles {

TiffPicture::TiffPicture(const std::filesystem::path& file, const OpenOptions& options)
    : TiffPicture(file, options, open_tiff_page(file, options.page)) {}

TiffPicture::TiffPicture(const std::filesystem::path& file, const OpenOptions& options, TiffFile first)
    : BlockPicture(file, options.cache_bytes), layout_(file, first, options), pool_(file, options.page) {
  info_.width = layout_.width;
  info_.height = layout_.height;
  info_.has_colour = layout_.has_colour;
  info_.format = layout_.description;
  info_.block = layout_.block;
  info_.uses_range = layout_.uses_range;
  luma_is_apart_ = layout_.is_jpeg_luma;
}

// Decodes a tile or strip of `bytes` bytes. @return description of the damage; its samples are then zero,
// unless the decoder only warned
std::string TiffPicture::decode_raw(TiffFile& tiff, std::uint32_t part, std::uint8_t* raw,
                                    std::int64_t bytes) {
  tiff.messages().clear();
  tmsize_t read = -1;
  if (TIFFGetStrileByteCount(tiff.get(), part) == 0) {
    tiff.messages().error = "it is missing in the file";
  } else if (!fault::strikes(fault::Kind::decode, "TIFFReadEncodedTile")) {
    read = layout_.tiled ? TIFFReadEncodedTile(tiff.get(), part, raw, bytes)
                         : TIFFReadEncodedStrip(tiff.get(), part, raw, bytes);
  }
  const TiffMessages& said = tiff.messages();
  if (read < 0 || !said.error.empty()) {
    std::memset(raw, 0, static_cast<std::size_t>(bytes));
    return said.error.empty() ? "it cannot be decoded" : said.error;
  }
  if (read < bytes) std::memset(raw + read, 0, static_cast<std::size_t>(bytes - read));
  return said.decoder_warning;
}

TiffPicture::Part TiffPicture::part_at(std::int64_t column, std::int64_t row, int strip) const {
  Part part;
  part.where = inside(column, row);
  if (layout_.tiled) {
    part.number = row * layout_.across() + column;
    part.rows = layout_.block.height;
    return part;
  }
  part.number = row * layout_.strips_per_block + strip;
  part.rows =
      static_cast<int>(std::min(layout_.strip_rows, layout_.height - part.number * layout_.strip_rows));
  part.where.y += strip * layout_.strip_rows;
  part.where.height = part.rows;
  return part;
}

// Decodes a tile or strip into `pixels` of `samples` bytes each.
void TiffPicture::decode_part(TiffPool::Reader& reader, const Part& part, Block& block, std::uint8_t* pixels,
                              int samples) {
  const bool packed = !layout_.planar && layout_.format.bits == 8 && layout_.format.palette.empty() &&
                      layout_.format.kind == SampleFormat::Kind::natural && !layout_.format.white_is_zero &&
                      layout_.samples == samples;
  const int planes = layout_.planar ? layout_.channels : 1;
  for (int plane = 0; plane < planes; ++plane) {
    const auto number = static_cast<std::uint32_t>(part.number + plane * layout_.parts());
    std::uint8_t* raw = pixels;
    if (!packed) {
      reader.raw.resize(static_cast<std::size_t>(layout_.part_bytes));
      raw = reader.raw.data();
    }
    const std::string reason = decode_raw(reader.tiff, number, raw, part.rows * layout_.row_bytes);
    if (!reason.empty()) block.damage.push_back({part.where, reason});
    if (packed) continue;
    for (int y = 0; y < part.rows; ++y)
      convert_samples(layout_.format, raw + y * layout_.row_bytes, layout_.planar ? 1 : layout_.samples,
                      layout_.block.width, layout_.planar ? 1 : layout_.channels,
                      pixels + plane + std::int64_t{y} * layout_.block.width * samples, samples);
  }
}

// Decodes a tile or strip of luma and chroma in JPEG to its luma. Returns false without doing anything if
// libtiff is needed: for rare kinds of data, and for its error messages.
bool TiffPicture::read_jpeg_luma(TiffPool::Reader& reader, const Part& part, Block& block,
                                 std::uint8_t* luma) {
  TIFF* const tiff = reader.tiff.get();
  const auto number = static_cast<std::uint32_t>(part.number);
  const std::uint64_t bytes = TIFFGetStrileByteCount(tiff, number);
  // Compressed data that is larger is none that anybody would write: a damaged file names any size.
  if (bytes == 0 || bytes > static_cast<std::uint64_t>(layout_.part_bytes) + 65536) return false;
  reader.raw.resize(bytes);
  const auto size = static_cast<tmsize_t>(bytes);
  if ((layout_.tiled ? TIFFReadRawTile(tiff, number, reader.raw.data(), size)
                     : TIFFReadRawStrip(tiff, number, reader.raw.data(), size)) != size)
    return false;
  std::uint32_t count = 0;
  const void* tables = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &count, &tables) != 1) count = 0;
  const ImageView<std::uint8_t> target(luma, layout_.block.width, part.rows, layout_.block.width);
  JpegLumaOutcome outcome =
      decode_jpeg_luma({static_cast<const std::uint8_t*>(tables), count}, reader.raw, target);
  if (!outcome.is_known) return false;
  if (fault::strikes(fault::Kind::decode, "jpeg_read_scanlines")) outcome.error = "it cannot be decoded";
  if (!outcome.error.empty()) std::memset(luma, 0, static_cast<std::size_t>(layout_.block.width) * part.rows);
  if (const std::string& reason = outcome.error.empty() ? outcome.warning : outcome.error; !reason.empty())
    block.damage.push_back({part.where, reason});
  return true;
}

// Decodes a tile or strip to luma, by way of its colours where it has them.
void TiffPicture::decode_luma(TiffPool::Reader& reader, const Part& part, Block& block, std::uint8_t* luma) {
  if (!layout_.has_colour) return decode_part(reader, part, block, luma, 1);
  if (layout_.is_jpeg_luma && read_jpeg_luma(reader, part, block, luma)) return;
  const std::ptrdiff_t row_bytes = std::ptrdiff_t{3} * layout_.block.width;
  reader.pixels.resize(static_cast<std::size_t>(row_bytes * part.rows));
  decode_part(reader, part, block, reader.pixels.data(), 3);
  const PackedView rgb{reader.pixels.data(), layout_.block.width, part.rows, row_bytes, PackedFormat::rgb24};
  const ImageView<std::uint8_t> target(luma, layout_.block.width, part.rows, layout_.block.width);
  to_gray(rgb, target, 0, part.where.height);
}

void TiffPicture::decode(std::int64_t column, std::int64_t row, bool colour, Block& block) {
  const TiffPool::Lease reader(pool_);
  block.resize(layout_.block, colour ? 3 : 1);
  int strips = 1;
  if (!layout_.tiled) {
    const std::int64_t left = layout_.strips - row * layout_.strips_per_block;
    strips = static_cast<int>(std::min<std::int64_t>(layout_.strips_per_block, left));
  }
  for (int strip = 0; strip < strips; ++strip) {
    std::uint8_t* const pixels =
        block.pixels.data() + static_cast<std::size_t>(strip * layout_.strip_rows) * block.row_bytes();
    const Part part = part_at(column, row, strip);
    if (colour) {
      decode_part(*reader, part, block, pixels, 3);
    } else {
      decode_luma(*reader, part, block, pixels);
    }
  }
}

}  // namespace sightline::tiles
