#include "support/tiff.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace sightline::test {

namespace {

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

template <typename T>
void put(std::uint8_t* row, std::int64_t index, T value) {
  std::memcpy(row + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

void put_sample(const TiffKind& kind, std::uint8_t* row, std::int64_t index, int value) {
  if (kind.photometric == PHOTOMETRIC_MINISWHITE) value = 255 - value;
  switch (kind.bits) {
    case 8:
      row[index] = static_cast<std::uint8_t>(value);
      return;
    case 10:
    case 12:
    case 14: {
      const int large = (value * ((1 << kind.bits) - 1) + 127) / 255;
      for (int i = 0; i < kind.bits; ++i) {
        const std::int64_t bit = index * kind.bits + i;
        const int one = large >> (kind.bits - 1 - i) & 1;
        row[bit / 8] = static_cast<std::uint8_t>(row[bit / 8] | one << (7 - bit % 8));
      }
      return;
    }
    case 16:
      return put(row, index, static_cast<std::uint16_t>(value * 257));
    case 32:
      if (kind.format == SAMPLEFORMAT_IEEEFP) return put(row, index, static_cast<float>(value) / 255);
      return put(row, index, std::uint32_t{0x1010101} * static_cast<std::uint32_t>(value));
    case 64:
      return put(row, index, value / 255.0);
    default: {
      const int small = value >> (8 - kind.bits);
      const std::int64_t bit = index * kind.bits;
      row[bit / 8] = static_cast<std::uint8_t>(row[bit / 8] | small << (8 - kind.bits - bit % 8));
    }
  }
}

void require(bool done) {
  if (!done) throw std::runtime_error("libtiff does not write the test's picture");
}

}  // namespace

void write_tiff(const std::string& file, const TiffKind& kind, Size size, bool append) {
  const std::unique_ptr<TIFF, CloseTiff> handle(TIFFOpen(file.c_str(), append ? "a" : kind.mode.c_str()));
  require(handle != nullptr);
  TIFF* const tiff = handle.get();
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, size.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, size.height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, kind.format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind.orientation);
  if (kind.predictor != PREDICTOR_NONE) TIFFSetField(tiff, TIFFTAG_PREDICTOR, kind.predictor);
  if (kind.compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 95);
    if (kind.photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  if (kind.photometric == PHOTOMETRIC_YCBCR && kind.compression != COMPRESSION_JPEG)
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
  const int colours = kind.photometric == PHOTOMETRIC_RGB || kind.photometric == PHOTOMETRIC_YCBCR ? 3
                      : kind.photometric == PHOTOMETRIC_SEPARATED                                  ? 4
                                                                                                   : 1;
  if (kind.samples > colours) {
    std::vector<std::uint16_t> extra(static_cast<std::size_t>(kind.samples - colours),
                                     EXTRASAMPLE_UNASSALPHA);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
  }
  if (kind.photometric == PHOTOMETRIC_PALETTE) {
    std::vector<std::uint16_t> maps[3];
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 1 << kind.bits; ++i)
        maps[c].push_back(static_cast<std::uint16_t>((i * (7 + c) + c * 31) % 256 * kind.palette_factor));
    }
    TIFFSetField(tiff, TIFFTAG_COLORMAP, maps[0].data(), maps[1].data(), maps[2].data());
  }
  const bool tiled = kind.tile.width > 0;
  if (tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind.tile.width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind.tile.height);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind.strip_rows);
  }
  const Size part = tiled ? kind.tile : Size{size.width, kind.strip_rows};
  const tmsize_t row_bytes = tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
  const int samples = kind.planar ? 1 : kind.samples;
  std::uint32_t number = 0;
  for (int plane = 0; plane < (kind.planar ? kind.samples : 1); ++plane) {
    for (int top = 0; top < size.height; top += part.height) {
      for (int left = 0; left < size.width; left += part.width) {
        const int rows = tiled ? part.height : std::min(part.height, size.height - top);
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(row_bytes * rows));
        for (int y = 0; y < rows; ++y) {
          for (int x = 0; x < part.width; ++x) {
            for (int c = 0; c < samples; ++c)
              put_sample(kind, bytes.data() + y * row_bytes, std::int64_t{x} * samples + c,
                         made_sample(left + x, top + y, plane + c));
          }
        }
        const auto length = static_cast<tmsize_t>(bytes.size());
        require((tiled ? TIFFWriteEncodedTile(tiff, number, bytes.data(), length)
                       : TIFFWriteEncodedStrip(tiff, number, bytes.data(), length)) == length);
        ++number;
      }
    }
  }
  require(TIFFWriteDirectory(tiff) == 1);
}

std::vector<Image<std::uint8_t>> read_planes(tiles::Picture& picture, const tiles::Region& region,
                                             std::vector<tiles::Channel> channels,
                                             std::vector<tiles::Damage>* damage) {
  std::vector<Image<std::uint8_t>> planes;
  std::vector<ImageView<std::uint8_t>> views;
  planes.reserve(channels.size());
  for (std::size_t i = 0; i < channels.size(); ++i)
    views.push_back(planes.emplace_back(region.width, region.height).view());
  std::vector<tiles::Damage> found = picture.read(region, channels, views);
  if (damage) *damage = std::move(found);
  return planes;
}

Image<std::uint8_t> read_luma(tiles::Picture& picture, std::vector<tiles::Damage>* damage) {
  const tiles::Region all{0, 0, static_cast<int>(picture.info().width),
                          static_cast<int>(picture.info().height)};
  return std::move(read_planes(picture, all, {tiles::Channel::luma}, damage)[0]);
}

}  // namespace sightline::test
