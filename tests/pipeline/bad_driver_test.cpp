// An OpenCL driver that takes its process with it, beside those of this machine.

#include <filesystem>

#include "opencl/device.hpp"
#include "opencl/driver_hint.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

long count(const std::string& text, const std::string& words) {
  long found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
  return found;
}

class BadDriver : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "drivers are not tried in processes of their own under ThreadSanitizer";
#endif
    for (const char* folder : {"vendors", "cache", "tmp"}) fs::create_directory(folder_ / folder);
    for (const opencl::RegisteredDriver& driver : opencl::registered_drivers(opencl::driver_places()))
      if (!driver.icd.empty()) fs::create_symlink(driver.icd, vendors() / driver.icd.filename());
    store((vendors() / "fake.icd").string(), std::string(FAKE_DRIVER) + "\n");
  }
  fs::path vendors() const {
    return folder_ / "vendors";
  }

  RunSetup setup(const std::string& driver_does = "abort") const {
    RunSetup setup;
    setup.environment = {"OCL_ICD_VENDORS=" + vendors().string(), "XDG_CACHE_HOME=" + (folder_ / "cache"),
                         "TMPDIR=" + (folder_ / "tmp"), "FAKE_DRIVER=" + driver_does,
                         "FAKE_DRIVER_LOG=" + (folder_ / "log")};
    return setup;
  }
  long times_loaded() const {
    return count(bytes_of(folder_ / "log"), "loaded");
  }
  void expect_machines_devices(const std::string& out) const {
    for (const opencl::DeviceInfo& device : opencl::list_devices())
      EXPECT_NE(out.find(device.name), std::string::npos) << device.name << " is missing in: " << out;
  }

  TempDir folder_;
};

TEST_F(BadDriver, CostsItsDevicesAlone) {
  const Outcome devices = expect_run(0, {"devices"}, setup());
  EXPECT_EQ(count(devices.err, "fake.icd'"), 1) << devices.err;
  EXPECT_NE(devices.err.find("delete '" + (folder_ / "cache/sightline/drivers.json") + "'"),
            std::string::npos)
      << devices.err;
  EXPECT_NE(devices.out.find("fake.icd"), std::string::npos) << devices.out;
  expect_machines_devices(devices.out);
  EXPECT_EQ(times_loaded(), 1);

  const Outcome detect = expect_run(0, {"detect", moving_clip(120, 200, 2), "--device", "auto"}, setup());
  EXPECT_EQ(count(detect.err, "fake.icd'"), 1) << detect.err;
  EXPECT_EQ(times_loaded(), 1) << "what is known is not asked again";

  const Outcome words = expect_run(0, {"complete", "--", "detect", "--device", ""}, setup());
  EXPECT_EQ(count(words.out, "fake.icd'"), 0) << words.out;

  for (const auto& entry : fs::directory_iterator(folder_ / "tmp"))
    EXPECT_FALSE(entry.path().filename().string().starts_with("sightline-")) << entry.path() << " is left";
}

TEST_F(BadDriver, IsNotAskedWhereNoDeviceIsWanted) {
  for (const auto& asked : {Words{"--device", "none"}, {"--schedule", "cpu"}}) {
    const Outcome outcome = expect_run(0, Words{"detect", moving_clip(120, 200, 2)} + asked, setup());
    EXPECT_EQ(outcome.err.find("fake.icd"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(times_loaded(), 0);
}

TEST_F(BadDriver, AloneLeavesTheCpu) {
  RunSetup alone = setup();
  alone.environment.front() = std::string("OCL_ICD_VENDORS=") + FAKE_DRIVER;  // a library, not a folder
  const Outcome devices = expect_run(0, {"devices"}, alone);
  EXPECT_NE(devices.out.find("No OpenCL device"), std::string::npos) << devices.out;
  EXPECT_NE(devices.err.find(FAKE_DRIVER), std::string::npos) << devices.err;
}

// Under any name, as a device that is there once.
TEST_F(BadDriver, OneThatIsRegisteredTwiceCountsOnce) {
  const auto numbers = [&] {
    const Outcome devices = expect_run(0, {"devices"}, setup("nothing"));
    return count(devices.out, "     platform ");
  };
  const long once = numbers();
  if (once == 0) GTEST_SKIP() << "there is no OpenCL device here";
  std::vector<fs::path> registered;
  for (const auto& entry : fs::directory_iterator(vendors())) registered.push_back(entry.path());
  for (const fs::path& icd : registered) fs::copy_file(icd, vendors() / ("again-" + icd.filename().string()));
  EXPECT_EQ(numbers(), once);
}

TEST_F(BadDriver, OneWithoutDevicesIsNamed) {
  RunSetup without = setup("nothing");
  fs::remove(vendors() / "fake.icd");
  if (fs::is_empty(vendors())) GTEST_SKIP() << "there is no OpenCL driver here";
  without.environment.insert(without.environment.end(),
                             {"POCL_DEVICES=nonexistent", "CUDA_VISIBLE_DEVICES="});
  const Outcome devices = expect_run(0, {"devices"}, without);
  if (devices.out.find("No OpenCL device") == std::string::npos) GTEST_SKIP() << "another driver has devices";
  EXPECT_NE(devices.out.find(vendors().string()), std::string::npos) << devices.out;
  EXPECT_EQ(devices.out.find("pocl-opencl-icd"), std::string::npos) << "it is installed";
  const Outcome detect =
      expect_run(5, vendors().string(), {"detect", moving_clip(120, 200, 2), "--device", "cpu"}, without);
  EXPECT_EQ(detect.err.find("pocl-opencl-icd"), std::string::npos) << detect.err;
}

TEST_F(BadDriver, OneThatDoesNoHarmIsLoaded) {
  for (const bool is_known : {false, true}) {
    const long before = times_loaded();
    const Outcome devices = expect_run(0, {"devices"}, setup("nothing"));
    EXPECT_EQ(devices.err.find("fake.icd"), std::string::npos) << devices.err;
    expect_machines_devices(devices.out);
    // The first run asks it alone, and with each driver that follows it.
    if (is_known) {
      EXPECT_EQ(times_loaded() - before, 1);
    } else {
      EXPECT_GE(times_loaded(), 2);
    }
  }
}

}  // namespace
}  // namespace sightline::test
