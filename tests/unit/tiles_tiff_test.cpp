// Every kind of TIFF, region by region.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>

#include "image/gray.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/tiff.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {
namespace {

using test::made_sample;
using test::read_planes;
using test::TiffKind;

constexpr Size kSize{333, 217};
const std::vector<Channel> kAll{Channel::luma, Channel::red, Channel::green, Channel::blue};

// What a reader is to make of the sample that `write_tiff` has written.
int expected_sample(const TiffKind& kind, int x, int y, int channel) {
  if (kind.photometric == PHOTOMETRIC_PALETTE) {
    const int index = made_sample(x, y, 0) >> (8 - kind.bits);
    return (index * (7 + channel) + channel * 31) % 256;
  }
  const int value = made_sample(x, y, kind.photometric == PHOTOMETRIC_RGB ? channel : 0);
  if (kind.bits >= 8) return value;
  const int most = (1 << kind.bits) - 1;
  if (kind.photometric == PHOTOMETRIC_MINISWHITE)
    return (most - ((255 - value) >> (8 - kind.bits))) * 255 / most;
  return (value >> (8 - kind.bits)) * 255 / most;
}

int expected_value(const TiffKind& kind, int x, int y, Channel channel) {
  if (channel != Channel::luma) return expected_sample(kind, x, y, static_cast<int>(channel) - 1);
  return (77 * expected_sample(kind, x, y, 0) + 150 * expected_sample(kind, x, y, 1) +
          29 * expected_sample(kind, x, y, 2) + 128) >>
         8;
}

OpenOptions options_of(const TiffKind& kind) {
  OpenOptions options;
  options.cache_bytes = 100'000;  // a few of the blocks
  if (kind.format == SAMPLEFORMAT_IEEEFP) {
    options.range = {0, 1};
  } else if (kind.bits == 32) {
    options.range = {0, 0xffffffff};
  } else if (kind.bits == 16) {
    options.range = {0, 65535};
  }
  return options;
}

std::vector<TiffKind> all_kinds() {
  std::vector<TiffKind> kinds;
  const auto add = [&](const std::string& name, TiffKind kind) {
    kind.name = name;
    kinds.push_back(kind);
  };
  const TiffKind strips{.tile = {0, 0}};
  TiffKind kind;
  add("tiles", {});
  add("strips", strips);
  kind = strips;
  kind.strip_rows = 1;
  add("strips_of_a_row", kind);
  kind.strip_rows = kSize.height;
  add("one_strip", kind);
  kind.strip_rows = 100;
  kind.compression = COMPRESSION_LZW;
  kind.predictor = PREDICTOR_HORIZONTAL;
  add("large_strips_lzw_predictor", kind);
  kind.planar = true;
  add("strips_in_planes", kind);
  add("deflate_big", {.compression = COMPRESSION_ADOBE_DEFLATE, .mode = "w8"});
  add("deflate_predictor_other_byte_order", {.bits = 16,
                                             .compression = COMPRESSION_ADOBE_DEFLATE,
                                             .predictor = PREDICTOR_HORIZONTAL,
                                             .mode = "wb"});
  add("zstd", {.compression = COMPRESSION_ZSTD});
  add("packbits", {.compression = COMPRESSION_PACKBITS});
  add("tiles_in_planes_with_alpha", {.samples = 4, .planar = true});
  add("alpha", {.samples = 4, .compression = COMPRESSION_LZW});
  add("gray", {.samples = 1, .photometric = PHOTOMETRIC_MINISBLACK});
  add("gray_alpha_big_other_order", {.samples = 2, .photometric = PHOTOMETRIC_MINISBLACK, .mode = "w8b"});
  add("white_is_zero", {.samples = 1, .photometric = PHOTOMETRIC_MINISWHITE});
  for (const int bits : {1, 2, 4}) {
    add("bits" + std::to_string(bits),
        {.samples = 1, .bits = bits, .photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_LZW});
    add("bits" + std::to_string(bits) + "_white_is_zero_strips",
        {.samples = 1, .bits = bits, .photometric = PHOTOMETRIC_MINISWHITE, .tile = {0, 0}});
  }
  add("fax", {.samples = 1,
              .bits = 1,
              .photometric = PHOTOMETRIC_MINISWHITE,
              .compression = COMPRESSION_CCITTFAX4,
              .tile = {0, 0},
              .strip_rows = 50});
  add("palette", {.samples = 1, .photometric = PHOTOMETRIC_PALETTE});
  add("palette_of_bytes_shifted", {.samples = 1, .photometric = PHOTOMETRIC_PALETTE, .palette_factor = 256});
  add("palette_of_bytes", {.samples = 1, .photometric = PHOTOMETRIC_PALETTE, .palette_factor = 1});
  add("small_palette", {.samples = 1, .bits = 4, .photometric = PHOTOMETRIC_PALETTE, .tile = {0, 0}});
  add("bits16", {.samples = 1, .bits = 16, .photometric = PHOTOMETRIC_MINISBLACK});
  add("bits32", {.samples = 1, .bits = 32, .photometric = PHOTOMETRIC_MINISBLACK});
  add("float", {.bits = 32, .format = SAMPLEFORMAT_IEEEFP});
  add("float_predictor", {.samples = 1,
                          .bits = 32,
                          .format = SAMPLEFORMAT_IEEEFP,
                          .photometric = PHOTOMETRIC_MINISBLACK,
                          .compression = COMPRESSION_ADOBE_DEFLATE,
                          .predictor = PREDICTOR_FLOATINGPOINT});
  add("double",
      {.samples = 1, .bits = 64, .format = SAMPLEFORMAT_IEEEFP, .photometric = PHOTOMETRIC_MINISBLACK});
  return kinds;
}

class TiffKinds : public testing::TestWithParam<TiffKind> {};

TEST_P(TiffKinds, EveryRegionIsWhatWasWritten) {
  const TiffKind& kind = GetParam();
  if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(kind.compression)) != 1)
    GTEST_SKIP() << "this libtiff does not have it";
  const test::TempDir folder;
  test::write_tiff(folder / "a.tif", kind, kSize);
  const auto picture = open_picture(folder / "a.tif", options_of(kind));
  EXPECT_EQ(picture->info().width, kSize.width);
  EXPECT_EQ(picture->info().height, kSize.height);
  EXPECT_EQ(picture->info().has_colour,
            kind.photometric == PHOTOMETRIC_RGB || kind.photometric == PHOTOMETRIC_PALETTE);
  const auto check = [&](const Region& region, const std::vector<Channel>& channels) {
    std::vector<Damage> damage;
    const auto planes = read_planes(*picture, region, channels, &damage);
    EXPECT_TRUE(damage.empty()) << to_string(damage[0]);
    for (std::size_t i = 0; i < channels.size(); ++i) {
      for (int y = 0; y < region.height; ++y) {
        for (int x = 0; x < region.width; ++x) {
          const int expected = expected_value(kind, static_cast<int>(region.x) + x,
                                              static_cast<int>(region.y) + y, channels[i]);
          ASSERT_EQ(planes[i].view().at(x, y), expected)
              << to_string(channels[i]) << " at " << region.x + x << ", " << region.y + y;
        }
      }
    }
  };
  check({0, 0, kSize.width, kSize.height}, kAll);
  // Several threads, of which each wants something else, and of a cache that never holds all.
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 3; ++seed) {
    threads.emplace_back([&, seed] {
      std::minstd_rand random(seed + 1);
      const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
      for (int i = 0; i < 12; ++i) {
        const int x = below(kSize.width), y = below(kSize.height);
        const Region region{x, y, 1 + below(kSize.width - x), 1 + below(std::min(kSize.height - y, 60))};
        check(region, seed == 0 ? std::vector{Channel::luma} : std::vector{kAll[seed + 1], Channel::luma});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Tiles, TiffKinds, testing::ValuesIn(all_kinds()),
                         [](const auto& one) { return one.param.name; });

class TiffJpeg : public testing::TestWithParam<TiffKind> {};

// Luma as the file has it, where it has luma and chroma in tiles, chroma at half the width and height:
// libtiff gives these as they are, in clumps of four pixels.
Image<std::uint8_t> luma_of_clumps(const std::string& file, Size tile) {
  TIFF* const tiff = TIFFOpen(file.c_str(), "r");
  TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RAW);
  const int clumps = tile.width / 2, across = (kSize.width + tile.width - 1) / tile.width;
  std::vector<std::uint8_t> data(static_cast<std::size_t>(clumps) * (tile.height / 2) * 6);
  Image<std::uint8_t> luma(kSize.width, kSize.height);
  for (std::uint32_t number = 0; number < TIFFNumberOfTiles(tiff); ++number) {
    EXPECT_GT(TIFFReadEncodedTile(tiff, number, data.data(), static_cast<tmsize_t>(data.size())), 0);
    const int left = static_cast<int>(number) % across * tile.width;
    const int top = static_cast<int>(number) / across * tile.height;
    for (int y = 0; y < std::min(tile.height, kSize.height - top); ++y) {
      for (int x = 0; x < std::min(tile.width, kSize.width - left); ++x)
        luma.view().at(left + x, top + y) =
            data[static_cast<std::size_t>((y / 2 * clumps + x / 2) * 6 + y % 2 * 2 + x % 2)];
    }
  }
  TIFFClose(tiff);
  return luma;
}

// What JPEG makes of the pixels is libtiff's matter: its own way to the whole picture has the same.
TEST_P(TiffJpeg, IsAsLibtiffDecodesIt) {
  const test::TempDir folder;
  test::write_tiff(folder / "a.tif", GetParam(), kSize);
  std::vector<std::uint32_t> expected(static_cast<std::size_t>(kSize.width * kSize.height));
  TIFF* const tiff = TIFFOpen((folder / "a.tif").c_str(), "r");
  ASSERT_EQ(
      TIFFReadRGBAImageOriented(tiff, kSize.width, kSize.height, expected.data(), ORIENTATION_TOPLEFT, 1), 1);
  TIFFClose(tiff);
  const bool has_luma = GetParam().photometric == PHOTOMETRIC_YCBCR, tiled = GetParam().tile.width > 0;
  const Image<std::uint8_t> own =
      has_luma && tiled ? luma_of_clumps(folder / "a.tif", GetParam().tile) : Image<std::uint8_t>();
  const auto picture = open_picture(folder / "a.tif");
  const auto planes = read_planes(*picture, {0, 0, kSize.width, kSize.height}, kAll);
  for (int y = 0; y < kSize.height; ++y) {
    for (int x = 0; x < kSize.width; ++x) {
      const std::uint32_t pixel = expected[static_cast<std::size_t>(y * kSize.width + x)];
      const int red = TIFFGetR(pixel), green = TIFFGetG(pixel), blue = TIFFGetB(pixel);
      const int of_colours = GetParam().samples == 1 ? red : (77 * red + 150 * green + 29 * blue + 128) >> 8;
      const int luma = has_luma && tiled ? own.view().at(x, y) : of_colours;
      const auto clipped = [](int value) { return value == 0 || value == 255; };
      if (!has_luma || tiled) {
        ASSERT_EQ(planes[0].view().at(x, y), luma) << x << ", " << y;
      } else if (!clipped(red) && !clipped(green) && !clipped(blue)) {  // the rounded colours' is next to it
        ASSERT_NEAR(planes[0].view().at(x, y), luma, 2) << x << ", " << y;
      }
      ASSERT_EQ(planes[1].view().at(x, y), red) << x << ", " << y;
      ASSERT_EQ(planes[2].view().at(x, y), green) << x << ", " << y;
      ASSERT_EQ(planes[3].view().at(x, y), blue) << x << ", " << y;
    }
  }
  const auto part = read_planes(*picture, {50, 60, 90, 70}, {Channel::luma});
  for (int y = 0; y < 70; ++y) {
    for (int x = 0; x < 90; ++x) ASSERT_EQ(part[0].view().at(x, y), planes[0].view().at(50 + x, 60 + y));
  }
}

INSTANTIATE_TEST_SUITE_P(Tiles, TiffJpeg,
                         testing::Values(TiffKind{.name = "rgb", .compression = COMPRESSION_JPEG},
                                         TiffKind{.name = "luma_and_chroma",
                                                  .photometric = PHOTOMETRIC_YCBCR,
                                                  .compression = COMPRESSION_JPEG},
                                         TiffKind{.name = "luma_and_chroma_in_strips",
                                                  .photometric = PHOTOMETRIC_YCBCR,
                                                  .compression = COMPRESSION_JPEG,
                                                  .tile = {0, 0},
                                                  .strip_rows = 16},
                                         TiffKind{.name = "gray",
                                                  .samples = 1,
                                                  .photometric = PHOTOMETRIC_MINISBLACK,
                                                  .compression = COMPRESSION_JPEG,
                                                  .mode = "w8"}),
                         [](const auto& one) { return one.param.name; });

class TiffPictureTest : public testing::Test {
 protected:
  std::string file() const { return folder_ / "a.tif"; }
  void expect_refused(const std::string& fact = "", const OpenOptions& options = {}) const {
    test::expect_error(ExitCode::input, fact, [&] { open_picture(file(), options); });
  }
  test::TempDir folder_;
};

TEST_F(TiffPictureTest, PagesAreOneByOne) {
  test::write_tiff(file(), {}, kSize);
  test::write_tiff(file(), {.samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .tile = {0, 0}}, {40, 30},
                   true);
  OpenOptions options;
  EXPECT_EQ(open_picture(file(), options)->info().width, kSize.width);
  options.page = 1;
  EXPECT_EQ(open_picture(file(), options)->info().width, 40);
  options.page = 2;
  expect_refused(file(), options);
}

TEST_F(TiffPictureTest, RangeMayBeTheOtherWayRound) {
  test::write_tiff(file(), {.samples = 1, .bits = 16, .photometric = PHOTOMETRIC_MINISBLACK}, {20, 10});
  OpenOptions options;
  options.range = {32768, 0};
  const Image<std::uint8_t> luma = test::read_luma(*open_picture(file(), options));
  for (int x = 0; x < 20; ++x) {
    const int expected =
        std::max(0, static_cast<int>((32768 - made_sample(x, 3, 0) * 257) * 255 / 32768.0 + 0.5));
    EXPECT_EQ(luma.view().at(x, 3), expected) << x;
  }
}

TEST_F(TiffPictureTest, WhatIsNotReadIsRefused) {
  test::write_tiff(file(), {.samples = 4, .photometric = PHOTOMETRIC_SEPARATED}, kSize);
  expect_refused("CMYK");
  test::write_tiff(file(), {.bits = 16}, kSize);
  expect_refused();
  test::write_tiff(file(), {.photometric = PHOTOMETRIC_CIELAB}, kSize);
  expect_refused();
  test::store(file(), std::string("II*\0\x08\0\0\0", 8));
  expect_refused();
  test::store(file(), "no picture at all");
  expect_refused(file());
  test::expect_error(ExitCode::input, [&] { open_picture(folder_ / "none.tif"); });
  test::expect_error(ExitCode::input, [&] { open_picture(folder_.path()); });
}

// A strip or tile is decoded as a whole: what claims to be larger than memory should be is not begun.
TEST_F(TiffPictureTest, GiantPartsAreRefused) {
  const auto make = [&](std::uint32_t tile) {
    TIFF* const tiff = TIFFOpen(file().c_str(), "w8");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 1'000'000);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1'000'000);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, tile);
    std::uint8_t bytes[8] = {};
    TIFFWriteRawTile(tiff, 0, bytes, sizeof bytes);
    TIFFClose(tiff);
  };
  make(65536);
  expect_refused();
  make(std::uint32_t{1} << 31);
  expect_refused("tiles");
}

