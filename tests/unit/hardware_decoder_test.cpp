// Decoding on hardware that fails: every frame comes once, in order, with the pixels and the time of
// software decoding.
extern "C" {
#include <libavutil/hwcontext.h>
}

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "media/decoder_choice.hpp"
#include "media/decoder_thread.hpp"
#include "media/ffmpeg.hpp"
#include "media/hardware_decoder.hpp"
#include "media/hardware_device.hpp"
#include "media/semi_planar.hpp"
#include "media/surface_download.hpp"
#include "support/log_capture.hpp"
#include "support/media.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

namespace sightline::media::test {
namespace {

using sightline::test::LogCapture;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

struct ClipOfCodec {
  const char* name;
  const char* size;
  Words options;
};

constexpr int kClipFrames = 60;

// Groups of 10 to 16 pictures, open and closed, with and without B pictures.
const std::vector<ClipOfCodec>& clips_of_codecs() {
  const auto x265 = [](const std::string& more, const char* format = "yuv420p") {
    return Words{"-c:v",      "libx265",      "-preset",
                 "ultrafast", "-x265-params", "log-level=none:keyint=12:min-keyint=12:bframes=3:" + more,
                 "-pix_fmt",  format};
  };
  static const std::vector<ClipOfCodec> all{
      {"b-frames.mp4",
       "160x96",
       {"-c:v", "libx264", "-preset", "fast", "-g", "12", "-bf", "3", "-sc_threshold", "0"}},
      {"cropped.mkv", "158x94", {"-c:v", "libx264", "-preset", "fast", "-g", "16"}},
      {"interlaced.ts", "160x128", {"-c:v", "libx264", "-flags", "+ildct+ilme", "-g", "15", "-bf", "2"}},
      {"full-range.mp4", "160x96", {"-c:v", "libx264", "-pix_fmt", "yuvj420p", "-g", "10"}},
      {"open-groups.mp4",
       "160x96",
       {"-c:v", "libx264", "-x264-params", "open-gop=1:keyint=12:min-keyint=12"}},
      {"hevc.mp4", "160x96", x265("open-gop=0")},
      {"hevc-open.mp4", "160x96", x265("open-gop=1")},
      {"hevc-cropped.mkv", "150x90", x265("open-gop=1")},
      {"hevc-10-bit.mp4", "160x96", x265("open-gop=0", "yuv420p10le")},
      {"vp8.webm", "160x96", {"-c:v", "libvpx", "-g", "15", "-auto-alt-ref", "1", "-deadline", "realtime"}},
      {"vp9-odd.webm",
       "161x97",
       {"-c:v", "libvpx-vp9", "-g", "15", "-auto-alt-ref", "1", "-lag-in-frames", "12", "-cpu-used", "8"}},
      {"av1.mp4", "160x96", {"-c:v", "libsvtav1", "-g", "15", "-preset", "12"}},
  };
  return all;
}

/// All that must not depend on the decoder.
struct Picture {
  std::int64_t number;
  double time;
  std::string format;
  std::vector<std::uint8_t> planes;

