// `sightline measure`, and what `sightline detect` does with schedules and traces.

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "opencl/device.hpp"
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kShort{"--seconds", "0.1", "--repeats", "2", "--threads", "1"};
const std::vector<std::string> kCpuOnly{"--device", "none"};
const std::vector<std::string> kCpuDevice{"--device", "cpu:1"};

// A small clip, and a cache folder that is not the user's.
class MeasureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<TempDir>();
    const char* own = std::getenv("XDG_CACHE_HOME");
    old_cache_ = own ? std::optional<std::string>(own) : std::nullopt;
    setenv("XDG_CACHE_HOME", (*shared_ / "cache").c_str(), 1);
    media::test::make_clip(clip(), moving_clip(200, 240, 12).substr(6));  // less "lavfi:"
  }
  static void TearDownTestSuite() {
    if (old_cache_)
      setenv("XDG_CACHE_HOME", old_cache_->c_str(), 1);
    else
      unsetenv("XDG_CACHE_HOME");
    shared_.reset();
  }
  static std::string clip() { return *shared_ / "clip.mp4"; }
  static std::vector<std::string> measure(const std::vector<std::string>& options) {
    return std::vector<std::string>{"measure", clip()} + kShort + options;
  }
  static std::vector<std::string> detect(const std::vector<std::string>& options) {
    return std::vector<std::string>{"detect", clip()} + kFindsSome + options;
  }
  static void expect_usage_error(const std::string& words, const std::vector<std::string>& arguments) {
    const Outcome outcome = expect_run(2, words, arguments);
    EXPECT_EQ(outcome.out, "");
  }

  TempDir folder_;

 private:
  static inline std::unique_ptr<TempDir> shared_;
  static inline std::optional<std::string> old_cache_;
};

std::vector<std::string> names_in(const Json& measurement) {
  std::vector<std::string> names;
  for (const Json& schedule : measurement.at("schedules")) names.push_back(schedule.at("schedule"));
  return names;
}

// What must hold of any schedule, however fast the machine is.
void expect_sensible(const Json& s) {
  SCOPED_TRACE(s.at("schedule").get<std::string>());
  EXPECT_GE(s.at("frames").get<int>(), 2 * 10);
  EXPECT_EQ(s.at("fps_runs").size(), 2u);
  const double fps = s.at("fps");
  EXPECT_GT(fps, 0);
  EXPECT_GT(s.at("fps_lowest").get<double>(), 0);
  EXPECT_LE(s.at("fps_lowest").get<double>(), fps);
  EXPECT_GE(s.at("fps_highest").get<double>(), fps);
  EXPECT_NEAR(fps, (s.at("fps_lowest").get<double>() + s.at("fps_highest").get<double>()) / 2, 1e-6 * fps)
      << "the median of two is between them";
  EXPECT_GT(s.at("bound_fps").get<double>(), 0);
  EXPECT_NEAR(s.at("bound_share").get<double>(), fps / s.at("bound_fps").get<double>(), 1e-9);
  EXPECT_GT(s.at("bound_share").get<double>(), 0.005);
  EXPECT_LT(s.at("bound_share").get<double>(), 3);
  EXPECT_NE(s.at("bound_by"), "");
  EXPECT_GE(s.at("in_flight").get<int>(), 1);
  const Json& latency = s.at("latency_ms");
  EXPECT_GT(latency.at("p50").get<double>(), 0);
  EXPECT_LE(latency.at("p50").get<double>(), latency.at("p95").get<double>());
  EXPECT_LE(latency.at("p95").get<double>(), latency.at("p99").get<double>());
  EXPECT_GT(s.at("peak_memory_bytes").get<std::int64_t>(), 1'000'000);
  const std::size_t rows = s.at("stages").size();
  ASSERT_EQ(s.at("overlap").size(), rows);
  for (std::size_t a = 0; a < rows; ++a) {
    EXPECT_NE(s.at("stages")[a].at("processor"), "") << s.at("stages")[a].at("name");
    EXPECT_GE(s.at("stages")[a].at("ms").get<double>(), 0);
    ASSERT_EQ(s.at("overlap")[a].size(), rows);
    for (std::size_t b = 0; b < rows; ++b) {
      EXPECT_GE(s.at("overlap")[a][b].get<double>(), 0);
      EXPECT_LE(s.at("overlap")[a][b].get<double>(), 1 + 1e-9);
      EXPECT_EQ(s.at("overlap")[a][b], s.at("overlap")[b][a]);
    }
  }
  for (const Json& processor : s.at("processors")) {
    EXPECT_GE(processor.at("utilisation").get<double>(), 0);
    EXPECT_LE(processor.at("utilisation").get<double>(), 1 + 1e-9);
  }
}

