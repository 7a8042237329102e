// TIFF files in Reader: every kind is read as a whole by src/tiles, or refused.
#include <unistd.h>

#include <thread>

#include "support/http_server.hpp"
#include "support/log_capture.hpp"
#include "support/media.hpp"
#include "support/tiff.hpp"

namespace sightline::media {
namespace {

using namespace test;
using sightline::test::HttpServer;
using sightline::test::LogCapture;
using sightline::test::made_sample;
using sightline::test::TiffKind;
using sightline::test::write_tiff;

constexpr Size kTiffSize{101, 77};
const TiffKind kStrips{.tile = {0, 0}};

std::vector<std::uint8_t> rgb_of(const std::string& file) {
  const std::vector<Frame> frames = read_all(file);
  if (frames.size() != 1 || frames[0].size() != kTiffSize) return {};
  return to_rgb(frames[0]);
}

/// The largest difference of any sample from what was written; 256 where there is no picture.
template <typename Expected>
int largest_error(const std::vector<std::uint8_t>& rgb, const Expected& expected) {
  if (rgb.empty()) return 256;
  int largest = 0;
  std::size_t at = 0;
  for (int y = 0; y < kTiffSize.height; ++y) {
    for (int x = 0; x < kTiffSize.width; ++x) {
      for (int c = 0; c < 3; ++c) largest = std::max(largest, std::abs(rgb[at++] - expected(x, y, c)));
    }
  }
  return largest;
}

class MediaTiff : public testing::Test {
 protected:
  std::string written(const TiffKind& kind) {
    write_tiff(dir_ / "a.tif", kind, kTiffSize);
    return dir_ / "a.tif";
  }
  TempDir dir_;
};

TEST_F(MediaTiff, AllWaysOfStoringPixelsGiveTheSame) {
  const auto gray = [](int bits, int compression = COMPRESSION_NONE) {
    return TiffKind{
        .samples = 1, .bits = bits, .photometric = PHOTOMETRIC_MINISBLACK, .compression = compression};
  };
  TiffKind planes = kStrips;
  planes.planar = true;
  TiffKind alpha = kStrips;
  alpha.samples = 4;
  TiffKind wide_strips = kStrips;
  wide_strips.bits = 16;
  for (const TiffKind& kind :
       {TiffKind{}, kStrips, planes, alpha, wide_strips, TiffKind{.mode = "w8"},
        TiffKind{.compression = COMPRESSION_LZW}, TiffKind{.compression = COMPRESSION_ADOBE_DEFLATE},
        TiffKind{.bits = 16}, TiffKind{.bits = 16, .mode = "wb"}, TiffKind{.bits = 32}})
    EXPECT_EQ(largest_error(rgb_of(written(kind)), made_sample), 0)
        << kind.bits << " " << kind.compression << " " << kind.mode;
  for (const TiffKind& kind : {gray(8), gray(16), gray(32), gray(16, COMPRESSION_LZW)})
    EXPECT_EQ(largest_error(rgb_of(written(kind)), [](int x, int y, int) { return made_sample(x, y, 0); }), 0)
        << kind.bits;
  for (const int bits : {10, 12, 14}) {
    TiffKind kind = gray(bits);
    EXPECT_EQ(largest_error(rgb_of(written(kind)), [](int x, int y, int) { return made_sample(x, y, 0); }), 0)
        << bits;
  }
}

TEST_F(MediaTiff, LossyAndOtherColours) {
  const std::vector<std::uint8_t> stored = rgb_of(written({.compression = COMPRESSION_JPEG}));
  EXPECT_LE(largest_error(stored, made_sample), 60);
  EXPECT_LE(largest_error(
                rgb_of(written(
                    {.samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_JPEG})),
                [](int x, int y, int) { return made_sample(x, y, 0); }),
            60);
  const auto print = [](int x, int y, int c) {
    return (255 - made_sample(x, y, c)) * (255 - made_sample(x, y, 3)) / 255;
  };
  const auto luma_and_chroma = [](int x, int y, int c) {
    const int luma = made_sample(x, y, 0);
    const double blue = made_sample(x, y, 1) - 128.0, red = made_sample(x, y, 2) - 128.0;
    const double value = c == 0   ? luma + 1.402 * red
                         : c == 1 ? luma - 0.344136 * blue - 0.714136 * red
                                  : luma + 1.772 * blue;
    return static_cast<int>(std::clamp(value, 0.0, 255.0));
  };
  for (const Size tile : {Size{0, 0}, Size{64, 48}}) {
    for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW}) {
      TiffKind kind{.samples = 4, .photometric = PHOTOMETRIC_SEPARATED, .compression = compression};
      kind.tile = tile;
      EXPECT_LE(largest_error(rgb_of(written(kind)), print), 1) << tile.width << " " << compression;
      kind.samples = 3;
      kind.photometric = PHOTOMETRIC_YCBCR;
      EXPECT_LE(largest_error(rgb_of(written(kind)), luma_and_chroma), 2) << tile.width << " " << compression;
    }
  }
}

