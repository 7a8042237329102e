// What NVIDIA's compiler and calculator say of kernels.
#include <gtest/gtest.h>

#include "opencl/kernel_resources.hpp"

namespace sightline::opencl {
namespace {

TEST(VerboseLog, NamesRegistersAndSpillsOfEachKernel) {
  const auto found = parse_verbose_log(
      "ptxas info    : 0 bytes gmem, 8 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function 'scan' for 'sm_90'\n"
      "ptxas info    : Function properties for scan\n"
      "    80 bytes stack frame, 80 bytes spill stores, 84 bytes spill loads\n"
      "ptxas info    : Function properties for scan_helper\n"
      "    0 bytes stack frame, 4612 bytes spill stores, 4596 bytes spill loads\n"
      "ptxas info    : Used 42 registers, used 1 barriers, 8192 bytes smem, 396 bytes cmem[0]\n"
      "ptxas info    : Compile time = 3.412 ms\n"
      "ptxas info    : Compiling entry function 'finish' for 'sm_90'\n"
      "ptxas info    : Function properties for finish\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 19 registers, 328 bytes cmem[0]\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("scan").registers, 42u);
  EXPECT_EQ(found.at("scan").spill_bytes, 164u);
  EXPECT_EQ(found.at("finish").registers, 19u);
  EXPECT_EQ(found.at("finish").spill_bytes, 0u);
}

TEST(VerboseLog, ReadsLinesThatAreJoinedAndOlderOnes) {
  const auto found = parse_verbose_log(
      ": Ptx compilation for 'cuModuleLoadDataEx_4', for gpu='sm_20', ocg options='  --verbose  ' "
      "ptxas info    : Compiling entry function 'product' for 'sm_20' "
      "ptxas info    : Function properties for product "
      "ptxas         .     0 bytes stack frame, 12 bytes spill stores, 4 bytes spill loads "
      "ptxas info    : Used 31 registers, 32800 bytes smem, 64 bytes cmem[0]");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("product").registers, 31u);
  EXPECT_EQ(found.at("product").spill_bytes, 16u);
}

TEST(VerboseLog, LeavesUnknownWhatIsNotThere) {
  EXPECT_TRUE(parse_verbose_log("").empty());
  EXPECT_TRUE(parse_verbose_log("warning: 3 registers, 4 bytes spill stores").empty());
  EXPECT_TRUE(parse_verbose_log("Compiling entry function 'cut").empty());
  const auto found = parse_verbose_log(
      "ptxas info : Compiling entry function 'a' for 'sm_90' registers\n"
      "ptxas info : Compiling entry function 'b' for 'sm_90'\n 7 bytes spill stores\n"
      "ptxas info : Used 99999999999999999999999 registers");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("a").registers, std::nullopt);
  EXPECT_EQ(found.at("b").registers, std::nullopt);
  EXPECT_EQ(found.at("b").spill_bytes, std::nullopt);
}

// Shares that NVIDIA's calculator gives.
TEST(Occupancy, FollowsTheScarcestResource) {
  EXPECT_EQ(occupancy(90, {256, 32, 0}), 1.0);
  EXPECT_EQ(occupancy(90, {256, 33, 0}), 0.75) << "registers, in steps of 8";
  EXPECT_EQ(occupancy(90, {256, 128, 0}), 0.25);
  EXPECT_EQ(occupancy(90, {256, 255, 0}), 0.125);
  EXPECT_EQ(occupancy(90, {32, 16, 0}), 0.5) << "32 work-groups";
  EXPECT_EQ(occupancy(90, {33, 16, 0}), 1.0) << "two sub-groups each";
  EXPECT_EQ(occupancy(90, {256, 32, 100 * 1024}), 0.25) << "local memory of two work-groups";
  EXPECT_EQ(occupancy(90, {256, 32, 228 * 1024}), 0.0);
  EXPECT_EQ(occupancy(86, {1024, 32, 0}), 32 / 48.0);
  EXPECT_EQ(occupancy(75, {1024, 42, 8192}), 1.0);
}

// J. Chen's kernels of 19 registers on a GT 740M and a GTX 650 (compute capability 3.0).
TEST(Occupancy, IsThatOfThePublishedTable) {
  EXPECT_EQ(occupancy(30, {128, 19, 0}), 1.0);
  EXPECT_EQ(occupancy(30, {256, 19, 0}), 1.0);
  EXPECT_EQ(occupancy(30, {768, 19, 0}), 0.75);
  EXPECT_EQ(occupancy(30, {1024, 19, 0}), 1.0);
}

TEST(Occupancy, IsUnknownWithoutALimitOrAWorkGroup) {
  EXPECT_EQ(occupancy(0, {256, 32, 0}), std::nullopt);
  EXPECT_EQ(occupancy(13, {256, 32, 0}), std::nullopt);
  EXPECT_EQ(occupancy(90, {0, 32, 0}), std::nullopt);
}

}  // namespace
}  // namespace sightline::opencl