  bool operator==(const Picture&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Picture& picture) {
    return out << "frame " << picture.number << " at " << picture.time << " s: " << picture.format;
  }
};

Picture picture_in(const AVFrame& picture) {
  const auto format = static_cast<AVPixelFormat>(picture.format);
  const int bytes = av_image_get_buffer_size(format, picture.width, picture.height, 1);
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(bytes));
  av_image_copy_to_buffer(planes.data(), bytes, picture.data, picture.linesize, format, picture.width,
                          picture.height, 1);
  return {0, 0, fmt::format("{} {}x{}", av_get_pix_fmt_name(format), picture.width, picture.height),
          std::move(planes)};
}

Picture picture_in(const Frame& frame) {
  const std::shared_ptr<const AVFrame> decoded = picture_of(frame);
  Picture picture = picture_in(*decoded);
  picture.number = frame.number();
  picture.time = frame.time();
  picture.format += fmt::format(" range {} matrix {}", static_cast<int>(decoded->color_range),
                                static_cast<int>(decoded->colorspace));
  return picture;
}

std::vector<Picture> pictures_of(const std::string& file, const std::string& decoder,
                                 ReadOptions options = {}) {
  options.decoder = decoder;
  Reader reader(file, options);
  std::vector<Picture> pictures;
  while (const auto frame = reader.read()) pictures.push_back(picture_in(*frame));
  EXPECT_EQ(reader.decode_errors(), 0) << reader.last_decode_error();
  return pictures;
}

class DebugLog : public LogCapture {
 public:
  DebugLog() { spdlog::default_logger()->set_level(spdlog::level::debug); }
};

class HardwareDecoder : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TempDir>();
    for (const ClipOfCodec& clip : clips_of_codecs()) {
      const Words input{"-f",        "lavfi",
                        "-i",        fmt::format("testsrc2=size={}:rate=25,noise=alls=20:allf=t", clip.size),
                        "-frames:v", std::to_string(kClipFrames),
                        "-pix_fmt",  "yuv420p"};
      software_[clip.name] = pictures_of(encode_clip(*folder_, input, clip.options, clip.name), "software");
      ASSERT_GE(software_[clip.name].size(), 58U) << clip.name;
    }
  }
  static void TearDownTestSuite() {
    folder_.reset();
    software_.clear();
  }

  static std::string path(const std::string& clip) { return *folder_ / clip; }

  static void expect_same(const std::string& clip, const std::string& decoder) {
    const std::vector<Picture> pictures = pictures_of(path(clip), decoder);
    const std::vector<Picture>& expected = software_.at(clip);
    ASSERT_EQ(pictures.size(), expected.size()) << clip << ", " << decoder;
    for (std::size_t i = 0; i < pictures.size(); ++i)
      ASSERT_EQ(pictures[i], expected[i]) << clip << ", " << decoder;
  }

  static std::unique_ptr<TempDir> folder_;
  static std::map<std::string, std::vector<Picture>> software_;
};

std::unique_ptr<TempDir> HardwareDecoder::folder_;
std::map<std::string, std::vector<Picture>> HardwareDecoder::software_;

#ifdef SIGHTLINE_FAULTS

/// Up to five faults anywhere in a clip. A wrong pixel only where it is looked for: in the first group.
std::string random_faults(std::mt19937& random) {
  const auto number = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  std::string faults = "fake:";
  if (random() % 3 == 0) {
    faults += "prove,";
    if (random() % 2 == 0) faults += fmt::format("wrong@{},", number(9));
  }
  const char* const kinds[] = {"fail", "damage", "damage", "hang"};
  for (int left = number(5); left > 0; --left)
    faults += fmt::format("{}@{},", kinds[random() % std::size(kinds)], number(kClipFrames + 20));
  return faults;
}

TEST_F(HardwareDecoder, LosesAndRepeatsNoFrameWhateverFails) {
  const unsigned plans = sightline::test::is_thorough() ? 200 : 36;
  for (unsigned seed = 0; seed < plans && !HasFatalFailure(); ++seed) {
    std::mt19937 random(seed);
    const ClipOfCodec& clip = clips_of_codecs()[seed % clips_of_codecs().size()];
    const std::string faults = random_faults(random);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    expect_same(clip.name, faults);
  }
}

TEST_F(HardwareDecoder, DecodesEveryFrameWhereNothingFails) {
  for (const ClipOfCodec& clip : clips_of_codecs()) {
    DebugLog log;
    expect_same(clip.name, "fake:");
    EXPECT_THAT(log.str(), HasSubstr("is decoded by fake"));
    EXPECT_THAT(log.str(), Not(HasSubstr("in software from picture")));
  }
}

