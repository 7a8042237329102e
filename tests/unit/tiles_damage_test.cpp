// Damaged TIFF files: what can be read is read, and what cannot is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/tiff.hpp"
#include "texture/tiles/jpeg_luma.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::tiles {
namespace {

using test::TiffKind;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Size kWhole{200, 150};

class TiffDamage : public testing::Test {
 protected:
  struct Part {
    std::size_t begin = 0, bytes = 0;
  };
  std::string file() const { return folder_ / "a.tif"; }

  /// Where a tile or strip lies in the file.
  Part part(std::uint32_t number) const {
    TIFF* const tiff = TIFFOpen(file().c_str(), "r");
    const Part found{TIFFGetStrileOffset(tiff, number), TIFFGetStrileByteCount(tiff, number)};
    TIFFClose(tiff);
    return found;
  }
  void change(const std::function<void(std::vector<char>&)>& change) const {
    std::vector<char> bytes = test::load(file());
    change(bytes);
    test::store(file(), bytes);
  }
  /// Reads all before and after: outside of `where`, nothing may differ.
  std::vector<Damage> expect_same_but(const Image<std::uint8_t>& whole, const Region& where,
                                      bool zero) const {
    std::vector<Damage> damage;
    const auto picture = open_picture(file());
    const Image<std::uint8_t> luma = test::read_luma(*picture, &damage);
    for (int y = 0; y < kWhole.height; ++y) {
      for (int x = 0; x < kWhole.width; ++x) {
        const bool inside =
            x >= where.x && x < where.x + where.width && y >= where.y && y < where.y + where.height;
        if (!inside) {
          EXPECT_EQ(luma.view().at(x, y), whole.view().at(x, y)) << x << ", " << y;
        } else if (zero) {
          EXPECT_EQ(luma.view().at(x, y), 0) << x << ", " << y;
        }
      }
    }
    return damage;
  }
  Image<std::uint8_t> make(const TiffKind& kind) const {
    test::write_tiff(file(), kind, kWhole);
    return test::read_luma(*open_picture(file()));
  }

  test::TempDir folder_;
};

TEST_F(TiffDamage, ATileOfWrongBytesIsZeroAndNamed) {
  const Image<std::uint8_t> whole = make({.compression = COMPRESSION_ADOBE_DEFLATE});
  const Part tile = part(5);  // of 4 across: the second of the second row
  change([&](std::vector<char>& bytes) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(tile.begin), tile.bytes, '\x55');
  });
  const Region where{64, 48, 64, 48};
  const std::vector<Damage> damage = expect_same_but(whole, where, true);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].where, where);
  EXPECT_THAT(to_string(damage[0]), HasSubstr("x 64, y 48, 64x48"));
}

TEST_F(TiffDamage, AStripIsNamedAlone) {
  const Image<std::uint8_t> whole = make({.compression = COMPRESSION_LZW, .tile = {0, 0}});
  const Part strip = part(3);
  change([&](std::vector<char>& bytes) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(strip.begin), strip.bytes, '\xff');
  });
  const Region where{0, 21, 200, 7};
  const std::vector<Damage> damage = expect_same_but(whole, where, true);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].where, where);
}

TEST_F(TiffDamage, AJpegThatEndsEarlyIsNamed) {
  const Image<std::uint8_t> whole = make({.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG});
  const Part tile = part(2);
  // Zeros to the end: the decoder goes on with what it takes them for, and warns.
  change([&](std::vector<char>& bytes) {
    const auto half = bytes.begin() + static_cast<std::ptrdiff_t>(tile.begin + tile.bytes / 2);
    std::fill_n(half, tile.bytes - tile.bytes / 2, '\0');
  });
  const Region where{128, 0, 64, 48};
  const std::vector<Damage> damage = expect_same_but(whole, where, false);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].where, where);
  EXPECT_THAT(damage[0].reason, HasSubstr("JPEG"));
}

TEST_F(TiffDamage, AJpegWithoutAHeadIsZeroAndNamed) {
  const Image<std::uint8_t> whole = make({.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG});
  const Part tile = part(2);
  change([&](std::vector<char>& bytes) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(tile.begin), 20, '\0');
  });
  const std::vector<Damage> damage = expect_same_but(whole, {128, 0, 64, 48}, true);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_THAT(damage[0].reason, HasSubstr("JPEG"));
}

// Tables that one tile brings are not the next one's: the result does not depend on what was read before.
TEST_F(TiffDamage, AJpegsOwnTablesAreItsOwn) {
  const Image<std::uint8_t> whole = make({.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG});
  const auto picture = open_picture(file());
  std::vector<std::uint8_t> tables, data;
  {
    TIFF* const tiff = TIFFOpen(file().c_str(), "r");
    std::uint32_t count = 0;
    const std::uint8_t* bytes = nullptr;
    ASSERT_EQ(TIFFGetField(tiff, TIFFTAG_JPEGTABLES, &count, &bytes), 1);
    tables.assign(bytes, bytes + count);
    data.resize(TIFFGetStrileByteCount(tiff, 0));
    TIFFReadRawTile(tiff, 0, data.data(), static_cast<tmsize_t>(data.size()));
    TIFFClose(tiff);
  }
  // The same tables, but for one step of the quantisation of luma; then the picture without its head.
  std::vector<std::uint8_t> other(tables.begin(), tables.end() - 2);
  other[7] = 200;
  other.insert(other.end(), data.begin() + 2, data.end());
  Image<std::uint8_t> luma(64, 48);
  EXPECT_TRUE(decode_jpeg_luma(tables, other, luma.view()).is_known);
  EXPECT_NE(luma.view().at(20, 20), whole.view().at(20, 20));
  EXPECT_TRUE(decode_jpeg_luma(tables, data, luma.view()).is_known);
  EXPECT_EQ(luma.view().at(20, 20), whole.view().at(20, 20));
  EXPECT_FALSE(decode_jpeg_luma(tables, data, Image<std::uint8_t>(65, 48).view()).is_known);
  EXPECT_FALSE(decode_jpeg_luma({}, data, luma.view()).error.empty());  // its tables are missing
}

