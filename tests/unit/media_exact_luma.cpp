// Luma is the same for the same pixels, whatever the container and the depth: compared with plain arithmetic.
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "media/ffmpeg.hpp"
#include "support/media.hpp"
#include "texture/tiles/picture.hpp"

namespace sightline::media {
namespace {

using namespace test;

constexpr Size kSize{64, 48};

/// Every level beside every other; the same for all colours where `is_gray`.
int level_at(int x, int y, int colour, bool is_gray) {
  return (x * 4 + y * 37 + (is_gray ? 0 : colour * 91 + x * y % 11)) % 256;
}

int luma_of(int red, int green, int blue) {
  return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

int luma_at(int x, int y, bool is_gray) {
  return luma_of(level_at(x, y, 0, is_gray), level_at(x, y, 1, is_gray), level_at(x, y, 2, is_gray));
}

using Sample = std::function<int(int x, int y, int component)>;

/// A picture whose samples are given one by one, in the format's own depth.
FramePtr sampled_picture(AVPixelFormat id, const Sample& sample) {
  FramePtr picture = make_picture(id, kSize.width, kSize.height);
  for (const AVBufferRef* buffer : picture->buf)
    if (buffer) std::memset(buffer->data, 0, buffer->size);
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(id);
  std::vector<std::uint16_t> row;
  for (int c = 0; c < format.nb_components; ++c) {
    const bool is_chroma =
        (c == 1 || c == 2) && !(format.flags & AV_PIX_FMT_FLAG_RGB) && format.nb_components > 2;
    const int width = is_chroma ? AV_CEIL_RSHIFT(kSize.width, format.log2_chroma_w) : kSize.width;
    const int height = is_chroma ? AV_CEIL_RSHIFT(kSize.height, format.log2_chroma_h) : kSize.height;
    row.resize(static_cast<std::size_t>(width));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x)
        row[static_cast<std::size_t>(x)] = static_cast<std::uint16_t>(sample(x, y, c));
      av_write_image_line(row.data(), picture->data, picture->linesize, &format, 0, y, c, width);
    }
  }
  return picture;
}

int largest_of(AVPixelFormat id, int component = 0) {
  return (1 << av_pix_fmt_desc_get(id)->comp[component].depth) - 1;
}

/// 8-bit levels in all of a format's depth.
FramePtr stretched_picture(AVPixelFormat id, bool is_gray) {
  return sampled_picture(id, [=](int x, int y, int c) {
    const int largest = largest_of(id, c);
    return (level_at(x, y, c, is_gray) * largest + 127) / 255;
  });
}

Frame exact_frame(FramePtr picture) {
  return FrameBuilder().build(std::shared_ptr<const AVFrame>(std::move(picture)), 1, 0);
}

void expect_luma(const Image<std::uint8_t>& luma, const std::function<int(int, int)>& expected) {
  ASSERT_EQ(luma.view().size(), kSize);
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x) ASSERT_EQ(luma.view().at(x, y), expected(x, y)) << x << ", " << y;
}

class ExactLuma : public testing::TestWithParam<const char*> {};

