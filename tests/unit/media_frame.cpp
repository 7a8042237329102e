// Frame and FrameBuilder: luma and packed colour by reference, conversions.
#include "frame/frame.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "image/colour.hpp"
#include "media/decoded_picture.hpp"
#include "support/media.hpp"

extern "C" {
#include <libavutil/frame.h>
}

namespace sightline::media {
namespace {

using namespace test;

Frame first_of(const std::string& graph) {
  return *Reader("lavfi:" + graph).read();
}

// Whether detectors read the decoder's own pixels.
bool is_by_reference(const Frame& frame) {
  const PictureView view = frame.view();
  return (view.is_gray() ? view.gray().data() : view.colour().data) == picture_of(frame)->data[0];
}

class LumaByReference : public testing::TestWithParam<const char*> {};

TEST_P(LumaByReference, IsTheDecodersPlane) {
  const std::string format = GetParam();
  const Frame frame = first_of("testsrc=size=98x54:duration=0.1,format=" + format);
  EXPECT_TRUE(is_by_reference(frame));
  EXPECT_EQ(frame.gray().stride(), picture_of(frame)->linesize[0]);
  EXPECT_TRUE(frame.view().is_gray());
  EXPECT_EQ(frame.size(), (Size{98, 54}));
  const bool full = format == "gray" || format.starts_with("yuvj");
  EXPECT_EQ(frame.luma_range(), full ? LumaRange::full : LumaRange::limited);
}

INSTANTIATE_TEST_SUITE_P(Formats, LumaByReference,
                         testing::Values("yuv420p", "yuv422p", "yuv444p", "yuv410p", "yuva420p", "nv12",
                                         "nv21", "gray"));

class ColourByReference : public testing::TestWithParam<std::pair<const char*, PackedFormat>> {};

TEST_P(ColourByReference, IsTheDecodersPixels) {
  const auto& [format, packed] = GetParam();
  const Frame frame = first_of(std::string("testsrc=size=98x54:duration=0.1,format=") + format);
  ASSERT_FALSE(frame.view().is_gray());
  EXPECT_TRUE(is_by_reference(frame));
  EXPECT_EQ(frame.size(), (Size{98, 54}));
  EXPECT_EQ(frame.luma_range(), LumaRange::full);
  EXPECT_THROW(frame.gray(), std::bad_variant_access);
  const PackedView colour = frame.view().colour();
  EXPECT_EQ(colour.stride, picture_of(frame)->linesize[0]);
  EXPECT_EQ(colour.format, packed);
}

// Red is where the format says: nothing else has this luma.
TEST_P(ColourByReference, LumaIsThatOfTheColour) {
  const std::string format = GetParam().first;
  for (const auto& [color, luma] : {std::pair{"black", 0}, {"white", 255}, {"red", 77}, {"blue", 29}}) {
    const Frame frame =
        first_of(std::string("color=") + color + ":size=65x48:duration=0.1,format=gbrp,format=" + format);
    const Image<std::uint8_t> gray = to_gray(frame);
    ASSERT_EQ(gray.view().size(), (Size{65, 48}));
    for (int y = 0; y < 48; y += 47)
      for (int x = 0; x < 65; x += 16) EXPECT_EQ(gray.view().at(x, y), luma) << color;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, ColourByReference,
    testing::Values(std::pair{"rgb24", PackedFormat::rgb24}, std::pair{"bgr24", PackedFormat::bgr24},
                    std::pair{"rgba", PackedFormat::rgba}, std::pair{"bgra", PackedFormat::bgra},
                    std::pair{"rgb0", PackedFormat::rgba}, std::pair{"bgr0", PackedFormat::bgra}));

TEST(MediaFrame, GrayOfLumaIsACopy) {
  const Frame frame = first_of("testsrc=size=98x54:duration=0.1,format=yuv420p");
  const Image<std::uint8_t> gray = to_gray(frame);
  EXPECT_NE(std::as_const(gray).view().data(), frame.gray().data());
  EXPECT_EQ(mean_difference(gray.view(), frame.gray()), 0);
}

// The formula is one of full range.
TEST(MediaFrame, ColourOfLimitedRangeIsConverted) {
  std::shared_ptr<AVFrame> picture(av_frame_alloc(), [](AVFrame* p) { av_frame_free(&p); });
  picture->format = AV_PIX_FMT_RGB24;
  picture->width = 16;
  picture->height = 16;
  picture->color_range = AVCOL_RANGE_MPEG;
  ASSERT_GE(av_frame_get_buffer(picture.get(), 0), 0);
  for (int y = 0; y < 16; ++y) std::fill_n(picture->data[0] + y * picture->linesize[0], 3 * 16, 235);
  const Frame frame = FrameBuilder().build(picture, 1, 0);
  EXPECT_FALSE(is_by_reference(frame));
  EXPECT_EQ(frame.luma_range(), LumaRange::full);
  EXPECT_EQ(frame.view().is_gray(), true);
}

class LumaConverted : public testing::TestWithParam<const char*> {};

// Black, white and gray survive, in the range in which they were stored.
TEST_P(LumaConverted, IsOfTheSourcesRange) {
  const std::string format = GetParam();
  const bool is_limited = format.starts_with("yu") || format.starts_with("uy");  // luma and chroma
  for (const auto& [color, luma] : {std::pair{"black", 0}, {"white", 255}, {"0x808080", 128}}) {
    const Frame frame = first_of(std::string("color=") + color + ":size=64x48:duration=0.1,format=" + format);
    EXPECT_FALSE(is_by_reference(frame));
    EXPECT_EQ(frame.luma_range(), is_limited ? LumaRange::limited : LumaRange::full);
    ASSERT_EQ(frame.size(), (Size{64, 48}));
    const double expected = is_limited ? 16 + luma * 219 / 255.0 : luma;
    for (int y = 0; y < 48; y += 47)
      for (int x = 0; x < 64; x += 21) EXPECT_NEAR(frame.gray().at(x, y), expected, 2) << color;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, LumaConverted,
                         testing::Values("argb", "rgb48le", "gbrp", "yuyv422", "uyvy422", "yuv420p10le"));

// Colour of a frame as a processor sees it, within what formats lose; the luma is that of a frame whose
// colour is not kept.
class ColourKept : public testing::TestWithParam<const char*> {};

TEST_P(ColourKept, IsThatOfThePicture) {
  const std::string format = GetParam();
  ReadOptions with_colour;
  with_colour.keep_colour = true;
  for (const auto& [name, colour] : {std::pair{"red", std::array{255, 0, 0}},
                                     {"lime", std::array{0, 255, 0}},
                                     {"blue", std::array{0, 0, 255}},
                                     {"0x4080C0", std::array{64, 128, 192}}}) {
    SCOPED_TRACE(name);
    const std::string graph =
        std::string("lavfi:color=") + name + ":size=34x18:duration=0.1,format=gbrp,format=" + format;
    const Frame frame = *Reader(graph, with_colour).read();
    const Frame plain = *Reader(graph).read();
    EXPECT_EQ(mean_difference(to_gray(frame).view(), to_gray(plain).view()), 0);
    EXPECT_EQ(frame.luma_range(), plain.luma_range());
    Image<std::uint8_t> rgb(34, 3 * 18);
    to_planar_rgb_reference(frame.view(), rgb.view(), 0, 18);
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(rgb.view().at(20, 10 + 18 * c), colour[static_cast<std::size_t>(c)], 6) << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ColourKept,
                         testing::Values("yuv420p", "yuv422p", "yuv444p", "yuvj420p", "nv12", "nv21", "rgb24",
                                         "bgra", "yuyv422", "uyvy422", "yuv420p10le", "yuv444p16be", "gbrp",
                                         "rgb48le", "rgb565le", "xyz12le"));

TEST(MediaFrame, ColourOfLimitedRangeIsKept) {
  std::shared_ptr<AVFrame> picture(av_frame_alloc(), [](AVFrame* p) { av_frame_free(&p); });
  picture->format = AV_PIX_FMT_RGB24;
  picture->width = 16;
  picture->height = 16;
  picture->color_range = AVCOL_RANGE_MPEG;
  ASSERT_GE(av_frame_get_buffer(picture.get(), 0), 0);
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x) {
      std::uint8_t* const pixel = picture->data[0] + y * picture->linesize[0] + 3 * x;
      pixel[0] = 235;
      pixel[1] = pixel[2] = 16;
    }
  }
  const Frame frame = FrameBuilder(true).build(picture, 1, 0);
  EXPECT_EQ(mean_difference(frame.gray(), FrameBuilder().build(picture, 1, 0).gray()), 0);
  Image<std::uint8_t> rgb(16, 48);
  to_planar_rgb_reference(frame.view(), rgb.view(), 0, 16);
  EXPECT_NEAR(rgb.view().at(8, 8), 235, 1) << "like its luma, it is not expanded";
  EXPECT_NEAR(rgb.view().at(8, 24), 16, 1);
  EXPECT_NEAR(rgb.view().at(8, 40), 16, 1);
}

TEST(MediaFrame, GreyHasNoColour) {
  ReadOptions with_colour;
  with_colour.keep_colour = true;
  for (const char* format : {"gray", "gray16le", "ya8"}) {
    const Frame frame =
        *Reader(std::string("lavfi:testsrc=size=32x32:duration=0.1,format=") + format, with_colour).read();
    EXPECT_TRUE(frame.view().is_gray()) << format;
    EXPECT_FALSE(frame.view().chroma()) << format;
  }
}

TEST(MediaFrame, PaletteIsLookedUp) {
  // pal8 stores indices; taken for luma they would be small numbers.
  const Frame frame = first_of(
      "color=white:size=32x32:duration=0.1,format=rgb24,split[a][b];[a]palettegen[p];[b][p]"
      "paletteuse,format=pal8");
  EXPECT_FALSE(is_by_reference(frame));
  EXPECT_GE(mean(frame.gray()), 250);
}

TEST(MediaFrame, LumaOfPureColoursFollowsBt601) {
  for (const auto& [rgb, luma] : {std::pair{std::array<std::uint8_t, 3>{255, 0, 0}, 76.2},
                                  {std::array<std::uint8_t, 3>{0, 255, 0}, 149.7},
                                  {std::array<std::uint8_t, 3>{0, 0, 255}, 29.1}}) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < 16 * 16; ++i) pixels.insert(pixels.end(), rgb.begin(), rgb.end());
    EXPECT_NEAR(mean(to_gray(frame_from_rgb(pixels.data(), {16, 16})).view()), luma, 1);
  }
}

TEST(MediaFrame, RgbGoesThroughUnchanged) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < 7 * 5 * 3; ++i) pixels.push_back(static_cast<std::uint8_t>(i * 37));
  EXPECT_EQ(to_rgb(frame_from_rgb(pixels.data(), {7, 5})), pixels);
}

