#include "texture/tiles/tiff_layout.hpp"

#include <algorithm>
#include <limits>

namespace sightline::tiles {

namespace {

constexpr std::int64_t kLargestPart = std::int64_t{256} << 20;  // bytes of a tile or strip
constexpr std::int64_t kRowsAtOnce = 64;
constexpr std::int64_t kBytesAtOnce = std::int64_t{4} << 20;

class Refusal {
 public:
  explicit Refusal(const std::filesystem::path& file) : file_(file.string()) {}
  [[noreturn]] void operator()(const std::string& problem, const std::string& remedy) const {
    throw Error(ExitCode::input, "'" + file_ + "' " + problem, remedy);
  }
  /// Refuses a kind that vips can convert to a supported one.
  [[noreturn]] void convert(const std::string& problem) const {
    throw KindNotRead(
        ExitCode::input, "'" + file_ + "' " + problem,
        "convert it: vips colourspace '" + file_ + "' converted.tif[tile,compression=deflate,bigtiff] srgb");
  }

 private:
  const std::string file_;
};

std::string compression_name(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return "not compressed";
    case COMPRESSION_ADOBE_DEFLATE:
      return "deflate";
    case COMPRESSION_JP2000:
    case 33003:  // Aperio's
    case 33005:
      return "JPEG 2000";
    default:
      if (const TIFFCodec* codec = TIFFFindCODEC(compression)) return codec->name;
      return "compression " + std::to_string(compression);
  }
}

std::string size_text(std::int64_t width, std::int64_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

void read_palette(const TiffFile& tiff, const Refusal& refuse, TiffLayout& layout) {
  std::uint16_t* maps[3] = {};
  if (layout.format.bits > 8 || TIFFGetField(tiff.get(), TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) != 1)
    refuse.convert("has a palette that is missing or has more than 256 colours");
  const std::size_t colours = std::size_t{1} << layout.format.bits;
  bool wide = false;  // 16-bit values, as specified; some programs write bytes
  for (const std::uint16_t* map : maps)
    wide = wide || std::any_of(map, map + colours, [](std::uint16_t value) { return value > 255; });
  for (std::size_t i = 0; i < colours; ++i) {
    std::array<std::uint8_t, 3> colour{};
    for (std::size_t c = 0; c < 3; ++c)
      // Programs write a byte b as b * 257 or as b * 256.
      colour[c] = static_cast<std::uint8_t>(wide ? maps[c][i] >> 8 : maps[c][i]);
    layout.has_colour = layout.has_colour || colour[0] != colour[1] || colour[1] != colour[2];
    layout.format.palette.push_back(colour);
  }
}

void read_format(const TiffFile& tiff, const Refusal& refuse, TiffLayout& layout) {
  SampleFormat& format = layout.format;
  format.bits = tiff.tag<std::uint16_t>(TIFFTAG_BITSPERSAMPLE, 1);
  switch (tiff.tag<std::uint16_t>(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT)) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
      format.kind = SampleFormat::Kind::natural;
      break;
    case SAMPLEFORMAT_INT:
      format.kind = SampleFormat::Kind::integer;
      break;
    case SAMPLEFORMAT_IEEEFP:
      format.kind = SampleFormat::Kind::real;
      break;
    default:
      refuse("has complex samples", "only brightness and colour are supported");
  }
  const bool known = format.kind == SampleFormat::Kind::real ? format.bits == 32 || format.bits == 64
                     : format.kind == SampleFormat::Kind::integer
                         ? format.bits == 8 || format.bits == 16 || format.bits == 32
                         : format.bits == 1 || format.bits == 2 || format.bits == 4 || format.bits == 32 ||
                               (format.bits >= 8 && format.bits <= 16 && format.bits % 2 == 0);
  if (!known)
    refuse.convert("has samples of " + std::to_string(format.bits) + " bits, which is not supported");
}

void read_colours(const TiffFile& tiff, const Refusal& refuse, std::uint16_t compression,
                  TiffLayout& layout) {
  // Some programs leave it out where it is obvious.
  const auto photometric = tiff.tag<std::uint16_t>(
      TIFFTAG_PHOTOMETRIC, layout.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  switch (photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
      layout.format.white_is_zero = photometric == PHOTOMETRIC_MINISWHITE;
      return;
    case PHOTOMETRIC_PALETTE:
      return read_palette(tiff, refuse, layout);
    case PHOTOMETRIC_YCBCR:
      if (compression != COMPRESSION_JPEG) refuse.convert("has luma and chroma without JPEG compression");
      [[fallthrough]];
    case PHOTOMETRIC_RGB:
      if (layout.samples < 3) refuse("has colours, but fewer than three samples per pixel", "");
      layout.channels = 3;
      layout.has_colour = true;
      return;
    case PHOTOMETRIC_SEPARATED:
      refuse.convert("has CMYK colours, which are not supported");
    default:
      refuse.convert("has unsupported colours (photometric interpretation " + std::to_string(photometric) +
                     ")");
  }
}

void read_tiles(const TiffFile& tiff, const Refusal& refuse, TiffLayout& layout) {
  const auto width = tiff.tag<std::uint32_t>(TIFFTAG_TILEWIDTH, 0);
  const auto height = tiff.tag<std::uint32_t>(TIFFTAG_TILELENGTH, 0);
  if (width == 0 || height == 0 || tiff.tag<std::uint32_t>(TIFFTAG_TILEDEPTH, 1) != 1)
    refuse("has tiles without a size", "");
  layout.part_bytes = TIFFTileSize64(tiff.get()) > static_cast<std::uint64_t>(kLargestPart)
                          ? kLargestPart + 1
                          : static_cast<std::int64_t>(TIFFTileSize64(tiff.get()));
  layout.row_bytes = TIFFTileRowSize(tiff.get());
  constexpr std::uint32_t most = std::numeric_limits<int>::max() / 4;
  layout.block = {static_cast<int>(std::min(width, most)), static_cast<int>(std::min(height, most))};
}

void read_strips(const TiffFile& tiff, TiffLayout& layout) {
  const auto rows = tiff.tag<std::uint32_t>(TIFFTAG_ROWSPERSTRIP, std::numeric_limits<std::uint32_t>::max());
  layout.strip_rows = std::clamp<std::int64_t>(rows, 1, layout.height);
  layout.strips = static_cast<std::uint32_t>((layout.height + layout.strip_rows - 1) / layout.strip_rows);
  layout.row_bytes = TIFFScanlineSize(tiff.get());
  layout.part_bytes = layout.row_bytes > kLargestPart / layout.strip_rows
                          ? kLargestPart + 1
                          : layout.row_bytes * layout.strip_rows;
  if (layout.part_bytes > 0) {
    const std::int64_t enough = (kRowsAtOnce + layout.strip_rows - 1) / layout.strip_rows;
    layout.strips_per_block = static_cast<int>(
        std::clamp<std::int64_t>(std::min(enough, kBytesAtOnce / layout.part_bytes), 1, layout.strips));
  }
  const std::int64_t block_rows = std::min(layout.strip_rows * layout.strips_per_block, layout.height);
  layout.block = {static_cast<int>(layout.width), static_cast<int>(block_rows)};
}

// Maximum compression ratio by the codec's definition; for codecs without a limit, more than pictures reach.
std::int64_t largest_ratio(std::uint16_t compression, std::int64_t row_bytes) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_JPEG:
      return 1032;
    case COMPRESSION_LZW:
      return 2731;
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
      // A blank row is a bit. Blank sheets of the largest paper (A0 at 600 dpi) stay below 8192.
      return std::min<std::int64_t>(8 * row_bytes, 8192);
    default:
      return 1 << 16;
  }
}

