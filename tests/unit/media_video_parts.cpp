// Parts of videos: decoded by themselves they are, to the pixel and the microsecond, what the whole file
// gives.

#include "media/video_parts.hpp"

#include <algorithm>
#include <cmath>

#include "support/media.hpp"

namespace sightline::media::test {
namespace {

struct Clip {
  const char* name;
  std::vector<std::string> options;  // of ffmpeg, before the file's name
  bool is_divided;
};

void PrintTo(const Clip& clip, std::ostream* out) {
  *out << clip.name;
}

const std::vector<std::string> kSource{
    "-f",       "lavfi",  "-i", "testsrc2=size=160x96:rate=25:duration=6,noise=alls=20:allf=t",
    "-pix_fmt", "yuv420p"};

// Frames of one part, read as a task reads them.
std::vector<Frame> read_part(const std::string& file, const VideoParts& parts, std::size_t index) {
  ReadOptions options;
  options.threads = 1 + static_cast<int>(index % 3);
  if (index > 0) options.start = parts.parts[index].begin + 1e-7;
  const double end = index + 1 < parts.parts.size() ? parts.parts[index + 1].begin - 1e-7 : 1e9;
  Reader reader(file, options);
  std::vector<Frame> frames;
  while (auto frame = reader.read()) {
    if (frame->time() >= end) break;
    frames.push_back(std::move(*frame));
  }
  EXPECT_EQ(reader.decode_errors(), 0) << reader.last_decode_error();
  return frames;
}

// Returns the number of parts.
std::size_t expect_equal_parts(const std::string& file) {
  const VideoParts parts = divide_video(file, {}, 20);
  const std::vector<Frame> whole = read_all(file);
  std::vector<Frame> joined;
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    const std::vector<Frame> some = read_part(file, parts, i);
    if (some.empty()) {
      ADD_FAILURE() << "no frames in part " << i;
      continue;
    }
    EXPECT_NEAR(some.front().time(), parts.parts[i].begin, i == 0 ? 1 : 0);
    EXPECT_NEAR(static_cast<double>(some.size()), static_cast<double>(parts.parts[i].frames), 12);
    joined.insert(joined.end(), some.begin(), some.end());
  }
  EXPECT_EQ(joined.size(), whole.size());
  for (std::size_t i = 0; i < std::min(joined.size(), whole.size()); ++i) {
    EXPECT_EQ(joined[i].time(), whole[i].time()) << "frame " << i;
    if (const double difference = mean_difference(joined[i], whole[i]); difference != 0) {
      ADD_FAILURE() << "frame " << i << " differs by " << difference;
      break;
    }
  }
  return parts.parts.size();
}

class VideoPartsTest : public testing::TestWithParam<Clip> {};

TEST_P(VideoPartsTest, AreWhatTheWholeFileGives) {
  const TempDir folder;
  const std::string file =
      encode_clip(folder, kSource, GetParam().options, std::string("clip.") + GetParam().name);
  const VideoParts parts = divide_video(file, {}, 20);
  EXPECT_EQ(parts.whole.empty(), GetParam().is_divided) << parts.whole;
  if (GetParam().is_divided) {
    EXPECT_GE(expect_equal_parts(file), 4u);
  } else {
    EXPECT_EQ(parts.parts.size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, VideoPartsTest,
    testing::Values(
        Clip{"closed.mp4", {"-c:v", "libx264", "-preset", "fast", "-g", "25", "-bf", "3"}, true},
        Clip{"closed.mkv", {"-c:v", "libx264", "-preset", "fast", "-g", "25", "-bf", "3"}, true},
        Clip{"short.mov", {"-c:v", "libx264", "-preset", "fast", "-g", "5", "-bf", "2"}, true},
        Clip{
            "late.mkv", {"-c:v", "libx264", "-preset", "fast", "-g", "25", "-output_ts_offset", "7.2"}, true},
        Clip{"open.mp4",
             {"-c:v", "libx264", "-preset", "fast", "-x264-params", "open-gop=1:keyint=25:min-keyint=25"},
             false},
        Clip{"refresh.mp4",
             {"-c:v", "libx264", "-preset", "fast", "-x264-params", "intra-refresh=1:keyint=25"},
             false},
        Clip{"irregular.mp4",
             {"-vf", "select=not(mod(n\\,7))+lt(mod(n\\,5)\\,3)", "-vsync", "vfr", "-c:v", "libx264", "-g",
              "25", "-bf", "3"},
             true},
        Clip{"hevc.mp4",
             {"-c:v", "libx265", "-preset", "fast", "-x265-params",
              "log-level=none:open-gop=1:keyint=25:min-keyint=25:bframes=4"},
             true},
        Clip{"hevc.mkv",
             {"-c:v", "libx265", "-preset", "fast", "-x265-params",
              "log-level=none:open-gop=1:keyint=25:min-keyint=25:bframes=4"},
             true},
        Clip{"vp8.webm", {"-c:v", "libvpx", "-g", "25", "-auto-alt-ref", "1", "-deadline", "realtime"}, true},
        Clip{"vp9.webm",
             {"-c:v", "libvpx-vp9", "-g", "25", "-auto-alt-ref", "1", "-lag-in-frames", "12", "-cpu-used",
              "8"},
             true},
        Clip{"av1.mp4", {"-c:v", "libsvtav1", "-g", "25", "-preset", "12"}, true},
        Clip{"mpeg4.mp4", {"-c:v", "mpeg4", "-g", "25", "-bf", "2"}, true},
        Clip{"mpeg2.mkv", {"-c:v", "mpeg2video", "-g", "15", "-bf", "2"}, true},
        Clip{"mjpeg.mov", {"-c:v", "mjpeg", "-q:v", "3"}, true},
        Clip{"broadcast.ts", {"-c:v", "libx264", "-preset", "fast", "-g", "25"}, false},
        Clip{"fragments.mp4",
             {"-c:v", "libx264", "-preset", "fast", "-g", "25", "-movflags", "frag_keyframe+empty_moov"},
             true}),
    [](const auto& one) {
      std::string name = one.param.name;
      std::ranges::replace(name, '.', '_');
      return name;
    });

TEST(VideoParts, BeginInsideARangeAndKeepEditLists) {
  const TempDir folder;
  const std::string file = encode_clip(
      folder, kSource, {"-c:v", "libx264", "-preset", "fast", "-g", "25", "-bf", "3", "-sc_threshold", "0"},
      "whole.mp4");
  const auto begins = [&](std::int64_t length, double from, double until) {
    std::vector<double> all;
    for (const VideoPart& part : divide_video(file, {}, length, from, until).parts) all.push_back(part.begin);
    return all;
  };
  EXPECT_EQ(begins(20, 1.5, 3.5), (std::vector<double>{0, 2, 3}));
  EXPECT_EQ(begins(30, 2, 5.5), (std::vector<double>{0, 4}));
  // The copy begins within a group of pictures, whose first pictures its edit list leaves out.
  const std::string cut = encode_clip(folder, {"-ss", "0.7", "-i", file}, {"-c", "copy"}, "cut.mp4");
  EXPECT_GE(expect_equal_parts(cut), 3u);
}

TEST(VideoParts, ShortVideosAndPicturesAreOnePart) {
  const TempDir folder;
  make_clip(folder / "a.mp4", kClip);
  const VideoParts parts = divide_video(folder / "a.mp4", {}, 100);
  EXPECT_EQ(parts.parts.size(), 1u);
  EXPECT_EQ(parts.parts.front().frames, 50);
  EXPECT_EQ(parts.whole, "");
  EXPECT_FALSE(parts.is_picture);
  encode_clip(folder, kSource, {"-frames:v", "1"}, "a.png");
  EXPECT_TRUE(divide_video(folder / "a.png", {}, 100).is_picture);
  expect_error(ExitCode::input, "", [&] { divide_video(folder / "missing.mp4", {}, 100); });
}

}  // namespace
}  // namespace sightline::media::test