TEST_F(HardwareDecoder, TakesOverOnceItIsProved) {
  for (const ClipOfCodec& clip : clips_of_codecs()) {
    if (clip.name == std::string("open-groups.mp4")) continue;  // one group, without an end
    DebugLog log;
    expect_same(clip.name, "fake:prove");
    EXPECT_THAT(log.str(), HasSubstr("are equal to those of software")) << clip.name;
    EXPECT_THAT(log.str(), HasSubstr("is decoded by fake")) << clip.name;
  }
}

TEST_F(HardwareDecoder, IsNotUsedForWrongPixels) {
  DebugLog log;
  expect_same("hevc.mp4", "fake:prove,wrong@5");
  EXPECT_THAT(log.str(), HasSubstr("hevc is decoded in software from picture"));
  EXPECT_THAT(log.str(),
              HasSubstr("it decodes other pixels than software (picture 5: plane 0 differs in row 95"));
  EXPECT_THAT(log.str(), Not(HasSubstr("is decoded by fake")));
}

TEST_F(HardwareDecoder, NamesTheDeviceWhileItDecodes) {
  const auto devices = [&](const std::string& decoder) {
    ReadOptions options;
    options.decoder = decoder;
    Reader reader(path("b-frames.mp4"), options);
    std::vector<std::string> names{reader.device()};
    while (reader.read())
      if (names.back() != reader.device()) names.push_back(reader.device());
    return names;
  };
  using testing::ElementsAre;
  EXPECT_THAT(devices("software"), ElementsAre(""));
  EXPECT_THAT(devices("fake:refuse"), ElementsAre(""));
  EXPECT_THAT(devices("fake:"), ElementsAre("fake"));
  EXPECT_THAT(devices("fake:prove"), ElementsAre("", "fake"));
  EXPECT_THAT(devices("fake:damage@5"), ElementsAre("fake", "", "fake"));
}

TEST_F(HardwareDecoder, TellsOfAFaultOnce) {
  DebugLog log;
  expect_same("b-frames.mp4", "fake:fail@20");
  EXPECT_THAT(log.str(), HasSubstr("h264 is decoded in software from picture 20 on, not by fake: "));
  EXPECT_EQ(log.str().find("in software from"), log.str().rfind("in software from"));
}

TEST_F(HardwareDecoder, ReturnsAfterDamage) {
  DebugLog log;
  expect_same("b-frames.mp4", "fake:damage@5,damage@30,damage@40");
  // The device returns with the second group.
  EXPECT_THAT(log.str(), HasSubstr("from picture 5 on"));
  EXPECT_THAT(log.str(), HasSubstr("from picture 37 on"));
}

TEST_F(HardwareDecoder, GoesOnAtTheNextKeyFrameWhereAGroupIsTooLarge) {
  DebugLog log;
  const std::vector<Picture> pictures = pictures_of(path("b-frames.mp4"), "fake:keep@100,fail@17");
  const std::vector<Picture>& expected = software_.at("b-frames.mp4");
  ASSERT_EQ(pictures.size(), expected.size() - 8);  // 17 to 24, the end of the second group
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Picture& same = expected[i < 16 ? i : i + 8];
    ASSERT_EQ(pictures[i].time, same.time);
    ASSERT_EQ(pictures[i].planes, same.planes);
  }
  EXPECT_THAT(log.str(), HasSubstr("the pictures up to the next key frame are lost"));
}

TEST_F(HardwareDecoder, IsNotUsedForStreamsThatItRefuses) {
  DebugLog log;
  expect_same("vp8.webm", "fake:refuse");
  EXPECT_THAT(log.str(), HasSubstr("in software from picture 1 on, not by fake: the fake refuses"));
}