// A log of 50 W, whatever goes on.
TEST_F(MeasureTest, StagesAloneWithAPowerLog) {
  const std::int64_t now = std::time(nullptr);
  std::string log = "time,watts\n";
  for (std::int64_t time = now - 60; time < now + 600; time += 5) log += std::to_string(time) + ",50\n";
  store(folder_ / "power.csv", log);
  const Outcome outcome =
      run(measure(kCpuOnly + std::vector<std::string>{"--stages", "--power-log", folder_ / "power.csv",
                                                      "--json", folder_ / "s.json", "--csv",
                                                      folder_ / "s.csv", "--report", folder_ / "s.html"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the external meter's circuit"));
  const Json json = Json::parse(bytes_of(folder_ / "s.json"));
  EXPECT_NEAR(json.at("idle_before").at("watts").get<double>(), 50, 0.5);
  std::vector<std::string> names;
  for (const Json& row : json.at("alone")) {
    names.push_back(row.at("name"));
    SCOPED_TRACE(row.dump());
    const Json& joules = row.at("joules");
    EXPECT_NEAR(joules.at("whole").get<double>(), 50e-3 * row.at("ms").get<double>(),
                0.05 * joules.at("whole").get<double>());
    EXPECT_NEAR(joules.at("above_idle").get<double>(), 0, 0.05 * joules.at("whole").get<double>());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"pyramid", "filter", "histogram", "classify", "verify", "group"}));
  ASSERT_EQ(json.at("schedules").size(), 1u);
  for (const Json& schedule : json.at("schedules")) {
    const Json& parts = schedule.at("explained");
    EXPECT_NEAR(
        parts.at("idle").get<double>() + parts.at("stages").get<double>() + parts.at("rest").get<double>(),
        schedule.at("joules").at("whole").get<double>(), 1e-9);
  }
  const std::string csv = bytes_of(folder_ / "s.csv");
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')),
            1 + 2 + json.at("alone").size() + 1);
  EXPECT_THAT(bytes_of(folder_ / "s.html"), HasSubstr("Energy of a frame"));
}

TEST_F(MeasureTest, StagesAloneTakeOneDetector) {
  expect_usage_error("one detector", measure({"--stages", "--filters", "12,25"}));
  expect_usage_error("--stages", measure({"--exhaustive"}));
  expect_usage_error("--preload", measure({"--stages", "--preload", "4"}));
}

