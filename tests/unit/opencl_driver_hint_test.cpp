// Drivers that are there but that the loader is not told of.
#include <gtest/gtest.h>

#include "opencl/driver_hint.hpp"
#include "support/media.hpp"

namespace sightline::opencl {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

class DriverHint : public testing::Test {
 protected:
  DriverHint() {
    for (const char* folder : {"vendors", "a", "b"}) fs::create_directory(folder_ / folder);
    places_ = {folder_ / "vendors", {folder_ / "none", folder_ / "a", folder_ / "b"}};
  }
  void put(const std::string& name, const std::string& text = "") {
    media::test::store(folder_ / name, text);
  }

  media::test::TempDir folder_;
  DriverPlaces places_;
};

TEST_F(DriverHint, NothingWithoutDrivers) {
  EXPECT_EQ(unregistered_drivers(places_), Paths{});
  EXPECT_EQ(driver_hint(places_), "");
  put("a/libOpenCL.so.1");  // the loader is no driver
  EXPECT_EQ(driver_hint(places_), "");
}

TEST_F(DriverHint, TheFirstOfEachDriver) {
  put("b/libnvidia-opencl.so.1");
  EXPECT_EQ(unregistered_drivers(places_), Paths{folder_ / "b/libnvidia-opencl.so.1"});
  put("a/libnvidia-opencl.so.1");
  put("b/libamdocl64.so");
  EXPECT_EQ(unregistered_drivers(places_),
            (Paths{folder_ / "a/libnvidia-opencl.so.1", folder_ / "b/libamdocl64.so"}));
  const std::string hint = driver_hint(places_);
  EXPECT_NE(hint.find("OCL_ICD_VENDORS=" + (folder_ / "a/libnvidia-opencl.so.1")), std::string::npos) << hint;
  EXPECT_NE(hint.find("/etc/OpenCL/vendors/nvidia-opencl.icd"), std::string::npos) << hint;
  EXPECT_EQ(hint.find('\n'), std::string::npos);
}

TEST_F(DriverHint, NothingForDriversThatAreNamed) {
  put("a/libnvidia-opencl.so.1");
  put("vendors/other.icd", "libpocl.so.2\n");
  put("vendors/nvidia.conf", "libnvidia-opencl.so.1\n");  // no .icd file
  EXPECT_EQ(unregistered_drivers(places_).size(), 1u);
  for (const char* text :
       {"libnvidia-opencl.so.1", "libnvidia-opencl.so.1\r\n", "/opt/libnvidia-opencl.so.535.1\n"}) {
    put("vendors/nvidia.icd", text);
    EXPECT_EQ(unregistered_drivers(places_), Paths{}) << text;
  }
}

TEST_F(DriverHint, VendorsAsOneFile) {
  put("a/libnvidia-opencl.so.1");
  places_.vendors = folder_ / "a/libnvidia-opencl.so.1";
  EXPECT_EQ(unregistered_drivers(places_), Paths{});
  put("one.icd", "libnvidia-opencl.so.1\n");
  places_.vendors = folder_ / "one.icd";
  EXPECT_EQ(unregistered_drivers(places_), Paths{});
  places_.vendors = folder_ / "nothing";
  EXPECT_EQ(unregistered_drivers(places_).size(), 1u);
}

}  // namespace
}  // namespace sightline::opencl