// Refuses a tiny file that claims billions of pixels, because each missing tile costs time, memory and a line
// of output. A truncated file may lack three quarters of its data, and a small picture all of it.
void check_size_of_file(const std::filesystem::path& file, std::uint16_t compression, const Refusal& refuse,
                        const TiffLayout& layout) {
  constexpr double kAlwaysAllowed = 64 << 20;  // bytes
  std::error_code error;
  const auto bytes = static_cast<double>(std::filesystem::file_size(file, error));
  const double decoded = static_cast<double>(layout.parts()) * static_cast<double>(layout.part_bytes) *
                         (layout.planar ? layout.samples : 1);
  const auto ratio = static_cast<double>(largest_ratio(compression, layout.row_bytes));
  if (!error && decoded > std::max(kAlwaysAllowed, 4 * bytes * ratio)) {
    refuse("claims " + size_text(layout.width, layout.height) + " pixels, which its " +
               std::to_string(static_cast<std::int64_t>(bytes)) + " bytes cannot hold",
           "check that it is complete");
  }
}

}  // namespace

TiffLayout::TiffLayout(const std::filesystem::path& file, const TiffFile& tiff, const OpenOptions& options) {
  const Refusal refuse(file);
  width = tiff.tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH, 0);
  height = tiff.tag<std::uint32_t>(TIFFTAG_IMAGELENGTH, 0);
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (width < 1 || height < 1) refuse("contains a picture of " + size_text(width, height) + " pixels", "");
  if (width > most || height > most || tiff.tag<std::uint32_t>(TIFFTAG_IMAGEDEPTH, 1) != 1)
    refuse("is wider or higher than 2^31 pixels, or has a depth", "");
  const auto compression = tiff.tag<std::uint16_t>(TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  if (TIFFIsCODECConfigured(compression) != 1)
    refuse.convert("has an unsupported compression (" + compression_name(compression) + ")");
  samples = tiff.tag<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL, 1);
  planar = samples > 1 &&
           tiff.tag<std::uint16_t>(TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) == PLANARCONFIG_SEPARATE;
  read_format(tiff, refuse, *this);
  read_colours(tiff, refuse, compression, *this);
  const bool needs_range = format.bits > 8 || format.kind != SampleFormat::Kind::natural;
  if (needs_range) {
    const bool natural = format.kind == SampleFormat::Kind::natural;
    if (!options.range && options.spread_unsigned && !natural)
      refuse("has samples of " + std::to_string(format.bits) + " bits" +
                 (format.kind == SampleFormat::Kind::real ? " in floating point" : " with a sign") +
                 ", which do not define black and white",
             "convert it: vips scale '" + file.string() + "' converted.png scales the occurring values");
    if (!options.range && !options.spread_unsigned) {
      const char* kind = natural ? "" : " with a sign";
      refuse("has samples of " + std::to_string(format.bits) + " bits" +
                 (format.kind == SampleFormat::Kind::real ? " in floating point" : kind),
             "give black and white as a range, such as 0 and 65535");
    }
    const double white = static_cast<double>((std::uint64_t{1} << std::min(format.bits, 32)) - 1);
    format.range =
        options.range.value_or(format.white_is_zero ? std::pair{white, 0.0} : std::pair{0.0, white});
    format.white_is_zero = false;  // the range says it
    uses_range = options.range.has_value();
  }
  is_jpeg_luma = compression == COMPRESSION_JPEG && samples == 3 && !planar &&
                 tiff.tag<std::uint16_t>(TIFFTAG_PHOTOMETRIC, 0) == PHOTOMETRIC_YCBCR;
  turn = turn_of_orientation(tiff.tag<std::uint16_t>(TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT));
  tiled = TIFFIsTiled(tiff.get()) != 0;
  if (tiled) {
    read_tiles(tiff, refuse, *this);
  } else {
    read_strips(tiff, *this);
  }
  const std::string parts = tiled ? "tiles of " + size_text(block.width, block.height)
                                  : "strips of " + std::to_string(strip_rows) + " rows";
  if (part_bytes < 1 || row_bytes < 1)
    refuse("has " + parts + " without a size", "check that it is complete");
  // Few bits become many bytes.
  const std::int64_t decoded = std::int64_t{block.width} * block.height * (has_colour ? 3 : 1);
  if (part_bytes > kLargestPart || decoded > kLargestPart) {
    refuse("has " + parts + ", more than can be decoded at once",
           "convert it: vips tiffsave '" + file.string() +
               "' converted.tif --tile --tile-width 512 --tile-height 512 --compression deflate --bigtiff");
  }
  check_size_of_file(file, compression, refuse, *this);
  description = std::string(TIFFIsBigTIFF(tiff.get()) ? "BigTIFF" : "TIFF") + ", " +
                compression_name(compression) + ", " + parts;
  if (samples > channels && samples != channels + 1)
    description += ", the first " + std::to_string(channels) + " of " + std::to_string(samples) + " samples";
}

}  // namespace sightline::tiles