TEST_F(MeasureTest, CpuWithAllOutputs) {
  const Outcome outcome = run(
      measure(kCpuOnly + std::vector<std::string>{"--schedules", "cpu", "--json", folder_ / "m.json", "--csv",
                                                  folder_ / "m.csv", "--report", folder_ / "m.html"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("fastest schedule: cpu"));
  EXPECT_THAT(outcome.out, HasSubstr("decoding in the run"));
  EXPECT_THAT(outcome.out, HasSubstr("CPU, 1 thread"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("upload"))) << "nothing is copied";

  const Json json = Json::parse(bytes_of(folder_ / "m.json"));
  for (const char* key : {"program", "machine", "input", "width", "height", "decoding", "model", "variant",
                          "meter", "meter_note", "accuracy", "best", "schedules"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.at("input"), clip());
  EXPECT_EQ(json.at("width"), 200);
  EXPECT_EQ(json.at("height"), 240);
  EXPECT_EQ(json.at("decoding"), true);
  EXPECT_EQ(json.at("variant"), "12 filters");
  EXPECT_EQ(json.at("best"), "cpu");
  EXPECT_THAT(json.at("program").get<std::string>(), HasSubstr("sightline "));
  EXPECT_THAT(json.at("machine").get<std::string>(), HasSubstr("1 of "));
  ASSERT_EQ(names_in(json), std::vector<std::string>{"cpu"});
  const Json& cpu = json.at("schedules")[0];
  expect_sensible(cpu);
  EXPECT_EQ(cpu.at("mapping"), "pyramid=cpu filter=cpu histogram=cpu classify=cpu verify=cpu group=cpu");
  double stages = 0;
  std::vector<std::string> names;
  for (const Json& stage : cpu.at("stages")) {
    names.push_back(stage.at("name"));
    if (names.back() != "decode" && names.back() != "output") stages += stage.at("ms_alone").get<double>();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"decode", "pyramid", "filter", "histogram", "classify", "verify",
                                             "group", "output"}));
  EXPECT_GT(stages, 0);

  const std::string csv = bytes_of(folder_ / "m.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2);
  EXPECT_THAT(csv, testing::StartsWith("input,width,height"));
  const std::string page = bytes_of(folder_ / "m.html");
  for (const char* part : {"<canvas", "clip.mp4", "classify", "</html>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(MeasureTest, PreloadedFrames) {
  const Outcome outcome = run(measure(
      kCpuOnly + std::vector<std::string>{"--preload", "5", "--frames", "10", "--json", folder_ / "m.json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("frames in memory"));
  const Json json = Json::parse(bytes_of(folder_ / "m.json"));
  EXPECT_EQ(json.at("decoding"), false);
  const Json& decoding = json.at("with_decoding");
  EXPECT_EQ(decoding.at("schedule"), "cpu");
  EXPECT_GT(decoding.at("fps").get<double>(), 0);
  EXPECT_GT(decoding.at("fps_in_memory").get<double>(), 0);
  ASSERT_EQ(decoding.at("decoders").size(), 1u);
  EXPECT_EQ(decoding.at("decoders")[0].at("processor"), "CPU");
  EXPECT_EQ(decoding.at("decoders")[0].at("decoders"), 1) << "a short clip";
  EXPECT_GT(decoding.at("decoders")[0].at("ms").get<double>(), 0);
  EXPECT_EQ(names_in(json), std::vector<std::string>{"cpu"}) << "all that there is without a device";
  expect_sensible(json.at("schedules")[0]);
  EXPECT_EQ(json.at("schedules")[0].at("frames"), 20);
  EXPECT_EQ(json.at("schedules")[0].at("bound_by"), "CPU");
}

TEST_F(MeasureTest, AllSchedulesOnADevice) {
  if (!has_cpu_device(2)) GTEST_SKIP() << "there is no OpenCL CPU device of several units here";
  const Outcome outcome = run(
      measure(kCpuDevice + std::vector<std::string>{"--preload", "3", "--frames", "10", "--in-flight", "2",
                                                    "--filters", "12", "--json", folder_ / "m.json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(bytes_of(folder_ / "m.json"));
  EXPECT_EQ(names_in(json),
            (std::vector<std::string>{"cpu", "gpu", "specialized", "overlap", "split", "auto"}));
  std::map<std::string, Json> by_name;
  for (const Json& schedule : json.at("schedules")) {
    expect_sensible(schedule);
    by_name[schedule.at("schedule")] = schedule;
    EXPECT_THAT(outcome.out, HasSubstr(schedule.at("schedule").get<std::string>()));
  }
  EXPECT_EQ(by_name["specialized"].at("in_flight"), 1);
  EXPECT_EQ(by_name["overlap"].at("in_flight"), 2);
  EXPECT_GT(by_name["split"].at("split").get<double>(), 0);
  EXPECT_THAT(by_name["gpu"].at("mapping").get<std::string>(), HasSubstr("filter=gpu"));
  ASSERT_EQ(by_name["gpu"].at("processors").size(), 2u);
  EXPECT_GT(by_name["gpu"].at("processors")[1].at("utilisation").get<double>(), 0);
  EXPECT_EQ(by_name["cpu"].at("processors")[1].at("utilisation").get<double>(), 0);
}

TEST_F(MeasureTest, SizesOfTheDictionary) {
  const Outcome outcome =
      run(measure(kCpuOnly + std::vector<std::string>{"--preload", "2", "--frames", "10", "--filters",
                                                      "25,50", "--json", folder_ / "m.json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("25 filters"));
  EXPECT_THAT(outcome.out, HasSubstr("50 filters"));
  const Json json = Json::parse(bytes_of(folder_ / "m.json"));
  ASSERT_EQ(json.at("measurements").size(), 2u);
  std::set<std::string> accuracies;
  for (int i = 0; i < 2; ++i) {
    const Json& one = json.at("measurements")[i];
    EXPECT_EQ(one.at("variant"), std::to_string(25 * (i + 1)) + " filters");
    ASSERT_TRUE(one.at("accuracy").is_string());
    EXPECT_NE(one.at("accuracy"), "");
    accuracies.insert(one.at("accuracy"));
    EXPECT_THAT(outcome.out, HasSubstr("accuracy: " + one.at("accuracy").get<std::string>()));
    expect_sensible(one.at("schedules")[0]);
  }
  EXPECT_EQ(accuracies.size(), 2u) << "each size has its own";
}

TEST_F(MeasureTest, Mistakes) {
  expect_usage_error("there is no schedule 'fast'",
                     measure(kCpuOnly + std::vector<std::string>{"--schedules", "fast"}));
  expect_usage_error("there is no schedule ''",
                     measure(kCpuOnly + std::vector<std::string>{"--schedules", "cpu,,cpu"}));
  expect_usage_error("schedule", measure(kCpuOnly + std::vector<std::string>{"--schedules", ""}));
  expect_usage_error("needs an OpenCL device",
                     measure(kCpuOnly + std::vector<std::string>{"--schedules", "cpu,gpu"}));
  expect_usage_error("--map", measure(kCpuOnly + std::vector<std::string>{"--map", "filter=gpu"}));
  expect_usage_error("--json", measure(kCpuOnly + std::vector<std::string>{"--json", clip()}));
  expect_usage_error("two outputs", measure(kCpuOnly + std::vector<std::string>{"--json", folder_ / "m",
                                                                                "--csv", folder_ / "m"}));
  expect_run(3, "No such file", {"measure", folder_ / "none.mp4", "--device", "none"});
  expect_run(1, "cannot write",
             measure(kCpuOnly + std::vector<std::string>{"--report", folder_ / "none/report.html"}));
  expect_run(1, "cannot write", measure(kCpuOnly + std::vector<std::string>{"--json", folder_ / ""}));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m"));
}

TEST_F(MeasureTest, StopsOnRequest) {
  Program program(std::vector<std::string>{"measure", clip(), "--device", "none", "--schedules", "cpu",
                                           "--seconds", "1000", "--json", folder_ / "m.json"});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m.json"));
}

// --- detect
// ------------------------------------------------------------------------------------------------------

// Spans of a lane follow each other, and every frame has its own.
void expect_sound_trace(const std::string& file, std::size_t frames) {
  const Json json = Json::parse(bytes_of(file));
  const Json& events = json.is_array() ? json : json.at("traceEvents");
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> lanes;
  std::size_t begun = 0;
  for (const Json& event : events) {
    if (event.at("ph") == "b" && event.at("name") == "frame") ++begun;
    if (event.at("ph") != "X") continue;
    EXPECT_GE(event.at("dur").get<double>(), 0);
    lanes[{event.at("pid"), event.at("tid")}].emplace_back(event.at("ts"), event.at("dur"));
  }
  EXPECT_EQ(begun, frames);
  ASSERT_GE(lanes.size(), 3u);
  for (auto& [lane, spans] : lanes) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) {
      EXPECT_LE(spans[i - 1].first + spans[i - 1].second, spans[i].first + 0.0015)
          << "lane " << lane.first << "/" << lane.second;
    }
  }
}

TEST_F(MeasureTest, DetectWritesTraces) {
  const Outcome outcome =
      run(detect({"--device", "none", "--trace", folder_ / "t.json", "-d", folder_ / "d.jsonl"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_sound_trace(folder_ / "t.json", 12);
  EXPECT_EQ(parse_lines(bytes_of(folder_ / "d.jsonl")).size(), 12u);
  if (!has_cpu_device(2)) return;
  ASSERT_EQ(run(detect(kCpuDevice + std::vector<std::string>{"--schedule", "overlap", "--trace",
                                                             folder_ / "u.json", "-d", folder_ / "u.jsonl"}))
                .exit_code,
            0);
  expect_sound_trace(folder_ / "u.json", 12);
  EXPECT_EQ(bytes_of(folder_ / "u.jsonl"), bytes_of(folder_ / "d.jsonl"));
}

TEST_F(MeasureTest, TracesReplaceNoOtherFile) {
  const std::string before = bytes_of(clip());
  expect_usage_error("--trace", detect({"--trace", clip()}));
  expect_usage_error("two outputs", detect({"--trace", folder_ / "x.json", "-d", folder_ / "x.json"}));
  expect_run(1, "cannot write", detect({"--trace", folder_ / "none/t.json"}));
  EXPECT_EQ(bytes_of(clip()), before);
}

TEST_F(MeasureTest, SchedulesFindTheSame) {
  const Outcome plain = run(detect({"--device", "none"}));
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  ASSERT_THAT(plain.out, HasSubstr("box")) << "something is found";
  const auto expect_same = [&](const std::vector<std::string>& options) {
    SCOPED_TRACE(testing::PrintToString(options));
    const Outcome outcome = run(detect(options));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(outcome.out == plain.out);
  };
  expect_same({"--schedule", "cpu", "--in-flight", "5", "--threads", "2"});
  expect_same({"--device", "none", "--schedule", "auto"});
  if (!has_cpu_device(2)) return;
  for (const char* name : {"gpu", "specialized", "overlap", "split"})
    expect_same(kCpuDevice + std::vector<std::string>{"--schedule", name});
  expect_same(kCpuDevice + std::vector<std::string>{"--map", "filter=gpu,classify=gpu"});
  expect_same(kCpuDevice + std::vector<std::string>{"--split", "0.3", "--in-flight", "3"});
}

// Not even to explain what it weighs, unless a schedule auto is asked for; what is remembered is used.
TEST_F(MeasureTest, ShortRunsAreNotMeasuredFor) {
  const std::vector<std::string> options{"--device", "none", "--in-flight", "7", "--explain"};
  const Outcome unplanned = run(detect(options));
  ASSERT_EQ(unplanned.exit_code, 0) << unplanned.err;
  EXPECT_THAT(unplanned.err, Not(HasSubstr("measuring stages")));
  EXPECT_THAT(unplanned.err, HasSubstr("--schedule auto"));
  const Outcome planned = run(detect(options + std::vector<std::string>{"--schedule", "auto"}));
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.err, HasSubstr("measuring stages"));
  const Outcome recalled = run(detect(options));
  EXPECT_THAT(recalled.err, Not(HasSubstr("measuring stages")));
  EXPECT_THAT(recalled.err, HasSubstr("bound by"));
  EXPECT_EQ(recalled.out, unplanned.out);
  if (!has_cpu_device(2)) return;
  const Outcome on_cpu = run(detect(kCpuDevice + std::vector<std::string>{"--trace", folder_ / "cpu.json"}));
  ASSERT_EQ(on_cpu.exit_code, 0) << on_cpu.err;
  EXPECT_THAT(on_cpu.err, Not(HasSubstr("measuring stages")));
  EXPECT_THAT(on_cpu.err, HasSubstr("whose own code is faster"));
  EXPECT_EQ(on_cpu.out, unplanned.out);
  const std::string device = opencl::list_devices().front().name;
  EXPECT_EQ(bytes_of(folder_ / "cpu.json").find(device), std::string::npos);
}

TEST_F(MeasureTest, ExplainsDecodingWithAFixedSchedule) {
  const Outcome outcome = run(detect({"--device", "none", "--schedule", "cpu", "--explain"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::ContainsRegex("stage decode on .*\n  CPU +1 "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("bound by")));
}

TEST_F(MeasureTest, ExplainsAuto) {
  const std::vector<std::string> options{"--device", "none", "--schedule", "auto", "--explain"};
  const Outcome first = run(detect(options));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("bound by"));
  EXPECT_THAT(first.err, HasSubstr("\n* pyramid=cpu"));
  EXPECT_THAT(first.err, testing::ContainsRegex("stage decode on .*\n  CPU +1 "));
  const Outcome second = run(detect(options));
  EXPECT_THAT(second.err, HasSubstr("stage decode on")) << "stored, too";
  EXPECT_THAT(second.err, HasSubstr("remembered"));
  EXPECT_EQ(second.out, first.out);
}

TEST_F(MeasureTest, ScheduleMistakes) {
  expect_usage_error("there is no schedule 'fast'", detect({"--device", "none", "--schedule", "fast"}));
  expect_usage_error("needs an OpenCL device", detect({"--device", "none", "--schedule", "gpu"}));
  expect_usage_error("device", detect({"--device", "none", "--map", "filter=gpu"}));
  if (!has_cpu_device(2)) return;
  expect_usage_error("no stage 'filters'",
                     detect(kCpuDevice + std::vector<std::string>{"--map", "filters=gpu"}));
  expect_usage_error("'group' cannot run",
                     detect(kCpuDevice + std::vector<std::string>{"--map", "group=gpu"}));
  expect_usage_error("exclude each other",
                     detect(kCpuDevice + std::vector<std::string>{"--map", "filter=gpu", "--split", "0.5"}));
  expect_usage_error(
      "float", detect(kCpuDevice + std::vector<std::string>{"--arithmetic", "float", "--map", "filter=gpu"}));
}

// One rule of what is named, whatever is measured.
TEST_F(MeasureTest, SchedulesOfStagesAreNamedAsOthersAre) {
  for (const std::vector<std::string>& what : std::vector<std::vector<std::string>>{{}, {"--stages"}}) {
    const std::vector<std::string> options = kCpuOnly + what + std::vector<std::string>{"--schedules"};
    expect_usage_error("--schedules", measure(options + std::vector<std::string>{""}));
    expect_usage_error("there is no schedule 'fast'", measure(options + std::vector<std::string>{"fast"}));
    expect_run(0, "", measure(options + std::vector<std::string>{"every"}));
  }
}

TEST_F(MeasureTest, AGoalIsForScheduleAuto) {
  const std::string words = "the goal latency does nothing";
  const auto with_goal = [](const std::vector<std::string>& options) {
    return detect(std::vector<std::string>{"--device", "none", "--goal", "latency"} + options);
  };
  expect_usage_error(words, with_goal({"--schedule", "cpu"}));
  expect_usage_error(words, with_goal({"--map", "filter=cpu"}));
  expect_run(0, "auto: ", with_goal({"--schedule", "auto"}));
  expect_usage_error(words, measure(kCpuOnly + std::vector<std::string>{"--goal", "latency"}));
  // A file's goal is of the file's schedule, and gives way with it.
  const auto with_file = [&](const std::string& section, const std::vector<std::string>& options) {
    store(folder_ / "p.toml", "[detector]\nmodel = \"" SIGHTLINE_SOURCE_DIR
                              "/configs/models/people.safetensors\"\nfilters = 25\n[schedule]\n" +
                                  section);
    return std::vector<std::string>{"detect", clip(), "--config", folder_ / "p.toml", "--device", "none"} +
           options;
  };
  expect_run(0, "", with_file("goal = \"latency\"\n", {"--schedule", "cpu"}));
  expect_usage_error(words, with_file("goal = \"latency\"\nname = \"cpu\"\n", {}));
  expect_usage_error(words, with_file("name = \"cpu\"\n", {"--goal", "latency"}));
}

TEST_F(MeasureTest, EnergyWithoutAMeter) {
  std::error_code error;
  for (const char* place : {"/sys/class/powercap", "/proc/driver/nvidia"}) {
    if (std::filesystem::exists(place, error) && !std::filesystem::is_empty(place, error))
      GTEST_SKIP() << "there may be a meter here";
  }
  const Outcome outcome = expect_run(2, "needs an energy meter",
                                     detect({"--device", "none", "--schedule", "auto", "--goal", "energy"}));
  EXPECT_THAT(outcome.err, HasSubstr("--goal throughput or latency"));
  // Nothing of what was there is lost to it.
  const std::filesystem::path found = folder_ / "found.jsonl";
  std::ofstream(found) << "kept\n";
  expect_run(2, "needs an energy meter",
             detect({"--device", "none", "--goal", "energy", "--detections", found.string(), "--overwrite"}));
  EXPECT_EQ(bytes_of(found), "kept\n");
}

const std::vector<std::string> kWaldboost{
    "--model", SIGHTLINE_SOURCE_DIR "/configs/models/faces-waldboost.safetensors", "--scale-step", "1.5"};

// Without a device, kernels are nothing that could differ.
TEST_F(MeasureTest, KernelsWithoutADeviceAreMeasuredOnce) {
  const std::string json = folder_ / "m.json";
  expect_run(0, "no OpenCL device",
             measure(kWaldboost + kCpuOnly +
                     std::vector<std::string>{"--kernels", "all", "--preload", "1", "--frames", "10",
                                              "--json", json}));
  EXPECT_EQ(Json::parse(bytes_of(json)).count("measurements"), 0U) << "one measurement stands alone";
}

TEST_F(MeasureTest, SweepsSettingsOfTheKernels) {
  if (!has_cpu_device(1)) GTEST_SKIP() << "there is no OpenCL CPU device here";
  const Outcome outcome = run(
      measure(kWaldboost + kCpuDevice +
              std::vector<std::string>{"--schedules", "cpu", "--preload", "2", "--frames", "10", "--sweep",
                                       "2", "--json", folder_ / "m.json", "--report", folder_ / "m.html"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"Sweep of phases: scan and finish", "Sweep of shares", "* fastest", "o own ",
                            "naive kernels", "queue kernels"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  EXPECT_THAT(outcome.err, HasSubstr("sweep of shares: row 4 of 4"));
  const Json json = Json::parse(bytes_of(folder_ / "m.json"));
  ASSERT_EQ(json.at("sweeps").size(), 2U);
  const Json& phases = json.at("sweeps")[0];
  EXPECT_EQ(phases.at("columns").dump(), "[1,40]");
  EXPECT_EQ(phases.at("rows").dump(), "[0,40]");
  for (const Json& row : phases.at("ms")) {
    ASSERT_EQ(row.size(), 2U);
    for (const double milliseconds : row) EXPECT_GT(milliseconds, 0);
  }
  EXPECT_EQ(json.at("sweeps")[1].at("own").at("setting"), "8,4,4,4");
  EXPECT_EQ(json.at("sweeps")[1].at("own").at("excess_by_kernel").size(), 3U);
  const std::string page = bytes_of(folder_ / "m.html");
  EXPECT_THAT(page, HasSubstr("Sweep of shares"));
  EXPECT_THAT(page, HasSubstr("What is left of the first frame"));
}

TEST_F(MeasureTest, SweepsNothingWhereThereIsNothing) {
  expect_usage_error("for WaldBoost detectors", measure({"--sweep", "2", "--config", "people"}));
  expect_usage_error("--sweep", measure(kWaldboost + std::vector<std::string>{"--sweep", "1"}));
  expect_usage_error("--sweep",
                     measure(kWaldboost + std::vector<std::string>{"--report", folder_ / "m.svg"}));
  expect_run(5, "no OpenCL device for --sweep",
             measure(kWaldboost + kCpuOnly + std::vector<std::string>{"--sweep", "2"}));
}

TEST_F(MeasureTest, StepsOfProgressiveKernelsAreCheckedAndChangeNoBox) {
  const auto found = [&](const std::vector<std::string>& options) {
    return std::vector<std::string>{"detect",      clip(),        "-d",   folder_ / "found.jsonl",
                                    "--overwrite", "--threshold", "-1000"} +
           kWaldboost + options;
  };
  expect_usage_error("'shares' is \"8,one\": 'one' is not a whole number", found({"--shares", "8,one"}));
  expect_usage_error("'phases' has 3 steps, and 'shares' 4", found({"--phases", "4,8,12"}));
  expect_usage_error("--phases does nothing", {"detect", clip(), "--phases", "4,8,12,16"});
  ASSERT_EQ(run(found(kCpuOnly)).exit_code, 0);
  const std::string expected = bytes_of(folder_ / "found.jsonl");
  EXPECT_THAT(expected, HasSubstr("score"));
  if (!has_cpu_device(1)) GTEST_SKIP() << "there is no OpenCL CPU device here";
  const Outcome outcome = run(found(kCpuDevice + std::vector<std::string>{"--schedule", "gpu", "--shares",
                                                                          "32,16,8", "--phases", "1,1,30"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(bytes_of(folder_ / "found.jsonl"), expected);
}

}  // namespace
}  // namespace sightline::test
