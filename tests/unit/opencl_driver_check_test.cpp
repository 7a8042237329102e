// Which drivers are left out, and when they are asked again.

#include "opencl/driver_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/temp_dir.hpp"

namespace sightline::opencl {
namespace {

namespace fs = std::filesystem;
using test::store;
using test::TempDir;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Names = std::vector<std::string>;

// Three drivers, a, b and c, and how they answer together.
class DriverCheck : public testing::Test {
 protected:
  DriverCheck() {
    for (const char* folder : {"vendors", "lib", "other"}) fs::create_directory(folder_ / folder);
    for (const std::string name : {"c", "a", "b"}) {
      store(folder_ / ("lib/lib" + name + ".so"), std::string("library"));
      store(folder_ / ("vendors/" + name + ".icd"), "lib" + name + ".so\n");
    }
    places_ = {folder_ / "vendors", {folder_ / "lib"}};
  }

  /// The drivers that are left out, without folder and ".icd".
  Names left_out(const std::string& boot = "today") {
    Names names;
    const auto ask = [&](const fs::path& vendors) {
      ++asked_;
      EXPECT_TRUE(vendors.string().ends_with('/')) << "needed by Khronos's loader: " << vendors;
      Names together;
      for (const auto& entry : fs::directory_iterator(vendors)) {
        EXPECT_TRUE(fs::exists(entry.path())) << entry.path() << " leads nowhere";
        together.push_back(entry.path().stem());
      }
      std::ranges::sort(together);
      return answer_(together);
    };
    for (const FailedDriver& driver :
         failed_drivers(places_, JsonStore(folder_ / "cache/drivers.json"), boot, ask)) {
      EXPECT_EQ(driver.problem, "it crashed");
      names.push_back(fs::path(driver.name).stem());
    }
    return names;
  }
  static bool has(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  }

  TempDir folder_;
  DriverPlaces places_;
  std::function<std::optional<std::string>(const Names&)> answer_ = [](const Names& together) {
    return has(together, "b") ? "it crashed" : "";
  };
  int asked_ = 0;
};

TEST_F(DriverCheck, OneThatFailsIsLeftOut) {
  EXPECT_THAT(left_out(), ElementsAre("b"));
  EXPECT_EQ(asked_, 3);
}

TEST_F(DriverCheck, SoIsOneThatFailsBesideAnother) {
  answer_ = [](const Names& together) {
    return has(together, "a") && has(together, "c") ? "it crashed" : "";
  };
  EXPECT_THAT(left_out(), ElementsAre("c"));
}

TEST_F(DriverCheck, SoIsAnUnregisteredOne) {
  store(folder_ / "lib/libnvidia-opencl.so.1", std::string("library"));
  store(folder_ / "lib/libamdocl64.so", std::string("library"));
  answer_ = [](const Names& together) {
    return has(together, "unregistered-libnvidia-opencl.so.1") ? "it crashed" : "";
  };
  EXPECT_THAT(left_out(), ElementsAre("libnvidia-opencl.so"));
  EXPECT_EQ(asked_, 5) << "each, although both have no .icd file";
}

TEST_F(DriverCheck, AskedOnce) {
  left_out();
  answer_ = [](const Names&) { return ""; };
  EXPECT_THAT(left_out(), ElementsAre("b"));
  EXPECT_EQ(asked_, 3);
}

TEST_F(DriverCheck, AskedAgainWhenALibraryChanges) {
  left_out();
  store(folder_ / "lib/libb.so", std::string("another library"));
  answer_ = [](const Names&) { return ""; };
  EXPECT_THAT(left_out(), IsEmpty());
  EXPECT_EQ(asked_, 6);
  // Of the same size, but of another time.
  fs::last_write_time(folder_ / "lib/liba.so", fs::file_time_type::clock::now() - std::chrono::hours(1));
  left_out();
  EXPECT_EQ(asked_, 9);
  // Found elsewhere.
  store(folder_ / "other/libc.so", std::string("library"));
  places_.libraries.insert(places_.libraries.begin(), folder_ / "other");
  left_out();
  EXPECT_EQ(asked_, 12);
}

TEST_F(DriverCheck, AskedAgainWhenThereAreOthers) {
  left_out();
  fs::remove(folder_ / "vendors/b.icd");
  EXPECT_THAT(left_out(), IsEmpty());
  EXPECT_EQ(asked_, 5);
}

TEST_F(DriverCheck, FailuresAreForgottenWhenTheSystemStarts) {
  left_out("yesterday");
  answer_ = [](const Names&) { return ""; };
  EXPECT_THAT(left_out("today"), IsEmpty());
  EXPECT_EQ(asked_, 6);
  left_out("tomorrow");
  EXPECT_EQ(asked_, 6) << "there was no failure to forget";
}

TEST_F(DriverCheck, WhoCannotBeAskedIsNotLeftOut) {
  answer_ = [](const Names&) { return std::nullopt; };
  EXPECT_THAT(left_out(), IsEmpty());
  EXPECT_EQ(asked_, 1);
  EXPECT_FALSE(fs::exists(folder_ / "cache/drivers.json"));
}

TEST_F(DriverCheck, NobodyIsAskedWhereThereIsNobody) {
  for (const std::string vendors : {"none", "none.icd", "lib"}) {
    places_.vendors = folder_ / vendors;
    EXPECT_THAT(left_out(), IsEmpty());
  }
  EXPECT_EQ(asked_, 0);
}

TEST_F(DriverCheck, ALibraryOrAFileAlone) {
  answer_ = [](const Names&) { return "it crashed"; };
  places_.vendors = folder_ / "lib/liba.so";
  EXPECT_THAT(left_out(), ElementsAre("liba"));
  places_.vendors = folder_ / "vendors/a.icd";
  EXPECT_THAT(left_out(), ElementsAre("a"));
}

TEST_F(DriverCheck, ADamagedMemoryIsNone) {
  left_out();
  const std::string file = folder_ / "cache/drivers.json";
  const auto good = nlohmann::json::parse(test::bytes_of(file));
  for (const char* text : {"7", "{}", R"({"failed": 7})", R"({"failed": {"b": 7}, "boot": "today"})",
                           R"({"failed": {"b": "it crashed"}})", R"({"failed": {"b": "x"}, "boot": 7})"}) {
    auto bad = good;
    bad.front() = nlohmann::json::parse(text);
    store(file, bad.dump());
    EXPECT_THAT(left_out(), ElementsAre("b")) << text;
    EXPECT_EQ(nlohmann::json::parse(test::bytes_of(file)), good);
  }
}

TEST_F(DriverCheck, WorksWithoutMemory) {
  store(folder_ / "cache", std::string("a file, not a folder"));
  EXPECT_THAT(left_out(), ElementsAre("b"));
  EXPECT_THAT(left_out(), ElementsAre("b"));
  EXPECT_EQ(asked_, 6);
}

}  // namespace
}  // namespace sightline::opencl