TEST_F(HardwareDecoder, SeeksAndRepeats) {
  ReadOptions options;
  options.start = 1.1;
  options.loop = 1;
  for (const char* const clip : {"b-frames.mp4", "hevc-open.mp4", "vp9-odd.webm", "interlaced.ts"}) {
    const std::vector<Picture> expected = pictures_of(path(clip), "software", options);
    EXPECT_GT(expected.size(), 40U);
    EXPECT_EQ(pictures_of(path(clip), "fake:fail@9,damage@50", options), expected) << clip;
  }
}

/// Raw H.264 of two sizes, one after the other.
std::string two_sizes(const TempDir& folder) {
  std::vector<char> joined;
  for (const char* const size : {"160x96", "128x112"}) {
    const Words input{"-f", "lavfi", "-i", fmt::format("testsrc2=size={}:rate=25:duration=1", size)};
    const std::vector<char> part =
        load(encode_clip(folder, input, {"-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "10", "-bf", "2"},
                         fmt::format("{}.h264", size)));
    joined.insert(joined.end(), part.begin(), part.end());
  }
  const std::string file = folder / "two-sizes.h264";
  store(file, joined);
  return file;
}

TEST_F(HardwareDecoder, FollowsChangesOfSize) {
  const std::string file = two_sizes(*folder_);
  const std::vector<Picture> expected = pictures_of(file, "software");
  ASSERT_EQ(expected.size(), 50U);
  EXPECT_NE(expected.front().format, expected.back().format);
  for (const char* const faults : {"fake:", "fake:prove", "fake:fail@26", "fake:damage@24", "fake:damage@27"})
    EXPECT_EQ(pictures_of(file, faults), expected) << faults;
}

/// Times of the frames of a damaged file, and the errors that the reader counts. Not the pixels, since
/// those that conceal damage depend on pictures before the key frame that decoding begins at.
std::pair<std::vector<double>, std::int64_t> times_of_damaged(const std::string& file,
                                                              const std::string& decoder) {
  ReadOptions options;
  options.decoder = decoder;
  options.threads = 1;
  Reader reader(file, options);
  std::vector<double> times;
  while (const auto frame = reader.read()) times.push_back(frame->time());
  return {std::move(times), reader.decode_errors()};
}

TEST_F(HardwareDecoder, LeavesDamageToSoftware) {
  for (const char* const clip : {"interlaced.ts", "cropped.mkv", "hevc-cropped.mkv"}) {
    const std::vector<char> content = load(path(clip));
    for (unsigned seed = 0; seed < 10; ++seed) {
      std::mt19937 random(seed);
      std::vector<char> damaged = content;
      damaged.resize(content.size() - seed * content.size() / 32);
      for (int i = 0; i < 4; ++i) damaged[content.size() / 8 + random() % (damaged.size() / 2)] ^= 16;
      const std::string file = *folder_ / fmt::format("damaged-{}-{}", seed, clip);
      store(file, damaged);
      EXPECT_EQ(times_of_damaged(file, "fake:"), times_of_damaged(file, "software")) << file;
    }
  }
}

TEST_F(HardwareDecoder, KeepsTheOrderOfLiveStreams) {
  ReadOptions options;
  options.low_delay = true;
  const std::vector<Picture> expected = pictures_of(path("b-frames.mp4"), "software", options);
  EXPECT_EQ(pictures_of(path("b-frames.mp4"), "fake:fail@20", options), expected);
}

#endif

TEST_F(HardwareDecoder, LeavesOtherCodecsToSoftware) {
  const std::string file =
      encode_clip(*folder_, {"-f", "lavfi", "-i", kClip}, {"-c:v", "mpeg4"}, "other.mp4");
  const std::vector<Picture> expected = pictures_of(file, "software");
  DebugLog log;
  EXPECT_EQ(pictures_of(file, "cuda"), expected);
  EXPECT_THAT(log.str(), HasSubstr("decoded in software: no hardware decodes mpeg4 exactly"));
}

TEST_F(HardwareDecoder, WarnsOnceOfADeviceThatIsNotThere) {
  DebugLog log;
  expect_same("b-frames.mp4", "cuda:99");
  EXPECT_THAT(log.str(), HasSubstr("not by cuda:99: cannot open cuda:99"));
  const std::size_t first = log.str().size();
  expect_same("hevc.mp4", "cuda:99");
  EXPECT_THAT(log.str().substr(first), Not(HasSubstr("warning")));
}

TEST_F(HardwareDecoder, IsTheSameAsSoftwareOnThisMachine) {
  for (const ClipOfCodec& clip : clips_of_codecs())
    for (const char* const decoder : {"auto", "cuda"}) expect_same(clip.name, decoder);
}

/// Makes a picture of each packet at once, and counts them.
class QuickDecoder : public VideoDecoder {
 public:
  explicit QuickDecoder(std::shared_ptr<std::atomic<std::size_t>> made) : made_(std::move(made)) {}
  int send(AVPacket*, std::int64_t) override {
    has_picture_ = true;
    return 0;
  }
  int receive(AVFrame&) override {
    if (!std::exchange(has_picture_, false)) return AVERROR(EAGAIN);
    ++*made_;
    return 0;
  }
  void flush() override {}

 private:
  const std::shared_ptr<std::atomic<std::size_t>> made_;
  bool has_picture_ = false;
};

TEST(DecoderThread, KeepsFewPicturesForTheCaller) {
  const auto made = std::make_shared<std::atomic<std::size_t>>(0);
  DecoderThread thread([made] { return std::make_unique<QuickDecoder>(made); }, {});
  for (std::size_t taken = 1; taken <= 10; ++taken) {
    FramePtr picture;
    while (thread.take(picture) != 0) thread.post(make_av_packet(), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_LE(made->load() - taken, DecoderThread::kMostWaiting);
  }
}

TEST(DecoderChoice, IsSoftwareADeviceOrAuto) {
  EXPECT_EQ(parse_decoder("cuda").name(), "cuda:0");
  EXPECT_EQ(parse_decoder("cuda:3").name(), "cuda:3");
  EXPECT_EQ(parse_decoder("vaapi").name(), "vaapi:/dev/dri/renderD128");
  EXPECT_EQ(parse_decoder("vaapi:/dev/dri/renderD129").device, "/dev/dri/renderD129");
  EXPECT_EQ(parse_decoder("auto").kind, DecoderChoice::Kind::automatic);
  for (const char* const text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:12345", "vaapi:", "vaapi:0"})
    expect_error(ExitCode::usage, "is not a decoder", [&] { parse_decoder(text); });
}

// FFmpeg says "Invalid argument" of it.
TEST(DecoderChoice, TellsThatADeviceIsNotThere) {
  try {
    open_hardware_device(parse_decoder("vaapi:/dev/dri/renderD255"));
    FAIL();
  } catch (const DecoderFault& fault) {
    EXPECT_EQ(fault.kind, DecoderFault::Kind::unavailable);
    EXPECT_THAT(fault.what(), HasSubstr("renderD255 (No such file or directory)"));
  }
}

TEST(DecoderChoice, IsSoftwareWherePixelsAreNotFixed) {
  const auto reason = reason_for_software;
  EXPECT_EQ(reason(AV_CODEC_ID_H264, 100, AV_PIX_FMT_YUV420P), "");
  EXPECT_EQ(reason(AV_CODEC_ID_H264, 66 | 1 << 9, AV_PIX_FMT_YUVJ420P), "");
  EXPECT_EQ(reason(AV_CODEC_ID_HEVC, 2, AV_PIX_FMT_YUV420P10), "");
  EXPECT_EQ(reason(AV_CODEC_ID_VP9, 2, AV_PIX_FMT_YUV420P10), "");
  EXPECT_EQ(reason(AV_CODEC_ID_VP8, -99, AV_PIX_FMT_NONE), "");
  EXPECT_THAT(reason(AV_CODEC_ID_H264, 110, AV_PIX_FMT_YUV420P10), HasSubstr("High 10"));
  EXPECT_THAT(reason(AV_CODEC_ID_HEVC, 1, AV_PIX_FMT_YUV422P), HasSubstr("yuv422p"));
  EXPECT_THAT(reason(AV_CODEC_ID_HEVC, 2, AV_PIX_FMT_YUV420P12), HasSubstr("yuv420p12"));
  EXPECT_THAT(reason(AV_CODEC_ID_VP9, 1, AV_PIX_FMT_YUV444P), HasSubstr("Profile 1"));
  EXPECT_THAT(reason(AV_CODEC_ID_MJPEG, -99, AV_PIX_FMT_YUVJ420P), HasSubstr("mjpeg"));
}

/// Random planar 4:2:0, and the same as devices store it (NV12 or P010).
std::pair<FramePtr, FramePtr> planar_and_stored(AVPixelFormat format, Size size) {
  const bool is_deep = format == AV_PIX_FMT_YUV420P10;
  std::pair pictures{make_picture(format, size.width, size.height),
                     make_picture(is_deep ? AV_PIX_FMT_P010 : AV_PIX_FMT_NV12, size.width, size.height)};
  // The function that writes rows sets bits only.
  for (const FramePtr& picture : {std::cref(pictures.first), std::cref(pictures.second)})
    for (const AVBufferRef* const buffer : picture.get()->buf)
      if (buffer) std::fill_n(buffer->data, buffer->size, std::uint8_t{0});
  std::mt19937 random(1);
  std::vector<std::uint16_t> row(static_cast<std::size_t>(size.width));
  for (int component = 0; component < 3; ++component) {
    const int width = component == 0 ? size.width : size.width / 2;
    for (int y = 0; y < (component == 0 ? size.height : size.height / 2); ++y) {
      for (std::uint16_t& sample : row)
        sample = static_cast<std::uint16_t>(random() % (is_deep ? 1024 : 256));
      for (const FramePtr& picture : {std::cref(pictures.first), std::cref(pictures.second)})
        av_write_image_line(row.data(), picture->data, picture->linesize,
                            av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture->format)), 0, y, component,
                            width);
    }
  }
  return pictures;
}

struct SurfaceKind {
  AVHWDeviceType device;
  AVPixelFormat format;
};

/// A surface of a device with the content of a picture. Null: this machine has no such device.
FramePtr surface_with(const AVFrame& content, const SurfaceKind& kind) {
  AVBufferRef* device = nullptr;
  if (av_hwdevice_ctx_create(&device, kind.device, nullptr, nullptr, 0) < 0) return nullptr;
  const BufferPtr owned(device);
  const BufferPtr surfaces(av_hwframe_ctx_alloc(device));
  auto& facts = *reinterpret_cast<AVHWFramesContext*>(surfaces->data);
  facts.format = kind.format;
  facts.sw_format = static_cast<AVPixelFormat>(content.format);
  facts.width = content.width;
  facts.height = content.height;
  FramePtr surface = make_av_frame();
  if (av_hwframe_ctx_init(surfaces.get()) < 0 ||
      av_hwframe_get_buffer(surfaces.get(), surface.get(), 0) < 0 ||
      av_hwframe_transfer_data(surface.get(), &content, 0) < 0)
    return nullptr;
  return surface;
}

/// Surfaces of all devices of this machine, including those that do not decode: FFmpeg copies them by the
/// same function.
std::vector<FramePtr> surfaces_with(const AVFrame& content) {
  std::vector<SurfaceKind> kinds{{AV_HWDEVICE_TYPE_CUDA, AV_PIX_FMT_CUDA},
                                 {AV_HWDEVICE_TYPE_VAAPI, AV_PIX_FMT_VAAPI}};
  // Mesa's lavapipe leaks a little memory, which LeakSanitizer would take for ours.
  if (!sightline::test::kSanitized) kinds.push_back({AV_HWDEVICE_TYPE_VULKAN, AV_PIX_FMT_VULKAN});
  std::vector<FramePtr> surfaces;
  for (const SurfaceKind& kind : kinds)
    if (FramePtr surface = surface_with(content, kind)) surfaces.push_back(std::move(surface));
  return surfaces;
}

/// Sets the crop that the decoder found, of which FFmpeg has applied the right and the bottom to surfaces.
void crop(AVFrame& picture, std::size_t left) {
  picture.width = 192 - 10;
  picture.height = 112 - 6;
  picture.crop_left = left;
  picture.crop_top = left / 8;
}

class SurfaceDownloadTest : public testing::TestWithParam<AVPixelFormat> {};

TEST_P(SurfaceDownloadTest, GivesThePictureOfSoftware) {
  const auto [planar, stored] = planar_and_stored(GetParam(), {192, 112});
  const std::vector<FramePtr> surfaces = surfaces_with(*stored);
  if (surfaces.empty()) GTEST_SKIP() << "no device that FFmpeg can copy pictures to";
  for (const FramePtr& surface : surfaces) {
    SCOPED_TRACE(av_get_pix_fmt_name(static_cast<AVPixelFormat>(surface->format)));
    surface->pts = surface->best_effort_timestamp = 1234;
    surface->colorspace = AVCOL_SPC_BT709;
    SurfaceDownload download;
    for (const std::size_t left : {0U, 2U, 32U, 64U}) {
      crop(*surface, left);
      const FramePtr expected(av_frame_clone(planar.get()));
      crop(*expected, left);
      ASSERT_EQ(av_frame_apply_cropping(expected.get(), 0), 0);
      const FramePtr found = make_av_frame();
      download.download(*surface, GetParam(), *found, false);
      EXPECT_EQ(picture_in(*found), picture_in(*expected)) << left;
      EXPECT_EQ(found->pts, 1234);
      EXPECT_EQ(found->best_effort_timestamp, 1234);
      EXPECT_EQ(found->colorspace, AVCOL_SPC_BT709);
    }
  }
}

TEST_P(SurfaceDownloadTest, RefusesOtherSurfaces) {
  const bool is_deep = GetParam() == AV_PIX_FMT_YUV420P10;
  const auto [planar, stored] =
      planar_and_stored(is_deep ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_YUV420P10, {64, 64});
  for (const FramePtr& surface : surfaces_with(*stored)) {
    const FramePtr found = make_av_frame();
    EXPECT_THROW(SurfaceDownload().download(*surface, GetParam(), *found, false), DecoderFault);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SurfaceDownloadTest,
                         testing::Values(AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV420P10),
                         [](const auto& one) { return std::string(av_get_pix_fmt_name(one.param)); });

TEST(SemiPlanar, BecomesPlanar) {
  const std::vector<std::uint8_t> pairs{1, 2, 3, 4, 5, 6};
  std::vector<std::uint8_t> u(3), v(3);
  split_chroma(pairs.data(), u.data(), v.data(), 3);
  EXPECT_EQ(u, (std::vector<std::uint8_t>{1, 3, 5}));
  EXPECT_EQ(v, (std::vector<std::uint8_t>{2, 4, 6}));

  std::vector<std::uint16_t> deep{1023 << 6, 1 << 6, 0, 512 << 6};
  std::vector<std::uint16_t> deep_u(2), deep_v(2);
  split_chroma_10(deep.data(), deep_u.data(), deep_v.data(), 2);
  EXPECT_EQ(deep_u, (std::vector<std::uint16_t>{1023, 0}));
  EXPECT_EQ(deep_v, (std::vector<std::uint16_t>{1, 512}));
  lower_10_bits(deep.data(), deep.size());
  EXPECT_EQ(deep, (std::vector<std::uint16_t>{1023, 1, 0, 512}));
}

}  // namespace
}  // namespace sightline::media::test
