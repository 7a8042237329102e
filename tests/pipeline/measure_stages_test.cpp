// Each stage by itself: that it does what it does in a run, and that its energy is what it took.

#include "pipeline/measurement/measure_stages.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "detectors/cascade/detector.hpp"
#include "detectors/filterbank/detector.hpp"
#include "opencl/device.hpp"
#include "pipeline/measurement/energy_windows.hpp"
#include "pipeline/measurement/stage_alone.hpp"
#include "pipeline/planning/planner.hpp"
#include "pipeline/report/stage_output.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/counted_energy.hpp"
#include "support/filterbank.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

using filterbank::FilterbankDetector;
using test::CountedEnergy;
using test::CountedProcessor;
using test::CountedStages;
using testing::HasSubstr;
using testing::Not;

std::optional<opencl::ChosenDevice> cpu_device() {
  for (const opencl::DeviceInfo& info : opencl::list_devices()) {
    if (info.type == opencl::DeviceType::cpu && info.correctly_rounded_divide_sqrt && info.compiler_available)
      return opencl::ChosenDevice{info, 0, "test"};
  }
  return std::nullopt;
}

Frame frame_of(int value) {
  return test::numbered_frames().at(static_cast<std::size_t>(value));
}

FrameResult result_of_run(const FrameProcessor& processor, PictureView frame) {
  const auto workspace = processor.make_workspace();
  EXPECT_TRUE(run_stages(processor, *workspace, frame));
  FrameResult result;
  processor.take_result(*workspace, result);
  return result;
}

class StagesAlone : public ::testing::Test {
 protected:
  FilterbankDetector detector_{sightline::test::random_model(12, 3), [] {
                                 filterbank::Options options;
                                 options.scale_step = 1.5;
                                 options.threshold = -10;
                                 return options;
                               }()};
  Image<std::uint8_t> picture_ = sightline::test::random_picture({120, 90}, 4);
};

TEST_F(StagesAlone, LeaveOnTheCpuWhatTheyLeaveInARun) {
  const FrameResult expected = result_of_run(detector_, picture_.view());
  ASSERT_FALSE(expected.objects.empty());
  for (std::size_t stage = 0; stage < detector_.stages().size(); ++stage) {
    SCOPED_TRACE(detector_.stages()[stage].name);
    const auto alone = stage_on_cpu(detector_, picture_.view(), stage, 2);
    ASSERT_TRUE(alone);
    alone->run(4);
    EXPECT_EQ(difference(alone->finish(), expected), "");
  }
}

TEST_F(StagesAlone, LeaveOnADeviceWhatTheyLeaveInARun) {
  const auto chosen = cpu_device();
  if (!chosen) GTEST_SKIP() << "there is no usable OpenCL device here";
  for (const opencl::BufferUse buffers : {opencl::BufferUse::mapped, opencl::BufferUse::copied}) {
    opencl::ChosenDevice device = *chosen;
    device.buffers = buffers;
    const auto stages = make_device_stages(detector_, device);
    ASSERT_TRUE(stages);
    const FrameResult expected = result_of_run(detector_, picture_.view());
    for (std::size_t stage = 0; stage < detector_.stages().size(); ++stage) {
      SCOPED_TRACE(detector_.stages()[stage].name);
      const auto alone = stage_on_device(detector_, *stages, picture_.view(), stage);
      ASSERT_EQ(alone != nullptr, stages->supported()[stage]);
      if (!alone) continue;
      EXPECT_FALSE(alone->needs_making_ready());
      EXPECT_GT(alone->run(40), 0);
      EXPECT_EQ(difference(alone->finish(), expected), "");
    }
    for (const Copy copy : {Copy::upload, Copy::download}) {
      const auto alone = copy_alone(detector_, *stages, picture_.view(), copy);
      ASSERT_TRUE(alone);
      EXPECT_GT(alone->run(5), 0);
      EXPECT_EQ(difference(alone->finish(), expected), "");
    }
  }
}

