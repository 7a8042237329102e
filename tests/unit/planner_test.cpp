// How schedules are weighed, tried and remembered.

#include "pipeline/planning/planner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "detectors/filterbank/detector.hpp"
#include "opencl/device.hpp"
#include "opencl/error.hpp"
#include "opencl/tuning.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/session/sources.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/filterbank.hpp"

namespace sightline::pipeline {
namespace {

using filterbank::FilterbankDetector;
using sightline::test::random_model;
using sightline::test::random_picture;
using sightline::test::TempDir;

filterbank::Options small_options() {
  filterbank::Options options;
  options.scale_step = 1.5;
  options.threshold = -10;
  return options;
}

class Found : public Sink {
 public:
  void accept(const Frame&, const FrameResult& result) override { objects.push_back(result.objects); }
  std::vector<std::vector<Detection>> objects;
};

// A small detector on the CPU alone.
class PlannerTest : public ::testing::Test {
 protected:
  PlannerTest() : detector_(random_model(5, 3), small_options()) {
    for (unsigned seed = 1; seed <= 3; ++seed)
      frames_.push_back(frame_from_gray(random_picture({90, 80}, seed).view(), seed));
    options_.trial_seconds = 0.01;
    options_.trials = 3;
    options_.file = folder_ / "plans/schedules.json";
  }
  virtual const DeviceStages* device() const { return nullptr; }
  std::unique_ptr<Pipeline> pipeline() const {
    return std::make_unique<Pipeline>(detector_, device(), Schedule{"cpu", {}, 1, 0}, PipelineOptions{1});
  }
  Planned plan() {
    const auto own = pipeline();
    return plan_schedule(*own, detector_, device(), frames_, options_);
  }
  std::vector<std::vector<Detection>> find(const Schedule& schedule) {
    const auto own = pipeline();
    own->set_schedule(schedule);
    MemorySource source(frames_, 9);
    Found found;
    own->run({&source, "test", {&found}, {}});
    EXPECT_FALSE(own->device_lost());
    return found.objects;
  }
  void damage(const std::string& text) { std::ofstream(options_.file) << text; }
  nlohmann::json remembered() {
    return nlohmann::json::parse(sightline::test::bytes_of(options_.file), nullptr, false);
  }

  FilterbankDetector detector_;
  std::vector<Frame> frames_;
  TempDir folder_;
  PlanOptions options_;
};

// The same with PoCL, or whatever device there is.
class PlannerWithDevice : public PlannerTest {
 protected:
  // Kernels are built once, and the user's cache is left alone. The folder lives as long as the process,
  // since the driver keeps the path that it first sees.
  static void SetUpTestSuite() {
    static const TempDir kernels;
    setenv("XDG_CACHE_HOME", kernels.path().c_str(), 1);
  }
  void SetUp() override {
    for (const opencl::DeviceInfo& info : opencl::list_devices()) {
      if (!info.correctly_rounded_divide_sqrt || !info.compiler_available) continue;
      device_ = make_device_stages(detector_, {info, 0, "test"});
      break;
    }
    if (!device_) GTEST_SKIP() << "there is no usable OpenCL device here";
  }
  void TearDown() override { opencl::fail_calls_for_test("", 0); }
  const DeviceStages* device() const override { return device_.get(); }

