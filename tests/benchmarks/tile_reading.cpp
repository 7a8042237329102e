// How fast tiles of a large picture come, and what of that is decoding alone.
//
//     bench_tile_reading FILE THREADS [TILE]
//
// First every tile or strip of a TIFF is decoded by libtiff, on so many threads, and thrown away: nobody who
// uses libtiff can be faster. Then the same file is read through TileSource, luma with a halo of 2.
#include <tiffio.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "base/memory_use.hpp"
#include "pipeline/tile_source.hpp"

namespace {

using namespace sightline;

std::int64_t decode_alone(const std::string& file, int threads) {
  std::atomic<std::uint32_t> next{0};
  std::atomic<std::int64_t> bytes{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      TIFF* const tiff = TIFFOpen(file.c_str(), "rm");
      if (!tiff) return;
      std::uint16_t compression = 0;
      TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
      if (compression == COMPRESSION_JPEG) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
      const bool tiled = TIFFIsTiled(tiff) != 0;
      const std::uint32_t count = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
      std::vector<std::uint8_t> part(
          static_cast<std::size_t>(tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff)));
      for (std::uint32_t one = next++; one < count; one = next++) {
        const auto size = static_cast<tmsize_t>(part.size());
        bytes += tiled ? TIFFReadEncodedTile(tiff, one, part.data(), size)
                       : TIFFReadEncodedStrip(tiff, one, part.data(), size);
      }
      TIFFClose(tiff);
    });
  }
  for (std::thread& thread : all) thread.join();
  return bytes;
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
    Seconds seconds = seconds_of([&] { decode_alone(file, threads); });
    std::printf("decoding alone  %8.2f s, processor %8.2f s  %7.1f Mpixel/s\n", seconds.wall,
                seconds.processor, pixels / seconds.wall / 1e6);
    reset_peak_resident_bytes();
    std::int64_t frames = 0;
    seconds = seconds_of([&] {
      const tiles::TileGrid grid(info.width, info.height, tile, 2, BorderRule::wrap);
      pipeline::TileSource source(*picture, grid, {.threads = threads});
      while (source.read()) ++frames;
    });
    std::printf("tiles of %-5d  %8.2f s, processor %8.2f s  %7.1f Mpixel/s, peak memory %.0f MiB\n", tile,
                seconds.wall, seconds.processor, pixels / seconds.wall / 1e6,
                static_cast<double>(peak_resident_bytes()) / (1 << 20));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_tile_reading: %s\n", error.what());
    return 1;
  }
}