TEST(MediaFrame, NegativeStride) {
  std::shared_ptr<AVFrame> picture(av_frame_alloc(), [](AVFrame* p) { av_frame_free(&p); });
  picture->format = AV_PIX_FMT_GRAY8;
  picture->width = 8;
  picture->height = 4;
  ASSERT_GE(av_frame_get_buffer(picture.get(), 0), 0);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 8; ++x)
      picture->data[0][y * picture->linesize[0] + x] = static_cast<std::uint8_t>(10 * y);
  picture->data[0] += 3 * picture->linesize[0];
  picture->linesize[0] = -picture->linesize[0];
  const Frame frame = FrameBuilder().build(picture, 1, 0);
  EXPECT_TRUE(is_by_reference(frame));
  EXPECT_LT(frame.gray().stride(), 0);
  EXPECT_EQ(frame.gray().at(0, 0), 30);
  EXPECT_EQ(frame.gray().at(7, 3), 0);
  TempDir dir;
  StreamInfo info;
  info.size = frame.size();
  info.frame_rate = {25, 1};
  Writer(dir / "a.png", info).write(frame);
  const Frame back = *Reader(dir / "a.png").read();
  const Image<std::uint8_t> luma = to_gray(back);
  EXPECT_NEAR(luma.view().at(0, 0), 30, 3);
  EXPECT_NEAR(luma.view().at(7, 3), 0, 3);
}