  // Costs of the five stages, in milliseconds: the device is four times as fast as the CPU.
  FrameCosts costs() const {
    FrameCosts costs;
    costs.stages.resize(detector_.stages().size());
    const double cpu[] = {4, 16, 8, 8, 0, 2};  // no network, nothing to verify
    for (std::size_t i = 0; i < costs.stages.size(); ++i) {
      costs.stages[i] = {1e-3 * cpu[i], 1e-3 * cpu[i], device_->supported()[i] ? 0.25e-3 * cpu[i] : -1,
                         0.5e-3, 0.5e-3};
    }
    costs.partitionable = detector_.partitionable_stages();
    costs.turnaround = 0.2e-3;
    return costs;
  }
  std::unique_ptr<DeviceStages> device_;
};

std::set<unsigned long> mappings(const std::vector<Alternative>& alternatives) {
  std::set<unsigned long> result;
  for (const Alternative& a : alternatives) {
    if (a.schedule.split > 0) continue;
    EXPECT_TRUE(result.insert(a.schedule.on_device.to_ulong()).second) << "twice";
  }
  return result;
}

void expect_one_chosen(const Planned& planned) {
  ASSERT_FALSE(planned.alternatives.empty());
  EXPECT_EQ(std::count_if(planned.alternatives.begin(), planned.alternatives.end(),
                          [](const Alternative& a) { return a.chosen; }),
            1);
  EXPECT_TRUE(planned.alternatives.front().chosen);
  EXPECT_EQ(planned.alternatives.front().schedule, planned.schedule);
}

TEST(Goal, Names) {
  EXPECT_EQ(parse_goal(""), Goal::throughput);
  EXPECT_EQ(parse_goal("throughput"), Goal::throughput);
  EXPECT_EQ(parse_goal("latency"), Goal::latency);
  EXPECT_EQ(parse_goal("energy"), Goal::energy);
  EXPECT_NE(sightline::test::error_of(ExitCode::usage, [] { parse_goal("speed"); }).find("latency"),
            std::string::npos);
}

TEST_F(PlannerWithDevice, WeighsAllMappingsAndSplits) {
  const auto all = weigh(costs(), detector_, device(), {Goal::throughput});
  EXPECT_EQ(mappings(all).size(), 16u);
  std::vector<double> splits;
  for (const Alternative& a : all) {
    if (a.schedule.split > 0) splits.push_back(a.schedule.split);
  }
  std::sort(splits.begin(), splits.end());
  ASSERT_EQ(splits.size(), 9u);
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(splits[i], 0.1 * (i + 1), 1e-9);
  EXPECT_EQ(all.size(), 25u);
  for (const Alternative& a : all) {
    SCOPED_TRACE(describe(a.schedule, detector_));
    EXPECT_EQ(a.predicted_fps, predicted_fps(costs(), a.schedule));
    EXPECT_EQ(a.predicted_latency, latency_of(costs(), a.schedule));
    EXPECT_EQ(a.bound_by, bound_of(costs(), a.schedule).processor);
    EXPECT_GT(a.schedule.in_flight, 0);
    EXPECT_EQ(a.achieved_fps, 0);
    EXPECT_FALSE(a.chosen);
  }
}

// 16 threads search 2,500 frames/s, the device 2,000; decoding needs the cores, too.
TEST(ScheduleObjective, DecodingMovesStagesToTheDevice) {
  FrameCosts costs;
  costs.stages = {{0.0005, 0.0064, 0.0005, 0, 0}};
  costs.threads = costs.cores = 16;
  const Schedule cpu{"cpu", {}, 8, 0}, gpu{"gpu", StageSet(1), 8, 0};
  const ScheduleObjective objective;
  const auto cost = [&](const Schedule& schedule) {
    return objective.cost(objective.predict(schedule, costs, 1));
  };
  EXPECT_LT(cost(cpu), cost(gpu));
  EXPECT_FALSE(objective.predict(cpu, costs, 1).predicted_in_memory);
  costs.decode = {{"CPU", 0.004, 0.004, -1, 14}};
  EXPECT_GT(cost(cpu), cost(gpu));
  EXPECT_NEAR(objective.predict(cpu, costs, 1).predicted_fps, 16 / (0.0064 + 0.004), 1e-6);
  EXPECT_NEAR(objective.predict(cpu, costs, 1).predicted_in_memory.value_or(0), 2500, 1e-6);
  EXPECT_NEAR(objective.predict(gpu, costs, 1).predicted_fps, 2000, 1e-6);
}

TEST_F(PlannerWithDevice, WeighsByTheGoal) {
  const auto fast = weigh(costs(), detector_, device(), {Goal::throughput});
  for (std::size_t i = 1; i < fast.size(); ++i) EXPECT_GE(fast[i - 1].predicted_fps, fast[i].predicted_fps);
  // By hand: the pyramid and the grouping take the CPU 6 ms, the rest the device 8 ms. All on the device
  // would be 9 ms, a split of 0.9 8.1 ms.
  EXPECT_EQ(fast.front().schedule.on_device, StageSet(0b1110));
  EXPECT_NEAR(fast.front().predicted_fps, 125, 1e-6);
  EXPECT_EQ(fast.front().bound_by, "device");

  const auto soon = weigh(costs(), detector_, device(), {Goal::latency});
  for (std::size_t i = 1; i < soon.size(); ++i)
    EXPECT_LE(soon[i - 1].predicted_latency, soon[i].predicted_latency);
  for (const Alternative& a : soon) EXPECT_EQ(a.schedule.in_flight, 1) << "more only wait for each other";
  // The device's share of 0.8 takes 7.2 ms, two copies 1 and the turn 0.2, the grouping 2.
  EXPECT_NEAR(soon.front().schedule.split, 0.8, 1e-9);
  EXPECT_NEAR(soon.front().predicted_latency, 10.4e-3, 1e-9);
  EXPECT_EQ(soon.back().schedule.name, "cpu");
  EXPECT_NEAR(soon.back().predicted_latency, 38e-3, 1e-9);

  // A device that is slower than the CPU is not used for either.
  FrameCosts slow = costs();
  for (StageCost& stage : slow.stages) stage.device *= 1000;
  EXPECT_FALSE(weigh(slow, detector_, device(), {Goal::throughput}).front().schedule.uses_device());
  EXPECT_FALSE(weigh(slow, detector_, device(), {Goal::latency}).front().schedule.uses_device());
}

TEST_F(PlannerWithDevice, WeighsByTheEnergyOfStages) {
  StageEnergies energies;
  energies.idle_watts = 10;
  energies.seen = {true, true};
  energies.copy_watts = {0, 50};
  energies.joules = {{0.2, 0.9, 0.3, 0.2, 0, 0.1}, {0.1, 0.4, 0.5, 0.3, {}, {}}};
  const auto all = weigh(costs(), detector_, device(), {Goal::energy, 0, energies});
  EXPECT_EQ(all.size(), 25u);
  double least = 1e9;
  unsigned long best = 0;
  for (const Alternative& a : all) {
    ASSERT_TRUE(a.predicted_joules);
    if (a.schedule.split > 0) continue;
    double joules = 10 / a.predicted_fps;
    for (std::size_t i = 0; i < 6; ++i) {
      const bool there = a.schedule.on_device[i];
      joules += energies.joules[there ? 1 : 0][i].value();
      const bool before = i > 0 && a.schedule.on_device[i - 1];
      if (there != before) joules += 50 * 0.5e-3;
    }
    EXPECT_NEAR(*a.predicted_joules, joules, 1e-9) << describe(a.schedule, detector_);
    if (joules < least) least = joules, best = a.schedule.on_device.to_ulong();
  }
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_GE(*all[i].predicted_joules, *all[i - 1].predicted_joules);
  EXPECT_EQ(all.front().schedule.on_device.to_ulong(), best);
  EXPECT_EQ(best, 0b0011u) << "pyramid and filter, by hand";
}

TEST_F(PlannerWithDevice, WeighsWithTheFramesInFlightAskedFor) {
  for (const Goal goal : {Goal::throughput, Goal::latency, Goal::energy}) {
    for (const Alternative& a : weigh(costs(), detector_, device(), {goal, 3}))
      EXPECT_EQ(a.schedule.in_flight, 3);
  }
}

TEST_F(PlannerWithDevice, WhatIsNotKnownIsNotChosen) {
  FrameCosts partly = costs();
  partly.stages[1].device = -1;
  for (const Alternative& a : weigh(partly, detector_, device(), {Goal::latency})) {
    EXPECT_FALSE(a.schedule.on_device[1]);
    EXPECT_EQ(a.schedule.split, 0);
  }
  partly.stages.assign(partly.stages.size(), StageCost{});
  const auto one = weigh(partly, detector_, device(), {Goal::throughput});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one.front().schedule.name, "cpu");
}

TEST_F(PlannerTest, WithoutADeviceThereIsTheCpu) {
  FrameCosts costs;
  costs.stages.assign(detector_.stages().size(), {0.001, 0.001, -1, 0, 0});
  const auto all = weigh(costs, detector_, nullptr, {Goal::throughput});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().schedule.name, "cpu");
}

