// Slides that OpenSlide reads. It reads tiled TIFF files, too, which are made here for want of a slide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/tiff.hpp"
#include "texture/tiles/slide_picture.hpp"
#include "texture/tiles/tiff_picture.hpp"

namespace sightline::tiles {
namespace {

using testing::SizeIs;

constexpr Size kSlide{1100, 700};

class SlideTest : public testing::Test {
 protected:
  std::string file() const { return folder_ / "slide.tif"; }
  test::TempDir folder_;
};

TEST_F(SlideTest, RegionsAreThoseOfTheTiff) {
  test::write_tiff(file(), {}, kSlide);
  EXPECT_FALSE(needs_openslide(file())) << "libtiff reads it";
  SlidePicture slide(file(), {});
  TiffPicture tiff(file(), {});
  EXPECT_EQ(slide.info().width, kSlide.width);
  EXPECT_EQ(slide.info().height, kSlide.height);
  const std::vector channels{Channel::luma, Channel::red, Channel::green, Channel::blue};
  for (const Region& region : {Region{0, 0, 1100, 700}, Region{500, 505, 30, 20}, Region{1099, 699, 1, 1}}) {
    for (const auto& wanted : {std::vector{Channel::luma}, channels}) {
      std::vector<Damage> damage;
      const auto expected = test::read_planes(tiff, region, wanted);
      const auto planes = test::read_planes(slide, region, wanted, &damage);
      EXPECT_THAT(damage, SizeIs(0));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        for (int y = 0; y < region.height; ++y) {
          for (int x = 0; x < region.width; ++x)
            ASSERT_EQ(planes[i].view().at(x, y), expected[i].view().at(x, y))
                << to_string(wanted[i]) << " at " << region.x + x << ", " << region.y + y;
        }
      }
    }
  }
}

// OpenSlide's handle fails for good with the first damage; blocks without any are read all the same.
TEST_F(SlideTest, DamageIsNamedAndTheRestRead) {
  test::write_tiff(file(), {.compression = COMPRESSION_ADOBE_DEFLATE}, kSlide);
  std::vector<char> bytes = test::load(file());
  TIFF* const tiff = TIFFOpen(file().c_str(), "r");
  const auto begin = static_cast<std::ptrdiff_t>(TIFFGetStrileOffset(tiff, 0));
  std::fill_n(bytes.begin() + begin, TIFFGetStrileByteCount(tiff, 0), '\x55');
  TIFFClose(tiff);
  test::store(file(), bytes);
  SlidePicture slide(file(), {});
  std::vector<Damage> damage;
  const Image<std::uint8_t> luma = test::read_luma(slide, &damage);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].where, (Region{0, 0, 512, 512}));
  EXPECT_EQ(luma.view().at(300, 300), 0);
  TiffPicture whole(file(), {});
  const Image<std::uint8_t> expected = test::read_luma(whole);
  for (int y = 0; y < kSlide.height; ++y) {
    for (int x = y < 512 ? 512 : 0; x < kSlide.width; ++x)
      ASSERT_EQ(luma.view().at(x, y), expected.view().at(x, y)) << x << ", " << y;
  }
}

// Its parts are named in a text.
TEST_F(SlideTest, PartsElsewhereAreRefused) {
  const std::filesystem::path inner = folder_ / "inner";
  std::filesystem::create_directories(inner / "m");
  test::store(folder_ / "outside.jpg", "x");
  test::store(inner / "beside.jpg", "x");
  mkfifo((inner / "pipe.jpg").c_str(), 0600);
  std::filesystem::create_symlink("../outside.jpg", inner / "link.jpg");
  const std::string outside = folder_ / "outside.jpg";
  const auto refuses = [&](const std::string& name, const std::string& text, const std::string& slide) {
    test::store(inner / name, text);
    return !test::error_of(ExitCode::input, [&] { needs_openslide(inner / slide); }).empty();
  };
  for (const std::string& part : {std::string("../outside.jpg"), outside, std::string("pipe.jpg"),
                                  std::string("link.jpg"), std::string("beside.jpg")}) {
    const bool is_bad = part != "beside.jpg";
    EXPECT_EQ(refuses("x.vms",
                      "[Virtual Microscope Specimen]\nNoJpegColumns=1\nNoJpegRows=1\nImageFile=" + part +
                          "\nMapFile=" + part + "\nMacroImage=" + part + "\n",
                      "x.vms"),
              is_bad)
        << part;
    if (part.find('/') == std::string::npos) std::filesystem::rename(inner / part, inner / "m" / part);
    test::store(inner / "m.mrxs", "x");
    EXPECT_EQ(refuses("m/Slidedat.ini", "[GENERAL]\nSLIDE_ID=1\n[HIERARCHICAL]\nINDEXFILE = " + part + "\n",
                      "m.mrxs"),
              is_bad && part != "../outside.jpg")
        << part;
  }
}

// Names as long as a path may be, and as GLib reads them.
TEST_F(SlideTest, PartsElsewhereAreRefusedHoweverTheyAreWritten) {
  const std::filesystem::path inner = folder_ / "inner";
  std::filesystem::create_directories(inner / " blank");
  test::store(folder_ / "outside.jpg", "x");
  test::store(folder_ / "outside.jpg ", "x");
  mkfifo((folder_ / "pipe").c_str(), 0600);
  mkfifo((inner / "a pipe").c_str(), 0600);
  std::string far;
  for (int i = 0; i < 130; ++i) far += "./";
  const std::string texts[] = {far + "../outside.jpg", far + "../pipe", "\\sblank/../../outside.jpg",
                               "a\\spipe", "../outside.jpg "};
  for (const std::string& part : texts) {
    test::store(inner / "x.vms", "[Virtual Microscope Specimen]\nNoJpegColumns=1\nNoJpegRows=1\nImageFile=" +
                                     part + "\nMapFile=m.jpg\nMacroImage=m.jpg\n");
    test::expect_error(ExitCode::input, [&] { needs_openslide(inner / "x.vms"); });
  }
  for (const std::string part : {"/../outside.jpg", "../outside.jpg"}) {
    test::store(inner / "Slidedat.ini", "[HIERARCHICAL]\nINDEXFILE = " + part + "\n");
    test::store(inner / ".mrxs", "x");
    test::expect_error(ExitCode::input, [&] { needs_openslide(inner / ".mrxs"); });
  }
  test::store(inner / "x.svslide", "SQLite format 3");
  EXPECT_FALSE(needs_openslide(inner / "x.svslide"));
  mkfifo((inner / "x.svslide-journal").c_str(), 0600);
  test::expect_error(ExitCode::input, [&] { needs_openslide(inner / "x.svslide"); });
}

TEST_F(SlideTest, LevelsAreCounted) {
  test::write_tiff(file(), {}, kSlide);
  OpenOptions options;
  options.page = 1;
  test::expect_error(ExitCode::input, [&] { SlidePicture(file(), options); });
  test::store(file(), "no slide");
  test::expect_error(ExitCode::input, [&] { SlidePicture(file(), {}); });
}

}  // namespace
}  // namespace sightline::tiles
