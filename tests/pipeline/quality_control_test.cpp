// Settings that change while a run goes on: what each frame gives, what the policies do, what users are told.

#include "pipeline/planning/controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "detection/composite_detector.hpp"
#include "detectors/filterbank/detector.hpp"
#include "pipeline/measurement/battery.hpp"
#include "pipeline/measurement/energy.hpp"
#include "pipeline/session/now.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/log_capture.hpp"
#include "support/patience.hpp"
#include "support/pipeline.hpp"
#include "support/program.hpp"

namespace sightline::pipeline {
namespace {

using sightline::test::error_of;
using sightline::test::TempDir;
using test::Collector;
using testing::HasSubstr;

std::unique_ptr<Detector> one_setting(std::size_t size, double step) {
  filterbank::Options options;
  options.scale_step = step;
  options.threshold = -10;
  return std::make_unique<filterbank::FilterbankDetector>(sightline::test::random_sizes({3, 5, 6}, 4)[size],
                                                          options);
}

std::vector<NamedDetector> three_settings() {
  std::vector<NamedDetector> all;
  all.push_back({"6 filters", one_setting(2, 1.4)});
  all.push_back({"5 filters", one_setting(1, 1.4)});
  all.push_back({"coarse", one_setting(1, 1.8)});
  return all;
}

// --- results

class QualitySchedules : public testing::Test {
 protected:
  QualitySchedules() {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      // The size changes, too: each setting's buffers see sizes of their own.
      const Size size = seed % 2 == 0 ? Size{150, 120} : Size{97, 131};
      frames_.push_back(frame_from_gray(sightline::test::random_picture(size, seed).view()));
    }
    for (NamedDetector& one : three_settings()) {
      for (const Frame& frame : frames_)
        expected_[one.name].push_back(detect(*one.detector, *one.detector->make_workspace(), frame.view()));
    }
  }

  // Turns at every second frame that is delivered, while others are on their way.
  void expect_the_same(const Devices& devices, const Schedule& schedule) {
    SCOPED_TRACE(describe(schedule, detector_));
    constexpr std::size_t kFrames = 40;
    Pipeline pipeline(detector_, devices, schedule);
    EXPECT_EQ(pipeline.setting(), 1u);
    MemorySource source(frames_, kFrames);
    Collector kept;
    kept.on_result = [&](const FrameResult& result) {
      if (result.frame % 2 == 0) pipeline.set_setting(static_cast<std::size_t>(result.frame / 2 * 2 % 3));
    };
    const RunReport report = test::run(pipeline, source, kept);
    EXPECT_EQ(report.retried + report.failed + report.skipped, 0) << report.first_failure;
    ASSERT_EQ(kept.results.size(), kFrames);
    std::map<std::string, std::int64_t> frames;
    for (std::size_t i = 0; i < kFrames; ++i) {
      const FrameResult& result = kept.results[i];
      ASSERT_EQ(result.frame, static_cast<std::int64_t>(i + 1));
      ASSERT_TRUE(expected_.contains(result.setting)) << result.setting;
      EXPECT_EQ(result.objects, expected_[result.setting][i % frames_.size()])
          << "frame " << i << ", " << result.setting;
      ++frames[result.setting];
    }
    EXPECT_EQ(frames.size(), 3u) << "a setting was never used";
    ASSERT_EQ(report.settings.size(), 3u);
    for (const OperatingPointUse& use : report.settings) EXPECT_EQ(use.frames, frames[use.setting.name]);
  }

