// `sightline devices` from the outside.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "opencl/device.hpp"
#include "opencl/driver_hint.hpp"
#include "support/media.hpp"
#include "support/program.hpp"
#include "support/variable.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

TEST(Devices, HintsAtDriversThatTheLoaderIsNotToldOf) {
  TempDir folder;
  fs::create_directory(folder / "vendors");
  fs::create_directory(folder / "lib");
  const Variable vendors("OCL_ICD_VENDORS", folder / "vendors");
  const Variable libraries("LD_LIBRARY_PATH", folder / "lib");
  const Outcome without = expect_run(0, {"devices"});
  EXPECT_NE(without.out.find("No OpenCL device"), std::string::npos) << without.out;

  const std::string driver = folder / "lib/libnvidia-opencl.so.1";
  media::test::store(driver, std::string());
  const Outcome with = expect_run(0, {"devices"});
  EXPECT_NE(with.out.find("OCL_ICD_VENDORS=" + driver), std::string::npos) << with.out;
}

// Some driver of this machine's, under the name of one that is known; empty where there is none.
fs::path put_driver(const fs::path& folder) {
  const opencl::DriverPlaces places = opencl::driver_places();
  for (const opencl::RegisteredDriver& driver : opencl::registered_drivers(places)) {
    for (fs::path place : places.libraries) {
      place /= driver.library;
      if (driver.library.empty() || !fs::is_regular_file(place)) continue;
      fs::create_symlink(place, folder / "libnvidia-opencl.so.1");
      // PoCL looks for its devices beside itself.
      const fs::path devices = place.parent_path() / "pocl";
      if (fs::is_directory(devices)) fs::create_directory_symlink(devices, folder / "pocl");
      return folder / "libnvidia-opencl.so.1";
    }
  }
  return {};
}

long lines_with(const std::string& text, const std::string& words) {
  std::istringstream lines(text);
  long count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(words) != std::string::npos ? 1 : 0;
  return count;
}

TEST(Devices, UsesDriversThatNobodyRegistered) {
  TempDir folder;
  for (const char* name : {"vendors", "lib"}) fs::create_directory(folder / name);
  const fs::path driver = put_driver(folder / "lib");
  if (driver.empty() || opencl::list_devices().empty()) GTEST_SKIP() << "there is no OpenCL device here";
  const Variable vendors("OCL_ICD_VENDORS", folder / "vendors");
  const Variable libraries("LD_LIBRARY_PATH", folder / "lib");
  const Outcome devices = expect_run(0, {"devices"});
  EXPECT_NE(devices.out.find(opencl::list_devices().front().name), std::string::npos) << devices.out;
  EXPECT_NE(devices.out.find(driver.string()), std::string::npos) << devices.out;
  EXPECT_NE(devices.out.find("/etc/OpenCL/vendors/nvidia-opencl.icd"), std::string::npos) << devices.out;

  const Words detect{"detect", moving_clip(120, 200, 2)};
  const Outcome used = expect_run(0, detect);
  EXPECT_EQ(lines_with(used.err, driver.string()), 1) << used.err;
  const Outcome unused = expect_run(0, detect + Words{"--device", "none"});
  EXPECT_EQ(lines_with(unused.err, driver.string()), 0) << unused.err;
}

TEST(Devices, NamesRegisteredDriversThatCannotBeLoaded) {
  TempDir folder;
  fs::create_directory(folder / "vendors");
  const Variable vendors("OCL_ICD_VENDORS", folder / "vendors");
  const std::string library = folder / "libdriver.so";
  media::test::store(folder / "vendors/absent.icd", (folder / "no-such-driver.so") + "\n");
  media::test::store(folder / "vendors/damaged.icd", library + "\n");
  media::test::store(folder / "vendors/empty.icd", std::string());
  media::test::store(folder / "vendors/bare.icd", std::string("libno-such-driver.so.7\n"));
  media::test::store(library, std::string("no library"));
  const Outcome devices = expect_run(0, {"devices"});
  EXPECT_EQ(devices.out.find("pocl-opencl-icd"), std::string::npos) << devices.out;
  const Outcome detect = expect_run(5, {"detect", moving_clip(120, 200, 2), "--device", "gpu"});
  for (const std::string& text : {devices.out, detect.err}) {
    for (const char* name : {"absent.icd", "damaged.icd", "empty.icd", "bare.icd"})
      EXPECT_NE(text.find(name), std::string::npos) << name << " is missing in: " << text;
    EXPECT_NE(text.find(folder / "no-such-driver.so"), std::string::npos) << text;
    EXPECT_NE(text.find("libno-such-driver.so.7"), std::string::npos) << text;
  }
}

TEST(Devices, Cameras) {
  const Outcome outcome = expect_run(0, {"devices", "--cameras"});
  bool any = false;
  for (const auto& entry : fs::directory_iterator("/dev"))
    any = any || entry.path().filename().string().starts_with("video");
  if (!any) {
    EXPECT_NE(outcome.out.find("No camera: plug one in"), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(outcome.out.find("OpenCL"), std::string::npos) << outcome.out;
  expect_run(2, "--cameras", {"devices", "--cameras", "--probe"});
}

bool has_decoding_device() {
  for (const char* const file : {"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg"})
    if (fs::exists(file)) return true;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev/dri", error))
    if (entry.path().filename().string().starts_with("renderD")) return true;
  return false;
}

TEST(Devices, DecodersAreTestedOrMissing) {
  const TempDir folder;
  const Variable cache("XDG_CACHE_HOME", folder / "cache");
  const std::string file = folder / "decoders.json";
  const Outcome outcome = expect_run(0, {"devices", "--decoders", "--json", file});
  EXPECT_EQ(outcome.out.find("OpenCL"), std::string::npos) << outcome.out;
  const Json decoders = Json::parse(bytes_of(file)).at("decoders");
  EXPECT_EQ(decoders.empty(), !has_decoding_device()) << decoders;
  if (decoders.empty()) {
    EXPECT_EQ(lines_with(outcome.out, ""), 1) << outcome.out;
    for (const char* const words : {"No hardware decoder", "NVIDIA_DRIVER_CAPABILITIES", "/dev/dri"})
      EXPECT_EQ(lines_with(outcome.out, words), 1) << outcome.out;
  }
  for (const Json& decoder : decoders) {
    EXPECT_GE(lines_with(outcome.out, decoder.at("decoder").get<std::string>()), 1) << outcome.out;
    ASSERT_FALSE(decoder.at("tests").empty());
    EXPECT_EQ(decoder["tests"][0].at("codec"), "h264");
  }
  expect_run(2, "--decoders", {"devices", "--decoders", "--cameras"});
  expect_run(2, "--decoders", {"devices", "--decoders", "--characterise"});
  expect_run(2, "--decoders", {"devices", "--cameras", "--json", folder / "a.json"});
}

TEST(Devices, CharacteriseRefusesWhatDoesNotGoTogether) {
  expect_run(2, "--characterise", {"devices", "--thorough"});
  expect_run(2, "--characterise", {"devices", "--json", "a.json"});
  expect_run(2, "--characterise", {"devices", "--characterise", "--probe"});
  expect_run(2, {"devices", "--characterise", "--json", "a.json", "--report", "a.json"});
  expect_run(5, {"devices", "--characterise", "--device", "nothing-of-this-name"});
  expect_run(1, "no-such-folder", {"devices", "--characterise", "--json", "no-such-folder/a.json"});
}

}  // namespace
}  // namespace sightline::test
