// What a tuner begins with, out of decisions.
#include "characterisation/hints.hpp"

#include <gtest/gtest.h>

namespace sightline::characterisation {
namespace {

TEST(Hints, AreTheDecisionsThatThereAre) {
  Characteristics processor;
  EXPECT_EQ(hints_of(processor), opencl::DeviceHints());
  processor.decisions = {{"work_group", "256", ""}, {"local_memory", "no", ""}, {"alignment", "none", ""}};
  EXPECT_EQ(hints_of(processor), (opencl::DeviceHints{256, 0, false}));
  processor.decisions = {{"vector_width", "4", ""}, {"local_memory", "yes", ""}, {"work_group", "any", ""}};
  EXPECT_EQ(hints_of(processor), (opencl::DeviceHints{0, 4, true}));
  processor.type = "CPU";
  EXPECT_EQ(hints_of(processor), opencl::DeviceHints());
}

}  // namespace
}  // namespace sightline::characterisation
