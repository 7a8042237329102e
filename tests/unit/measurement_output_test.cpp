#include "pipeline/report/measurement_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/made_up_measurement.hpp"

namespace sightline::pipeline::test {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

/// A measurement of two schedules with plain numbers.
Measurement plain() {
  Measurement m;
  m.input = "a.mp4";
  m.frame_size = {640, 480};
  ScheduleResult cpu;
  cpu.schedule = "cpu";
  cpu.fps = {98, 100, 102};
  cpu.fps_median = 100;
  cpu.fps_lowest = 98;
  cpu.fps_highest = 102;
  cpu.latency_p50 = 0.0101;
  cpu.latency_p95 = 0.0123;
  cpu.latency_p99 = 0.2;
  cpu.bound_fps = 125;
  cpu.bound_by = "CPU";
  cpu.bound_share = 0.8;
  cpu.overlap_factor = 1.25;
  cpu.processors = {{"CPU", 0.91, 125}};
  cpu.stages = {{"decode", "CPU", 0.002, 0.0015}, {"filter", "CPU", 0.008, 0.0061}};
  cpu.peak_memory_bytes = 123'456'789;
  ScheduleResult gpu = cpu;
  gpu.schedule = "gpu";
  gpu.fps_median = 250;
  gpu.fps_lowest = 240;
  gpu.fps_highest = 260;
  gpu.bound_by = "GPU";
  gpu.processors = {{"CPU", 0.1, 1000}, {"GPU", 0.88, 312.5}};
  gpu.stages = {
      {"decode", "CPU", 0.002, 0.0015}, {"upload", "GPU", 0.0004, 0.0003}, {"filter", "GPU", 0.0031, 0.003}};
  gpu.joules_per_frame = 1.75;
  m.meter = "made up";
  m.schedules = {cpu, gpu};
  return m;
}

TEST(MeasurementText, ShowsTheClocksThatMetersTell) {
  Measurement m = plain();
  EXPECT_EQ(measurements_as_text({&m, 1}).find("MHz"), std::string::npos);
  m.schedules[1].megahertz = {0, 1980.4};
  EXPECT_NE(measurements_as_text({&m, 1}).find("MHz"), std::string::npos);
  EXPECT_NE(measurements_as_text({&m, 1}).find("  1980"), std::string::npos);
}

TEST(MeasurementText, ShowsTheNumbers) {
  const Measurement m = plain();
  const std::vector<std::string> text = lines(measurements_as_text({&m, 1}));
  EXPECT_EQ(text[0], "a.mp4, 640x480, frames in memory");
  const std::vector<std::string> expected{
      "schedule  frames/s spread  p50 ms  p95 ms  p99 ms  bound  share  overlap  busy %   MB  J/frame",
      "cpu          100.0  ±2.0%    10.1    12.3   200.0  125.0    80%     1.25    91/-  123        -",
      "gpu          250.0  ±4.0%    10.1    12.3   200.0  125.0    80%     1.25   10/88  123     1.75"};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(text[2 + i], expected[i]);
  EXPECT_THAT(verdict(m), HasSubstr("gpu with 250.0 frames/s, 80% of the 125.0 frames/s that GPU"));
  EXPECT_THAT(verdict(m), HasSubstr("2.50 times as fast as cpu"));
  const std::string all = measurements_as_text({&m, 1});
  EXPECT_THAT(all, HasSubstr("\nfilter             8.00  6.10 A   3.10  3.00 B\n"));
  EXPECT_THAT(all, HasSubstr("\nupload                           0.400 0.300 B\n"));
  EXPECT_THAT(all, HasSubstr("A: CPU, B: GPU"));
}

TEST(MeasurementOutput, ShowsTheRateWithDecoding) {
  Measurement m = plain();
  EXPECT_TRUE(Json::parse(measurements_as_json({&m, 1})).at("with_decoding").is_null());
  m.with_decoding = DecodingResult{"gpu", 250, 180, 1.75, 2.5, {{"CPU", 0.0136, 0.0125, -1, 14}}};
  const Json json = Json::parse(measurements_as_json({&m, 1})).at("with_decoding");
  EXPECT_EQ(json.at("schedule"), "gpu");
  EXPECT_EQ(json.at("fps"), 180);
  EXPECT_EQ(json.at("fps_in_memory"), 250);
  EXPECT_EQ(json.at("joules_per_frame"), 2.5);
  EXPECT_EQ(json.at("joules_per_frame_in_memory"), 1.75);
  EXPECT_EQ(json.at("decoders")[0].at("decoders"), 14);
  EXPECT_NEAR(json.at("decoders")[0].at("cpu_ms").get<double>(), 12.5, 1e-9);
  const std::string text = measurements_as_text({&m, 1});
  EXPECT_THAT(text, ::testing::ContainsRegex("with decoding +gpu +180.0 +2.50"));
  EXPECT_THAT(text, ::testing::ContainsRegex("CPU +14 +13.6 +12.5 "));
  EXPECT_THAT(measurements_as_page({&m, 1}), HasSubstr("with decoding"));
}

TEST(MeasurementOutput, ListsTheKernelsOfADevice) {
  Measurement m = plain();
  EXPECT_FALSE(Json::parse(measurements_as_json({&m, 1})).contains("kernel_resources"));
  m.kernel_resources = {
      {"GPU", {{"scan", {16, 16, 1}, 42, 164, 80, 8192, 32, 0.75}, {"finish", {}, {}, {}, {}, 0, 8, {}}}}};
  const Json kernels = Json::parse(measurements_as_json({&m, 1})).at("kernel_resources")[0].at("kernels");
  EXPECT_EQ(kernels[0], Json::parse(R"({"kernel": "scan", "work_group": [16, 16, 1], "registers": 42,
      "spill_bytes": 164, "private_bytes": 80, "local_bytes": 8192, "multiple": 32, "occupancy": 0.75})"));
  EXPECT_TRUE(kernels[1].at("registers").is_null() && kernels[1].at("work_group").is_null());
  EXPECT_EQ(kernels[1].at("local_bytes"), 0);
  const std::string page = measurements_as_page({&m, 1});
  for (const char* text : {"Kernels on GPU", "16x16", "75%", "unknown"}) EXPECT_THAT(page, HasSubstr(text));
}

TEST(MeasurementText, PutsVariantsSideBySideAndSaysWhatTheirWorkIs) {
  Measurement naive = plain(), packed = plain();
  EXPECT_THAT(measurements_as_text(std::vector{naive}), Not(HasSubstr("side by side")));
  naive.kernels = "naive";
  packed.kernels = "packed";
  packed.schedules[1].fps_median = 400;
  naive.work = packed.work = {
      {"windows", 4000}, {"left after boosting stage 1", 1000}, {"left after boosting stage 2", 3}};
  const std::string text = measurements_as_text(std::vector{naive, packed});
  EXPECT_THAT(text, HasSubstr("640x480, naive kernels"));
  const auto all = lines(text);
  const auto after = [&](const std::string& begin, int count) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& line) { return line.starts_with(begin); });
    return found == all.end() || all.end() - found <= count ? std::string() : found[count];
  };
  EXPECT_THAT(after("side by side", 3), ::testing::ContainsRegex("naive +gpu +250.0 +4.00 "));
  EXPECT_THAT(after("side by side", 4), ::testing::ContainsRegex("packed +gpu +400.0 +2.50 +10.1 +1.75"));
  EXPECT_THAT(after("the first frame", 2),
              ::testing::ContainsRegex("left after boosting stage 1 +1000 +25%"));
  EXPECT_THAT(after("the first frame", 3),
              ::testing::ContainsRegex("left after boosting stage 2 +3 +0.075%"));
  EXPECT_EQ(text.find("the first frame"), text.rfind("the first frame")) << "the same for all kernels";
}