TEST_F(MediaTiff, WhatDoesNotSayWhatIsBlackAndWhiteIsRefused) {
  for (const int bits : {16, 32}) {
    for (const int format : {SAMPLEFORMAT_INT, SAMPLEFORMAT_IEEEFP}) {
      if (bits == 16 && format == SAMPLEFORMAT_IEEEFP) continue;
      for (const Size tile : {Size{0, 0}, Size{64, 48}}) {
        TiffKind kind{.samples = 1, .bits = bits, .format = format, .photometric = PHOTOMETRIC_MINISBLACK};
        kind.tile = tile;
        expect_error(ExitCode::input, [&] { Reader(written(kind)); });
      }
    }
  }
}

TEST_F(MediaTiff, PagesThatAreLeftOutAreTold) {
  LogCapture log;
  rgb_of(written({}));
  EXPECT_EQ(log.str(), "");
  for (int page = 0; page < 2; ++page) write_tiff(dir_ / "a.tif", kStrips, {30, 20}, true);
  EXPECT_EQ(largest_error(rgb_of(dir_ / "a.tif"), made_sample), 0);
  EXPECT_NE(log.str().find("2 pages"), std::string::npos) << log.str();
}

TEST_F(MediaTiff, CutShort) {
  for (const TiffKind& kind : {TiffKind{}, kStrips, TiffKind{.compression = COMPRESSION_JPEG}}) {
    std::vector<char> bytes = load(written(kind));
    bytes.resize(bytes.size() / 2);
    store(dir_ / "cut.tif", bytes);
    expect_error(ExitCode::input, "cut.tif", [&] { Reader(dir_ / "cut.tif"); });
  }
}

TEST_F(MediaTiff, TooLarge) {
  ReadOptions options;
  options.max_pixels = kTiffSize.width * kTiffSize.height - 1;
  expect_error(ExitCode::input, "101x77", [&] { Reader(written({}), options); });
}

TEST_F(MediaTiff, OverHttpFromStandardInputAndOfAPattern) {
  fs::copy_file(written({}), dir_ / "1.tif");
  EXPECT_EQ(largest_error(rgb_of(dir_ / "%d.tif"), made_sample), 0);
  const std::vector<char> bytes = load(dir_ / "1.tif");
  HttpServer server(
      [&](const std::string&) { return HttpServer::ok(std::string(bytes.begin(), bytes.end())); });
  for (const char* path : {"/a.tif", "/a", "/a.tif?x=1"})
    EXPECT_EQ(largest_error(rgb_of(server.url(path)), made_sample), 0) << path;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread feeder([&] {
    EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(ends[1]);
  });
  const int before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  EXPECT_EQ(largest_error(rgb_of("-"), made_sample), 0);
  dup2(before, STDIN_FILENO);
  for (const int end : {before, ends[0]}) close(end);
  feeder.join();
}

}  // namespace
}  // namespace sightline::media