TEST_F(TiffDamage, ATileThatIsNotInTheFileIsNamed) {
  // Two tiles across, of which one is written.
  TIFF* const tiff = TIFFOpen((folder_ / "b.tif").c_str(), "w8");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 100);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 64);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 64);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, 64);
  std::vector<std::uint8_t> tile(64 * 64, 9);
  TIFFWriteEncodedTile(tiff, 0, tile.data(), static_cast<tmsize_t>(tile.size()));
  TIFFClose(tiff);
  std::vector<Damage> damage;
  const Image<std::uint8_t> luma = test::read_luma(*open_picture(folder_ / "b.tif"), &damage);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].where, (Region{64, 0, 36, 64}));
  EXPECT_EQ(luma.view().at(63, 63), 9);
  EXPECT_EQ(luma.view().at(64, 63), 0);
}

// Wherever it is cut or changed: refused with words, or read with what is damaged named; never anything else.
TEST_F(TiffDamage, NoDamageEndsTheProgram) {
  for (const TiffKind& kind : {TiffKind{.compression = COMPRESSION_ADOBE_DEFLATE, .mode = "w8"},
                               TiffKind{.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG},
                               TiffKind{.compression = COMPRESSION_LZW,
                               .tile = {0, 0},
                               .planar = true,
                               .predictor = PREDICTOR_HORIZONTAL}}) {
    test::write_tiff(file(), kind, kWhole);
    const std::vector<char> whole = test::load(file());
    const auto read = [&] {
      try {
        const auto picture = open_picture(file());
        if (picture->info().width <= 1000 && picture->info().height <= 1000) test::read_luma(*picture);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::input) << error.what();
      }
    };
    int cut_short = 0;
    for (std::size_t i = 0; i < whole.size(); i += whole.size() / 30 + 1) {
      test::store(file(), std::vector<char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)));
      read();
      std::vector<char> changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 + cut_short++ % 255));
      test::store(file(), changed);
      read();
    }
    for (std::size_t i = whole.size() - 400; i < whole.size(); i += 5) {  // the tags
      std::vector<char> changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (1 + i % 255));
      test::store(file(), changed);
      read();
    }
  }
}

// A file of 218 bytes once made the program take 1.7 GB.
TEST_F(TiffDamage, SizesThatTheFileCannotHoldAreRefused) {
  const auto claim = [&](std::uint32_t side, int compression) {
    TIFF* const tiff = TIFFOpen(file().c_str(), "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 16);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 256);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 256);
    std::vector<std::uint8_t> pixels(256 * 256);
    TIFFWriteEncodedTile(tiff, 0, pixels.data(), static_cast<tmsize_t>(pixels.size()));
    TIFFClose(tiff);
    // The two tags, as values of 32 bits: SHORT 16 in the file becomes LONG.
    change([&](std::vector<char>& bytes) {
      for (std::size_t i = 8; i + 12 <= bytes.size(); ++i) {
        std::uint16_t tag = 0, type = 0;
        std::uint32_t count = 0, value = 0;
        std::memcpy(&tag, &bytes[i], 2);
        std::memcpy(&type, &bytes[i + 2], 2);
        std::memcpy(&count, &bytes[i + 4], 4);
        std::memcpy(&value, &bytes[i + 8], 4);
        if ((tag != TIFFTAG_IMAGEWIDTH && tag != TIFFTAG_IMAGELENGTH) || count != 1 || value != 16) continue;
        type = TIFF_LONG;
        std::memcpy(&bytes[i + 2], &type, 2);
        std::memcpy(&bytes[i + 8], &side, 4);
      }
    });
  };
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS, COMPRESSION_ADOBE_DEFLATE}) {
    SCOPED_TRACE(compression);
    claim(250'000, compression);
    test::expect_error(ExitCode::input, "250000x250000 pixels", [&] { open_picture(file()); });
    claim(2000, compression);
    EXPECT_EQ(open_picture(file())->info().width, 2000) << "a small one that lacks most of its tiles is read";
  }
}

TEST(AddDamage, MakesFewRectanglesOfManyParts) {
  std::vector<Damage> list;
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 50; ++x)
      EXPECT_TRUE(
          add_damage(list, {{x * 16, y * 16, 16, 16}, "tile " + std::to_string(y * 50 + x) + " is cut"}));
  }
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].where, (Region{0, 0, 800, 640}));
  EXPECT_TRUE(add_damage(list, {{800, 0, 16, 16}, "another reason"}));
  EXPECT_THAT(list, SizeIs(2));
  int left_out = 0;
  for (int i = 0; i < 1000; ++i) left_out += add_damage(list, {{2000 + 32 * i, 0, 16, 16}, "apart"}) ? 0 : 1;
  EXPECT_THAT(list, SizeIs(100));
  EXPECT_EQ(left_out, 902);
}

}  // namespace
}  // namespace sightline::tiles