  CompositeDetector detector_{CompositeBranch(three_settings(), 1)};
  std::vector<Frame> frames_;
  std::map<std::string, std::vector<std::vector<Detection>>> expected_;  ///< by setting and frame
};

TEST_F(QualitySchedules, SettingsDiffer) {
  EXPECT_NE(expected_["6 filters"], expected_["5 filters"]);
  EXPECT_NE(expected_["coarse"], expected_["5 filters"]);
}

TEST_F(QualitySchedules, EachFrameIsFoundByItsSettingOnTheCpu) {
  for (const int in_flight : {1, 4}) expect_the_same(nullptr, test::on_cpu(in_flight));
}

TEST_F(QualitySchedules, EachFrameIsFoundByItsSettingUnderEverySchedule) {
  std::unique_ptr<DeviceStages> stages;
  for (const opencl::DeviceInfo& device : opencl::list_devices()) {
    if (!stages && device.correctly_rounded_divide_sqrt && device.compiler_available)
      stages = make_device_stages(detector_, {device, 0, "", {}});
  }
  if (!stages) GTEST_SKIP() << "no OpenCL device with correctly rounded arithmetic";
  const Devices devices(stages.get());
  for (const std::string_view name : schedule_names())
    expect_the_same(devices, named_schedule(name, detector_, devices, 2));
}

TEST_F(QualitySchedules, RefusesASettingThatIsNotThere) {
  Pipeline pipeline(detector_, nullptr, test::on_cpu(1));
  EXPECT_THAT(error_of(ExitCode::usage, [&] { pipeline.set_setting(3); }), HasSubstr("no setting 4"));
  const auto plain = one_setting(1, 1.4);
  Pipeline other(*plain, nullptr, test::on_cpu(1));
  other.set_setting(0);
  EXPECT_THAT(error_of(ExitCode::usage, [&] { other.set_setting(1); }), HasSubstr("no setting 2"));
}

// --- policies, by made-up times of frames

class QualityRun : public testing::Test {
 protected:
  void start(const QualityObjective& objective, std::size_t setting = 1) {
    controller_.reset();
    pipeline_.set_setting(setting);
    options_.quality = objective;
    controller_ = std::make_unique<Controller>(pipeline_, detector_, Devices(), options_);
    TraceInfo info;
    info.slots = 1;
    info.start = now_;
    controller_->begin(info);
  }

  // One frame after the other, or one of its tiles, each on its way for so long; `every` seconds lie between
  // two.
  void frames(double seconds, const std::array<double, 3>& on_the_way, double every = 0, int tiles = 1) {
    int tile = 0;
    for (const std::int64_t end = now_ + static_cast<std::int64_t>(seconds * kSecond); now_ < end;) {
      FrameTrace trace;
      trace.setting = static_cast<int>(pipeline_.setting());
      const double own = on_the_way[pipeline_.setting()];
      trace.admitted = now_;
      trace.entered = now_;
      trace.delivered = now_ + static_cast<std::int64_t>(own * kSecond);
      trace.ends_frame = ++tile % tiles == 0;
      controller_->accept(trace);
      now_ += static_cast<std::int64_t>(std::max(own, every) * kSecond);
    }
  }