TEST(StageAlone, WhatChangesItsInputIsMadeReadyAnew) {
  const Frame frame = frame_of(40);
  for (const bool adds_up : {false, true}) {
    const CountedProcessor processor(nullptr, adds_up);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      SCOPED_TRACE(stage);
      const auto alone = stage_on_cpu(processor, frame.view(), stage, 1);
      ASSERT_TRUE(alone);
      EXPECT_EQ(alone->needs_making_ready(), adds_up && stage == CountedProcessor::kAdd);
      alone->run(5);
      EXPECT_EQ(alone->finish().objects.at(0).score, 23);
    }
  }
}

TEST(StageAlone, NoneWhereNothingIsToBeFound) {
  const CountedProcessor processor(nullptr, false);
  const Image<std::uint8_t> small(4, 4);
  EXPECT_EQ(stage_on_cpu(processor, small.view(), 0, 1), nullptr);
}

class MeasureStages : public ::testing::Test {
 protected:
  static MeasureStagesOptions options(CountedEnergy& energy) {
    MeasureStagesOptions options;
    options.seconds = 0.06;
    options.repeats = 2;
    options.threads = 1;
    options.meters = energy.meters();
    return options;
  }
  static const AloneRow& row(const StageMeasurement& m, const std::string& name, std::size_t processor) {
    const auto found = std::ranges::find_if(
        m.rows, [&](const AloneRow& one) { return one.name == name && one.processor == processor; });
    if (found == m.rows.end()) throw std::runtime_error("no row " + name);
    return *found;
  }
};

TEST_F(MeasureStages, EnergyIsWhatTheStagesTook) {
  const auto device = cpu_device();
  if (!device) GTEST_SKIP() << "there is no usable OpenCL device here";
  for (const bool adds_up : {false, true}) {
    CountedEnergy energy(5);
    const CountedProcessor processor(&energy, adds_up);
    const CountedStages stages(processor, *device);
    MeasureStagesOptions asked = options(energy);
    asked.schedules = {"cpu", "gpu"};
    asked.exhaustive = true;
    const StageMeasurement m = measure_stages(processor, &stages, frame_of(40), asked);
    EXPECT_EQ(m.meter, "RAPL package-0");
    EXPECT_EQ(m.part_names, std::vector<std::string>{"RAPL core"});
    ASSERT_EQ(m.idle_parts.size(), 1U);
    EXPECT_DOUBLE_EQ(m.idle_parts[0], (m.idle_before->parts[0] + m.idle_after->parts[0]) / 2);
    EXPECT_EQ(m.seen, (std::vector<bool>{true, true}));
    EXPECT_GT(m.idle_watts, 2.5);
    for (std::size_t stage = 0; stage < 3; ++stage) {
      SCOPED_TRACE(m.stages[stage]);
      const AloneRow& cpu = row(m, m.stages[stage], 0);
      const double expected = processor.cpu_joules[stage];
      ASSERT_TRUE(cpu.joules);
      EXPECT_NEAR(cpu.joules->above_idle, expected, 0.05 * expected);
      EXPECT_NEAR(cpu.joules->parts.at(0), expected / 2, 0.05 * expected);
      EXPECT_EQ(cpu.made_ready, adds_up && stage == CountedProcessor::kAdd);
      if (!cpu.made_ready) {
        EXPECT_NEAR(cpu.joules->whole - cpu.joules->above_idle, m.idle_watts * cpu.seconds, 1e-9);
      }
      if (stage == 2) continue;
      const AloneRow& there = row(m, m.stages[stage], 1);
      ASSERT_TRUE(there.joules);
      EXPECT_NEAR(there.joules->above_idle, processor.device_joules[stage],
                  0.05 * processor.device_joules[stage]);
    }
    EXPECT_NEAR(row(m, "upload", 1).joules->above_idle, 0, 0.05);

    ASSERT_EQ(m.schedules.size(), 2u);
    const WholeRow& cpu = m.schedules[0];
    EXPECT_NEAR(*cpu.stages_joules, 7, 0.05 * 7);
    const auto parts = explained(cpu);
    ASSERT_TRUE(parts);
    EXPECT_NEAR(parts->rest, 0, 0.1 * 7);
    EXPECT_DOUBLE_EQ(parts->idle + parts->stages + parts->rest, cpu.joules->whole);
    // halve on the device, the rest on the CPU: 1 + 2 + 1 J; no other mapping takes less.
    EXPECT_EQ(m.mappings.size(), 4u);
    const auto best = most_frugal(m.mappings);
    ASSERT_TRUE(best);
    EXPECT_EQ(m.mappings[*best].schedule.on_device, StageSet(0b001));
    const StageEnergies energies = energies_of(m);
    EXPECT_NEAR(energies.joules[0][0].value(), 4, 0.2);
    EXPECT_FALSE(energies.joules[1][2]);
  }
}

