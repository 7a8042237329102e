#include "pipeline/session/display_mailbox.hpp"

#include <gmock/gmock.h>

namespace sightline::pipeline {
namespace {

Frame frame(std::int64_t number) {
  const Image<std::uint8_t> picture(8, 8);
  return frame_from_gray(picture.view(), number);
}

FrameResult result(std::int64_t number, std::size_t objects) {
  FrameResult result;
  result.frame = number;
  result.objects.resize(objects);
  return result;
}

class DisplayMailboxTest : public testing::TestWithParam<bool> {
 protected:
  void search(std::int64_t number, std::size_t objects) {
    mailbox.accept(frame(number), result(number, objects));
  }
  int woken = 0;
  DisplayMailbox mailbox{GetParam(), [this] { ++woken; }};
};

class SearchedFrames : public DisplayMailboxTest {};
class AllFrames : public DisplayMailboxTest {};
INSTANTIATE_TEST_SUITE_P(Display, SearchedFrames, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Display, AllFrames, testing::Values(true));

TEST_P(SearchedFrames, NewestWinsAndIsFetchedOnce) {
  EXPECT_FALSE(mailbox.fetch());
  search(1, 1);
  search(2, 3);
  EXPECT_EQ(woken, 2);
  const auto shown = mailbox.fetch();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->frame.number(), 2);
  EXPECT_EQ(shown->objects.size(), 3U);
  EXPECT_TRUE(shown->is_own());
  EXPECT_FALSE(mailbox.fetch());
  EXPECT_EQ(mailbox.replaced(), 1);
}

TEST_P(SearchedFrames, CapturedFramesBridgeTheTimeToTheFirstResult) {
  mailbox.captured(frame(1));
  mailbox.captured(frame(2));
  const auto bridge = mailbox.fetch();
  ASSERT_TRUE(bridge);
  EXPECT_EQ(bridge->frame.number(), 2);
  EXPECT_FALSE(bridge->counts);
  mailbox.captured(frame(3));
  search(1, 1);
  mailbox.captured(frame(4));
  const auto shown = mailbox.fetch();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->frame.number(), 1);
  EXPECT_TRUE(shown->counts);
  EXPECT_EQ(mailbox.replaced(), 0);
}

TEST_P(AllFrames, ShowTheObjectsKnownLast) {
  mailbox.captured(frame(1));
  EXPECT_EQ(mailbox.fetch()->searched, 0);
  mailbox.captured(frame(2));
  search(1, 2);
  EXPECT_EQ(woken, 2);  // the result alone is no new picture
  const auto shown = mailbox.fetch();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->frame.number(), 2);
  EXPECT_EQ(shown->objects.size(), 2U);
  EXPECT_FALSE(shown->is_own());
  mailbox.captured(frame(3));
  mailbox.captured(frame(4));
  EXPECT_EQ(mailbox.fetch()->frame.number(), 4);
  EXPECT_EQ(mailbox.replaced(), 1);
}

TEST_P(AllFrames, StandStillWhileFrozenButForStepsThroughTheDetector) {
  mailbox.freeze(true);
  mailbox.captured(frame(1));
  EXPECT_FALSE(mailbox.fetch());
  search(1, 1);
  EXPECT_EQ(mailbox.fetch()->frame.number(), 1);
  mailbox.freeze(false);
  mailbox.captured(frame(2));
  EXPECT_EQ(mailbox.fetch()->frame.number(), 2);
}

}  // namespace
}  // namespace sightline::pipeline
