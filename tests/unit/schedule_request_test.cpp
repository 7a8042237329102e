// What section [schedule] of a configuration fills in.

#include <gtest/gtest.h>

#include <fstream>

#include "pipeline/session/schedule.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"

namespace sightline::pipeline {
namespace {

ScheduleRequest filled(const std::string& section, ScheduleRequest request) {
  const sightline::test::TempDir folder;
  std::ofstream(folder / "c.toml") << "[schedule]\n" << section << '\n';
  read_schedule(Config::load(folder / "c.toml"), request);
  return request;
}

TEST(ScheduleRequest, ConfigurationFillsWhatIsOpen) {
  const ScheduleRequest request = filled(
      "name = \"split\"\nsplit = 0.7\nin_flight = 3\ngoal = \"latency\"\ndevices = \"0,1\"\nbatch = 8", {});
  EXPECT_EQ(request.name, "split");
  EXPECT_EQ(request.split, 0.7);
  EXPECT_EQ(request.in_flight, 3);
  EXPECT_EQ(request.batch, 8);
  EXPECT_EQ(request.goal, "latency");
  EXPECT_EQ(request.devices, "0,1");
  ScheduleRequest asked;
  asked.devices = "gpu";
  EXPECT_EQ(filled("devices = \"0,1\"", asked).devices, "gpu");
}

TEST(ScheduleRequest, AScheduleAskedForIsNotMixedWithAnother) {
  const std::string section = "name = \"split\"\nsplit = 0.7\nin_flight = 3";
  ScheduleRequest asked;
  asked.name = "gpu";
  EXPECT_EQ(filled(section, asked).name, "gpu");
  EXPECT_EQ(filled(section, asked).split, 0) << "--split is not for gpu";
  EXPECT_EQ(filled(section, asked).in_flight, 3);
  ScheduleRequest mapped;
  mapped.map = "filter=gpu";
  EXPECT_EQ(filled(section, mapped).split, 0);
  EXPECT_EQ(filled(section, mapped).name, "");
  ScheduleRequest divided;
  divided.split = 0.2;
  EXPECT_EQ(filled("name = \"gpu\"", divided).name, "");
  EXPECT_EQ(filled("name = \"gpu\"", divided).split, 0.2);
  EXPECT_EQ(filled("batch = 8", asked).batch, 0);
  asked.batch = 2;
  EXPECT_EQ(filled("batch = 8", asked).batch, 2);
  for (const char* bad : {"batch = 0", "batch = 65", "batch = 1.5"})
    sightline::test::expect_error(ExitCode::usage, [&] { filled(bad, {}); });
}

}  // namespace
}  // namespace sightline::pipeline