// The planner measures stages for itself where nobody has, and takes the mapping that is the best of all.
TEST_F(MeasureStages, TheGoalEnergyTakesTheBestMapping) {
  const auto device = cpu_device();
  if (!device) GTEST_SKIP() << "there is no usable OpenCL device here";
  const sightline::test::TempDir folder;
  for (const bool device_is_frugal : {true, false}) {
    CountedEnergy energy(5);
    CountedProcessor processor(&energy, false);
    if (!device_is_frugal) processor.device_joules[CountedProcessor::kHalve] = 20;
    const CountedStages stages(processor, *device);
    PlanOptions asked;
    asked.goal = Goal::energy;
    asked.energy_seconds = 0.05;
    asked.energy_trial_seconds = 0.05;
    asked.in_flight = 2;
    asked.trials = 2;
    asked.file = folder / "plans.json";
    asked.energy_file = folder / (device_is_frugal ? "a.json" : "b.json");
    Pipeline pipeline(processor, &stages, test::on_cpu(2), {1});
    count_energy(asked, processor, &stages, pipeline.threads(), energy.meters());
    const Planned planned = plan_schedule(pipeline, processor, &stages, {frame_of(40)}, asked);
    EXPECT_FALSE(planned.remembered) << "energies are others than those that were remembered";
    EXPECT_EQ(planned.schedule.on_device, StageSet(device_is_frugal ? 0b001 : 0b000));
    ASSERT_TRUE(planned.objective.energies);
    EXPECT_TRUE(planned.objective.energies->sees_all());
    const Alternative& best = planned.alternatives.front();
    const double expected = device_is_frugal ? 4 : 7;
    EXPECT_NEAR(best.joules.value(), expected + 5 / best.achieved_fps, 0.3 * expected);
    EXPECT_NEAR(best.predicted_joules.value(), expected + 5 / best.predicted_fps, 0.05 * expected);
    EXPECT_THAT(explain(planned, processor), HasSubstr("mJ predicted"));
    EXPECT_THAT(explain(planned, processor), HasSubstr("Energy is measured by RAPL package-0.\n"));
    const Planned again = plan_schedule(pipeline, processor, &stages, {frame_of(40)}, asked);
    EXPECT_TRUE(again.remembered);
    EXPECT_EQ(again.schedule, planned.schedule);
    EXPECT_EQ(again.objective.energies, planned.objective.energies);
  }
}

// On a machine that is disturbed, windows of equal work are not equally long.
TEST(EnergyWindows, PartsAreCountedAsTheWholeIs) {
  std::vector<EnergyWindow> windows(2);
  for (EnergyWindow& window : windows) {
    window.turns = 10;
    window.energy = EnergyReading{20, {20}, {10}, {}};
  }
  windows[0].seconds = 1;
  windows[1].seconds = 3;
  const FrameJoules joules = joules_of(windows, 5, {2});
  EXPECT_DOUBLE_EQ(joules.whole, 2);
  EXPECT_DOUBLE_EQ(joules.above_idle, 2 - 5 * 0.2);
  ASSERT_EQ(joules.parts.size(), 1u);
  EXPECT_DOUBLE_EQ(joules.parts[0], 1 - 2 * 0.2);
}

