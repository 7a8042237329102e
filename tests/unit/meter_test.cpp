#include "pipeline/measurement/meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "opencl/device.hpp"
#include "pipeline/measurement/energy.hpp"
#include "support/errors.hpp"
#include "support/media.hpp"
#include "support/variable.hpp"
#include "unit/nvml/fake_nvml.hpp"

namespace sightline::pipeline {
namespace {

using sightline::test::BadInputs;
using sightline::test::expect_error;
using sightline::test::expect_errors;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using Meters = std::vector<std::unique_ptr<Meter>>;

std::vector<std::string> names_of(const Meters& meters) {
  std::vector<std::string> names;
  for (const auto& meter : meters) names.push_back(meter->name());
  return names;
}

// A machine without meters, whose clocks stand still and whose meters run no threads.
class MeterTest : public ::testing::Test {
 protected:
  MeterTest() {
    options_.powercap = folder_ / "powercap";
    options_.hwmon = folder_ / "hwmon";
    options_.power_supply = folder_ / "power_supply";
    options_.cpus = folder_ / "cpu";
    options_.nvml = "";
    options_.power_period = options_.counter_period = std::chrono::milliseconds(0);
    options_.log_wait = 0;
    options_.clock = [this] { return now_; };
    options_.wall_clock = [this] { return wall_; };
    fake_nvml = {};
  }

  // Replaces the file at once, so that a thread reads the old content or the new.
  void put(const std::string& file, const std::string& content) {
    const fs::path path = folder_ / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path.string() + ".new") << content << "\n";
    fs::rename(path.string() + ".new", path);
  }
  void put_rapl(const std::string& zone, const std::string& name, const std::string& energy) {
    put("powercap/" + zone + "/name", name);
    put("powercap/" + zone + "/energy_uj", energy);
    put("powercap/" + zone + "/max_energy_range_uj", "10000000");
  }
  void put_battery(const std::string& name, const std::string& status) {
    put("power_supply/" + name + "/type", "Battery");
    put("power_supply/" + name + "/status", status);
  }
  void put_log(const std::string& content) {
    std::ofstream(folder_ / "power.csv", std::ios::binary) << content;
    options_.log = folder_ / "power.csv";
  }
  double log_joules(const std::string& content, double from, double to, double gap = 10) {
    put_log(content);
    return joules_of_log(options_.log, from, to, gap);
  }
  // Each log is refused with an error that names the fact.
  void expect_refused(const BadInputs& logs, double from = 100, double to = 102, double gap = 10) {
    expect_errors(ExitCode::input, logs, [&](const std::string& log) { log_joules(log, from, to, gap); });
  }

  // The one meter that there is.
  std::unique_ptr<Meter> only_meter() {
    Meters meters = find_meters(options_);
    if (meters.size() != 1) throw std::runtime_error(std::to_string(meters.size()) + " meters");
    return std::move(meters.front());
  }

