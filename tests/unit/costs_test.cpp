// Loads, bounds, latencies and rates of schedules, against sums made by hand.

#include "pipeline/planning/costs.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sightline::pipeline {
namespace {

// Four stages, in seconds. Two threads share the CPU's work unevenly: core-seconds are not twice the seconds.
FrameCosts example() {
  FrameCosts costs;
  costs.stages = {
      // cpu, work, device, upload, download
      {0.010, 0.016, 0.002, 0.001, 0.003},
      {0.020, 0.040, 0.004, 0.005, 0.002},
      {0.008, 0.012, 0.003, 0.002, 0.001},
      {0.002, 0.002, -1, 0.004, 0},  // not on the device
  };
  costs.partitionable = 3;
  costs.threads = 2;
  return costs;
}

Schedule mapping(unsigned long bits, int in_flight = 1) {
  return {"custom", StageSet(bits), in_flight, 0};
}

Schedule split(double share, int in_flight = 1) {
  return {"split", {}, in_flight, share};
}

using Loads = std::map<std::string, double>;

void expect_loads(const FrameCosts& costs, const Schedule& schedule, const Loads& expected) {
  Loads loads;
  for (const Load& load : loads_of(costs, schedule)) {
    EXPECT_TRUE(loads.emplace(load.processor, load.seconds).second) << load.processor << " twice";
  }
  ASSERT_EQ(loads.size(), expected.size());
  for (const auto& [processor, seconds] : expected) {
    ASSERT_TRUE(loads.contains(processor)) << processor;
    EXPECT_NEAR(loads[processor], seconds, 1e-12) << processor;
  }
}

TEST(Costs, CpuAlone) {
  const FrameCosts costs = example();
  expect_loads(costs, mapping(0), {{"CPU", 0.035}});  // (16 + 40 + 12 + 2) / 2 threads
  EXPECT_NEAR(bound_of(costs, mapping(0)).fps, 1 / 0.035, 1e-9);
  EXPECT_EQ(bound_of(costs, mapping(0)).processor, "CPU");
  EXPECT_NEAR(latency_of(costs, mapping(0)), 0.040, 1e-12);  // 10 + 20 + 8 + 2
  EXPECT_NEAR(predicted_fps(costs, mapping(0, 1)), 25, 1e-9);
  EXPECT_NEAR(predicted_fps(costs, mapping(0, 2)), 1 / 0.035, 1e-9);  // two frames hide the latency
}

TEST(Costs, AllThatCanOnTheDevice) {
  FrameCosts costs = example();
  costs.turnaround = 0.0005;
  const Schedule gpu = mapping(0b0111, 1);
  // One copy in, before the first stage, and one out, after the third.
  expect_loads(costs, gpu, {{"CPU", 0.001}, {"device", 0.009}, {"upload", 0.001}, {"download", 0.001}});
  EXPECT_EQ(bound_of(costs, gpu).processor, "device");
  EXPECT_NEAR(bound_of(costs, gpu).fps, 1 / 0.009, 1e-9);
  EXPECT_NEAR(latency_of(costs, gpu), 0.002 + 0.009 + 0.001 + 0.001 + 0.0005, 1e-12);
  // `specialized` has one frame at a time; `overlap` is the same mapping with more: the latency is hidden.
  EXPECT_NEAR(predicted_fps(costs, mapping(0b0111, 1)), 1 / 0.0135, 1e-9);
  EXPECT_NEAR(predicted_fps(costs, mapping(0b0111, 4)), 1 / 0.009, 1e-9);
}

TEST(Costs, LastStageOnTheDevice) {
  FrameCosts costs = example();
  costs.stages[3].device = 0.006;
  costs.stages[3].download = 0.0007;
  expect_loads(costs, mapping(0b1000),
               {{"CPU", 0.034}, {"device", 0.006}, {"upload", 0.004}, {"download", 0.0007}});
  expect_loads(costs, mapping(0b1111), {{"device", 0.015}, {"upload", 0.001}, {"download", 0.0007}});
}

TEST(Costs, TwoSegmentsOnTheDevice) {
  FrameCosts costs = example();
  costs.turnaround = 0.0005;
  const Schedule schedule = mapping(0b0101, 1);
  // Stage 0 and stage 2 on the device: each with its own copies and its own turn.
  expect_loads(costs, schedule, {{"CPU", 0.021}, {"device", 0.005}, {"upload", 0.003}, {"download", 0.004}});
  EXPECT_EQ(bound_of(costs, schedule).processor, "CPU");
  EXPECT_NEAR(latency_of(costs, schedule), 0.022 + 0.005 + 0.003 + 0.004 + 2 * 0.0005, 1e-12);
}

TEST(Costs, CopiesCanBeTheBound) {
  FrameCosts costs = example();
  costs.stages[0].upload = 0.5;
  EXPECT_EQ(bound_of(costs, mapping(0b0001)).processor, "upload");
  EXPECT_NEAR(bound_of(costs, mapping(0b0001)).fps, 2, 1e-9);
  costs.stages[0].download = 0.8;
  EXPECT_EQ(bound_of(costs, mapping(0b0001)).processor, "download");
  EXPECT_NEAR(bound_of(costs, mapping(0b0001)).fps, 1.25, 1e-9);
  EXPECT_EQ(bound_of(costs, mapping(0)).processor, "CPU") << "nothing is copied";
}

TEST(Costs, Split) {
  FrameCosts costs = example();
  costs.turnaround = 0.0005;
  // The device takes three quarters of the first three stages; the last stage is done once, on the CPU.
  expect_loads(costs, split(0.75),
               {{"CPU", (0.25 * 0.068 + 0.002) / 2},
                {"device", 0.75 * 0.009},
                {"upload", 0.001},
                {"download", 0.001}});
  const double device = 0.75 * 0.009 + 0.001 + 0.001 + 0.0005;
  const double cpu = 0.25 * 0.038;
  ASSERT_GT(cpu, device);
  EXPECT_NEAR(latency_of(costs, split(0.75)), cpu + 0.002, 1e-12);
  // With more for the device, the frame waits for that.
  EXPECT_NEAR(latency_of(costs, split(0.9)), 0.9 * 0.009 + 0.0025 + 0.002, 1e-12);
}

TEST(Costs, DecoderCanBeTheBound) {
  FrameCosts costs = example();
  costs.decode = {{.processor = "CPU", .seconds = 0.05}};
  expect_loads(costs, mapping(0), {{"CPU", 0.035}, {"decoder", 0.05}});
  EXPECT_EQ(bound_of(costs, mapping(0)).processor, "decoder");
  EXPECT_NEAR(bound_of(costs, mapping(0)).fps, 20, 1e-9);
  EXPECT_NEAR(latency_of(costs, mapping(0)), 0.09, 1e-12);
  EXPECT_NEAR(latency_of(costs, split(0.75)), 0.05 + 0.25 * 0.038 + 0.002, 1e-12);
  EXPECT_NEAR(predicted_fps(costs, mapping(0, 8)), 20, 1e-9);
}

// 16 threads, and a device that needs 0.5 ms for what takes 16 ms of a core.
FrameCosts with_decoders(std::vector<DecoderCost> decoders) {
  FrameCosts costs;
  costs.stages = {{0.002, 0.016, 0.0005, 0, 0}};
  costs.threads = costs.cores = 16;
  costs.decode = std::move(decoders);
  return costs;
}

DecoderCost by_software(int count) {
  return {"CPU", 0.0136, 0.0136, 0.05, count};
}

TEST(Costs, SoftwareDecodersShareTheCpu) {
  const DeviceCosts costs = with_decoders({by_software(16)});
  expect_loads(costs.front(), mapping(1),
               {{"decoder", 0.0136 / 16}, {"CPU", 0.0136 / 16}, {"device", 0.0005}});
  EXPECT_EQ(bound_of(costs, mapping(1)).processor, "decoder");
  EXPECT_NEAR(bound_of(costs, mapping(1)).fps, 1176.5, 0.1);
  EXPECT_NEAR(predicted_fps(costs, mapping(1, 4)), 1176.5, 0.1) << "each decoder has its frames in flight";
  EXPECT_EQ(bound_of(costs, mapping(0)).processor, "CPU");
  EXPECT_NEAR(bound_of(costs, mapping(0)).fps, 16 / (0.016 + 0.0136), 1e-6);
  EXPECT_NEAR(latency_of(costs, mapping(1)), 0.0136 + 0.0005, 1e-12);
  EXPECT_NEAR(decoding_joules(costs, mapping(1)), 0.05, 1e-12);
  EXPECT_NEAR(bound_of(without_decoding(costs), mapping(1)).fps, 2000, 1e-6);
}

TEST(Costs, MeasuredRatesGiveWayToDecoding) {
  const DeviceCosts costs = with_decoders({by_software(16)});
  EXPECT_NEAR(fps_with_decoding(costs, mapping(1), 1800), 1176.5, 0.1) << "the decoders limit it";
  EXPECT_NEAR(fps_with_decoding(costs, mapping(1), 900), 900, 1e-6) << "the CPU decodes meanwhile";
  EXPECT_NEAR(fps_with_decoding(costs, mapping(0), 800), 1 / (1 / 800.0 + 0.0136 / 16), 1e-6);
  EXPECT_EQ(fps_with_decoding(without_decoding(costs), mapping(0), 800), 800);
}

TEST(Costs, DecodersOfADeviceBesideSoftware) {
  const DeviceCosts costs = with_decoders({{"cuda:0", 0.002, 0.0002, -1, 4}, by_software(10)});
  // Both kinds are equally busy, 0.5 ms and 1.36 ms a frame: the device decodes 73% of the frames.
  const double share = 1.36 / (0.5 + 1.36);
  expect_loads(costs.front(), mapping(1),
               {{"decoder", share * 0.0005},
                {"CPU", (share * 0.0002 + (1 - share) * 0.0136) / 16},
                {"device", 0.0005}});
  // Where the CPU's stages need the cores, the device decodes all.
  expect_loads(costs.front(), mapping(0), {{"decoder", 0.0005}, {"CPU", (0.016 + 0.0002) / 16}});
}

TEST(Costs, SharedCores) {
  FrameCosts costs = example();
  costs.shared_cores = 2;
  costs.cores = 2;
  // The device's 9 ms take both cores; the CPU's last stage 2 ms of one.
  expect_loads(
      costs, mapping(0b0111),
      {{"CPU", 0.001}, {"device", 0.009}, {"upload", 0.001}, {"download", 0.001}, {"shared cores", 0.010}});
  EXPECT_EQ(bound_of(costs, mapping(0b0111)).processor, "shared cores");
  expect_loads(costs, mapping(0), {{"CPU", 0.035}});  // the device does nothing
  const Bound half = bound_of(costs, split(0.5));
  EXPECT_EQ(half.processor, "shared cores");
  EXPECT_NEAR(1 / half.fps, (0.5 * 0.068 + 0.002 + 0.5 * 0.009 * 2) / 2, 1e-12);
}

TEST(Costs, NothingCostsNothing) {
  FrameCosts costs;
  costs.stages.resize(3, {0, 0, 0, 0, 0});
  costs.partitionable = 2;
  for (const Schedule& schedule : {mapping(0), mapping(0b111), mapping(0b101), split(0.5)}) {
    EXPECT_TRUE(loads_of(costs, schedule).empty());
    EXPECT_EQ(bound_of(costs, schedule).fps, 0);
    EXPECT_EQ(bound_of(costs, schedule).processor, "");
    EXPECT_EQ(latency_of(costs, schedule), 0);
    EXPECT_EQ(predicted_fps(costs, schedule), 0);
  }
}

// What is not known must not make a schedule look better than it is.
TEST(Costs, UnknownCostsAreNotNegative) {
  FrameCosts costs = example();
  const double without = latency_of(costs, mapping(0b0111));
  EXPECT_GE(latency_of(costs, mapping(0b1111)), without - 0.002 - 0.001 - 1e-12);
  costs.stages.assign(4, StageCost{});
  for (const Schedule& schedule : {mapping(0), mapping(0b0111), split(0.5)}) {
    EXPECT_TRUE(loads_of(costs, schedule).empty());
    EXPECT_EQ(latency_of(costs, schedule), 0);
    EXPECT_EQ(predicted_fps(costs, schedule), 0);
  }
  EXPECT_FALSE(is_known(costs, mapping(0)));
  EXPECT_TRUE(is_known(example(), mapping(0)));
  EXPECT_TRUE(is_known(example(), mapping(0b0111)));
  EXPECT_FALSE(is_known(example(), mapping(0b1111)));
  EXPECT_TRUE(is_known(example(), split(0.5)));
  costs = example();
  costs.stages[1].device = -1;
  EXPECT_FALSE(is_known(costs, split(0.5)));
  EXPECT_TRUE(is_known(costs, mapping(0b0101)));
}

}  // namespace
}  // namespace sightline::pipeline
