// Keys of stored plans: everything that changes the cost of a frame makes another key.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "detectors/families.hpp"
#include "detectors/filterbank/model.hpp"
#include "support/filterbank.hpp"
#include "support/temp_dir.hpp"

namespace sightline {
namespace {

class PlanKey : public testing::Test {
 protected:
  PlanKey() { filterbank::save_model(test::random_model(5, 3), model_); }

  Config config(const std::string& keys, const std::string& sections = "") const {
    return Config::parse("[detector]\nmodel = '" + model_ + "'\n" + keys + "\n" + sections, "some.toml");
  }
  std::string key(const std::string& keys = "", const std::string& sections = "") const {
    return make_detector(config(keys, sections))->info().plan_key;
  }

  test::TempDir folder_;
  std::string model_ = folder_ / "model.safetensors";
};

TEST_F(PlanKey, EachKeyOfTheDetectorCounts) {
  std::set<std::string> keys{key()};
  EXPECT_FALSE(key().empty());
  for (const char* change : {"threshold = 0.5", "threshold = 0.5000001", "scale_step = 1.2", "min_size = 40",
                             "max_candidates = 7", "max_overlap = 0.1"})
    EXPECT_TRUE(keys.insert(key(change)).second) << change;
  EXPECT_EQ(key("scale_step = 1.2"), key("scale_step = 1.2"));
}

TEST_F(PlanKey, TheModelsBytesCount) {
  const std::string before = key();
  std::filesystem::rename(model_, folder_ / "elsewhere.safetensors");
  model_ = folder_ / "elsewhere.safetensors";
  EXPECT_EQ(key(), before);
  filterbank::save_model(test::random_model(5, 4), model_);
  EXPECT_NE(key(), before);
}

TEST_F(PlanKey, AnOptionIsTheSameAsAKey) {
  Config option = config("scale_step = 1.1");
  option.set("detector", "scale_step", 1.2);
  EXPECT_EQ(make_detector(option)->info().plan_key, key("scale_step = 1.2"));
}

TEST_F(PlanKey, SectionsOfThePipelineDoNotCount) {
  EXPECT_EQ(key("", "[schedule]\nschedule = \"cpu\"\n[knob]\nhold = 5\n"), key());
}

TEST_F(PlanKey, DetectorsInsideCount) {
  const std::string inside = "[[detector.inside]]\nmodel = '" + model_ + "'\n";
  const std::string with = key("", inside);
  EXPECT_NE(with, key());
  EXPECT_NE(key("", inside + "scale_step = 1.3\n"), with);
}

TEST_F(PlanKey, KernelVariantsCount) {
  for (const char* name : {"faces-waldboost", "faces"}) {
    Config config = Config::load(std::string(SIGHTLINE_SOURCE_DIR "/configs/") + name + ".toml");
    const std::string before = make_detector(config)->info().plan_key;
    config.set("detector", "kernels", "naive");
    EXPECT_NE(make_detector(config)->info().plan_key, before) << name;
  }
}

TEST_F(PlanKey, OperatingPointsShareThatOfTheConfiguration) {
  const Config plain = config("");
  const Family& family = family_of(plain);
  const DetectorInfo made = family.make(plain)->info();
  std::vector<ConfiguredSetting> settings;
  for (const double step : {1.1, 1.3}) {
    settings.push_back({plain.fresh_copy(), {{"scale_step", step}}});
    settings.back().config.set("detector", "scale_step", step);
  }
  EXPECT_EQ(make_branch(plain, made, settings).info().plan_key, key());
}

}  // namespace
}  // namespace sightline