// Where the user's cache folder cannot be written, what was measured counts for this run.
TEST_F(MeasureStages, EnergiesThatCannotBeKeptAreUsed) {
  const sightline::test::TempDir folder;
  std::ofstream(folder / "file") << "{}";
  CountedEnergy energy(5);
  const CountedProcessor processor(&energy, false);
  PlanOptions asked;
  asked.goal = Goal::energy;
  asked.energy_seconds = asked.energy_trial_seconds = 0.02;
  asked.in_flight = asked.trials = 1;
  asked.energy_file = folder / "file/energies.json";
  Pipeline pipeline(processor, nullptr, test::on_cpu(1), {1});
  count_energy(asked, processor, nullptr, pipeline.threads(), energy.meters());
  EXPECT_TRUE(plan_schedule(pipeline, processor, nullptr, {frame_of(40)}, asked).objective.energies);
}

TEST(EnergyRemark, SaysWhatNoMeterSees) {
  Planned planned;
  EXPECT_EQ(energy_remark(planned), "");
  planned.objective.energies.emplace();
  planned.objective.energies->meter = "NVML card";
  planned.objective.energies->seen = {false, true};
  EXPECT_EQ(energy_remark(planned),
            "Energy is measured by NVML card: no meter sees the energy of the CPU, which is not counted.\n");
}

TEST_F(MeasureStages, WithoutAMeterThereAreTimes) {
  CountedEnergy energy(5);
  const CountedProcessor processor(nullptr, false);
  MeasureStagesOptions asked = options(energy);
  asked.meters.powercap = "/nowhere";
  asked.schedules = {"cpu"};
  const StageMeasurement m = measure_stages(processor, nullptr, frame_of(40), asked);
  EXPECT_EQ(m.rows.size(), 3u);
  for (const AloneRow& one : m.rows) {
    EXPECT_GE(one.seconds, 50e-6);
    EXPECT_FALSE(one.joules);
    EXPECT_FALSE(one.power);
  }
  const std::string text = stages_as_text(m);
  EXPECT_THAT(text, HasSubstr("no meter"));
  EXPECT_THAT(text, HasSubstr("no energy measured: there is no meter"));
  EXPECT_THAT(stages_as_svg(m), HasSubstr("Time of a frame"));
}

TEST_F(MeasureStages, AnOddResultIsToldOf) {
  struct Odd : CountedProcessor {
    using CountedProcessor::CountedProcessor;
    mutable std::atomic<int> runs{0};
    void run_stage(std::size_t stage, Workspace& workspace) const override {
      CountedProcessor::run_stage(stage, workspace);
      if (stage == kShow) static_cast<test::CountedWorkspace&>(workspace).result += runs++;
    }
  };
  const Odd processor(nullptr, false);
  EXPECT_THAT(sightline::test::error_of(ExitCode::failed,
                                        [&] { stage_on_cpu(processor, frame_of(40).view(), 0, 1); }),
              HasSubstr("stage 'halve'"));

  // Results of a processor that is not exact are not compared.
  struct Inexact : Odd {
    Inexact() : Odd(nullptr, false) {
      std::ranges::copy(CountedProcessor::stages(), own.begin());
      own[kShow].exact = false;
    }
    std::span<const StageInfo> stages() const override { return own; }
    std::array<StageInfo, 3> own;
  };
  EXPECT_TRUE(stage_on_cpu(Inexact(), frame_of(40).view(), 0, 1)->needs_making_ready());
}

TEST_F(MeasureStages, StopsOnRequest) {
  CountedEnergy energy(5);
  const CountedProcessor processor(&energy, false);
  MeasureStagesOptions asked = options(energy);
  const std::atomic<bool> stop{true};
  asked.stop = &stop;
  EXPECT_THROW(measure_stages(processor, nullptr, frame_of(40), asked), Error);
}

}  // namespace
}  // namespace sightline::pipeline
