// Reader on a camera that is made up below FFmpeg (v4l2/fake_camera.hpp).
#include <chrono>
#include <ctime>
#include <thread>

#include "support/media.hpp"
#include "unit/media_live_support.hpp"
#include "v4l2/fake_camera.hpp"

namespace sightline::media::camera {  // of its own: media_live.cpp has helpers of the same names
namespace {

using namespace test;
using sightline::test::FakeCamera;
using sightline::test::kFakeCamera;

class MediaCamera : public testing::Test {
 protected:
  void TearDown() override { sightline::test::set_up({.plugged_in = false}); }
};

TEST_F(MediaCamera, FramesAndTheirTimes) {
  sightline::test::set_up({.age = 0.05});
  Reader reader(kFakeCamera, live());
  EXPECT_EQ(reader.info().size, (Size{64, 48}));
  EXPECT_EQ(reader.info().pixel_format, "yuyv422");
  EXPECT_EQ(reader.info().frame_rate.value(), 50);
  std::int64_t before = 0;
  for (const Frame& frame : read_some(reader, 10)) {
    const FrameTimes& times = frame.times();
    EXPECT_GT(times.captured, before);
    EXPECT_GE(static_cast<double>(times.decoded - times.captured) * 1e-9, 0.0499);  // what the driver said
    EXPECT_LT(static_cast<double>(times.decoded - times.captured) * 1e-9, 1);
    before = times.captured;
  }
}

// The driver's few buffers go back at once, and frames outlive the camera.
TEST_F(MediaCamera, FramesBorrowNothing) {
  sightline::test::set_up({});
  std::vector<Frame> frames;
  {
    Reader reader(kFakeCamera, live());
    frames = read_some(reader, 12);
    EXPECT_EQ(sightline::test::buffers_with_fake_camera(), 4);
  }
  ASSERT_EQ(frames.size(), 12u);
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_GT(to_rgb(frames[i])[0], to_rgb(frames[i - 1])[0]);
}

TEST_F(MediaCamera, DamagedPicturesAreCountedAndLeftOut) {
  sightline::test::set_up({.damaged_every = 3});
  Reader reader(kFakeCamera, live());
  EXPECT_EQ(read_some(reader, 30).size(), 30u);
  EXPECT_GE(reader.decode_errors(), 14);  // two good ones for each
  EXPECT_LE(reader.decode_errors(), 15);
}

TEST_F(MediaCamera, SilenceEndsWithPatience) {
  sightline::test::set_up({.silent_after = 5});
  Reader reader(kFakeCamera, live(0.5));
  EXPECT_EQ(read_some(reader, 5).size(), 5u);
  const double start = now();
  const std::clock_t used = std::clock();
  expect_error(ExitCode::input, "0.5 s", [&] { reader.read(); });
  EXPECT_LT(now() - start, 3);
  EXPECT_LT(static_cast<double>(std::clock() - used) / CLOCKS_PER_SEC, 0.2);  // it sleeps
}

TEST_F(MediaCamera, SilenceCanBeStopped) {
  sightline::test::set_up({.silent_after = 5});
  std::atomic<bool> stop{false};
  ReadOptions options;  // not even low_delay is needed
  options.stop = &stop;
  Reader reader(kFakeCamera, options);
  EXPECT_EQ(read_some(reader, 5).size(), 5u);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  const double start = now();
  EXPECT_FALSE(reader.read());
  EXPECT_LT(now() - start, 3);
  stopper.join();
}

TEST_F(MediaCamera, UnpluggedAndBack) {
  sightline::test::set_up({.gone_after = 5});
  Reader reader(kFakeCamera, live());
  EXPECT_EQ(read_some(reader, 100).size(), 5u);
  sightline::test::set_up({.plugged_in = false});
  expect_error(ExitCode::input, [] { Reader(kFakeCamera, live()); });
  sightline::test::set_up({});
  Reader again(kFakeCamera, live());
  EXPECT_EQ(read_some(again, 5).size(), 5u);
}

TEST_F(MediaCamera, WhatItCannotDeliver) {
  sightline::test::set_up({});
  ReadOptions options = live();
  options.capture.pixel_format = "h264";
  expect_error(ExitCode::input, "devices --cameras", [&] { Reader(kFakeCamera, options); });
  options.capture = {.size = {640, 480}, .frame_rate = 50, .pixel_format = "yuyv422"};
  EXPECT_EQ(Reader(kFakeCamera, options).info().size, (Size{64, 48}));  // the driver's nearest
}

}  // namespace
}  // namespace sightline::media::camera