TEST_F(PlannerTest, CalibratesTheCpu) {
  const auto own = pipeline();
  const FrameCosts costs = calibrate(*own, detector_, nullptr, frames_).front();
  ASSERT_EQ(costs.stages.size(), detector_.stages().size());
  for (const StageCost& stage : costs.stages) {
    EXPECT_GT(stage.cpu, 0);
    EXPECT_GT(stage.work, 0);
    EXPECT_LT(stage.cpu, 1);
    EXPECT_EQ(stage.device, -1);
  }
  EXPECT_EQ(costs.threads, 1);
  EXPECT_EQ(costs.shared_cores, 0);
}

TEST_F(PlannerWithDevice, CalibratesTheDevice) {
  const auto own = pipeline();
  const FrameCosts costs = calibrate(*own, detector_, device(), frames_).front();
  for (std::size_t i = 0; i < costs.stages.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_GT(costs.stages[i].cpu, 0);
    EXPECT_EQ(costs.stages[i].device > 0, device_->supported()[i]);
    EXPECT_LT(costs.stages[i].device, 10);
  }
  EXPECT_GE(costs.turnaround, 0);
  EXPECT_EQ(costs.partitionable, detector_.partitionable_stages());
}

TEST_F(PlannerTest, PlansAndRemembers) {
  const Planned first = plan();
  EXPECT_FALSE(first.remembered);
  EXPECT_FALSE(first.schedule.uses_device());
  expect_one_chosen(first);
  EXPECT_GT(first.alternatives.front().achieved_fps, 0);
  EXPECT_GT(first.alternatives.front().achieved_latency, 0);

  const auto own = pipeline();
  const Planned second = plan_schedule(*own, detector_, device(), frames_, options_);
  EXPECT_TRUE(second.remembered);
  EXPECT_EQ(second.schedule, first.schedule);
  EXPECT_EQ(own->schedule(), first.schedule);
  expect_one_chosen(second);
  ASSERT_EQ(second.alternatives.size(), first.alternatives.size());
  for (std::size_t i = 0; i < first.alternatives.size(); ++i) {
    EXPECT_EQ(second.alternatives[i].schedule, first.alternatives[i].schedule);
    EXPECT_EQ(second.alternatives[i].predicted_fps, first.alternatives[i].predicted_fps);
    EXPECT_EQ(second.alternatives[i].achieved_fps, first.alternatives[i].achieved_fps);
    EXPECT_EQ(second.alternatives[i].bound_by, first.alternatives[i].bound_by);
  }
}