  CompositeDetector detector_{CompositeBranch(three_settings(), 1)};
  Pipeline pipeline_{detector_, nullptr, test::on_cpu(1)};
  ControllerOptions options_;
  std::unique_ptr<Controller> controller_;
  std::int64_t now_ = 1000 * kSecond;
  sightline::test::LogCapture log_;
};

TEST_F(QualityRun, HoldsARate) {
  start({QualityObjective::Kind::hold, 20});
  frames(10, {0.1, 0.06, 0.04});
  EXPECT_EQ(pipeline_.setting(), 2u);
  EXPECT_THAT(log_.str(), HasSubstr("now coarse (hold 20 frames/s): 16.7 frames/s are possible"));
  frames(10, {0.045, 0.03, 0.02});
  EXPECT_EQ(pipeline_.setting(), 0u) << "the machine has become faster";
  EXPECT_THAT(controller_->summary(), HasSubstr("hold 20 frames/s: kept within 5%"));
}

TEST_F(QualityRun, HoldsARateOfWholeFrames) {
  start({QualityObjective::Kind::hold, 20});
  frames(10, {0.05, 0.03, 0.02}, 0, 2);
  EXPECT_EQ(pipeline_.setting(), 2u);
  EXPECT_THAT(log_.str(), HasSubstr("now coarse (hold 20 frames/s): 16.7 frames/s are possible"));
}

TEST_F(QualityRun, WhatTheSourceDoesNotGiveNeedNotBeHeld) {
  options_.source_rate = [] { return 10.0; };
  start({QualityObjective::Kind::hold, 100});
  frames(20, {0.06, 0.05, 0.04}, 0.1);
  EXPECT_EQ(pipeline_.setting(), 0u) << "ten a second can be searched with any";
  frames(20, {0.12, 0.08, 0.04}, 0.1);
  EXPECT_EQ(pipeline_.setting(), 1u);
}

// A file: each frame is read for so long, which the next one waits for, then searched, then written.
class QualityFileRun : public QualityRun {
 protected:
  void file(double seconds, double reading, const std::array<double, 3>& searching, double writing) {
    const auto of = [](double s) { return static_cast<std::int64_t>(s * kSecond); };
    std::int64_t read = now_, searched = now_, written = now_, written_before = now_;
    for (const std::int64_t end = now_ + of(seconds); written < end;) {
      FrameTrace trace;
      trace.setting = static_cast<int>(pipeline_.setting());
      trace.admitted = std::max(read, written_before);  // two frames in flight
      written_before = written;
      read = trace.admitted + of(reading);
      const std::int64_t begun = std::max(read, searched);
      searched = begun + of(searching[pipeline_.setting()]);
      const std::int64_t handed = std::max(searched, written);
      written = trace.delivered = handed + of(writing);
      const std::array<Span, 4> spans{Span{Activity::decode, 0, 0, 0, trace.admitted, read},
                                      {Activity::wait, 0, 0, 0, read, begun},
                                      {Activity::run, 0, 0, 0, begun, searched},
                                      {Activity::output, 0, 0, 0, handed, written}};
      trace.spans = spans;
      controller_->accept(trace);
    }
    now_ = written;
  }
};

TEST_F(QualityFileRun, TurnsWhereSearchingIsTheLimit) {
  start({QualityObjective::Kind::hold, 20});
  file(10, 0.01, {0.1, 0.06, 0.04}, 0.001);
  EXPECT_EQ(pipeline_.setting(), 2u);
  EXPECT_THAT(log_.str(), HasSubstr("now coarse (hold 20 frames/s)"));
  EXPECT_THAT(log_.str(), testing::Not(HasSubstr("rests")));
}

TEST_F(QualityFileRun, DoesNotTurnForNothingWhereReadingIsTheLimit) {
  start({QualityObjective::Kind::hold, 20}, 0);
  file(30, 0.1, {0.06, 0.05, 0.04}, 0.001);
  EXPECT_EQ(pipeline_.setting(), 0u) << "ten a second are read, and searched with any";
  EXPECT_THAT(log_.str(),
              HasSubstr("the source delivers 10.0 frames/s, and the detector is idle 40% of the time"));
  EXPECT_THAT(log_.str(), testing::Not(HasSubstr("now ")));
  EXPECT_THAT(controller_->summary(), HasSubstr("the search had time left"));
  start({QualityObjective::Kind::hold, 20}, 2);
  file(60, 0.1, {0.06, 0.05, 0.04}, 0.001);
  EXPECT_EQ(pipeline_.setting(), 0u) << "there is time for a more accurate one";
}

TEST_F(QualityFileRun, DoesNotTurnForNothingWhereWritingIsTheLimit) {
  start({QualityObjective::Kind::hold, 20}, 0);
  file(30, 0.01, {0.06, 0.05, 0.04}, 0.1);
  EXPECT_EQ(pipeline_.setting(), 0u);
  EXPECT_THAT(log_.str(), HasSubstr("the outputs accept 10.0 frames/s"));
}

TEST_F(QualityRun, AHandEndsThePolicyUntilItIsWantedAgain) {
  start({QualityObjective::Kind::hold, 20});
  EXPECT_EQ(controller_->chosen_by(), "hold 20 frames/s");
  EXPECT_EQ(controller_->change_operating_point(-1), "setting: 6 filters (1 of 3)");
  EXPECT_EQ(controller_->change_operating_point(-1), "6 filters: the most accurate setting");
  EXPECT_EQ(controller_->chosen_by(), "by hand");
  frames(10, {0.1, 0.06, 0.04});
  EXPECT_EQ(controller_->operating_point_text(), "6 filters");
  EXPECT_THAT(controller_->follow_objective(), HasSubstr("hold 20"));
  frames(10, {0.1, 0.06, 0.04});
  EXPECT_EQ(controller_->operating_point_text(), "coarse");
  start({});
  EXPECT_EQ(controller_->chosen_by(), "as configured");
  EXPECT_THAT(controller_->follow_objective(), HasSubstr("no objective"));
}

TEST_F(QualityRun, SaysOnceWhatNoSettingHolds) {
  start({QualityObjective::Kind::hold, 1000});
  frames(30, {0.1, 0.06, 0.04});
  EXPECT_EQ(pipeline_.setting(), 2u);
  const std::string log = log_.str();
  const auto first = log.find("the fastest setting does not keep");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("the fastest setting does not keep", first + 1), std::string::npos) << log;
}

