// What a capture's state is, at made-up times.
#include "pipeline/session/capture_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sightline::pipeline::test {
namespace {

using ::testing::HasSubstr;

CaptureClock::time_point at(double seconds) {
  return CaptureClock::time_point(std::chrono::hours(1)) +
         std::chrono::duration_cast<CaptureClock::duration>(std::chrono::duration<double>(seconds));
}

StreamInfo info_of(int rate) {
  StreamInfo info;
  info.frame_rate = {rate, 1};
  return info;
}

/// Reads one frame that comes at a time.
void frame_at(CaptureWatch& watch, double time) {
  watch.reads(at(time) - std::chrono::milliseconds(10));
  watch.frame(at(time));
}

TEST(CaptureWatch, OpensAndStreams) {
  CaptureWatch watch(1, at(0));
  watch.attempts();
  EXPECT_EQ(watch.status(at(0.5)).state, CaptureState::opening);
  EXPECT_FALSE(watch.status(at(0.5)).opened);
  watch.opened(info_of(30));
  frame_at(watch, 0.6);
  const CaptureStatus status = watch.status(at(0.7));
  EXPECT_EQ(status.state, CaptureState::streaming);
  EXPECT_TRUE(status.opened);
  EXPECT_EQ(status.info.frame_rate, (Rational{30, 1}));
  EXPECT_NEAR(status.since_frame, 0.1, 1e-6);
  EXPECT_EQ(status.reason, "");
}

TEST(CaptureWatch, ASilenceIsAStallAfterItsTimeOnly) {
  CaptureWatch watch(1, at(0));
  watch.opened(info_of(30));
  frame_at(watch, 0);
  watch.reads(at(0));
  EXPECT_EQ(watch.status(at(0.99)).state, CaptureState::streaming);
  const CaptureStatus status = watch.status(at(1.2));
  EXPECT_EQ(status.state, CaptureState::stalled);
  EXPECT_THAT(status.reason, HasSubstr("1.2 s"));
  watch.frame(at(1.5));
  EXPECT_EQ(watch.status(at(1.6)).state, CaptureState::streaming);
  EXPECT_EQ(watch.status(at(9)).state, CaptureState::streaming) << "no read: nobody asked for a frame";
}

TEST(CaptureWatch, ASlowSourceDoesNotStallBetweenItsFrames) {
  CaptureWatch watch(1, at(0));
  watch.opened(info_of(30));
  for (int i = 0; i < 6; ++i) frame_at(watch, 2.0 * i);  // one in 2 s, whatever it says
  watch.reads(at(10));
  EXPECT_EQ(watch.status(at(15.9)).state, CaptureState::streaming);
  EXPECT_EQ(watch.status(at(16.1)).state, CaptureState::stalled);
  EXPECT_NEAR(watch.period(), 2, 1e-6);
}

TEST(CaptureWatch, OneGapDoesNotMakeASlowSource) {
  CaptureWatch watch(1, at(0));
  watch.opened(info_of(30));
  for (int i = 0; i < 30; ++i) frame_at(watch, i / 30.0);
  frame_at(watch, 20);
  watch.reads(at(20));
  EXPECT_EQ(watch.status(at(21.1)).state, CaptureState::stalled);
}

TEST(CaptureWatch, LossesAreToldWithTheNextAttempt) {
  CaptureWatch watch(1, at(0));
  watch.opened(info_of(30));
  frame_at(watch, 1);
  watch.lost("pulled out", at(2.5));
  CaptureStatus status = watch.status(at(2));
  EXPECT_EQ(status.state, CaptureState::reopening);
  EXPECT_NE(status.reason, "");
  EXPECT_NEAR(status.next_attempt, 0.5, 1e-6);
  EXPECT_NEAR(status.since_frame, 1, 1e-6);
  EXPECT_EQ(status.frame_rate, 0);
  EXPECT_EQ(status.reopened, 0);
  watch.attempts();
  status = watch.status(at(2.2));
  EXPECT_EQ(status.state, CaptureState::reopening);
  EXPECT_EQ(status.next_attempt, 0);
  watch.opened(info_of(15));
  EXPECT_EQ(watch.status(at(2.6)).state, CaptureState::reopening) << "an opening without a frame is none";
  frame_at(watch, 3);
  status = watch.status(at(3));
  EXPECT_EQ(status.state, CaptureState::streaming);
  EXPECT_EQ(status.reopened, 1);
  EXPECT_EQ(status.reason, "");
  watch.lost("again", at(4));
  watch.failed("given up");
  EXPECT_EQ(watch.status(at(5)).state, CaptureState::failed);
  EXPECT_NE(watch.status(at(5)).reason, "");
}

TEST(CaptureWatch, AFirstOpeningThatFailsIsStillTheFirst) {
  CaptureWatch watch(1, at(0));
  watch.lost("not there", at(1));
  EXPECT_EQ(watch.status(at(0.5)).state, CaptureState::opening);
  EXPECT_NE(watch.status(at(0.5)).reason, "");
  EXPECT_NEAR(watch.status(at(0.5)).next_attempt, 0.5, 1e-6);
  watch.opened(info_of(30));
  frame_at(watch, 1);
  EXPECT_EQ(watch.status(at(1)).reopened, 0);
  watch.ended();
  EXPECT_EQ(watch.status(at(1)).state, CaptureState::ended);
}

TEST(CaptureWatch, TheRateIsTheLastSeconds) {
  CaptureWatch watch(1, at(0));
  watch.opened(info_of(30));
  for (int i = 0; i < 100; ++i) frame_at(watch, i / 10.0);
  EXPECT_NEAR(watch.status(at(9.95)).frame_rate, 10, 1e-6);
  for (int i = 1; i <= 100; ++i) frame_at(watch, 9.9 + i / 50.0);
  EXPECT_NEAR(watch.status(at(11.9)).frame_rate, 50, 1e-3);
  EXPECT_NEAR(watch.status(at(13.9)).frame_rate, 0.5, 1e-3) << "it sinks in a silence";
  CaptureWatch slow(1, at(0));
  for (int i = 0; i < 4; ++i) frame_at(slow, 5.0 * i);
  EXPECT_NEAR(slow.status(at(15.1)).frame_rate, 0.2, 1e-6);
}

TEST(CaptureWatch, PausesGrowToTheLongest) {
  std::vector<double> pauses;
  for (int attempt = 0; attempt < 7; ++attempt) pauses.push_back(reopen_pause(attempt, 0.25, 5));
  EXPECT_EQ(pauses, (std::vector<double>{0.25, 0.5, 1, 2, 4, 5, 5}));
  EXPECT_EQ(reopen_pause(100000, 0.25, 5), 5);
}

}  // namespace
}  // namespace sightline::pipeline::test
