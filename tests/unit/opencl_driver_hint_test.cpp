// Drivers that are there but that the loader is not told of.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "opencl/driver_hint.hpp"
#include "support/media.hpp"
#include "support/variable.hpp"

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

// A driver that is there without a device: what its environment lacks.
TEST_F(DriverHint, WhyADriverOffersNoDevice) {
  test::Variable devices("POCL_DEVICES", {}), cache("POCL_CACHE_DIR", folder_ / "own/cache");
  EXPECT_EQ(no_device_reason("libpocl.so.2"), "");
  devices.set("nonexistent");
  EXPECT_NE(no_device_reason("libpocl.so.2").find("'nonexistent'"), std::string::npos);
  devices.set({});
  put("file");
  for (const std::string& place : {folder_ / "file/cache", std::string("/proc/cache")}) {
    cache.set(place);
    EXPECT_NE(no_device_reason("/usr/lib/libpocl.so.2.10.0").find(place), std::string::npos) << place;
  }
  cache.set({});
  test::Variable general("XDG_CACHE_HOME", folder_ / "file"), home("HOME", folder_ / "home");
  EXPECT_NE(no_device_reason("libpocl.so.2").find("POCL_CACHE_DIR"), std::string::npos);
  general.set({});
  EXPECT_EQ(no_device_reason("libpocl.so.2"), "");
  EXPECT_NE(no_device_reason("libnvidia-opencl.so.1"), "");
  EXPECT_EQ(no_device_reason("libother.so"), "");
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
  put("b/libnvidia-opencl.so.535.1");
  for (const std::string& text :
       {std::string("libnvidia-opencl.so.1"), std::string("libnvidia-opencl.so.1\r\n"),
        (folder_ / "b/libnvidia-opencl.so.535.1") + "\n"}) {
    put("vendors/nvidia.icd", text);
    EXPECT_EQ(unregistered_drivers(places_), Paths{}) << text;
    EXPECT_EQ(adopted_drivers(places_), Paths{}) << text;
  }
}

TEST_F(DriverHint, AnEntryThatLeadsNowhereNamesNothing) {
  put("a/libnvidia-opencl.so.1");
  put("vendors/nvidia.icd", (folder_ / "none/libnvidia-opencl.so.535.1") + "\n");
  EXPECT_EQ(unregistered_drivers(places_), Paths{folder_ / "a/libnvidia-opencl.so.1"});
}

TEST_F(DriverHint, AdoptsUnlessTheUserNamedOneDriverOrNone) {
  put("a/libnvidia-opencl.so.1");
  put("vendors/other.icd", "libpocl.so.2\n");
  const Paths driver{folder_ / "a/libnvidia-opencl.so.1"};
  for (const bool is_named : {false, true}) {
    places_.is_named = is_named;
    places_.vendors = folder_ / "vendors";
    EXPECT_EQ(adopted_drivers(places_), driver);
    ASSERT_EQ(drivers_to_load(places_).size(), 2u);
    EXPECT_EQ(drivers_to_load(places_)[0].library, "libpocl.so.2");
    EXPECT_EQ(drivers_to_load(places_)[1].icd, "");
    EXPECT_EQ(drivers_to_load(places_)[1].library, driver.front());
    for (const char* vendors : {"vendors/other.icd", "nothing/"}) {
      places_.vendors = folder_ / vendors;
      EXPECT_EQ(adopted_drivers(places_), is_named ? Paths{} : driver) << vendors;
    }
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

TEST_F(DriverHint, RegisteredDriversAreInOrder) {
  put("vendors/b.icd", "libb.so.1\n");
  put("vendors/a.icd", "/opt/liba.so\r\n");
  put("vendors/a.icd.old", "liba.so\n");
  const auto drivers = registered_drivers(places_);
  ASSERT_EQ(drivers.size(), 2u);
  EXPECT_EQ(drivers[0].icd, folder_ / "vendors/a.icd");
  EXPECT_EQ(drivers[0].library, "/opt/liba.so");
  EXPECT_EQ(drivers[1].icd, folder_ / "vendors/b.icd");
  EXPECT_EQ(drivers[1].library, "libb.so.1");
  places_.vendors = folder_ / "none";
  EXPECT_TRUE(registered_drivers(places_).empty());
  places_.vendors = "libpocl.so.2";  // wherever the system finds it
  ASSERT_EQ(registered_drivers(places_).size(), 1u);
  EXPECT_EQ(registered_drivers(places_)[0].icd, "");
  EXPECT_EQ(registered_drivers(places_)[0].library, "libpocl.so.2");
}

TEST_F(DriverHint, TheLoadersVariables) {
  put("vendors/a.icd", "liba.so\n");
  test::Variable path("OPENCL_VENDOR_PATH", folder_ / "vendors"), named("OCL_ICD_VENDORS", {});
  for (const auto& [value, vendors] : {std::pair<std::string, fs::path>{"", folder_ / "vendors"},
                                       {"a.icd", folder_ / "vendors/a.icd"},
                                       {"b.icd", "b.icd"},
                                       {folder_ / "a", folder_ / "a"}}) {
    named.set(value);
    EXPECT_EQ(driver_places().vendors, vendors) << value;
    EXPECT_TRUE(driver_places().is_named);
  }
  path.set({});
  named.set({});
  EXPECT_FALSE(driver_places().is_named);
}

}  // namespace
}  // namespace sightline::opencl