TEST_F(QualityRun, FollowsABattery) {
  const TempDir folder;
  const std::filesystem::path battery = std::filesystem::path(folder / "supply") / "BAT0";
  options_.battery = [supply = std::filesystem::path(folder / "supply")] { return battery_level(supply); };
  EXPECT_THAT(error_of(ExitCode::device, [&] { start({QualityObjective::Kind::battery}); }),
              HasSubstr("no battery"));
  std::filesystem::create_directories(battery);
  const auto has = [&](const char* name, const char* value) {
    std::ofstream(battery / name) << value << '\n';
  };
  has("type", "Battery");
  has("status", "Discharging");
  has("capacity", "80");
  start({QualityObjective::Kind::battery}, 0);
  for (const auto& [capacity, setting] :
       {std::pair{"80", 0u}, {"40", 1u}, {"52", 1u}, {"15", 2u}, {"90", 0u}}) {
    has("capacity", capacity);
    frames(11, {0.1, 0.1, 0.1});
    EXPECT_EQ(pipeline_.setting(), setting) << capacity;
  }
  EXPECT_THAT(log_.str(), HasSubstr("the battery is at 15%"));
  has("capacity", "10");
  has("status", "Charging");
  frames(11, {0.1, 0.1, 0.1});
  EXPECT_EQ(pipeline_.setting(), 0u);
}

// A log that an external meter has already written, for as long as the test can take.
std::string power_log(const TempDir& folder, double watts) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::ofstream log(folder / "power.csv");
  log << "time,watts\n" << std::fixed;
  for (int i = -5; i < 300; ++i) log << now + i << ',' << watts << '\n';
  return folder / "power.csv";
}

TEST_F(QualityRun, StaysWithinABudget) {
  const TempDir folder;
  MeterOptions meters;
  meters.log = power_log(folder, 50);
  options_.quality_energy = std::make_shared<Energy>(meters);
  options_.energy_interval = std::chrono::milliseconds(10);
  for (const auto& [watts, setting] : {std::pair{40.0, 2u}, {80.0, 0u}}) {
    start({QualityObjective::Kind::power, watts});
    EXPECT_TRUE(sightline::test::becomes_true([&, setting = setting] {
      frames(1, {0.1, 0.1, 0.1});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return pipeline_.setting() == setting;
    })) << watts;
  }
  EXPECT_THAT(log_.str(), HasSubstr("now coarse (no more than 40 W): 50 W"));
  controller_.reset();
  meters = {};
  meters.powercap = meters.hwmon = meters.power_supply = folder / "none";
  meters.nvml.clear();
  options_.quality_energy = std::make_shared<Energy>(meters);
  EXPECT_THAT(error_of(ExitCode::usage,
                       [&] {
                         start({QualityObjective::Kind::power, 40});
                       }),
              HasSubstr("needs an energy meter"));
}

TEST_F(QualityRun, AMeterThatFailsEndsThePolicyAlone) {
  const TempDir folder;
  MeterOptions meters;
  meters.log = folder / "power.csv";
  meters.log_wait = 0;
  std::ofstream(folder / "power.csv") << "time,watts\n1,5\n";
  options_.quality_energy = std::make_shared<Energy>(meters);
  options_.energy_interval = std::chrono::milliseconds(5);
  start({QualityObjective::Kind::energy, 1});
  EXPECT_TRUE(sightline::test::becomes_true([&] {
    frames(1, {0.1, 0.1, 0.1});
    return controller_->chosen_by() == "objective ended";
  }));
  EXPECT_THAT(log_.str(), HasSubstr("setting remains 5 filters"));
  EXPECT_EQ(controller_->change_operating_point(1), "setting: coarse (3 of 3)") << "a hand still can";
}

}  // namespace
}  // namespace sightline::pipeline

// --- the program

namespace sightline::test {
namespace {

using testing::HasSubstr;

class QualityProgram : public testing::Test {
 protected:
  QualityProgram() { filterbank::save_models(random_sizes({3, 5, 8}, 4), model_); }

  std::vector<std::string> detect(const std::vector<std::string>& more) const {
    return std::vector<std::string>{"detect", clip_, "--model", model_,         "--device",
                                    "none",   "-t",  "-0.5",    "--scale-step", "1.3"} +
           more;
  }

