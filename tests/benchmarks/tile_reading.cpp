// How fast tiles of a large picture come, and what of that is decoding alone.
//
//     bench_tile_reading FILE THREADS [TILE]
//
// First every tile or strip of a TIFF is decoded by libtiff, on so many threads, and thrown away: nobody who
// wants colours of libtiff can be faster. Then luma alone where a file has luma and chroma in JPEG, which is
// the bound for what comes last: the same file through TileSource, luma with a halo of 2.
#include <tiffio.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_use.hpp"
#include "texture/tiles/jpeg_luma.hpp"
#include "texture/tiles/tile_source.hpp"

namespace {

using namespace sightline;

bool has_jpeg_luma(TIFF* tiff) {
  std::uint16_t compression = 0, photometric = 0;
  TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  return compression == COMPRESSION_JPEG && photometric == PHOTOMETRIC_YCBCR;
}

// What libjpeg needs for the luma of one tile.
void decode_luma(TIFF* tiff, std::uint32_t tile, std::vector<std::uint8_t>& raw,
                 ImageView<std::uint8_t> luma) {
  raw.resize(TIFFGetStrileByteCount(tiff, tile));
  TIFFReadRawTile(tiff, tile, raw.data(), static_cast<tmsize_t>(raw.size()));
  std::uint32_t count = 0;
  const std::uint8_t* tables = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &count, &tables) != 1) count = 0;
  tiles::decode_jpeg_luma({tables, count}, raw, luma);
}

void decode_alone(const std::string& file, int threads, bool luma_alone) {
  std::atomic<std::uint32_t> next{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      TIFF* const tiff = TIFFOpen(file.c_str(), "rm");
      if (!tiff) return;
      if (has_jpeg_luma(tiff)) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      const bool tiled = TIFFIsTiled(tiff) != 0;
      const std::uint32_t count = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
      std::vector<std::uint8_t> raw,
          part(static_cast<std::size_t>(tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff)));
      std::uint32_t width = 0, height = 0;
      TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
      TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
      const ImageView<std::uint8_t> luma(part.data(), static_cast<int>(width), static_cast<int>(height),
                                         static_cast<std::ptrdiff_t>(width));
      for (std::uint32_t one = next++; one < count; one = next++) {
        const auto size = static_cast<tmsize_t>(part.size());
        if (luma_alone) {
          decode_luma(tiff, one, raw, luma);
        } else if (tiled) {
          TIFFReadEncodedTile(tiff, one, part.data(), size);
        } else {
          TIFFReadEncodedStrip(tiff, one, part.data(), size);
        }
      }
      TIFFClose(tiff);
    });
  }
  for (std::thread& thread : all) thread.join();
}

bool is_tiled_jpeg_luma(const std::string& file) {
  TIFF* const tiff = TIFFOpen(file.c_str(), "rm");
  if (!tiff) return false;
  const bool is = has_jpeg_luma(tiff) && TIFFIsTiled(tiff) != 0;
  TIFFClose(tiff);
  return is;
}

struct Seconds {
  double wall = 0;
  double processor = 0;  // of all threads: what a busy machine does not change much
};

template <typename Work>
Seconds seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t busy = std::clock();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bench_tile_reading FILE THREADS [TILE]\n", stderr);
    return 2;
  }
  const std::string file = argv[1];
  const int threads = std::stoi(argv[2]), tile = argc > 3 ? std::stoi(argv[3]) : 1024;
  try {
    const auto picture = tiles::open_picture(file);
    const tiles::PictureInfo& info = picture->info();
    const double pixels = static_cast<double>(info.width) * static_cast<double>(info.height);
    std::printf("%lldx%lld, %s, %d threads\n", static_cast<long long>(info.width),
                static_cast<long long>(info.height), info.format.c_str(), threads);
    const auto report = [&](const char* what, const Seconds& seconds) {
      std::printf("%-18s %8.2f s, processor %8.2f s  %7.1f Mpixel/s\n", what, seconds.wall, seconds.processor,
                  pixels / seconds.wall / 1e6);
    };
    report("decoding alone", seconds_of([&] { decode_alone(file, threads, false); }));
    if (is_tiled_jpeg_luma(file))
      report("its luma alone", seconds_of([&] { decode_alone(file, threads, true); }));
    reset_peak_resident_bytes();
    std::int64_t frames = 0;
    const Seconds seconds = seconds_of([&] {
      const tiles::TileGrid grid(info.width, info.height, tile, 2, BorderRule::wrap);
      pipeline::TileSource source(*picture, grid, {.threads = threads});
      while (source.read()) ++frames;
    });
    report(("tiles of " + std::to_string(tile)).c_str(), seconds);
    std::printf("peak memory %.0f MiB\n", static_cast<double>(peak_resident_bytes()) / (1 << 20));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_tile_reading: %s\n", error.what());
    return 1;
  }
}