  media::test::TempDir folder_;
  MeterOptions options_;
  double now_ = 0;
  double wall_ = 0;
};

TEST_F(MeterTest, NoneWhereThereIsNone) {
  EXPECT_TRUE(find_meters(options_).empty());
  options_.nvml = "libdoes-not-exist.so";
  EXPECT_TRUE(find_meters(options_).empty());
}

TEST_F(MeterTest, RaplCountsPackagesAndTheirMemoryOnce) {
  put("powercap/intel-rapl/enabled", "1");
  put_rapl("intel-rapl:0", "package-0", "1");
  put_rapl("intel-rapl:0:0", "core", "1");
  put_rapl("intel-rapl:0:1", "uncore", "1");
  put_rapl("intel-rapl:0:2", "dram", "1");
  put_rapl("intel-rapl:1", "package-1", "1");
  put_rapl("intel-rapl:1:0", "dram", "1");
  put_rapl("intel-rapl:2", "psys", "1");
  put_rapl("intel-rapl-mmio:0", "package-0", "1");
  EXPECT_THAT(names_of(find_meters(options_)),
              ElementsAre("RAPL package-0", "RAPL package-0 dram", "RAPL package-1", "RAPL package-1 dram"));
}

TEST_F(MeterTest, RaplPartsAreWithinTheirPackage) {
  put_rapl("intel-rapl:0", "package-0", "1000000");
  put_rapl("intel-rapl:0:0", "core", "500000");
  put_rapl("intel-rapl:0:1", "uncore", "100000");
  put_rapl("intel-rapl:0:2", "dram", "1000000");
  put_rapl("intel-rapl:1", "package-1", "1000000");
  put_rapl("intel-rapl:10", "package-10", "1000000");
  put_rapl("intel-rapl:10:0", "core", "1000000");
  const Meters meters = find_meters(options_);
  ASSERT_EQ(meters.size(), 4u);
  EXPECT_THAT(names_of(meters[0]->parts()), ElementsAre("RAPL core", "RAPL uncore"));
  EXPECT_TRUE(meters[1]->parts().empty());  // memory
  EXPECT_TRUE(meters[2]->parts().empty()) << "those of package 10";
  EXPECT_EQ(meters[3]->parts().size(), 1u);

  Energy energy(options_, true);
  EXPECT_EQ(energy.part_names().size(), 3u);
  energy.start();
  put_rapl("intel-rapl:0", "package-0", "3000000");
  put_rapl("intel-rapl:0:0", "core", "1500000");
  put_rapl("intel-rapl:0:1", "uncore", "400000");
  energy.stop();
  const EnergyReading reading = energy.reading();
  EXPECT_DOUBLE_EQ(reading.joules, 2) << "parts are not added";
  EXPECT_THAT(reading.meters, ElementsAre(2, 0, 0, 0));
  EXPECT_NEAR(reading.parts.at(0), 1, 1e-9);
  EXPECT_NEAR(reading.parts.at(1), 0.3, 1e-9);
  EXPECT_TRUE(Energy(options_).part_names().empty());
}

TEST_F(MeterTest, MetersKnowWhatTheySee) {
  opencl::DeviceInfo cpu, built_in, nvidia, amd;
  cpu.type = opencl::DeviceType::cpu;
  built_in.type = nvidia.type = amd.type = opencl::DeviceType::gpu;
  built_in.unified_memory = true;
  built_in.vendor = "Intel(R) Corporation";
  nvidia.vendor = "NVIDIA Corporation";
  amd.vendor = "Advanced Micro Devices, Inc.";
  put_rapl("intel-rapl:0", "package-0", "1");
  const Energy package(options_);
  EXPECT_TRUE(package.is_quick());
  EXPECT_TRUE(package.sees_cpu());
  EXPECT_TRUE(package.sees_device(cpu));
  EXPECT_TRUE(package.sees_device(built_in));
  EXPECT_FALSE(package.sees_device(nvidia));
  EXPECT_FALSE(package.sees_device(amd));

  fs::remove_all(options_.powercap);
  options_.nvml = FAKE_NVML;
  fake_nvml.gpus.resize(1);
  const Energy card(options_);
  EXPECT_FALSE(card.sees_cpu());
  EXPECT_TRUE(card.sees_device(nvidia));
  for (const opencl::DeviceInfo& other : {cpu, built_in, amd}) EXPECT_FALSE(card.sees_device(other));

  put_log("time,watts\n100,5\n101,5\n");
  const Energy machine(options_);
  EXPECT_FALSE(machine.is_quick());
  EXPECT_TRUE(machine.sees_cpu());
  EXPECT_TRUE(machine.sees_device(amd));
}

TEST_F(MeterTest, RaplCountsFromStartToStop) {
  put_rapl("intel-rapl:0", "package-0", "1000000");
  const auto meter = only_meter();
  expect_error(ExitCode::failed, [&] { meter->joules(); });
  put_rapl("intel-rapl:0", "package-0", "2000000");
  meter->start();
  EXPECT_DOUBLE_EQ(meter->joules(), 0);
  put_rapl("intel-rapl:0", "package-0", "2500000");
  EXPECT_DOUBLE_EQ(meter->joules(), 0.5);
  put_rapl("intel-rapl:0", "package-0", "4000000");
  meter->stop();
  put_rapl("intel-rapl:0", "package-0", "9000000");
  meter->stop();
  EXPECT_DOUBLE_EQ(meter->joules(), 2);
  meter->start();
  EXPECT_DOUBLE_EQ(meter->joules(), 0);
}

TEST_F(MeterTest, RaplCounterWrapsAround) {
  put_rapl("intel-rapl:0", "package-0", "9000000");
  const auto meter = only_meter();
  meter->start();
  put_rapl("intel-rapl:0", "package-0", "500000");
  EXPECT_NEAR(meter->joules(), 1.5, 1e-9);
  put_rapl("intel-rapl:0", "package-0", "400000");
  EXPECT_NEAR(meter->joules(), 11.4, 1e-9);
}

TEST_F(MeterTest, CounterOfUnknownRangeMustNotGoBack) {
  put("powercap/intel-rapl:0/name", "package-0");
  put("powercap/intel-rapl:0/energy_uj", "9000000");
  const auto meter = only_meter();
  meter->start();
  put("powercap/intel-rapl:0/energy_uj", "500000");
  expect_error(ExitCode::failed, "RAPL package-0", [&] { meter->joules(); });
}

// Waits until something has happened that takes no more than milliseconds.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 20000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

TEST_F(MeterTest, RaplThreadSeesEveryWrap) {
  put_rapl("intel-rapl:0", "package-0", "9000000");
  std::atomic<int> samples = 0;
  options_.counter_period = std::chrono::milliseconds(1);
  options_.clock = [&] { return ++samples; };
  const auto meter = only_meter();
  meter->start();
  for (const char* energy : {"5000000", "1000000"}) {
    put_rapl("intel-rapl:0", "package-0", energy);
    const int before = samples;
    ASSERT_TRUE(soon([&] { return samples >= before + 2; }));  // one that began afterwards, and its end
  }
  meter->stop();
  EXPECT_NEAR(meter->joules(), 6 + 6, 1e-9);
  const int at_end = samples;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(samples, at_end) << "the thread goes on after stop()";
}

TEST_F(MeterTest, ThreadDoesNotKeepAnyoneWaiting) {
  put_rapl("intel-rapl:0", "package-0", "0");
  options_.counter_period = std::chrono::hours(1);
  const auto begin = std::chrono::steady_clock::now();
  {
    const auto meter = only_meter();
    meter->start();
    meter->start();
    meter->stop();
    meter->start();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
}

// Reading as nobody: root may read what nobody else may.
class AsNobody {
 public:
  AsNobody() : was_(geteuid()), changed_(was_ == 0 && seteuid(65534) == 0) {}
  ~AsNobody() {
    if (changed_ && seteuid(was_) != 0) std::abort();
  }
  bool is_root() const { return geteuid() == 0; }

 private:
  uid_t was_;
  bool changed_;
};

TEST_F(MeterTest, UnreadableMetersAreListed) {
  put_rapl("intel-rapl:0", "package-0", "1");
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod((folder_ / "powercap/intel-rapl:0/energy_uj").c_str(), geteuid() == 0 ? 0400 : 0);
  const AsNobody nobody;
  if (nobody.is_root()) GTEST_SKIP() << "cannot give up root";
  const auto meter = only_meter();
  EXPECT_FALSE(meter->usable());
  EXPECT_NE(meter->problem(), "");
  expect_error(ExitCode::device, "RAPL package-0", [&] { meter->start(); });
  expect_error(ExitCode::failed, [&] { meter->joules(); });
}

TEST_F(MeterTest, SensorsThatHoldNoNumberAreListed) {
  put_rapl("intel-rapl:0", "package-0", "12 apples");
  fs::create_directories(folder_ / "powercap/intel-rapl:1/energy_uj");
  put("powercap/intel-rapl:1/name", "package-1");
  put_rapl("intel-rapl:2", "package-2", "nan");
  const Meters meters = find_meters(options_);
  ASSERT_EQ(meters.size(), 3);
  EXPECT_THAT(meters[0]->problem(), HasSubstr("'12 apples'"));
  EXPECT_NE(meters[1]->problem(), "");
  EXPECT_THAT(meters[2]->problem(), HasSubstr("'nan'"));
}

TEST_F(MeterTest, PowerIsIntegratedByTrapezoids) {
  put("hwmon/hwmon3/name", "amdgpu");
  put("hwmon/hwmon3/power1_average", "10000000");
  const auto meter = only_meter();
  EXPECT_EQ(meter->name(), "hwmon amdgpu");
  EXPECT_THAT(meter->covers(), HasSubstr("hwmon3"));
  now_ = 5;
  meter->start();
  now_ = 7;
  put("hwmon/hwmon3/power1_average", "20000000");
  EXPECT_DOUBLE_EQ(meter->joules(), 2 * 15);
  now_ = 7.5;
  meter->stop();
  now_ = 100;
  EXPECT_DOUBLE_EQ(meter->joules(), 2 * 15 + 0.5 * 20);
}

TEST_F(MeterTest, PowerThreadSamples) {
  put("hwmon/hwmon0/name", "chip");
  put("hwmon/hwmon0/power1_input", "10000000");
  std::atomic<int> samples = 0;
  options_.power_period = std::chrono::milliseconds(1);
  options_.clock = [&] { return ++samples; };  // a second goes by from sample to sample
  const auto meter = only_meter();
  meter->start();
  ASSERT_TRUE(soon([&] { return samples >= 10; }));
  meter->stop();
  EXPECT_GE(samples, 10);
  EXPECT_DOUBLE_EQ(meter->joules(), 10. * (samples - 1));
}

TEST_F(MeterTest, SensorThatVanishesEndsTheMeasurement) {
  put("hwmon/hwmon0/name", "chip");
  put("hwmon/hwmon0/power1_input", "10000000");
  const auto meter = only_meter();
  meter->start();
  fs::remove(folder_ / "hwmon/hwmon0/power1_input");
  now_ = 1;
  expect_error(ExitCode::failed, [&] { meter->joules(); });
  put("hwmon/hwmon0/power1_input", "10000000");  // what it would have shown before is not known
  now_ = 2;
  meter->stop();
  expect_error(ExitCode::failed, [&] { meter->joules(); });
  meter->start();
  now_ = 3;
  EXPECT_DOUBLE_EQ(meter->joules(), 10);
}

TEST_F(MeterTest, HwmonTakesEachChannelOnce) {
  put("hwmon/hwmon0/name", "coretemp");
  put("hwmon/hwmon0/temp1_input", "40000");
  put("hwmon/hwmon1/name", "amdgpu");
  put("hwmon/hwmon1/power1_average", "3000000");
  put("hwmon/hwmon1/power1_input", "5000000");
  put("hwmon/hwmon1/power1_label", "PPT");
  put("hwmon/hwmon1/power1_cap", "9000000");
  put("hwmon/hwmon1/power1_average_interval", "9");
  put("hwmon/hwmon2/name", "i915");
  put("hwmon/hwmon2/energy1_input", "7000000");
  put("hwmon/hwmon2/power1_input", "7000000");
  put("hwmon/hwmon2/power2_input", "7000000");
  put("hwmon/hwmon3/name", "amd_energy");
  put("hwmon/hwmon3/energy1_input", "1");
  put("hwmon/hwmon3/energy1_label", "Ecore000");
  put("hwmon/hwmon3/energy2_input", "1");
  put("hwmon/hwmon3/energy2_label", "Esocket0");
  put("hwmon/hwmon4/name", "BAT0");
  put("hwmon/hwmon4/power1_input", "7000000");
  put_battery("BAT0", "Full");
  put("power_supply/BAT0/power_now", "0");
  const Meters meters = find_meters(options_);
  EXPECT_THAT(names_of(meters), ElementsAre("hwmon amdgpu PPT", "hwmon i915", "hwmon i915 power2",
                                            "hwmon amd_energy Esocket0", "battery BAT0"));
  for (const auto& meter : meters) {
    if (meter->usable()) meter->start();
  }
  now_ = 2;
  put("hwmon/hwmon2/energy1_input", "8000000");
  EXPECT_DOUBLE_EQ(meters[0]->joules(), 2 * 3);
  EXPECT_DOUBLE_EQ(meters[1]->joules(), 1);
}

TEST_F(MeterTest, BatteryMustDischarge) {
  put("power_supply/AC/type", "Mains");
  put("power_supply/AC/power_now", "5000000");
  put_battery("hidpp_battery_0", "Discharging");
  put("power_supply/hidpp_battery_0/scope", "Device");
  put("power_supply/hidpp_battery_0/power_now", "1000");
  put_battery("BAT0", "Charging");
  put("power_supply/BAT0/power_now", "5000000");
  EXPECT_THAT(only_meter()->problem(), HasSubstr("Charging"));

  put_battery("BAT0", "Discharging");
  const auto meter = only_meter();
  EXPECT_EQ(meter->name(), "battery BAT0");
  meter->start();
  now_ = 4;
  EXPECT_DOUBLE_EQ(meter->joules(), 20);
  put_battery("BAT0", "Charging");
  expect_error(ExitCode::failed, [&] { meter->joules(); });
}

TEST_F(MeterTest, BatteryOfCurrentAndVoltage) {
  put_battery("BAT1", "Discharging");
  put("power_supply/BAT1/current_now", "-1500000");
  EXPECT_TRUE(find_meters(options_).empty());
  put("power_supply/BAT1/voltage_now", "12000000");
  const auto meter = only_meter();
  meter->start();
  now_ = 2;
  EXPECT_DOUBLE_EQ(meter->joules(), 36);
}

TEST_F(MeterTest, NvmlCountsEnergyOrSamplesPower) {
  options_.nvml = FAKE_NVML;
  EXPECT_TRUE(find_meters(options_).empty());
  EXPECT_EQ(fake_nvml.open, 0);
  fake_nvml.gpus.resize(3);
  fake_nvml.gpus[0].millijoules = 5000;
  fake_nvml.gpus[1].counts_energy = false;
  fake_nvml.gpus[1].milliwatts = 200000;
  fake_nvml.gpus[2].handle_result = 4;
  Meters meters = find_meters(options_);
  EXPECT_THAT(names_of(meters),
              ElementsAre("NVML NVIDIA Made-up (GPU 0)", "NVML NVIDIA Made-up (GPU 1)", "NVML GPU 2"));
  EXPECT_THAT(meters[2]->problem(), HasSubstr("Insufficient Permissions"));
  meters[0]->start();
  meters[1]->start();
  fake_nvml.gpus[0].millijoules = 7500;
  now_ = 3;
  EXPECT_DOUBLE_EQ(meters[0]->joules(), 2.5);
  EXPECT_DOUBLE_EQ(meters[1]->joules(), 600);
  EXPECT_EQ(fake_nvml.open, 1);
  meters.clear();
  EXPECT_EQ(fake_nvml.open, 0);
}

TEST_F(MeterTest, ClocksAreThoseOfTheIntervalsEnd) {
  put_rapl("intel-rapl:0", "package-0", "1");
  put_rapl("intel-rapl:0:0", "dram", "1");
  put("cpu/cpu0/cpufreq/scaling_cur_freq", "2400000");
  put("cpu/cpu1/cpufreq/scaling_cur_freq", "1200000");
  put("cpu/cpu2/online", "0");
  options_.nvml = FAKE_NVML;
  fake_nvml.gpus.resize(2);
  fake_nvml.gpus[0].megahertz = 1980;
  const Meters meters = find_meters(options_);
  ASSERT_EQ(meters.size(), 4u);
  for (const auto& meter : meters) meter->start();
  put("cpu/cpu0/cpufreq/scaling_cur_freq", "3600000");
  fake_nvml.gpus[0].megahertz = 1755;
  for (const auto& meter : meters) meter->stop();
  fake_nvml.gpus[0].megahertz = 345;
  EXPECT_EQ(meters[0]->megahertz(), 2400);
  EXPECT_EQ(meters[1]->megahertz(), 0);  // memory
  EXPECT_EQ(meters[2]->megahertz(), 1755);
  EXPECT_EQ(meters[3]->megahertz(), 0);  // the driver does not tell
  EXPECT_EQ(meters[3]->joules(), 0);
}

TEST_F(MeterTest, NvmlNeedsItsDriver) {
  options_.nvml = FAKE_NVML;
  fake_nvml.gpus.resize(1);
  EXPECT_EQ(only_meter()->name(), "NVML NVIDIA Made-up");
  fake_nvml.init_result = 9;
  const auto meter = only_meter();
  EXPECT_EQ(meter->name(), "NVML");
  EXPECT_THAT(meter->problem(), HasSubstr("Driver Not Loaded"));
  EXPECT_EQ(fake_nvml.open, 0);
}

TEST_F(MeterTest, LogIsIntegratedByTrapezoids) {
  const std::string log = "time,watts\n100,10\n102,30\n103,30\n";
  EXPECT_DOUBLE_EQ(log_joules(log, 100, 103), 2 * 20 + 30);
  EXPECT_DOUBLE_EQ(log_joules(log, 100.5, 101.5), 20);
  EXPECT_DOUBLE_EQ(log_joules(log, 101, 102.5), 25 + 15);
  EXPECT_DOUBLE_EQ(log_joules(log, 103, 103), 0);
}

TEST_F(MeterTest, LogColumnsAndLineEnds) {
  EXPECT_DOUBLE_EQ(log_joules("Volts, Watts ,TIME\r\n230,10, 100\r\n\r\n231,1e1,104\r\n", 100, 104), 40);
  EXPECT_DOUBLE_EQ(log_joules("\xEF\xBB\xBFtime,watts\n100,10\n104,10\n", 100, 104), 40);
  // Two samples of one moment: a step.
  EXPECT_DOUBLE_EQ(log_joules("time,watts\n100,10\n101,10\n101,20\n102,20\n", 100, 102), 30);
}

TEST_F(MeterTest, LogTimesInIso8601) {
  const double noon = 1769860800;  // 2026-01-31 12:00:00 UTC
  for (const char* begin : {"2026-01-31T12:00:00Z", "2026-01-31 13:00:00.000+01:00",
                            "2026-01-31T08:30:00-0330", "2026-01-30T22:00:00-14", "1769860800"}) {
    const std::string log = std::string("time,watts\n") + begin + ",10\n2026-01-31T12:00:04.5Z,10\n";
    EXPECT_DOUBLE_EQ(log_joules(log, noon, noon + 4.5), 45) << begin;
    expect_refused({{log, "0.5 s"}}, noon - 0.5, noon + 1);
  }
  for (const char* wrong :
       {"2026-02-29T12:00:00Z", "2026-13-01T12:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
        "2026-01-31T12:00:61Z", "2026-01-31T12:00:-1Z", "2026-01-31T12:00:00+1", "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:00 o'clock", "2026-01-31T12:00", "2026-01-31", "noon", "inf", ""}) {
    expect_refused({{std::string("time,watts\n") + wrong + ",10\n", "line 2"}});
  }
}

TEST_F(MeterTest, LogTimesWithoutOffsetAreLocal) {
  sightline::test::Variable zone("TZ", "AST+4ADT,M3.2.0,M11.1.0");  // UTC-4, in summer UTC-3
  tzset();
  const std::string winter = "time,watts\n2026-01-31T08:00:00,10\n2026-01-31T12:00:02Z,10\n";
  const std::string summer = "time,watts\n2026-07-31T09:00:00,10\n2026-07-31T12:00:02Z,10\n";
  EXPECT_DOUBLE_EQ(log_joules(winter, 1769860800, 1769860802), 20);
  EXPECT_DOUBLE_EQ(log_joules(summer, 1785499200, 1785499202), 20);
}

TEST_F(MeterTest, LogMustCoverTheInterval) {
  const std::string log = "time,watts\n100,10\n101,10\n105,10\n106,10\n";
  expect_refused({{log, "0.5 s"}}, 99.5, 101);
  expect_refused({{log, "2 s"}}, 100, 108);
  expect_refused({{log, "102 s"}}, 200, 208);
  expect_refused({{log, "4 s"}}, 100, 106, 3);
  expect_refused({{log, "4 s"}}, 100, 101.5, 3);
  EXPECT_DOUBLE_EQ(log_joules(log, 100, 101, 3), 10);
  EXPECT_DOUBLE_EQ(log_joules(log, 105, 106, 3), 10);
  expect_refused({{"time,watts\n", "power.csv"}, {"", "power.csv"}});
}

TEST_F(MeterTest, LogLineThatIsBeingWrittenIsNotRead) {
  // The last one may become 102,15.
  expect_refused({{"time,watts\n100,10\n101,10\n102,1", "1 s"}, {"time,wat", "power.csv"}});
  EXPECT_DOUBLE_EQ(log_joules("time,watts\n100,10\n101,10\n10", 100, 101), 10);
}

TEST_F(MeterTest, LogErrorsNameTheLine) {
  expect_refused({{"when,watts\n", "'time'"},
                  {"time;watts\n", "'time'"},
                  {"time,power\n", "'watts'"},
                  {"time,watts\n100,10\n101,ten\n", "line 3"},
                  {"time,watts\n100,10\n101,nan\n", "line 3"},
                  {"time,watts\n100,10\n101\n", "line 3"},
                  {"time,watts\n100,10\n\n101,1,5\n", "line 4"},
                  {"time,watts\n100,10\n101,10\n100.5,10\n", "line 4"}});
}

TEST_F(MeterTest, LogIsCheckedBeforeTheRun) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& log : {folder_ / "missing.csv", folder_.path(), pipe}) {
    options_.log = log;
    expect_error(ExitCode::input, log, [&] { find_meters(options_); });
  }
  put_log("time,volts\n");
  expect_error(ExitCode::input, "'watts'", [&] { find_meters(options_); });
  put_log("");  // the logger may not have written it yet
  EXPECT_THAT(only_meter()->name(), HasSubstr("log "));
}

