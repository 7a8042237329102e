#include "tiles/tiff_picture.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/fault.hpp"
#include "image/gray.hpp"
#include "tiles/samples.hpp"

namespace sightline::tiles {

bool is_tiff(const std::filesystem::path& file) {
  char head[4] = {};
  std::ifstream(file, std::ios::binary).read(head, sizeof head);
  const std::string_view text(head, sizeof head);
  for (const std::string_view known : {std::string_view("II\x2a\0", 4), std::string_view("MM\0\x2a", 4),
                                       std::string_view("II\x2b\0", 4), std::string_view("MM\0\x2b", 4)}) {
    if (text == known) return true;
  }
  return false;
}

TiffPicture::TiffPicture(const std::filesystem::path& file, const OpenOptions& options)
    : TiffPicture(file, options, open_tiff_page(file, options.page)) {}

TiffPicture::TiffPicture(const std::filesystem::path& file, const OpenOptions& options, TiffFile first)
    : BlockPicture(file, options.cache_bytes), layout_(file, first, options), pool_(file, options.page) {
  info_.width = layout_.width;
  info_.height = layout_.height;
  info_.has_colour = layout_.has_colour;
  info_.format = layout_.description;
  info_.block = layout_.block;
}

// Decodes a tile or strip of so many bytes. @return why it is damaged; its samples are zero then, but where
// the decoder only warns
std::string TiffPicture::decode_raw(TiffFile& tiff, std::uint32_t part, std::uint8_t* raw,
                                    std::int64_t bytes) {
  tiff.messages().clear();
  tmsize_t read = -1;
  if (TIFFGetStrileByteCount(tiff.get(), part) == 0) {
    tiff.messages().error = "it is not in the file";
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

// Decodes a tile, or a strip out of a block, into `pixels` of `samples` bytes each.
void TiffPicture::decode_part(TiffPool::Reader& reader, std::int64_t column, std::int64_t row, int strip,
                              Block& block, std::uint8_t* pixels, int samples) {
  const bool packed = !layout_.planar && layout_.format.bits == 8 && layout_.format.palette.empty() &&
                      layout_.format.kind == SampleFormat::Kind::natural && !layout_.format.white_is_zero &&
                      layout_.samples == samples;
  const std::int64_t first_strip = row * layout_.strips_per_block + strip;
  const std::int64_t across =
      layout_.tiled ? (layout_.width + layout_.block.width - 1) / layout_.block.width : 1;
  const std::int64_t down =
      layout_.tiled ? (layout_.height + layout_.block.height - 1) / layout_.block.height : layout_.strips;
  Region where = inside(column, row);
  int rows = layout_.block.height;
  if (!layout_.tiled) {
    where.y += strip * layout_.strip_rows;
    rows = static_cast<int>(std::min(layout_.strip_rows, layout_.height - first_strip * layout_.strip_rows));
    where.height = rows;
  }
  const int planes = layout_.planar ? layout_.channels : 1;
  for (int plane = 0; plane < planes; ++plane) {
    const auto part = static_cast<std::uint32_t>((layout_.tiled ? row * across + column : first_strip) +
                                                 plane * across * down);
    std::uint8_t* raw = pixels;
    if (!packed) {
      reader.raw.resize(static_cast<std::size_t>(layout_.part_bytes));
      raw = reader.raw.data();
    }
    const std::string reason = decode_raw(reader.tiff, part, raw, rows * layout_.row_bytes);
    if (!reason.empty()) block.damage.push_back({where, reason});
    if (packed) continue;
    for (int y = 0; y < rows; ++y)
      convert_samples(layout_.format, raw + y * layout_.row_bytes, layout_.planar ? 1 : layout_.samples,
                      layout_.block.width, layout_.planar ? 1 : layout_.channels,
                      pixels + plane + std::int64_t{y} * layout_.block.width * samples, samples);
  }
}

void TiffPicture::decode(std::int64_t column, std::int64_t row, bool colour, Block& block) {
  const TiffPool::Lease reader(pool_);
  const int samples = layout_.has_colour ? 3 : 1;  // as they come
  block.resize(layout_.block, colour ? 3 : 1);
  std::uint8_t* pixels = block.pixels.data();
  const std::int64_t row_bytes = std::int64_t{layout_.block.width} * samples;
  if (samples != block.samples) {
    reader->pixels.resize(static_cast<std::size_t>(row_bytes) * layout_.block.height);
    pixels = reader->pixels.data();
  }
  int strips = 1;
  if (!layout_.tiled) {
    const std::int64_t left = layout_.strips - row * layout_.strips_per_block;
    strips = static_cast<int>(std::min<std::int64_t>(layout_.strips_per_block, left));
  }
  for (int strip = 0; strip < strips; ++strip)
    decode_part(*reader, column, row, strip, block, pixels + strip * layout_.strip_rows * row_bytes, samples);
  if (samples != block.samples) {
    const PackedView rgb{pixels, block.size.width, block.size.height, row_bytes, PackedFormat::rgb24};
    const ImageView<std::uint8_t> luma(block.pixels.data(), block.size.width, block.size.height,
                                       block.size.width);
    to_gray(rgb, luma, 0, inside(column, row).height);
  }
}

}  // namespace sightline::tiles