TEST_F(PlannerTest, RemembersBySizeGoalAndFramesInFlight) {
  plan();
  EXPECT_TRUE(plan().remembered);
  options_.goal = Goal::latency;
  const Planned soon = plan();
  EXPECT_FALSE(soon.remembered);
  EXPECT_EQ(soon.schedule.in_flight, 1);
  options_.goal = Goal::throughput;
  options_.in_flight = 3;
  const Planned three = plan();
  EXPECT_FALSE(three.remembered);
  for (const Alternative& a : three.alternatives) EXPECT_EQ(a.schedule.in_flight, 3);
  options_.in_flight = 0;
  frames_ = {frame_from_gray(random_picture({70, 90}, 1).view())};
  EXPECT_FALSE(plan().remembered);
  EXPECT_TRUE(plan().remembered);
  EXPECT_EQ(remembered().size(), 4u);
  options_.file.clear();
  EXPECT_FALSE(plan().remembered) << "without a file, nothing is remembered";
}

TEST_F(PlannerTest, RemembersWhatAShortRunLimitedForShortRuns) {
  options_.frames_to_come = 5;
  const Planned first = plan();
  EXPECT_FALSE(first.remembered);
  EXPECT_EQ(first.limited_to, 5);
  EXPECT_TRUE(plan().remembered);
  options_.frames_to_come = 5 * kLongerRun;
  EXPECT_TRUE(plan().remembered);
  options_.frames_to_come.reset();
  const Planned whole = plan();
  EXPECT_FALSE(whole.remembered);
  EXPECT_EQ(whole.limited_to, std::nullopt);
  options_.frames_to_come = 5;
  EXPECT_TRUE(plan().remembered) << "a whole one serves all";
}

TEST_F(PlannerTest, RecallsWithoutMeasuring) {
  const auto own = pipeline();
  EXPECT_FALSE(recall_schedule(*own, detector_, device(), frames_.front(), options_));
  EXPECT_FALSE(std::filesystem::exists(options_.file));
  const Planned planned = plan();
  const auto recalled = recall_schedule(*own, detector_, device(), frames_.front(), options_);
  ASSERT_TRUE(recalled);
  EXPECT_EQ(recalled->schedule, planned.schedule);
  EXPECT_EQ(own->schedule(), planned.schedule);
}

// All on one processor: what copies in between cost is not known.
TEST_F(PlannerWithDevice, AShortRunLimitsMeasuring) {
  options_.frames_to_come = 1;
  const Planned planned = plan();
  expect_one_chosen(planned);
  EXPECT_EQ(planned.limited_to, 1);
  for (const Alternative& a : planned.alternatives) {
    EXPECT_EQ(a.achieved_fps, 0);
    EXPECT_EQ(a.schedule.split, 0);
    EXPECT_TRUE(a.schedule.on_device.none() || a.schedule.on_device == device_->supported());
  }
  EXPECT_GE(planned.alternatives.size(), 2u);
}