TEST_F(MeterTest, LogMeterMeasuresBetweenStartAndStop) {
  put_log("time,watts\n100,10\n110,10\n120,10\n");
  const auto meter = only_meter();
  expect_error(ExitCode::failed, [&] { meter->joules(); });
  wall_ = 101;
  meter->start();
  wall_ = 103;
  EXPECT_DOUBLE_EQ(meter->joules(), 20);
  wall_ = 115;
  meter->stop();
  wall_ = 130;
  meter->stop();
  EXPECT_DOUBLE_EQ(meter->joules(), 140);
  meter->start();
  wall_ = 131;
  meter->stop();
  expect_error(ExitCode::input, "11 s", [&] { meter->joules(); });
  meter->start();
  wall_ = 119;
  expect_error(ExitCode::failed, [&] { meter->joules(); });
}

TEST_F(MeterTest, LogMeterWaitsForTheLogger) {
  put_log("time,watts\n100,10\n");
  options_.log_wait = 5;
  options_.wall_clock = [this] {  // the logger writes while the meter looks at the clock
    ++wall_;
    if (wall_ == 104) std::ofstream(options_.log, std::ios::app) << "10";
    if (wall_ == 105) std::ofstream(options_.log, std::ios::app) << "3,10\n";
    return wall_;
  };
  const auto meter = only_meter();
  wall_ = 99;
  meter->start();
  wall_ = 101;
  meter->stop();
  EXPECT_DOUBLE_EQ(meter->joules(), 20);
  EXPECT_EQ(wall_, 105);

  wall_ = 102;
  meter->start();
  meter->stop();  // at 104, and nothing more is written in time
  wall_ = 107;
  expect_error(ExitCode::input, "1 s", [&] { meter->joules(); });
  EXPECT_EQ(wall_, 109);
}

}  // namespace
}  // namespace sightline::pipeline
