// Which stage runs where: named schedules, mappings, what is refused, and what a configuration says.

#include "pipeline/session/schedule.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>

#include "support/errors.hpp"
#include "support/pipeline.hpp"

namespace sightline::pipeline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Five stages, of which a device can run all but the last; the first three suit it.
class Detector5 : public Detector {
 public:
  std::size_t partitionable = 4;
  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override { return nullptr; }
  bool prepare(Workspace&, PictureView, Partition) const override { return false; }
  void run_stage(std::size_t, Workspace&) const override {}
  std::size_t partitionable_stages() const override { return partitionable; }
  std::vector<Detection> take_detections(Workspace&) const override { return {}; }

 private:
  DetectorInfo info_;
  std::vector<std::string_view> resources_{"frame", "of a", "of b", "of c", "of d", "of e"};
  std::vector<StageInfo> stages_{
      {"a", {0}, {1}, true}, {"b", {1}, {2}, true}, {"c", {2}, {3}, true}, {"d", {3}, {4}}, {"e", {4}, {5}}};
};

// What a schedule asks of a device before anything runs.
class Stages : public DeviceStages {
 public:
  explicit Stages(const std::string& supported) : supported_(supported) {}
  std::optional<StageSet> refused;
  const ComputeDevice& device() const override { throw std::logic_error("no device"); }
  StageSet supported() const override { return supported_; }
  std::optional<MappingConflict> check(const StageSet& on_device) const override {
    if (refused != on_device) return std::nullopt;
    return MappingConflict{MappingConflict::Kind::input, 2, 1};
  }
  std::unique_ptr<DeviceSlot> make_slot() const override { return nullptr; }
  void prepare(DeviceSlot&, Workspace&, const StageSet&) const override {}
  void submit(std::span<const DeviceWork>, std::size_t, std::size_t, SubmitParts) const override {}
  void complete(DeviceSlot&, Workspace&) const override {}

 private:
  StageSet supported_;
};

class Schedules : public ::testing::Test {
 protected:
  std::string refusal(const ScheduleRequest& request, const DeviceStages* stages) const {
    try {
      resolve(request, detector, stages, 4);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
      return error.what();
    }
    return "";
  }
  std::string mapping(const ScheduleRequest& request) const {
    return describe(resolve(request, detector, &device, 4), detector);
  }
  ScheduleRequest read(const std::string& toml, ScheduleRequest request = {}) const {
    const Config config = Config::parse(toml, "test.toml");
    read_schedule(config, request);
    config.expect_all_known();
    return request;
  }

  Detector5 detector;
  Stages device{"01111"};  // bit 0, the first stage, is the last character
};

TEST_F(Schedules, NamedOnes) {
  EXPECT_THAT(schedule_names(), ElementsAre("cpu", "gpu", "specialized", "overlap", "split"));
  const auto mapping_of = [&](const char* name) {
    return describe(named_schedule(name, detector, &device, 4), detector);
  };
  EXPECT_EQ(mapping_of("cpu"), "a=cpu b=cpu c=cpu d=cpu e=cpu");
  EXPECT_EQ(mapping_of("gpu"), "a=gpu b=gpu c=gpu d=gpu e=cpu");
  EXPECT_EQ(mapping_of("specialized"), "a=gpu b=gpu c=gpu d=cpu e=cpu");
  EXPECT_EQ(mapping_of("overlap"), "a=gpu b=gpu c=gpu d=cpu e=cpu");
  EXPECT_EQ(mapping_of("split"), "split 0.50");
  EXPECT_EQ(named_schedule("specialized", detector, &device, 4).in_flight, 1) << "one frame at a time";
  EXPECT_GT(named_schedule("overlap", detector, &device, 4).in_flight, 1);
  for (const std::string_view name : schedule_names()) {
    const Schedule schedule = named_schedule(name, detector, &device, 4);
    EXPECT_EQ(schedule.name, name);
    EXPECT_EQ(schedule.uses_device(), name != "cpu");
    EXPECT_GT(schedule.in_flight, 0);
  }
  // Only what the device can do counts as suited.
  EXPECT_EQ(
      describe(named_schedule("overlap", detector, std::make_unique<Stages>("00110").get(), 4), detector),
      "a=cpu b=gpu c=gpu d=cpu e=cpu");
}

