#include "processing/planned_frame.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace sightline {
namespace {

class PlannedFrameTest : public ::testing::Test {
 protected:
  // What was planned: g geometry, w work lists; in capitals where it fails, which ends the update.
  std::string update(Size size, const Partition& partition, const std::string& failing = "") {
    std::string planned;
    const auto plan = [&](char step, char failed) {
      const bool fails = failing.find(step) != std::string::npos;
      planned += fails ? failed : step;
      if (fails) throw std::runtime_error("no memory");
    };
    try {
      frame.update(
          size, partition, [&] { plan('g', 'G'); }, [&] { plan('w', 'W'); });
    } catch (const std::runtime_error&) {
    }
    return planned;
  }

  PlannedFrame frame;
};

TEST_F(PlannedFrameTest, PlansWhatHasChanged) {
  EXPECT_EQ(update({40, 30}, {}), "gw");
  EXPECT_EQ(update({40, 30}, {}), "");
  EXPECT_EQ(update({40, 30}, {0, 0.5}), "w");
  EXPECT_EQ(update({30, 40}, {0, 0.5}), "gw");
  EXPECT_EQ(update({40, 30}, {}), "gw");
  EXPECT_EQ(frame.size(), (Size{40, 30}));
}

TEST_F(PlannedFrameTest, PlansAnewAfterAFailure) {
  EXPECT_EQ(update({40, 30}, {}), "gw");
  EXPECT_EQ(update({50, 30}, {}, "g"), "G");
  EXPECT_EQ(update({40, 30}, {}), "gw");
  EXPECT_EQ(update({40, 30}, {0, 0.5}, "w"), "W");
  EXPECT_EQ(update({40, 30}, {}), "gw");
}

}  // namespace
}  // namespace sightline