TEST(MediaFrame, NegativeStrideOfColour) {
  const std::vector<std::uint8_t> rows{0, 0, 0, 255, 255, 255};  // 1 x 2, black above white
  std::shared_ptr<AVFrame> picture(av_frame_alloc(), [](AVFrame* p) { av_frame_free(&p); });
  picture->format = AV_PIX_FMT_BGR24;
  picture->width = 1;
  picture->height = 2;
  picture->data[0] = const_cast<std::uint8_t*>(rows.data()) + 3;
  picture->linesize[0] = -3;
  const Image<std::uint8_t> luma = to_gray(FrameBuilder().build(picture, 1, 0));
  EXPECT_EQ(luma.view().at(0, 0), 255);
  EXPECT_EQ(luma.view().at(0, 1), 0);
}

TEST(MediaFrame, CopiesShareThePixelsAndOutliveTheReader) {
  Frame copy;
  {
    Reader reader("lavfi:testsrc=size=64x48:duration=0.2,format=yuv420p");
    const Frame frame = *reader.read();
    copy = frame;
    EXPECT_EQ(copy.gray().data(), frame.gray().data());
  }
  EXPECT_GT(mean(copy.gray()), 16);
}

TEST(MediaFrame, OnePixel) {
  for (const char* format : {"gray", "rgb24", "yuv420p", "yuv420p10le"}) {
    const Frame frame =
        first_of(std::string("color=white:size=16x16:duration=0.1,scale=1:1,format=") + format);
    EXPECT_EQ(frame.size(), (Size{1, 1})) << format;
    EXPECT_GE(to_gray(frame).view().at(0, 0), 230) << format;
  }
}

}  // namespace
}  // namespace sightline::media