// The pixel at a place of the upright picture, for each orientation.
TEST_F(TiffPictureTest, IsUprightByItsTag) {
  const auto sample = [](int orientation, int x, int y) {
    const int right = kSize.width - 1, bottom = kSize.height - 1;
    const std::array<std::pair<int, int>, 8> stored{{{x, y},
                                                     {right - x, y},
                                                     {right - x, bottom - y},
                                                     {x, bottom - y},
                                                     {y, x},
                                                     {y, bottom - x},
                                                     {right - y, bottom - x},
                                                     {right - y, x}}};
    const auto [column, row] = stored[static_cast<std::size_t>(orientation - 1)];
    return made_sample(column, row, 0);
  };
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    for (const Size tile : {Size{64, 48}, Size{0, 0}}) {
      test::write_tiff(
          file(),
          {.samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .tile = tile, .orientation = orientation},
          kSize);
      const auto picture = open_picture(file());
      const bool lies = orientation >= 5;
      ASSERT_EQ(picture->info().width, lies ? kSize.height : kSize.width);
      ASSERT_EQ(picture->info().height, lies ? kSize.width : kSize.height);
      const Region region{31, 20, 150, 170};
      const auto planes = read_planes(*picture, region, {Channel::luma});
      for (int y = 0; y < region.height; ++y)
        for (int x = 0; x < region.width; ++x)
          ASSERT_EQ(planes[0].view().at(x, y), sample(orientation, 31 + x, 20 + y)) << x << ", " << y;
    }
  }
}