TEST_F(PlannerTest, RemembersByPixelFormat) {
  plan();
  const std::vector<std::uint8_t> colour(std::size_t{3} * 90 * 80, 100);
  frames_ = {frame_from_rgb(colour.data(), {90, 80})};
  EXPECT_FALSE(plan().remembered);
  EXPECT_TRUE(plan().remembered);
}

TEST_F(PlannerWithDevice, NamesBuffersAndTuning) {
  const auto key_with = [&](opencl::BufferUse buffers) {
    const auto stages = make_device_stages(
        detector_, {opencl::context_of(device_->device()).device(), 0, "test", {}, buffers});
    return plan_key(detector_, stages.get(), frames_.front(), 1);
  };
  const std::string copied = key_with(opencl::BufferUse::copied);
  EXPECT_NE(copied, key_with(opencl::BufferUse::mapped));
  EXPECT_EQ(copied, key_with(opencl::BufferUse::copied));
  const opencl::TuningDatabase tuned(opencl::TuningDatabase::default_file());
  opencl::DeviceInfo other = opencl::context_of(device_->device()).device();
  other.name += " II";
  tuned.store(other, "some model", {{"width", 8}});
  EXPECT_EQ(copied, key_with(opencl::BufferUse::copied));
  tuned.store(opencl::context_of(device_->device()).device(), "some model", {{"width", 8}});
  const std::string once = key_with(opencl::BufferUse::copied);
  EXPECT_NE(once, copied);
  tuned.store(opencl::context_of(device_->device()).device(), "some model", {{"width", 4}});
  EXPECT_NE(key_with(opencl::BufferUse::copied), once);
}

TEST_F(PlannerTest, DamagedPlansAreMadeAnew) {
  plan();
  const nlohmann::json good = remembered();
  ASSERT_EQ(good.size(), 1u);
  const std::string key = good.begin().key();
  for (const char* entry : {"7", "{}", "[]", "\"text\"", "[7]", "[{}]", R"([{"name": 3}])", "null"}) {
    SCOPED_TRACE(entry);
    damage(nlohmann::json{{key, nlohmann::json::parse(entry)}}.dump());
    EXPECT_FALSE(plan().remembered);
    EXPECT_TRUE(plan().remembered) << "the new one replaces it";
  }
  const auto with = [&](const char* field, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[key]["alternatives"][0][field] = value;
    damage(bad.dump());
    SCOPED_TRACE(std::string(field) + " " + value.dump());
    const Planned planned = plan();
    EXPECT_FALSE(planned.remembered);
    EXPECT_FALSE(planned.schedule.uses_device());
  };
  with("on_device", 1);        // there is no device
  with("on_device", 1 << 10);  // nor such a stage
  with("on_device", -1);
  with("split", 0.5);
  with("achieved_fps", nullptr);
  with("in_flight", "many");
  nlohmann::json bad = good;
  bad[key]["costs"][0]["partitionable"] = 1000;  // of six stages
  damage(bad.dump());
  EXPECT_FALSE(plan().remembered);
  for (const char* text : {"", "{", "[]", "\xff"}) {
    damage(text);
    EXPECT_FALSE(plan().remembered) << text;
  }
}

TEST_F(PlannerTest, AnUnwritableFileIsNoError) {
  std::ofstream(folder_ / "file") << "{}";
  options_.file = folder_ / "file/schedules.json";
  expect_one_chosen(plan());
}

TEST_F(PlannerTest, EnergyNeedsAMeter) {
  options_.goal = Goal::energy;
  MeterOptions meters;
  meters.powercap = meters.hwmon = meters.power_supply = folder_ / "none";  // a machine without sensors
  meters.nvml.clear();
  options_.energy = std::make_shared<Energy>(meters);
  const std::string message = sightline::test::error_of(ExitCode::usage, [&] { plan(); });
  EXPECT_NE(message.find("meter"), std::string::npos) << message;
  EXPECT_NE(message.find("--goal throughput or latency"), std::string::npos) << message;
}

