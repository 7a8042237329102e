// What processors can do comes back from files as it was, or not at all; and what follows from made-up
// figures.
#include "characterisation/record.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/json_store.hpp"
#include "characterisation/decisions.hpp"
#include "characterisation/host_benchmarks.hpp"
#include "opencl/tuning.hpp"
#include "support/errors.hpp"
#include "support/replaced.hpp"
#include "support/temp_dir.hpp"

namespace sightline::characterisation {
namespace {

using test::TempDir;
using testing::HasSubstr;

Curve curve_of(const std::string& id, const std::vector<std::pair<double, double>>& points) {
  Curve curve{id, "A group", "a title", "x", "GB/s", Clock::host, true, {}};
  for (const auto& [x, y] : points) curve.points.push_back({x, {0.9 * y, 0.95 * y, y}});
  return curve;
}

Figure figure_of(const std::string& id, double value, bool is_rate = true) {
  return {id, "a figure", "G/s", Clock::device, is_rate, {value, value, value}};
}

Characteristics made_up_gpu() {
  Characteristics p;
  p.name = "Made-up \"GPU\" <1>";
  p.platform = "Made-up";
  p.driver = "1.2";
  p.type = "GPU";
  p.compute_units = 132;
  p.thorough = true;
  p.seconds = 12.5;
  p.build_seconds = 2.25;
  p.parts = {{"launches", 0.125}, {"arithmetic peaks", 3}};
  p.curves = {curve_of("transfer.pageable.up", {{4096, 1}, {4194304, 10}}),
              curve_of("transfer.mapped.up", {{4096, 0.5}, {4194304, 4}}),
              curve_of("transfer.pinned.up", {{4096, 2}, {4194304, 50}}),
              curve_of("copy.group.float4", {{1, 50}, {32, 1500}, {64, 1950}, {128, 2000}}),
              curve_of("read.width", {{1, 1500}, {2, 2400}, {4, 2450}}),
              curve_of("atomics.global", {{1, 2}, {1024, 300}}),
              curve_of("atomics.local", {{1, 40}, {1024, 900}}),
              {"divergence",
               "Branches",
               "all",
               "ways",
               "times",
               Clock::device,
               false,
               {{1, {1, 1, 1}}, {16, {14.8, 15, 15.2}}, {32, {28, 29, 30}}}}};
  p.figures = {figure_of("peak.float", 30000), figure_of("peak.dot", 120000),
               figure_of("cached.local", 20000), figure_of("cached.global", 9000),
               figure_of("launch.latency", 10, false)};
  p.caches = {{196608, 20}, {26214400, 150}};
  p.memory_ns = 450;
  p.largest_array = 134217728;
  p.losses = {{"parallelism", "the driver failed"}};
  p.kernels = {{"chain", {256, 1, 1}, 19, 0, 0, 1024, 32, 0.75}, {"free", {}, {}, {}, {}, {}, {}, {}}};
  return p;
}

Characteristics made_up_host() {
  Characteristics p;
  p.name = "Made-up CPU";
  p.platform = "host";
  p.type = "CPU";
  p.figures = {figure_of("peak.float", 300), figure_of("launch.latency", 2, false)};
  return p;
}

std::string choice_of(const Characteristics& p, const std::string& id) {
  for (const Decision& one : p.decisions)
    if (one.id == id) return one.choice;
  return "";
}

std::string text_of(const Characteristics& p, const std::string& id) {
  for (const Decision& one : p.decisions)
    if (one.id == id) return one.text;
  return "";
}

TEST(CharacteristicsRecord, ComesBackAsItWas) {
  Characteristics gpu = made_up_gpu();
  const Characteristics host = made_up_host();
  decide(gpu, &host);
  const std::vector<Characteristics> both{host, gpu};
  EXPECT_EQ(parse_record(record_text(both), "a file"), both);
  EXPECT_EQ(from_json(to_json(gpu)), gpu);
  EXPECT_EQ(parse_record(record_text({}), "a file"), std::vector<Characteristics>{});
}

TEST(CharacteristicsRecord, FilesWithoutDurationsAreRead) {
  nlohmann::json earlier = to_json(made_up_gpu());
  earlier.erase("parts");
  earlier.erase("build_seconds");
  const Characteristics read = from_json(earlier);
  EXPECT_TRUE(read.parts.empty());
  EXPECT_EQ(read.build_seconds, 0);
  EXPECT_EQ(read.figures, made_up_gpu().figures);
}

TEST(CharacteristicsRecord, DamagedFilesAreRefused) {
  const std::string whole = record_text({made_up_gpu()});
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& fact) {
    const std::string text = test::replaced(whole, from, to);
    test::expect_error(ExitCode::input, "'kept.json'", [&] { parse_record(text, "kept.json"); });
    test::expect_error(ExitCode::input, fact, [&] { parse_record(text, "kept.json"); });
  };
  refused("\"version\": 1", "\"version\": 2", "version");
  refused("\"memory_ns\": 450.0", "\"memory_ns\": -1", "'memory_ns'");
  refused("\"memory_ns\": 450.0", "\"memory_ns\": \"soon\"", "'memory_ns'");
  refused("\"memory_ns\"", "\"memory\"", "memory_ns");
  refused("\"build_seconds\": 2.25", "\"build_seconds\": -2", "'build_seconds'");
  refused("\"what\":\"launches\"", "\"why\":\"launches\"", "what");
  refused("\"clock\":\"host\"", "\"clock\":\"wall\"", "'clock'");
  refused("[4096.0,0.9,0.95,1.0]", "[4096.0,0.9,0.95]", "");
  refused("[4096.0,0.9,0.95,1.0]", "[4096.0,2,0.95,1.0]", "");
  refused("[4096.0,0.9,0.95,1.0]", "[9e9,0.9,0.95,1.0]", "");
  for (std::size_t length = 0; length < whole.size() - 2; length += 97) {
    test::expect_error(ExitCode::input, [&] { parse_record(whole.substr(0, length), "kept.json"); });
  }
}

TEST(CharacteristicsRecord, IsRememberedByDeviceAndDriver) {
  TempDir folder;
  const std::filesystem::path file = folder / "characteristics.json";
  opencl::DeviceInfo device;
  device.platform = "Made-up";
  device.name = "GPU";
  device.driver_version = "1.2";
  EXPECT_FALSE(remembered(device, file));
  remember(device, made_up_gpu(), file);
  ASSERT_TRUE(remembered(device, file));
  EXPECT_EQ(*remembered(device, file), made_up_gpu());
  device.driver_version = "1.3";
  EXPECT_FALSE(remembered(device, file));
  device.driver_version = "1.2";
  JsonStore(file).store(opencl::device_key(device),
                        {{"version", kRecordVersion}, {"processor", {{"name", 3}}}});
  EXPECT_FALSE(remembered(device, file)) << "not understood";
  JsonStore(file).store(opencl::device_key(device), 5);
  EXPECT_FALSE(remembered(device, file)) << "not understood";
}

TEST(CharacteristicsDecisions, FollowFromTheFigures) {
  Characteristics gpu = made_up_gpu();
  const Characteristics host = made_up_host();
  decide(gpu, &host);
  EXPECT_EQ(choice_of(gpu, "transfer"), "copy");
  EXPECT_EQ(choice_of(gpu, "work_group"), "64");
  EXPECT_EQ(choice_of(gpu, "vector_width"), "2");
  EXPECT_EQ(choice_of(gpu, "local_memory"), "yes");
  EXPECT_EQ(choice_of(gpu, "counting"), "local");
  EXPECT_EQ(choice_of(gpu, "branches"), "sort");
  EXPECT_EQ(choice_of(gpu, "numbers"), "dot");
  // 8 us more to launch, 2,073,600 bytes at 50 GB/s, made up for by 1/300 - 1/30000 ns a multiply-add.
  const double work = (8 + 2073600 / 50e9 * 1e6) * 1e3 / (1.0 / 300 - 1.0 / 30000);
  EXPECT_NEAR(std::stod(choice_of(gpu, "stage_place")), work, 1);

  // Where a loop over the CPU's threads takes longer than the way to the device, as on a busy machine.
  Characteristics busy_host = host;
  for (Figure& figure : busy_host.figures) {
    if (figure.id == "launch.latency") figure.value = {8000, 8000, 8000};
  }
  decide(gpu, &busy_host);
  EXPECT_EQ(choice_of(gpu, "stage_place"), "0");
  EXPECT_THAT(text_of(gpu, "stage_place"), testing::StartsWith("Run any stage on the device: "));
  for (const char* id : {"parallel.group.knee", "parallel.groups.knee"}) {
    std::erase_if(gpu.figures, [&](const Figure& one) { return one.id == id; });
    gpu.figures.push_back(figure_of(id, 1));
  }
  decide(gpu, &host);
  EXPECT_TRUE(std::ranges::none_of(gpu.decisions, [](const Decision& one) { return one.id == "fill"; }))
      << "it would contradict the size of work-groups";

  Characteristics unified = made_up_gpu();
  unified.curves[1] = curve_of("transfer.mapped.up", {{4096, 0.5}, {4194304, 40}});
  unified.figures[0] = figure_of("peak.float", 310);
  unified.figures[2] = figure_of("cached.local", 9000);
  unified.curves[7].points[1].y = {1.1, 1.2, 1.3};
  decide(unified, &host);
  EXPECT_EQ(choice_of(unified, "transfer"), "map");
  EXPECT_EQ(choice_of(unified, "stage_place"), "never");
  EXPECT_EQ(choice_of(unified, "local_memory"), "no");
  EXPECT_EQ(choice_of(unified, "branches"), "any");

  Characteristics nothing;
  decide(nothing, &host);
  EXPECT_TRUE(nothing.decisions.empty()) << "nothing is known";
}

TEST(CharacteristicsDecisions, WhereAStageGoesDoesNotHangOnWhatElseTheMachineDid) {
  const auto text_of = [](const Characteristics& p) {
    return std::ranges::find(p.decisions, "stage_place", &Decision::id)->text;
  };
  Characteristics quiet = made_up_gpu(), busy = made_up_gpu();
  Characteristics host = made_up_host();
  host.figures[1].value = {0.5, 0.6, 0.7};
  decide(quiet, &host);
  EXPECT_THAT(text_of(quiet), HasSubstr("after 0.5 us"));
  // As it was once seen: no loop without a thread that waited for its core.
  host.figures[1].value = {1700, 8000, 12000};
  host.figures.push_back(figure_of(kInterruptedLoops, 1, false));
  decide(busy, &host);
  EXPECT_THAT(text_of(busy), HasSubstr("could not be timed on a busy machine"));
  const double apart = std::stod(choice_of(busy, "stage_place")) / std::stod(choice_of(quiet, "stage_place"));
  EXPECT_NEAR(apart, 1, 0.02);
  EXPECT_GT(std::stod(choice_of(busy, "stage_place")), 0);
}

// Loops of which so many in ten were interrupted.
std::vector<TimedLoop> loops(int interrupted) {
  std::vector<TimedLoop> all;
  for (int i = 0; i < 1000; ++i) {
    const bool waits = i % 10 < interrupted;
    all.push_back({waits ? 1e-3 + 1e-6 * i : 5e-7 + 1e-11 * i, waits});
  }
  return all;
}

TEST(CharacterisationTiming, LoopsWhoseThreadsWaitedForACoreAreLeftOut) {
  for (const int interrupted : {0, 3, 9}) {
    const LoopTimes times = loop_times(loops(interrupted));
    EXPECT_DOUBLE_EQ(times.interrupted, 0.1 * interrupted);
    EXPECT_NEAR(times.seconds.smallest, 5e-7, 1e-8) << interrupted;
    EXPECT_LT(times.seconds.largest, 1e-6) << interrupted;
    EXPECT_LE(times.seconds.smallest, times.seconds.median);
    EXPECT_LE(times.seconds.median, times.seconds.largest);
  }
  const LoopTimes none = loop_times(loops(10));
  EXPECT_EQ(none.interrupted, 1);
  EXPECT_GT(none.seconds.smallest, 1e-3) << "told as they are";
}

TEST(CharacterisationTiming, OneThatWasLuckyDoesNotDecide) {
  std::vector<double> seconds(99, 2.0);
  seconds.push_back(0.001);
  EXPECT_EQ(percentiles_of(seconds), (Spread{2, 2, 2}));
  EXPECT_EQ(percentiles_of({3}), (Spread{3, 3, 3}));
}

TEST(CharacterisationTiming, AQuickPointIsRepeatedUntilItsBestTwoAgree) {
  const auto repeats = [](Length length, const std::vector<double>& seconds) {
    std::size_t at = 0;
    const Effort effort{length};
    return repeats_of(effort, [&] { return seconds[std::min(at++, seconds.size() - 1)]; });
  };
  // The first one warms up.
  EXPECT_EQ(repeats(Length::quick, {9, 1.005, 1, 2, 3, 4}), (std::vector<double>{1.005, 1, 2}));
  EXPECT_EQ(repeats(Length::quick, {9, 1.02, 1, 2, 1.009, 4}), (std::vector<double>{1.02, 1, 2, 1.009}));
  EXPECT_EQ(repeats(Length::quick, {9, 1.02, 1, 2, 3, 4, 5}).size(), 5U);
  EXPECT_EQ(repeats(Length::thorough, {1}).size(), 15U) << "its spread is told";
}

}  // namespace
}  // namespace sightline::characterisation
