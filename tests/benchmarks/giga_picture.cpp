// Makes a picture of any size, as a BigTIFF of JPEG tiles: tiles are cut out of real pictures, compressed
// once, and written again and again in an order that looks like none. Needs memory for the compressed tiles
// alone.
//
//     giga_picture OUTPUT WIDTH HEIGHT PICTURE...
#include <sys/mman.h>
#include <tiffio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "texture/tiles/picture.hpp"

namespace {

using namespace sightline;

constexpr int kSide = 512;

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("cannot ") + what);
}

Tiff create(const std::string& file, std::uint32_t width, std::uint32_t height) {
  Tiff tiff(TIFFOpen(file.c_str(), "w8"));
  require(tiff != nullptr, "make the file");
  TIFFSetField(tiff.get(), TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff.get(), TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff.get(), TIFFTAG_TILEWIDTH, kSide);
  TIFFSetField(tiff.get(), TIFFTAG_TILELENGTH, kSide);
  TIFFSetField(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(tiff.get(), TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff.get(), TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR);
  TIFFSetField(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_JPEG);
  TIFFSetField(tiff.get(), TIFFTAG_JPEGQUALITY, 80);
  TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  return tiff;
}

// All whole tiles of a picture, red, green and blue in turn.
void cut(tiles::Picture& picture, std::vector<std::vector<std::uint8_t>>& cut_tiles) {
  using tiles::Channel;
  Image<std::uint8_t> planes[3];
  std::vector<ImageView<std::uint8_t>> views;
  for (Image<std::uint8_t>& plane : planes) {
    plane.resize(kSide, kSide);
    views.push_back(plane.view());
  }
  for (std::int64_t y = 0; y + kSide <= picture.info().height; y += kSide) {
    for (std::int64_t x = 0; x + kSide <= picture.info().width; x += kSide) {
      picture.read({x, y, kSide, kSide}, std::vector{Channel::red, Channel::green, Channel::blue}, views);
      std::vector<std::uint8_t>& tile = cut_tiles.emplace_back();
      tile.reserve(3 * kSide * kSide);
      for (int row = 0; row < kSide; ++row) {
        for (int column = 0; column < kSide; ++column) {
          for (const ImageView<std::uint8_t>& view : views) tile.push_back(view.at(column, row));
        }
      }
    }
  }
}

void make(const std::string& output, std::uint32_t width, std::uint32_t height,
          const std::vector<std::string>& pictures) {
  std::vector<std::vector<std::uint8_t>> tiles;
  for (const std::string& picture : pictures) cut(*tiles::open_picture(picture), tiles);
  require(!tiles.empty(), "cut a tile of 512x512 out of any of the pictures");

  // Compressed in a file of their own, from which they are taken as they are.
  const int memory = memfd_create("tiles", 0);
  require(memory >= 0, "make a file in memory");
  const std::string compressed = "/proc/self/fd/" + std::to_string(memory);
  {
    const Tiff tiff = create(compressed, kSide, kSide * static_cast<std::uint32_t>(tiles.size()));
    for (std::size_t i = 0; i < tiles.size(); ++i)
      require(TIFFWriteEncodedTile(tiff.get(), static_cast<std::uint32_t>(i), tiles[i].data(),
                                   static_cast<tmsize_t>(tiles[i].size())) > 0,
              "compress a tile");
  }
  const Tiff source(TIFFOpen(compressed.c_str(), "r"));
  require(source != nullptr, "read what was compressed");
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const auto part = static_cast<std::uint32_t>(i);
    tiles[i].resize(TIFFGetStrileByteCount(source.get(), part));
    require(TIFFReadRawTile(source.get(), part, tiles[i].data(), static_cast<tmsize_t>(tiles[i].size())) > 0,
            "read what was compressed");
  }
  const Tiff tiff = create(output, width, height);
  std::uint32_t table_bytes = 0;
  void* tables = nullptr;
  if (TIFFGetField(source.get(), TIFFTAG_JPEGTABLES, &table_bytes, &tables) == 1)
    TIFFSetField(tiff.get(), TIFFTAG_JPEGTABLES, table_bytes, tables);
  std::uint32_t random = 1;
  const std::uint32_t count = TIFFNumberOfTiles(tiff.get());
  for (std::uint32_t i = 0; i < count; ++i) {
    random = random * 1664525 + 1013904223;
    std::vector<std::uint8_t>& tile = tiles[(random >> 8) % tiles.size()];
    const auto bytes = static_cast<tmsize_t>(tile.size());
    require(TIFFWriteRawTile(tiff.get(), i, tile.data(), bytes) == bytes, "write a tile: is the disk full?");
  }
  require(TIFFWriteDirectory(tiff.get()) == 1, "write the file: is the disk full?");
  close(memory);
  std::printf("%u tiles, %zu of which differ\n", count, tiles.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: giga_picture OUTPUT WIDTH HEIGHT PICTURE...\n", stderr);
    return 2;
  }
  try {
    make(argv[1], static_cast<std::uint32_t>(std::stoul(argv[2])),
         static_cast<std::uint32_t>(std::stoul(argv[3])), {argv + 4, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "giga_picture: %s\n", error.what());
    return 1;
  }
}