TEST_F(Schedules, NamedOnesThatCannotBe) {
  for (const std::string_view name : schedule_names()) {
    const std::string said = refusal({std::string(name), "", 0, 0, ""}, nullptr);
    if (name == "cpu") {
      EXPECT_EQ(said, "");
    } else {
      EXPECT_THAT(said, HasSubstr("'" + std::string(name) + "' needs an OpenCL device"));
    }
  }
  EXPECT_THAT(refusal({"turbo", "", 0, 0, ""}, &device), HasSubstr("'turbo'"));
  EXPECT_THAT(refusal({"split", "", 0, 0, ""}, std::make_unique<Stages>("00111").get()), HasSubstr("'d'"));
  detector.partitionable = 0;
  EXPECT_NE(refusal({"split", "", 0, 0, ""}, &device), "");
}

TEST_F(Schedules, MapsChangeTheNamedOne) {
  EXPECT_EQ(mapping({"", "b=gpu", 0, 0, ""}), "a=cpu b=gpu c=cpu d=cpu e=cpu");
  EXPECT_EQ(mapping({"", "d=device,a=gpu", 0, 0, ""}), "a=gpu b=cpu c=cpu d=gpu e=cpu");
  EXPECT_EQ(mapping({"gpu", "b=cpu", 0, 0, ""}), "a=gpu b=cpu c=gpu d=gpu e=cpu");
  EXPECT_EQ(mapping({"gpu", "b=cpu,b=gpu", 0, 0, ""}), "a=gpu b=gpu c=gpu d=gpu e=cpu")
      << "the last one counts";
  EXPECT_EQ(mapping({"split", "b=gpu", 0, 0, ""}), "a=cpu b=gpu c=cpu d=cpu e=cpu");
  const Schedule schedule = resolve({"specialized", "d=gpu", 0, 0, ""}, detector, &device, 4);
  EXPECT_EQ(schedule.name, "custom");
  EXPECT_GT(schedule.in_flight, 1);
  // What `describe` says can be asked for.
  const Schedule gpu = named_schedule("gpu", detector, &device, 4);
  EXPECT_EQ(resolve({"", describe(gpu, detector), 0, 0, ""}, detector, &device, 4).on_device, gpu.on_device);
  // A map without the device needs none.
  EXPECT_EQ(refusal({"", "a=cpu,b=cpu", 0, 0, ""}, nullptr), "");
}

TEST_F(Schedules, MapsThatCannotBe) {
  EXPECT_THAT(refusal({"", "f=gpu", 0, 0, ""}, &device), HasSubstr("'f'"));
  EXPECT_THAT(refusal({"", "e=gpu", 0, 0, ""}, &device), HasSubstr("'e'"));
  EXPECT_NE(refusal({"", "a=gpu", 0, 0, ""}, nullptr), "");
  for (const char* map : {"a", "a=", "=gpu", "a=fpga", "a=gpu=cpu", "agpu", "a:gpu"})
    EXPECT_NE(refusal({"", map, 0, 0, ""}, &device), "") << map;
  EXPECT_NE(refusal({"split", "a=gpu", 0, 0.5, ""}, &device), "");
  device.refused = StageSet("00101");
  EXPECT_NE(refusal({"", "a=gpu,c=gpu", 0, 0, ""}, &device), "");
  EXPECT_EQ(refusal({"", "a=gpu,b=gpu", 0, 0, ""}, &device), "");
  device.refused = StageSet("01111");
  EXPECT_NE(refusal({"split", "", 0, 0, ""}, &device), "");
}