// What is damaged is told of where it is in the upright picture.
TEST_F(TiffPictureTest, DamageIsTurned) {
  test::write_tiff(file(),
                   {.samples = 1,
                    .photometric = PHOTOMETRIC_MINISBLACK,
                    .compression = COMPRESSION_ADOBE_DEFLATE,
                    .orientation = 6},
                   kSize);
  auto bytes = test::load(file());
  std::fill_n(bytes.begin() + 8, 16, '\0');  // the first tile, of 64x48
  test::store(file(), bytes);
  std::vector<Damage> damage;
  test::read_luma(*open_picture(file()), &damage);
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].where, (Region{kSize.height - 48, 0, 48, 64}));
}

// A TIFF of 64x64 pixels with more tags than these; each entry is tag, type, count, value.
std::string tagged(std::vector<std::array<std::uint32_t, 4>> more, bool is_big) {
  std::vector<std::array<std::uint32_t, 4>> entries{
      {TIFFTAG_IMAGEWIDTH, TIFF_LONG, 1, 64},   {TIFFTAG_IMAGELENGTH, TIFF_LONG, 1, 64},
      {TIFFTAG_BITSPERSAMPLE, TIFF_LONG, 1, 8}, {TIFFTAG_COMPRESSION, TIFF_LONG, 1, COMPRESSION_NONE},
      {TIFFTAG_PHOTOMETRIC, TIFF_LONG, 1, 1},   {TIFFTAG_STRIPOFFSETS, TIFF_LONG, 1, 8},
      {TIFFTAG_ROWSPERSTRIP, TIFF_LONG, 1, 64}, {TIFFTAG_STRIPBYTECOUNTS, TIFF_LONG, 1, 4096}};
  entries.insert(entries.end(), more.begin(), more.end());
  std::string bytes;
  const auto add = [&](std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
  };
  bytes += "II";
  add(is_big ? 43 : 42, 2);
  if (is_big) add(8, 4);
  add(is_big ? 16 : 8, is_big ? 8 : 4);
  add(entries.size(), is_big ? 8 : 2);
  for (const auto& [tag, type, count, value] : entries) {
    add(tag, 2);
    add(type, 2);
    add(count, is_big ? 8 : 4);
    add(value, is_big ? 8 : 4);
  }
  add(0, is_big ? 8 : 4);
  return bytes;
}