TEST(MeasurementText, FitsATerminal) {
  const Measurement m = made_up_measurement();
  for (const std::string& line : lines(measurements_as_text({&m, 1}))) {
    const auto letters = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(letters, 100) << line;
  }
}

TEST(MeasurementText, SaysWhereTheRepeatsDoNotBearOutTheWinner) {
  Measurement m = plain();
  EXPECT_THAT(verdict(m), Not(HasSubstr("no clear winner")));
  m.schedules[0].fps_highest = 241;
  EXPECT_THAT(verdict(m), HasSubstr("no clear winner"));
  m.schedules.clear();
  EXPECT_EQ(verdict(m), "nothing was measured");
  EXPECT_FALSE(best_schedule(m));
}

TEST(MeasurementText, HasNoMeterNorNumbersThatAreNone) {
  Measurement m = plain();
  m.meter.clear();
  m.schedules[0].overlap_factor = std::numeric_limits<double>::quiet_NaN();
  m.schedules[0].bound_fps = 0;
  const std::string text = measurements_as_text({&m, 1});
  EXPECT_THAT(text, HasSubstr("no meter"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(MeasurementText, SaysWhyAScheduleReachesMoreThanItsBound) {
  Measurement m = plain();
  EXPECT_THAT(measurements_as_text({&m, 1}), Not(HasSubstr("above 100%")));
  m.schedules[0].bound_share = 1.004;  // shown as 100%
  EXPECT_THAT(measurements_as_text({&m, 1}), Not(HasSubstr("above 100%")));
  m.schedules[0].bound_share = 1.08;
  EXPECT_THAT(measurements_as_text({&m, 1}), HasSubstr("above 100%"));
  m.schedules[0].bound_fps = 0;
  EXPECT_THAT(measurements_as_text({&m, 1}), Not(HasSubstr("above 100%")));
}

TEST(MeasurementJson, HoldsEverything) {
  Measurement m = plain();
  m.schedules[0].overlap = {{0.2, 0.1}, {0.1, std::numeric_limits<double>::infinity()}};
  m.input = "bad \xff <name>";
  const Json json = Json::parse(measurements_as_json({&m, 1}));
  EXPECT_EQ(json["input"], "bad \xef\xbf\xbd <name>");
  EXPECT_EQ(json["width"], 640);
  EXPECT_EQ(json["best"], "gpu");
  EXPECT_EQ(json["meter"], "made up");
  EXPECT_TRUE(json["accuracy"].is_null());
  const Json& cpu = json["schedules"][0];
  EXPECT_EQ(cpu["schedule"], "cpu");
  EXPECT_EQ(cpu["fps"], 100);
  EXPECT_EQ(cpu["fps_runs"], Json({98, 100, 102}));
  EXPECT_DOUBLE_EQ(cpu["latency_ms"]["p95"], 12.3);
  EXPECT_DOUBLE_EQ(cpu["stages"][1]["ms"], 8);
  EXPECT_DOUBLE_EQ(cpu["stages"][1]["ms_alone"], 6.1);
  EXPECT_EQ(cpu["overlap"], Json::parse("[[0.2,0.1],[0.1,null]]"));
  EXPECT_EQ(cpu["peak_memory_bytes"], 123'456'789);
  EXPECT_TRUE(cpu["joules_per_frame"].is_null());
  EXPECT_EQ(json["schedules"][1]["joules_per_frame"], 1.75);
  EXPECT_EQ(json["schedules"][1]["processors"][1]["utilisation"], 0.88);
  const std::vector<Measurement> two{m, m};
  EXPECT_EQ(Json::parse(measurements_as_json(two))["measurements"].size(), 2u);
}

TEST(MeasurementCsv, HasARowASchedule) {
  Measurement m = plain();
  m.input = "a,\"b\"";
  m.with_decoding = {"gpu", 250, 450.5,
                     {},    {},  {{"CPU", 0.0065, 0.00625, -1, 14}, {"cuda:0", 0.0015, 0.0005, -1, 4}}};
  const std::vector<std::string> rows = lines(measurements_as_csv({&m, 1}));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(std::count(rows[0].begin(), rows[0].end(), ','), 31);
  EXPECT_EQ(
      rows[2],
      "\"a,\"\"b\"\"\",640,480,,gpu,,1,1,0,0,250,240,260,10.1,12.3,200,125,GPU,0.8,1.25,CPU=0.1;GPU=0.88,"
      "123456789,1.75,450.5,,CPU=14;cuda:0=4,CPU=6.5;cuda:0=1.5,CPU=6.25;cuda:0=0.5,,,,");
  EXPECT_TRUE(rows[1].ends_with(",CPU=0.91,123456789,,,,,,,,,,")) << rows[1];
}

}  // namespace
}  // namespace sightline::pipeline::test