TEST_F(PlannerTest, PlansWithDecoding) {
  std::optional<std::int64_t> asked;
  options_.decoding = {"h264", [&](std::int64_t frames, double, EnergyCounter*) {
                         asked = frames;
                         return std::vector<DecoderCost>{{"CPU", 10, 0, -1, 1}};
                       }};
  options_.frames_to_come = 1000;
  const Planned planned = plan();
  ASSERT_EQ(asked, 20) << "a fiftieth of the run";
  EXPECT_EQ(planned.alternatives.front().bound_by, "decoder");
  EXPECT_NEAR(planned.alternatives.front().predicted_fps, 0.1, 0.001);
  EXPECT_THAT(explain(planned, detector_), testing::HasSubstr("stage decode on"));
  EXPECT_EQ(plan().costs.front().decode.size(), 1u) << "stored, too";
  options_.decoding.key = "hevc";
  EXPECT_FALSE(plan().remembered);
  options_.decoding = {};
  const Planned in_memory = plan();
  EXPECT_FALSE(in_memory.remembered);
  EXPECT_EQ(in_memory.alternatives.front().bound_by, "CPU");
}

TEST_F(PlannerTest, StopsOnRequest) {
  std::atomic<bool> stop{true};
  options_.stop = &stop;
  options_.trial_seconds = 1000;
  const Planned planned = plan();
  expect_one_chosen(planned);
  EXPECT_FALSE(std::filesystem::exists(options_.file)) << "nothing was measured";
}

TEST_F(PlannerTest, TooSmallFramesAreNoTrouble) {
  frames_ = {frame_from_gray(random_picture({8, 8}, 1).view())};
  const Planned planned = plan();
  expect_one_chosen(planned);
  EXPECT_FALSE(planned.schedule.uses_device());
}

TEST_F(PlannerWithDevice, PlansWithTheSameResults) {
  const Planned planned = plan();
  expect_one_chosen(planned);
  EXPECT_EQ(mappings({planned.alternatives.begin(), planned.alternatives.begin() + 1}).size() +
                (planned.schedule.split > 0),
            1u);
  EXPECT_GE(planned.alternatives.size(), 25u);
  EXPECT_GT(planned.alternatives.front().achieved_fps, 0);
  const auto expected = find({"cpu", {}, 1, 0});
  ASSERT_EQ(expected.size(), 9u);
  EXPECT_FALSE(expected.front().empty());
  EXPECT_EQ(find(planned.schedule), expected);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(find(planned.alternatives[i].schedule), expected);
}

TEST_F(PlannerWithDevice, PlansOfAnotherDeviceAreNotTaken) {
  plan();
  EXPECT_TRUE(plan().remembered);
  device_.reset();
  const Planned without = plan();
  EXPECT_FALSE(without.remembered);
  EXPECT_FALSE(without.schedule.uses_device());
}

TEST_F(PlannerWithDevice, ALostDeviceIsNotPlannedWith) {
  const auto own = pipeline();
  opencl::fail_calls_for_test("", 60, -1);  // in the middle of calibrating
  const Planned planned = plan_schedule(*own, detector_, device(), frames_, options_);
  opencl::fail_calls_for_test("", 0);
  EXPECT_TRUE(own->device_lost());
  EXPECT_FALSE(planned.schedule.uses_device());
  expect_one_chosen(planned);
  EXPECT_FALSE(std::filesystem::exists(options_.file)) << "next time, the device may work";
}

TEST_F(PlannerTest, ExplainsWhatWasWeighed) {
  Planned planned;
  for (int i = 1; i <= 5; ++i) {
    Alternative a;
    a.schedule.in_flight = i;
    a.predicted_fps = 100.0 * i;
    a.predicted_latency = 0.001 * i;
    a.bound_by = "CPU";
    planned.alternatives.push_back(a);
  }
  planned.alternatives[0].achieved_fps = 87.5;
  planned.alternatives[0].achieved_latency = 0.0123;
  planned.alternatives[4].chosen = true;
  const std::string text = explain(planned, detector_, 2);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;  // head, two rows, the chosen one, note
  EXPECT_NE(text.find("pyramid=cpu"), std::string::npos);
  EXPECT_NE(text.find("87.5"), std::string::npos);
  EXPECT_NE(text.find("12.3 ms"), std::string::npos);
  EXPECT_NE(text.find("\n* "), std::string::npos);
  EXPECT_EQ(text.find("300.0"), std::string::npos) << "a row too many";
  EXPECT_NE(text.find("500.0"), std::string::npos) << "the chosen one is always there";
  planned.remembered = true;
  EXPECT_NE(explain(planned, detector_).find("stored by an earlier run"), std::string::npos);
}

}  // namespace
}  // namespace sightline::pipeline