TEST_F(Schedules, Splits) {
  EXPECT_EQ(mapping({"split", "", 0, 0.7, ""}), "split 0.70");
  EXPECT_EQ(mapping({"", "", 0, 0.25, ""}), "split 0.25");
  EXPECT_THAT(refusal({"gpu", "", 0, 0.5, ""}, &device),
              AllOf(HasSubstr("--split"), HasSubstr("--schedule")));
  for (const double share : {1.0, 1.5, 7.0})
    EXPECT_NE(refusal({"split", "", 0, share, ""}, &device), "") << share;
  Schedule schedule = named_schedule("split", detector, &device, 4);
  for (const double share : {-0.5, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    schedule.split = share;
    EXPECT_THROW(check_schedule(schedule, detector, &device), Error) << share;
  }
}

TEST_F(Schedules, FramesInFlight) {
  EXPECT_EQ(resolve({"gpu", "", 7, 0, ""}, detector, &device, 4).in_flight, 7);
  EXPECT_EQ(resolve({"specialized", "", 3, 0, ""}, detector, &device, 4).in_flight, 3);
  EXPECT_EQ(resolve({"", "a=gpu", 5, 0, ""}, detector, &device, 4).in_flight, 5);
  Schedule cpu;
  EXPECT_GE(default_in_flight(cpu, 1), 2) << "one is decoded while another is searched";
  for (const int threads : {1, 2, 3, 4, 64, 1024}) {
    EXPECT_LE(default_in_flight(cpu, threads), 8);
    EXPECT_GE(default_in_flight(cpu, threads), std::min(threads, 8));
  }
}

TEST_F(Schedules, Segments) {
  const auto segments = [&](const char* bits) {
    Schedule schedule;
    schedule.on_device = StageSet(std::string(bits));
    std::string text;
    for (const Segment& s : segments_of(schedule, 5))
      text += (s.on_device ? "g" : "c") + std::to_string(s.first) + std::to_string(s.last) + " ";
    return text;
  };
  EXPECT_EQ(segments("00000"), "c05 ");
  EXPECT_EQ(segments("01111"), "g04 c45 ");
  EXPECT_EQ(segments("11111"), "g05 ");
  EXPECT_EQ(segments("01010"), "c01 g12 c23 g34 c45 ");
  EXPECT_EQ(segments("00101"), "g01 c12 g23 c35 ");
  EXPECT_EQ(segments_of(Schedule{}, 0).size(), 0u);
}

TEST_F(Schedules, FromAConfiguration) {
  const ScheduleRequest all =
      read("[schedule]\nname = \"split\"\nin_flight = 6\nsplit = 0.3\ngoal = \"latency\"\n");
  EXPECT_EQ(all.name, "split");
  EXPECT_EQ(all.in_flight, 6);
  EXPECT_EQ(all.split, 0.3);
  EXPECT_EQ(all.goal, "latency");
  EXPECT_EQ(read("[schedule]\nmap = \"a=gpu\"\n").map, "a=gpu");
  const ScheduleRequest none = read("");
  EXPECT_TRUE(none.name.empty() && none.map.empty() && none.goal.empty());
  EXPECT_EQ(none.in_flight, 0);
  EXPECT_EQ(none.split, 0);
}

// What is asked for elsewhere replaces the section's mapping as a whole, and fits together.
TEST_F(Schedules, ConfigurationGivesWay) {
  const std::string split = "[schedule]\nname = \"split\"\nsplit = 0.3\nin_flight = 3\n";
  EXPECT_EQ(mapping(read(split)), "split 0.30");
  EXPECT_EQ(mapping(read(split, {"gpu", "", 0, 0, ""})), "a=gpu b=gpu c=gpu d=gpu e=cpu");
  EXPECT_EQ(mapping(read(split, {"", "a=gpu", 0, 0, ""})), "a=gpu b=cpu c=cpu d=cpu e=cpu");
  EXPECT_EQ(mapping(read(split, {"split", "", 0, 0, ""})), "split 0.30");
  EXPECT_EQ(mapping(read(split, {"split", "", 0, 0.8, ""})), "split 0.80");
  EXPECT_EQ(read(split, {"gpu", "", 0, 0, ""}).in_flight, 3);
  EXPECT_EQ(read(split, {"gpu", "", 9, 0, ""}).in_flight, 9);
  const std::string map = "[schedule]\nname = \"gpu\"\nmap = \"a=cpu\"\n";
  EXPECT_EQ(mapping(read(map)), "a=cpu b=gpu c=gpu d=gpu e=cpu");
  EXPECT_EQ(mapping(read(map, {"", "", 0, 0.4, ""})), "split 0.40");
  EXPECT_EQ(mapping(read(map, {"overlap", "", 0, 0, ""})), "a=gpu b=gpu c=gpu d=cpu e=cpu");
}

TEST_F(Schedules, ConfigurationsThatCannotBe) {
  for (const char* line : {"in_flight = 65", "in_flight = -1", "split = 1.0", "split = -0.1", "name = 3",
                           "map = 3", "in_flight = \"many\""}) {
    sightline::test::expect_error(ExitCode::usage, "test.toml:2",
                                  [&] { read(std::string("[schedule]\n") + line + "\n"); });
  }
  EXPECT_THROW(read("[schedule]\nframes = 3\n"), Error) << "an unknown key";
}

}  // namespace
}  // namespace sightline::pipeline