// Each of them is within libtiff's limit.
TEST_F(TiffPictureTest, TagsAreLimitedInTheirSum) {
  constexpr std::uint32_t size = 100 << 20;
  for (const bool is_big : {false, true}) {
    std::vector<std::array<std::uint32_t, 4>> tags;
    for (std::uint32_t i = 0; i < 6; ++i) tags.push_back({60000 + i, TIFF_UNDEFINED, size, 8});
    test::store(file(), tagged({tags.begin(), tags.begin() + 1}, is_big));
    std::filesystem::resize_file(file(), size + 4096);  // sparse
    EXPECT_EQ(open_picture(file())->info().width, 64);
    test::store(file(), tagged(tags, is_big));
    std::filesystem::resize_file(file(), size + 4096);
    expect_refused("512 MiB");
  }
}

// A blank row of such a codec takes one bit, whatever its width.
TEST_F(TiffPictureTest, GiantBlankPicturesAreRefused) {
  for (const int compression : {COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4, COMPRESSION_CCITTRLE}) {
    TIFF* const tiff = TIFFOpen(file().c_str(), "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 2'000'000);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 16'000);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
    std::uint8_t bytes[500] = {};
    TIFFWriteRawStrip(tiff, 0, bytes, sizeof bytes);
    TIFFClose(tiff);
    expect_refused("claims");
  }
}

TEST_F(TiffPictureTest, AChangedFileEndsReading) {
  test::write_tiff(file(), {}, kSize);
  const auto picture = open_picture(file());
  test::read_luma(*picture);
  test::write_tiff(file(), {}, {100, 100});
  test::expect_error(ExitCode::input, [&] { test::read_luma(*picture); });
}

}  // namespace
}  // namespace sightline::tiles