  TempDir folder_;
  std::string model_ = folder_ / "sizes.safetensors";
  std::string clip_ = moving_clip(160, 120, 6);
};

TEST_F(QualityProgram, EachLineSaysWhatFoundIt) {
  const std::string found = folder_ / "found.jsonl";
  const auto settings_in = [&](const std::string& text) {
    std::set<std::string> all;
    for (const char* name : {"8 filters, step 1.3", "3 filters, step 1.48"})
      if (text.find('"' + std::string(name) + '"') != std::string::npos) all.insert(name);
    return all;
  };
  Outcome outcome;
  {
    // Any machine has time for more than the fastest.
    Program program(
        detect({"--filters", "3", "--scale-step", "1.48", "--settings",
                "filters=8,scale_step=1.3; filters=3,scale_step=1.48", "--loop", "-1", "--hold", "1", "-d",
                found, "--trace", folder_ / "trace.json", "--report", folder_ / "run.html"}));
    ASSERT_TRUE(program.wait_until(
        [&] { return std::filesystem::exists(found) && settings_in(bytes_of(found)).size() == 2; }));
    program.send(SIGINT);
    outcome = program.wait();
  }
  EXPECT_THAT(outcome.err, HasSubstr("now 8 filters, step 1.3 (hold 1 frames/s)"));
  EXPECT_THAT(outcome.err, HasSubstr("%  8 filters, step 1.3\n"));
  EXPECT_THAT(outcome.err, HasSubstr("hold 1 frames/s: kept within 5% at "));
  EXPECT_THAT(bytes_of(folder_ / "trace.json"), HasSubstr("\"setting (0: most accurate)\""));

  const std::string page = bytes_of(folder_ / "run.html");
  EXPECT_THAT(page, HasSubstr("<h2>Setting over time</h2>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">3 filters, step 1.48</th>"));
  EXPECT_THAT(page, HasSubstr("kept within 5% at "));

  std::map<std::string, std::vector<Json>> plain;
  plain["8 filters, step 1.3"] = parse_lines(expect_run(0, "", detect({})).out);
  plain["3 filters, step 1.48"] =
      parse_lines(expect_run(0, "", detect({"--filters", "3", "--scale-step", "1.48"})).out);
  std::size_t objects = 0;
  for (const Json& line : parse_lines(bytes_of(found))) {
    const auto& alone = plain[line.at("setting")];
    const auto number = line.at("frame").get<std::size_t>() - 1;
    ASSERT_EQ(line.at("objects"), alone[number % alone.size()].at("objects")) << line;
    objects += line.at("objects").size();
  }
  EXPECT_GT(objects, 0u);
  EXPECT_FALSE(plain["8 filters, step 1.3"][0].contains("setting")) << "there is only one";
}

TEST_F(QualityProgram, SettingsAreListedAndExplained) {
  const std::string listed = "filters=8; filters=3,scale_step=1.5; filters=3,scale_step=1.5,min_size=50";
  const std::string found = folder_ / "found.csv";
  const Outcome outcome =
      expect_run(0, "", detect({"--hold", "1", "--settings", listed, "--explain", "-d", found}));
  EXPECT_THAT(bytes_of(found), HasSubstr(",track,name,distance,confidence,setting\n"));
  EXPECT_THAT(bytes_of(found), HasSubstr(",\"8 filters, step 1.3\"\n"));
  EXPECT_THAT(outcome.err, HasSubstr("* 8 filters, step 1.3 "));
  EXPECT_THAT(outcome.err, HasSubstr("  3 filters, step 1.5 "));
  EXPECT_THAT(outcome.err, HasSubstr("  3 filters, step 1.5, min_size 50  not evaluated"));
}

TEST_F(QualityProgram, WrongSettingsAreRefused) {
  const auto refused = [&](const std::vector<std::string>& options, const std::string& words) {
    expect_run(static_cast<int>(ExitCode::usage), words, detect(options));
  };
  refused({"--hold", "0"}, "--hold");
  refused({"--hold", "1e7"}, "no more than 1000000 frames a second");
  refused({"--budget", "40"}, "--budget: '40' is not a budget");
  refused({"--budget", ""}, "--budget");
  refused({"--hold", "5", "--budget", "40W"}, "--budget");
  refused({"--settings", "filters=3; filters=5"}, "--settings does nothing");
  refused({"--hold", "5", "--settings", "filters"}, "'filters' is not a setting");
  refused({"--hold", "5", "--settings", "filters=8; filtres=3"}, "'filtres' in the settings");
  refused({"--hold", "5", "--settings", "filters=8; filters=4"}, "numbers of filters: 3, 5, 8");
  refused({"--hold", "5", "--settings", "filters=8; filters=8"}, "are the same");
  refused({"--hold", "5", "--settings", "filters=8; filters=few"}, "option 'filters' must be a number");
  refused({"--hold", "5", "--settings", "filters=8"}, "only one setting");
  refused({"--hold", "5", "--power-log", "none.csv"}, "--power-log is for --budget");
  expect_run(static_cast<int>(ExitCode::usage), "takes one detector",
             {"detect", clip_, "--config", "people,faces", "--device", "none", "--hold", "5", "--settings",
              "scale_step=1.2; scale_step=1.4"});
}

}  // namespace
}  // namespace sightline::test
