// The planes that a screen takes, of frames in every form.
#include "media/planes.hpp"

#include <cstring>

#include "media/ffmpeg.hpp"
#include "support/media.hpp"

namespace sightline::media {
namespace {

std::shared_ptr<AVFrame> blank_picture(AVPixelFormat format, Size size) {
  std::shared_ptr<AVFrame> picture(make_picture(format, size.width, size.height));
  for (int p = 0; p < 4 && picture->buf[p]; ++p)
    std::memset(picture->buf[p]->data, 60 + 20 * p, picture->buf[p]->size);
  return picture;
}

Frame frame_of(std::shared_ptr<const AVFrame> picture) {
  return FrameBuilder().build(std::move(picture), 1, 0);
}

TEST(MediaPlanes, ShowsTheFramesOwnMemory) {
  struct Case {
    AVPixelFormat format;
    PlaneKind kind;
    int planes, chroma_step;
  };
  for (const Case& c :
       {Case{AV_PIX_FMT_YUV420P, PlaneKind::i420, 3, 1}, Case{AV_PIX_FMT_YUVJ420P, PlaneKind::i420, 3, 1},
        Case{AV_PIX_FMT_YUV422P, PlaneKind::i420, 3, 2}, Case{AV_PIX_FMT_YUVJ422P, PlaneKind::i420, 3, 2},
        Case{AV_PIX_FMT_NV12, PlaneKind::nv12, 2, 1}, Case{AV_PIX_FMT_GRAY8, PlaneKind::i420, 1, 1},
        Case{AV_PIX_FMT_RGB24, PlaneKind::rgb24, 1, 1}, Case{AV_PIX_FMT_BGR24, PlaneKind::bgr24, 1, 1},
        Case{AV_PIX_FMT_RGBA, PlaneKind::rgba, 1, 1}, Case{AV_PIX_FMT_RGB0, PlaneKind::rgba, 1, 1},
        Case{AV_PIX_FMT_BGRA, PlaneKind::bgra, 1, 1}, Case{AV_PIX_FMT_BGR0, PlaneKind::bgra, 1, 1}}) {
    const auto picture = blank_picture(c.format, {35, 21});
    PlaneStore store;
    const DisplayPlanes planes = planes_of(frame_of(picture), store);
    EXPECT_EQ(planes.kind, c.kind);
    EXPECT_TRUE(planes.by_reference);
    EXPECT_EQ(planes.size, (Size{35, 21}));
    for (int p = 0; p < c.planes; ++p) {
      EXPECT_EQ(planes.data[p], picture->data[p]);
      EXPECT_EQ(planes.stride[p], picture->linesize[p] * (p > 0 ? c.chroma_step : 1));
    }
  }
}

TEST(MediaPlanes, GrayHasNeutralChroma) {
  PlaneStore store;
  for (const Size size : {Size{35, 21}, Size{1, 1}, Size{64, 48}}) {
    const DisplayPlanes planes = planes_of(frame_of(blank_picture(AV_PIX_FMT_GRAY8, size)), store);
    EXPECT_EQ(planes.range, LumaRange::full);
    for (int p = 1; p <= 2; ++p)
      for (int y = 0; y < (size.height + 1) / 2; ++y)
        for (int x = 0; x < (size.width + 1) / 2; ++x)
          ASSERT_EQ(planes.data[p][y * planes.stride[p] + x], 128);
  }
}

TEST(MediaPlanes, ConvertsTheRestAndKeepsTheMemory) {
  for (const AVPixelFormat format : {AV_PIX_FMT_YUYV422, AV_PIX_FMT_UYVY422, AV_PIX_FMT_YUV444P,
                                     AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_GBRP, AV_PIX_FMT_YUV440P})
    for (const Size size : {Size{64, 48}, Size{35, 21}, Size{1, 1}}) {
      const auto picture = blank_picture(format, size);
      const Frame frame = frame_of(picture);
      PlaneStore store;
      const DisplayPlanes planes = planes_of(frame, store);
      EXPECT_EQ(planes.kind, PlaneKind::i420) << av_get_pix_fmt_name(format);
      EXPECT_FALSE(planes.by_reference);
      for (int p = 0; p < 3; ++p) ASSERT_NE(planes.data[p], nullptr);
      const DisplayPlanes again = planes_of(frame, store);
      EXPECT_EQ(again.data[0], planes.data[0]);
    }
  // The values stay: a flat YUYV picture.
  const auto picture = blank_picture(AV_PIX_FMT_YUYV422, {64, 48});
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 32; ++x) {
      std::uint8_t* two = picture->data[0] + y * picture->linesize[0] + 4 * x;
      two[0] = two[2] = 77;
      two[1] = 90;
      two[3] = 200;
    }
  PlaneStore store;
  const DisplayPlanes planes = planes_of(frame_of(picture), store);
  EXPECT_EQ(planes.range, LumaRange::limited);
  EXPECT_EQ(planes.data[0][20 * planes.stride[0] + 30], 77);
  EXPECT_EQ(planes.data[1][10 * planes.stride[1] + 15], 90);
  EXPECT_EQ(planes.data[2][10 * planes.stride[2] + 15], 200);
}

TEST(MediaPlanes, CopiesBottomUpPictures) {
  const auto picture = blank_picture(AV_PIX_FMT_GRAY8, {32, 16});
  for (int y = 0; y < 16; ++y) std::memset(picture->data[0] + y * picture->linesize[0], y, 32);
  picture->data[0] += 15 * picture->linesize[0];
  picture->linesize[0] = -picture->linesize[0];
  PlaneStore store;
  const DisplayPlanes planes = planes_of(frame_of(picture), store);
  EXPECT_FALSE(planes.by_reference);
  ASSERT_GT(planes.stride[0], 0);
  for (int y = 0; y < 16; ++y) EXPECT_EQ(planes.data[0][y * planes.stride[0] + 3], 15 - y);
}

TEST(MediaPlanes, MatrixRangeAndShape) {
  PlaneStore store;
  const auto planes_with = [&](auto change, Size size = {64, 48}) {
    const auto picture = blank_picture(AV_PIX_FMT_YUV420P, size);
    change(*picture);
    return planes_of(frame_of(picture), store);
  };
  const auto as_is = [](AVFrame&) {};
  EXPECT_EQ(planes_with(as_is).matrix, YuvMatrix::bt601);
  EXPECT_EQ(planes_with(as_is, {1280, 720}).matrix, YuvMatrix::bt709);
  EXPECT_EQ(planes_with(as_is).range, LumaRange::limited);
  EXPECT_EQ(planes_with(as_is).sample_aspect, (Rational{0, 1}));
  EXPECT_EQ(planes_with([](AVFrame& f) { f.colorspace = AVCOL_SPC_BT709; }).matrix, YuvMatrix::bt709);
  EXPECT_EQ(planes_with([](AVFrame& f) { f.colorspace = AVCOL_SPC_BT470BG; }, {1280, 720}).matrix,
            YuvMatrix::bt601);
  EXPECT_EQ(planes_with([](AVFrame& f) { f.color_range = AVCOL_RANGE_JPEG; }).range, LumaRange::full);
  EXPECT_EQ(planes_with([](AVFrame& f) {
              f.sample_aspect_ratio = {16, 15};
            }).sample_aspect,
            (Rational{16, 15}));
}

}  // namespace
}  // namespace sightline::media
