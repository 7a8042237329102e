// What the families say of themselves: complete, and without contradictions.
#include "detectors/families.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "family/model_show.hpp"
#include "support/filterbank.hpp"
#include "support/temp_dir.hpp"
#include "training/registry.hpp"

namespace sightline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kConfigs = SIGHTLINE_SOURCE_DIR "/configs/";

std::span<const Family* const> all_families() {
  add_family(network::family());
  return families();
}

// Names that people type, and helps that they read.
void expect_well_described(const std::vector<const Option*>& options) {
  std::set<std::string> names;
  for (const Option* option : options) {
    EXPECT_TRUE(names.insert(option->long_name()).second) << option->name << " is there twice";
    EXPECT_THAT(option->long_name(), StartsWith("--"));
    EXPECT_FALSE(option->help.empty()) << option->name;
    EXPECT_FALSE(option->help.ends_with('.')) << option->name;
    for (const std::string& alias : option->hidden_aliases) {
      EXPECT_TRUE(names.insert(alias).second) << alias << " is an option as well";
      EXPECT_EQ(option->help.find(alias), std::string::npos) << alias << " is to be hidden";
    }
  }
}

std::vector<const Option*> pointers(const OptionSet& options) {
  std::vector<const Option*> all;
  for (const Option& option : options.all()) all.push_back(&option);
  return all;
}

TEST(Families, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names, titles;
  for (const Family* family : all_families()) {
    const FamilyInfo& info = family->info();
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(titles.insert(info.title).second) << info.title;
    for (const std::string_view text : {info.name, info.title, info.one, info.model_file})
      EXPECT_FALSE(text.empty()) << info.name;
    EXPECT_EQ(&family_named(info.name), family);
  }
  EXPECT_THROW(family_named("nobody"), std::out_of_range);
}

TEST(Families, SpeakOfKeysThatTheyRead) {
  for (const Family* family : all_families()) {
    const FamilyInfo& info = family->info();
    SCOPED_TRACE(info.name);
    const auto expect_read = [&](const std::string& key) { EXPECT_TRUE(info.reads(key)) << key; };
    expect_read("model");
    for (const KeyRemark& remark : info.remarks) expect_read(remark.key);
    for (const VariantAxis& axis : info.variant_axes) expect_read(axis.parameter.key);
    for (const auto& [key, value] : info.evaluation_values) expect_read(key);
    std::set<std::string> keys;
    for (const ParameterInfo& one : info.parameters) {
      EXPECT_TRUE(keys.insert(one.key).second) << one.key;
      EXPECT_FALSE(one.former && info.reads(one.former)) << one.key;
    }
  }
}

TEST(Families, DescribeTheirOptions) {
  for (const Family* family : all_families()) {
    const FamilyInfo& info = family->info();
    SCOPED_TRACE(info.name);
    OptionSet own;
    for (const ParameterInfo& one : info.parameters) {
      EXPECT_STRNE(one.meaning, "") << one.key;
      if (*one.option) own.add(one.make_option());
    }
    expect_well_described(pointers(own));
    std::vector<const Option*> options;
    for (const VariantAxis& axis : info.variant_axes) {
      options.push_back(&axis.option);
      EXPECT_FALSE(axis.noun.empty());
    }
    expect_well_described(options);
    if (const auto show = family->make_model_show()) expect_well_described(pointers(show->options()));
    if (const auto scorer = make_window_scorer(*family)) expect_well_described(pointers(scorer->options()));
    if (const auto trainer = make_trainer(*family)) {
      expect_well_described(pointers(trainer->options()));
      EXPECT_FALSE(trainer->description().empty());
    }
  }
}

TEST(Families, RecogniseTheirModels) {
  const test::TempDir folder;
  std::ofstream(folder / "model.xml") << "<?xml version=\"1.0\"?>\n<opencv_storage/>\n";
  std::ofstream(folder / "text.txt") << "no model of anybody\n";
  const Family* const cascade = family_of_model(folder / "model.xml");
  ASSERT_NE(cascade, nullptr);
  EXPECT_EQ(cascade->info().name, "cascade");
  const Family* const filterbank = family_of_model(kConfigs + "models/people.safetensors");
  ASSERT_NE(filterbank, nullptr);
  EXPECT_EQ(filterbank->info().name, "filterbank");
  // By the name alone, where there is no file.
  EXPECT_EQ(family_of_model(folder / "none.xml"), cascade);
  EXPECT_EQ(all_families().back()->info().name, "network");
  EXPECT_EQ(family_of_model(folder / "none.onnx"), all_families().back());
  for (const std::string& nothing :
       {std::string(), folder / "text.txt", folder / "none.safetensors", folder / ""})
    EXPECT_EQ(family_of_model(nothing), nullptr) << nothing;
}

// Those of users' own models have none to ship.
TEST(Families, ShipAConfigurationEach) {
  for (const Family* family : all_families()) {
    SCOPED_TRACE(family->info().name);
    if (family->info().shipped_config.empty()) {
      EXPECT_TRUE(family->info().needs_no_config);
      continue;
    }
    const Config config = Config::load(kConfigs + std::string(family->info().shipped_config) + ".toml");
    EXPECT_EQ(&family_of(config), family);
    config.expect_section("schedule");  // the pipeline's
    EXPECT_NO_THROW(check_detector_config(config));
  }
}

TEST(Families, TakeTheFormerNamesOfKeys) {
  for (const Family* family : all_families()) {
    const FamilyInfo& info = family->info();
    for (const ParameterInfo& key : info.parameters) {
      if (!key.former) continue;
      const std::string section = "[detector]\nfamily = \"" + std::string(info.name) + "\"\n";
      const Config config = Config::parse(section + key.former + " = 3\n", "old.toml");
      config.expect_section("schedule");  // the pipeline's
      EXPECT_NO_THROW(check_detector_config(config)) << key.former;
      EXPECT_EQ(config.optional_whole_number("detector", key.key, 0, 10), 3) << key.former;
      const Config both = Config::parse(section + key.former + " = 3\n" + key.key + " = 4\n", "both.toml");
      EXPECT_THAT(test::error_of(ExitCode::usage, [&] { check_detector_config(both); }),
                  AllOf(StartsWith("both.toml:3: "), HasSubstr(key.key)));
    }
  }
}

TEST(Families, FormerNamesCountInsideOthersToo) {
  const Config config = Config::parse(
      "[detector]\nfamily = \"cascade\"\nscan_stages = 2\n[[detector.inside]]\nfamily = \"filterbank\"\n"
      "real_levels = 2\n",
      "nested.toml");
  config.expect_section("schedule");  // the pipeline's
  EXPECT_NO_THROW(check_detector_config(config));
  // Of a family that has no such key they are as unknown as ever.
  const Config other = Config::parse("[detector]\nfamily = \"cascade\"\nreal_levels = 2\n", "c.toml");
  test::expect_error(ExitCode::usage, "'real_levels'", [&] { check_detector_config(other); });
}

}  // namespace
}  // namespace sightline
