// `sightline devices` from the outside.

#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;

// The program's environment differs from ours for the life of the object.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Devices, HintsAtDriversThatTheLoaderIsNotToldOf) {
  TempDir folder;
  fs::create_directory(folder / "vendors");
  fs::create_directory(folder / "lib");
  const Variable vendors("OCL_ICD_VENDORS", folder / "vendors");
  const Variable libraries("LD_LIBRARY_PATH", folder / "lib");
  const Outcome without = run({"devices"});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_NE(without.out.find("No OpenCL device"), std::string::npos) << without.out;

  const std::string driver = folder / "lib/libnvidia-opencl.so.1";
  media::test::store(driver, std::string());
  const Outcome with = run({"devices"});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_NE(with.out.find("OCL_ICD_VENDORS=" + driver), std::string::npos) << with.out;
}

TEST(Devices, Cameras) {
  const Outcome outcome = run({"devices", "--cameras"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  bool any = false;
  for (const auto& entry : fs::directory_iterator("/dev"))
    any = any || entry.path().filename().string().starts_with("video");
  if (!any) {
    EXPECT_NE(outcome.out.find("No camera: plug one in"), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(outcome.out.find("OpenCL"), std::string::npos) << outcome.out;
  expect_run(2, "--cameras", {"devices", "--cameras", "--probe"});
}

TEST(Devices, CharacteriseRefusesWhatDoesNotGoTogether) {
  expect_run(2, "--characterise", {"devices", "--thorough"});
  expect_run(2, "--characterise", {"devices", "--json", "a.json"});
  expect_run(2, "--characterise", {"devices", "--characterise", "--probe"});
  expect_run(2, "two outputs", {"devices", "--characterise", "--json", "a.json", "--report", "a.json"});
  expect_run(5, "no OpenCL device", {"devices", "--characterise", "--device", "nothing-of-this-name"});
  expect_run(1, "no-such-folder", {"devices", "--characterise", "--json", "no-such-folder/a.json"});
}

}  // namespace
}  // namespace sightline::test
