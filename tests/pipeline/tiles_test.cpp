// Frames that are searched in tiles.
#include "detection/tiles.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <sstream>

#include "base/text.hpp"
#include "pipeline/session/sources.hpp"
#include "support/media.hpp"
#include "support/pipeline.hpp"
#include "support/program.hpp"

namespace sightline::pipeline::test {
namespace {

using sightline::test::expect_run;
using sightline::test::kFindsSome;
using sightline::test::moving_clip;
using sightline::test::Words;
using sightline::test::operator+;
using testing::ElementsAre;

constexpr int kUnreadable = 200;  // a pixel of this value fails the search

// The objects of a MOT file as marks.
std::string marks_of(const std::string& found) {
  std::istringstream rows(found);
  std::string marks;
  for (std::string row; std::getline(rows, row);) {
    const std::vector<std::string> fields = split(row, ',');
    marks += fmt::format("{},1,{},1\n", fields[0], fmt::join(fields.begin() + 2, fields.begin() + 6, ","));
  }
  return marks;
}

// Finds the smallest box around all bright pixels; its score is their number.
class SpotDetector : public FakeDetector {
 public:
  std::unique_ptr<Workspace> make_workspace() const override { return std::make_unique<SpotWorkspace>(); }
  bool prepare(Workspace& workspace, PictureView frame, Partition partition) const override {
    static_cast<SpotWorkspace&>(workspace).frame = frame.gray();
    return FakeDetector::prepare(workspace, frame, partition) && frame.width() >= 64;
  }
  std::vector<Detection> take_detections(Workspace& workspace) const override {
    const GrayView frame = static_cast<SpotWorkspace&>(workspace).frame;
    int left = frame.width(), top = frame.height(), right = 0, bottom = 0, pixels = 0;
    for (int y = 0; y < frame.height(); ++y) {
      for (int x = 0; x < frame.width(); ++x) {
        if (frame.at(x, y) == kUnreadable) throw std::runtime_error("unreadable");
        if (frame.at(x, y) == 0) continue;
        left = std::min(left, x);
        top = std::min(top, y);
        right = std::max(right, x + 1);
        bottom = std::max(bottom, y + 1);
        ++pixels;
      }
    }
    if (pixels == 0) return {};
    return {{{double(left), double(top), double(right - left), double(bottom - top)}, double(pixels), 0}};
  }

 private:
  struct SpotWorkspace : FakeWorkspace {
    GrayView frame;
  };
};

Frame frame_with(const Box& spot, int value, std::int64_t number) {
  Image<std::uint8_t> image(200, 150);
  for (int y = 0; y < 150; ++y) std::fill_n(image.view().row(y), 200, std::uint8_t{0});
  for (int y = 0; y < spot.height; ++y) {
    for (int x = 0; x < spot.width; ++x)
      image.view().at(int(spot.x) + x, int(spot.y) + y) = static_cast<std::uint8_t>(value);
  }
  return frame_from_gray(image.view(), number, 0.1 * static_cast<double>(number));
}

TEST(TiledStreams, GiveOneResultAFrame) {
  // In one tile, over the edges of two and of four, and larger than the overlap.
  const std::vector<Box> spots{{10, 10, 8, 8}, {70, 10, 10, 10}, {60, 50, 30, 30}, {20, 20, 150, 100}};
  std::vector<Frame> frames;
  for (const Box& spot : spots) frames.push_back(frame_with(spot, 50, std::ssize(frames) + 1));
  frames.push_back(frame_with({190, 140, 1, 1}, kUnreadable, 5));
  for (const int in_flight : {1, 3, 7}) {
    SpotDetector detector;
    Collector collector;
    MemorySource source(frames, 5);
    Stream stream{&source, "spots", {&collector}, {}};
    stream.tiles = TileOptions{{80, 80}, 0.2};
    std::int64_t progress = 0;
    stream.on_progress = [&](const Progress& one) { progress = one.frames; };
    Pipeline pipeline(detector, nullptr, on_cpu(in_flight));
    const RunReport report = pipeline.run(stream);
    EXPECT_EQ(report.frames, 5);
    EXPECT_EQ(report.failed, 1);
    EXPECT_EQ(report.objects, 4);
    EXPECT_EQ(progress, 5);
    ASSERT_EQ(collector.results.size(), 5u);
    for (std::size_t i = 0; i < spots.size(); ++i) {
      const FrameResult& result = collector.results[i];
      EXPECT_EQ(result.frame, static_cast<std::int64_t>(i) + 1);
      EXPECT_EQ((Size{result.width, result.height}), (Size{200, 150}));
      ASSERT_EQ(result.objects.size(), 1u) << i;
      EXPECT_EQ(result.objects.front().box, spots[i]);
    }
    EXPECT_EQ(collector.results[4].status, FrameStatus::failed);
    EXPECT_EQ(collector.results[4].message, "unreadable");
  }
}

TEST(DetectTiles, GiveTheSameUnderEverySchedule) {
  const std::string picture = std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg";
  const auto search = [&](const Words& options) {
    return expect_run(0, Words{"detect", picture, "-q", "-d", "-"} + options).out;
  };
  EXPECT_EQ(search({"--tiles", "16000"}), search({}));
  const std::string tiled = search({"--tiles", "640", "--min-size", "64", "--threads", "1"});
  EXPECT_EQ(search({"--tiles", "640x640", "--min-size", "64", "--in-flight", "5"}), tiled);
  EXPECT_NE(search({"--min-size", "64"}), tiled);
}

// A picture as a clip: `live` and `evaluate` find what `detect` finds.
TEST(Tiles, MeanTheSameToEveryCommand) {
  const sightline::test::TempDir folder;
  const std::string clip = moving_clip(320, 240, 4);
  const Words tiled = Words{"--tiles", "200", "--tile-overlap", "0.3", "--device", "none"} + kFindsSome;
  const auto detect = [&](const Words& options) {
    return expect_run(0, Words{"detect", clip, "-q", "-f", "mot"} + options).out;
  };
  const std::string found = detect(tiled);
  ASSERT_NE(found, detect(Words{"--device", "none"} + kFindsSome));
  const auto live =
      expect_run(0, Words{"live", clip, "--headless", "--pace", "0", "-f", "mot", "-d", "-"} + tiled);
  EXPECT_EQ(live.out, found);
  EXPECT_THAT(live.err, testing::HasSubstr("4 searched"));
  media::test::store(folder / "truth.txt", marks_of(found));
  const Words evaluate{"evaluate", "frames", clip, "--truth", folder / "truth.txt"};
  const auto judged = [&](const Words& options) {
    return expect_run(0, evaluate + options + kFindsSome).out;
  };
  const char kAll[] = "average precision       1.0000";
  EXPECT_THAT(judged(tiled), testing::HasSubstr(kAll));
  EXPECT_THAT(judged({}), testing::Not(testing::HasSubstr(kAll)));
  expect_run(2, "--misses", evaluate + Words{"--tiles", "200", "--misses", "0.1"});
}

TEST(Tiles, RefuseBadSizes) {
  for (const char* bad : {"0", "63", "640x", "wide", "640x63"})
    expect_run(2, "--tiles", {"detect", "lavfi:testsrc", "--tiles", bad});
  expect_run(2, "--tile-overlap", {"detect", "lavfi:testsrc", "--tiles", "640", "--tile-overlap", "0.6"});
  expect_run(2, "--tiles", {"detect", "lavfi:testsrc", "--tile-overlap", "0.1"});
}

}  // namespace
}  // namespace sightline::pipeline::test