TEST_P(ExactLuma, IsThatOfEightBits) {
  const AVPixelFormat id = av_get_pix_fmt(GetParam());
  if (id == AV_PIX_FMT_NONE) GTEST_SKIP() << "this FFmpeg has no such format";
  for (const bool is_gray : {true, false}) {
    if (!is_gray && !(av_pix_fmt_desc_get(id)->flags & AV_PIX_FMT_FLAG_RGB)) continue;
    const Frame frame = exact_frame(stretched_picture(id, is_gray));
    expect_luma(to_gray(frame), [&](int x, int y) { return luma_at(x, y, is_gray); });
    EXPECT_EQ(frame.luma_range(), LumaRange::full);
    const std::vector<std::uint8_t> rgb = to_rgb(frame);
    for (std::size_t i = 0; i < rgb.size(); ++i) {
      const int at = static_cast<int>(i) / 3;
      ASSERT_EQ(rgb[i], level_at(at % kSize.width, at / kSize.width, static_cast<int>(i) % 3, is_gray));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ExactLuma,
                         testing::Values("gray", "gray9le", "gray10le", "gray12le", "gray14le", "gray16le",
                                         "gray16be", "ya8", "ya16le", "ya16be", "rgb24", "bgr0", "argb",
                                         "abgr", "gbrp", "gbrap", "rgb48le", "rgb48be", "bgr48le", "rgba64be",
                                         "bgra64le", "gbrp9le", "gbrp10le", "gbrp12be", "gbrp14le",
                                         "gbrp16le", "gbrap12le", "gbrap16be", "x2rgb10le"));

class ExactVideoLuma : public testing::TestWithParam<const char*> {};

// What is limited stays so: 16 is black in 8 bits, 64 in 10.
TEST_P(ExactVideoLuma, IsThatOfEightBits) {
  const AVPixelFormat id = av_get_pix_fmt(GetParam());
  if (id == AV_PIX_FMT_NONE) GTEST_SKIP() << "this FFmpeg has no such format";
  const int depth = av_pix_fmt_desc_get(id)->comp[0].depth;
  for (const bool is_full : {false, true}) {
    FramePtr picture = sampled_picture(id, [&](int x, int y, int c) {
      const int level = c == 0 ? level_at(x, y, 0, true) : 128;
      return is_full && c == 0 ? (level * largest_of(id) + 127) / 255 : level << (depth - 8);
    });
    picture->color_range = is_full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    const Frame frame = exact_frame(std::move(picture));
    expect_luma(to_gray(frame), [](int x, int y) { return level_at(x, y, 0, true); });
    EXPECT_EQ(frame.luma_range(), is_full ? LumaRange::full : LumaRange::limited);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ExactVideoLuma,
                         testing::Values("yuv420p", "yuyv422", "uyvy422", "nv12", "yuv420p9le", "yuv420p10le",
                                         "yuv420p10be", "yuv422p10le", "yuv444p12le", "yuv420p14le",
                                         "yuv444p16le", "yuva420p10le", "yuva444p16be", "p010le", "p016be",
                                         "y210le", "yuv440p12le"));

// Values between the levels are rounded to the nearest one.
TEST(ExactSamples, AreRounded) {
  for (const char* name : {"gray10le", "gray12le", "gray16be", "rgb48le", "gbrp14le"}) {
    const AVPixelFormat id = av_get_pix_fmt(name);
    const int largest = largest_of(id);
    const auto value = [&](int x, int y) { return (x * 991 + y * 7919 + x * y) % (largest + 1); };
    const Frame frame = exact_frame(sampled_picture(id, [&](int x, int y, int) { return value(x, y); }));
    SCOPED_TRACE(name);
    expect_luma(to_gray(frame),
                [&](int x, int y) { return static_cast<int>(std::lround(value(x, y) * 255.0 / largest)); });
    const double black = 100, white = largest / 3.0;
    expect_luma(to_gray(frame, std::pair{black, white}), [&](int x, int y) {
      return static_cast<int>(
          std::floor(std::clamp((value(x, y) - black) * 255 / (white - black), 0.0, 255.0) + 0.5));
    });
  }
}

TEST(ExactSamples, OfFloatingPointAreClamped) {
  FramePtr picture = make_picture(AV_PIX_FMT_GRAYF32LE, 4, 1);
  const std::array<float, 4> values{-1.0F, 0.5F, 2.0F, std::nanf("")};
  std::memcpy(picture->data[0], values.data(), sizeof values);
  const Frame frame = exact_frame(std::move(picture));
  const Image<std::uint8_t> luma = to_gray(frame);
  EXPECT_EQ(luma.view().at(0, 0), 0);
  EXPECT_EQ(luma.view().at(1, 0), 128);
  EXPECT_EQ(luma.view().at(2, 0), 255);
  EXPECT_EQ(luma.view().at(3, 0), 0);
  EXPECT_EQ(to_gray(frame, std::pair{0.0, 4.0}).view().at(2, 0), 128);
}

TEST(ExactSamples, OfOneBitAreBlackAndWhite) {
  for (const auto& [id, luma] : {std::pair{AV_PIX_FMT_MONOBLACK, 255}, {AV_PIX_FMT_MONOWHITE, 0}}) {
    const Frame frame = exact_frame(sampled_picture(id, [](int x, int, int) { return x % 2; }));
    expect_luma(to_gray(frame), [&](int x, int) { return x % 2 ? luma : 255 - luma; });
  }
}

// Chroma of 10 bits gives the colours that the same chroma of 8 bits gives.
TEST(ExactSamples, ColoursOfVideoAreThoseOfEightBits) {
  const auto sample = [](int x, int y, int c) { return 40 + level_at(x, y, c, false) * 3 / 5; };
  const Frame narrow = exact_frame(sampled_picture(AV_PIX_FMT_YUV420P, sample));
  for (const char* name : {"yuv420p10le", "p010le", "yuv420p12be"}) {
    const AVPixelFormat id = av_get_pix_fmt(name);
    const int shift = av_pix_fmt_desc_get(id)->comp[0].depth - 8;
    const Frame wide =
        exact_frame(sampled_picture(id, [&](int x, int y, int c) { return sample(x, y, c) << shift; }));
    EXPECT_EQ(to_rgb(wide), to_rgb(narrow)) << name;
  }
}

TEST(ExactSamples, LumaAndChromaHaveNoOtherRange) {
  const Frame frame = exact_frame(stretched_picture(AV_PIX_FMT_YUV420P10LE, true));
  expect_error(ExitCode::input, "yuv420p10", [&] { to_gray(frame, std::pair{0.0, 1000.0}); });
}

Frame palette_frame(bool is_gray) {
  FramePtr picture = make_picture(AV_PIX_FMT_PAL8, kSize.width, kSize.height);
  for (int i = 0; i < 256; ++i) {
    const int green = is_gray ? i : 255 - i, blue = is_gray ? i : i / 2;
    const auto colour = 0xFF000000U | static_cast<std::uint32_t>(i << 16 | green << 8 | blue);
    std::memcpy(picture->data[1] + i * 4, &colour, 4);
  }
  for (int y = 0; y < kSize.height; ++y)
    for (int x = 0; x < kSize.width; ++x)
      picture->data[0][y * picture->linesize[0] + x] = static_cast<std::uint8_t>(level_at(x, y, 0, true));
  return exact_frame(std::move(picture));
}

TEST(ExactSamples, OfPalettesAreThoseOfTheColours) {
  expect_luma(to_gray(palette_frame(true)), [](int x, int y) { return level_at(x, y, 0, true); });
  EXPECT_FALSE(has_colour(palette_frame(true)));
  expect_luma(to_gray(palette_frame(false)), [](int x, int y) {
    const int i = level_at(x, y, 0, true);
    return luma_of(i, 255 - i, i / 2);
  });
  EXPECT_TRUE(has_colour(palette_frame(false)));
}

/// A picture in a file of its own, written without loss.
struct FileKind {
  const char* encoder;
  const char* extension;
  const char* format;
};

class ExactFiles : public testing::TestWithParam<FileKind> {};

bool write_file(const std::string& path, const FileKind& kind, const AVFrame& picture) {
  const AVCodec* const codec = avcodec_find_encoder_by_name(kind.encoder);
  if (!codec) return false;
  const CodecContextPtr encoder(avcodec_alloc_context3(codec));
  encoder->width = picture.width;
  encoder->height = picture.height;
  encoder->pix_fmt = static_cast<AVPixelFormat>(picture.format);
  encoder->time_base = {1, 25};
  encoder->strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL;
  av_opt_set(encoder.get(), "format", "j2k", AV_OPT_SEARCH_CHILDREN);
  av_opt_set(encoder.get(), "pred", "dwt53", AV_OPT_SEARCH_CHILDREN);
  const PacketPtr packet = make_av_packet();
  if (avcodec_open2(encoder.get(), codec, nullptr) < 0 || avcodec_send_frame(encoder.get(), &picture) < 0)
    return false;
  avcodec_send_frame(encoder.get(), nullptr);
  if (avcodec_receive_packet(encoder.get(), packet.get()) < 0) return false;
  store(path, std::vector<char>(packet->data, packet->data + packet->size));
  return true;
}

// The same pixels: the same luma, in `detect` and in `texture`.
TEST_P(ExactFiles, HaveTheLumaOfEightBits) {
  const FileKind& kind = GetParam();
  const AVPixelFormat id = av_get_pix_fmt(kind.format);
  const bool is_gray = av_pix_fmt_desc_get(id)->nb_components < 3;
  const TempDir dir;
  const std::string path = dir / (std::string("a.") + kind.extension);
  if (!write_file(path, kind, *stretched_picture(id, is_gray))) GTEST_SKIP() << "no encoder";
  const auto expected = [&](int x, int y) { return luma_at(x, y, is_gray); };
  expect_luma(to_gray(*Reader(path).read()), expected);
  tiles::OpenOptions options;
  for (const bool has_range : {false, true}) {
    if (has_range) options.range = {0, largest_of(id)};
    const auto picture = tiles::open_picture(path, options);
    EXPECT_EQ(picture->info().uses_range, has_range && largest_of(id) > 255);
    Image<std::uint8_t> luma(kSize.width, kSize.height);
    const std::array channels{tiles::Channel::luma};
    const std::array planes{luma.view()};
    picture->read({0, 0, kSize.width, kSize.height}, channels, planes);
    expect_luma(luma, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ExactFiles,
    testing::Values(FileKind{"png", "png", "gray"}, FileKind{"png", "png", "gray16be"},
                    FileKind{"png", "png", "ya16be"}, FileKind{"png", "png", "rgb24"},
                    FileKind{"png", "png", "rgb48be"}, FileKind{"png", "png", "rgba64be"},
                    FileKind{"pgm", "pgm", "gray"}, FileKind{"pgm", "pgm", "gray16be"},
                    FileKind{"ppm", "ppm", "rgb24"}, FileKind{"ppm", "ppm", "rgb48be"},
                    FileKind{"pam", "pam", "gray16be"}, FileKind{"bmp", "bmp", "bgr24"},
                    FileKind{"targa", "tga", "gray"}, FileKind{"sgi", "sgi", "gray"},
                    FileKind{"sgi", "sgi", "rgb48be"}, FileKind{"qoi", "qoi", "rgb24"},
                    FileKind{"jpegls", "jls", "gray"}, FileKind{"jpegls", "jls", "gray16le"},
                    FileKind{"dpx", "dpx", "gbrp10le"}, FileKind{"dpx", "dpx", "gbrp12le"},
                    FileKind{"dpx", "dpx", "rgb48be"}, FileKind{"jpeg2000", "j2k", "gray"}),
    [](const auto& one) { return std::string(one.param.encoder) + "_" + one.param.format; });

}  // namespace
}  // namespace sightline::media
