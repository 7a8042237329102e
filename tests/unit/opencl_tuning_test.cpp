// What the tuner tries and what may be stored, as data: on made-up devices, none of which is used.
#include "opencl/tuning.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "detectors/cascade/opencl/tuning.hpp"
#include "detectors/filterbank/opencl/tuning.hpp"

namespace sightline::opencl {
namespace {

using testing::UnorderedElementsAreArray;

DeviceInfo device_of_type(DeviceType type, const std::string& vendor = "", bool dot_products = false) {
  DeviceInfo device;
  device.type = type;
  device.vendor = vendor;
  device.integer_dot_product = dot_products;
  device.native_float_width = 8;
  return device;
}

// A stage's variants on a device, each as the values of the parameters named.
std::vector<std::string> tried(const TuningTable& table, std::size_t stage,
                               const std::vector<std::string>& parameters, const DeviceInfo& device) {
  std::vector<std::string> all;
  const TuningValues start = default_values(table, device);
  for (const TuningVariant& variant : variants_of(table.stages.at(stage), start, device)) {
    std::string text;
    for (const std::string& name : parameters)
      text += (text.empty() ? "" : " ") + to_string(variant.values.at(name));
    all.push_back(text + (variant.exact ? "" : " inexact"));
    for (const auto& [name, value] : variant.values) {
      if (std::ranges::find(parameters, name) == parameters.end()) {
        EXPECT_EQ(value, start.at(name)) << name << " is not " << table.stages[stage].span << "'s";
      }
    }
  }
  return all;
}

const std::vector<std::string> kFilter{"filter", "filter_width", "filter_rows", "filter_group",
                                       "filter_group_rows"};
const std::vector<std::string> kClassify{"classify", "dot", "classify_width", "classify_rows",
                                         "classify_group"};

TEST(FilterbankTuning, FilterVariants) {
  const TuningTable& table = filterbank::tuning_table();
  EXPECT_THAT(
      tried(table, 0, kFilter, device_of_type(DeviceType::cpu)),
      UnorderedElementsAreArray({"plain 1 1 64 1", "unrolled 1 1 64 1", "vector 8 1 8 4", "vector 8 2 8 4",
                                 "vector 8 3 8 4", "vector 8 4 8 4", "vector 8 4 1 8", "local 8 4 8 4"}));
  std::vector<std::string> expected{"plain 1 1 32 4", "unrolled 1 1 32 4"};
  for (const std::string variant : {"vector", "local"}) {
    for (const char* shape : {" 1 4 32 4", " 1 8 32 4", " 2 2 32 4", " 2 4 32 4", " 4 1 32 4", " 4 2 32 4",
                              " 4 4 32 4", " 4 2 32 8"})
      expected.push_back(variant + shape);
  }
  EXPECT_THAT(tried(table, 0, kFilter, device_of_type(DeviceType::gpu)), UnorderedElementsAreArray(expected));
}

TEST(FilterbankTuning, HistogramAndNormaliseVariants) {
  const TuningTable& table = filterbank::tuning_table();
  for (const DeviceType type : {DeviceType::cpu, DeviceType::gpu}) {
    EXPECT_THAT(tried(table, 1, {"histogram", "histogram_cells"}, device_of_type(type)),
                UnorderedElementsAreArray({"owner 16", "owner 32", "atomic 16", "atomic 32",
                                           "racy 16 inexact", "racy 32 inexact"}));
    EXPECT_THAT(tried(table, 2, {"normalise", "normalise_width"}, device_of_type(type)),
                UnorderedElementsAreArray({"blocks 1", "blocks 2", "blocks 4", "blocks 8", "blocks 16",
                                           "cells 1", "cells 2", "cells 4", "cells 8", "cells 16"}));
  }
}

TEST(FilterbankTuning, ClassifyVariants) {
  const TuningTable& table = filterbank::tuning_table();
  std::vector<std::string> expected;
  for (const std::string dot : {"integer", "float"}) {
    for (const std::string variant : {"plain ", "unrolled "}) expected.push_back(variant + dot + " 1 1 16");
    for (const char* rows : {"4", "8", "16"}) expected.push_back("vector " + dot + " 8 " + rows + " 1");
    expected.push_back("local " + dot + " 8 8 2");
  }
  // Instructions for dot products are a GPU's.
  EXPECT_THAT(tried(table, 3, kClassify, device_of_type(DeviceType::cpu, "NVIDIA", true)),
              UnorderedElementsAreArray(expected));
  const auto on_gpu = [](const std::vector<std::string>& dots) {
    std::vector<std::string> all;
    for (const std::string& dot : dots) {
      for (const std::string variant : {"plain ", "unrolled "}) all.push_back(variant + dot + " 1 1 64");
      for (const char* shape : {" 1 4 32", " 1 4 64", " 1 8 32", " 1 8 64", " 1 16 32", " 1 16 64"})
        all.push_back("vector " + dot + shape);
      for (const char* shape : {" 1 8 64", " 1 16 64"}) all.push_back("local " + dot + shape);
    }
    return all;
  };
  EXPECT_THAT(tried(table, 3, kClassify, device_of_type(DeviceType::gpu)),
              UnorderedElementsAreArray(on_gpu({"integer", "float"})));
  EXPECT_THAT(tried(table, 3, kClassify, device_of_type(DeviceType::gpu, "NVIDIA Corporation")),
              UnorderedElementsAreArray(on_gpu({"integer", "float", "ptx"})));
  EXPECT_THAT(tried(table, 3, kClassify, device_of_type(DeviceType::gpu, "Intel", true)),
              UnorderedElementsAreArray(on_gpu({"integer", "float", "khr"})));
}

TEST(FilterbankTuning, NetworkVariants) {
  const TuningTable& table = filterbank::tuning_table();
  const std::vector<std::string> names{"network_dot", "network_pixels", "network_outputs", "network_group"};
  EXPECT_THAT(tried(table, 4, names, device_of_type(DeviceType::cpu, "NVIDIA", true)),
              UnorderedElementsAreArray({"integer 4 8 1", "integer 4 16 1"}));
  const auto on_gpu = [](const std::string& dot) {
    std::vector<std::string> all;
    for (const char* group : {" 64", " 128", " 256"}) {
      for (const char* tile : {" 4 4", " 8 4", " 4 8", " 8 8"}) {
        if (tile[3] == '4') all.push_back("integer" + std::string(tile) + group);
        all.push_back(dot + tile + group);
      }
    }
    return all;
  };
  EXPECT_THAT(tried(table, 4, names, device_of_type(DeviceType::gpu, "NVIDIA Corporation")),
              UnorderedElementsAreArray(on_gpu("ptx")));
  EXPECT_THAT(tried(table, 4, names, device_of_type(DeviceType::gpu, "Intel", true)),
              UnorderedElementsAreArray(on_gpu("khr")));
}

TEST(FilterbankTuning, VariantsHaveTheirOldNames) {
  const TuningTable& table = filterbank::tuning_table();
  const DeviceInfo device = device_of_type(DeviceType::gpu);
  const TuningValues start = default_values(table, device);
  std::vector<std::string> first;
  for (const TunedStage& stage : table.stages) first.push_back(variants_of(stage, start, device).at(0).text);
  EXPECT_EQ(first, (std::vector<std::string>{"filter plain, 1x1 a work-item, 32x4 a group",
                                             "histogram owner, 16 cells a group",
                                             "normalise by blocks, 1 a work-item",
                                             "classify plain, integer, 1x1 a work-item, 64x1 a group",
                                             "network integer, 4x4 a work-item, 64 a window"}));
}

TEST(FilterbankTuning, DefaultsAreThoseOfTheDevice) {
  EXPECT_EQ(filterbank::tuning_table().defaults(device_of_type(DeviceType::gpu)), filterbank::KernelTuning{});
  filterbank::KernelTuning cpu;
  cpu.filter = "vector";
  cpu.filter_width = cpu.normalise_width = cpu.classify_width = 8;
  cpu.filter_rows = 3;
  cpu.filter_group = 8;
  cpu.histogram = "owner";
  cpu.histogram_cells = 16;
  cpu.dot = "float";
  cpu.classify_rows = 8;
  cpu.classify_group = 1;
  cpu.network_dot = "integer";
  cpu.network_pixels = 4;
  cpu.network_outputs = 16;
  cpu.network_group = 1;
  EXPECT_EQ(filterbank::tuning_table().defaults(device_of_type(DeviceType::cpu)), cpu);
}

TEST(CascadeTuning, DefaultsAreThoseOfTheDeviceAndTheFeatures) {
  using cascade::FeatureKind;
  for (const FeatureKind kind : {FeatureKind::haar, FeatureKind::lbp}) {
    cascade::KernelTuning cpu;
    cpu.tile_rows = 4;
    cpu.group = 32;
    EXPECT_EQ(cascade::tuning_table(kind).defaults(device_of_type(DeviceType::cpu)), cpu);
    cascade::KernelTuning gpu;
    gpu.tiled = true;
    if (kind == FeatureKind::haar) {
      gpu.unrolled = 7;
      gpu.group = 128;
    }
    EXPECT_EQ(cascade::tuning_table(kind).defaults(device_of_type(DeviceType::gpu)), gpu);
  }
}

TEST(CascadeTuning, NamedVariants) {
  const auto variant = [&](const char* name, const DeviceInfo& device = device_of_type(DeviceType::gpu)) {
    const auto haar = cascade::FeatureKind::haar;
    return cascade::tuning_table(haar).values(cascade::variant_tuning(name, device, haar));
  };
  const auto expected = [](const char* scan, int tiled, int packed, int unrolled, int rows, int group) {
    return TuningValues{{"scan", scan},      {"tiled", tiled}, {"packed", packed}, {"unrolled", unrolled},
                        {"tile_rows", rows}, {"group", group}, {"first_stages", 1}};
  };
  EXPECT_EQ(variant("naive"), expected("naive", 0, 0, 0, 8, 256));
  EXPECT_EQ(variant("reduced"), expected("reduced", 0, 0, 0, 32, 256));
  EXPECT_EQ(variant("tiled"), expected("naive", 1, 0, 0, 8, 256));
  EXPECT_EQ(variant("packed"), expected("naive", 0, 1, 0, 8, 256));
  EXPECT_EQ(variant("compacted"), expected("compacted", 0, 0, 0, 32, 256));
  EXPECT_EQ(variant("compacted-tiled"), expected("compacted", 1, 0, 0, 32, 256));
  EXPECT_EQ(variant("compacted-packed"), expected("compacted", 0, 1, 0, 32, 256));
  EXPECT_EQ(variant("unrolled"), expected("compacted", 1, 0, 7, 32, 128));
  EXPECT_EQ(variant("compacted", device_of_type(DeviceType::cpu)), expected("compacted", 0, 0, 0, 4, 32));
  EXPECT_EQ(variant("unrolled", device_of_type(DeviceType::cpu)), expected("compacted", 1, 0, 7, 4, 32));
}

// Of every family: nothing is tried twice, and what is exact could be stored and found again.
TEST(Tuning, TriesWhatIsPossibleOnce) {
  const TuningTable* const tables[] = {&filterbank::tuning_table(),
                                       &cascade::tuning_table(cascade::FeatureKind::haar),
                                       &cascade::tuning_table(cascade::FeatureKind::lbp)};
  for (const TuningTable* table : tables) {
    for (const DeviceInfo& device :
         {device_of_type(DeviceType::cpu), device_of_type(DeviceType::gpu, "NVIDIA", true)}) {
      const TuningValues start = default_values(*table, device);
      EXPECT_TRUE(is_possible(*table, start));
      for (const TunedStage& stage : table->stages) {
        std::set<std::string> texts;
        std::set<TuningValues> values;
        for (const TuningVariant& variant : variants_of(stage, start, device)) {
          EXPECT_TRUE(texts.insert(variant.text).second) << variant.text;
          EXPECT_TRUE(values.insert(variant.values).second) << variant.text;
          EXPECT_EQ(variant.text.find('{'), std::string::npos) << variant.text;
          EXPECT_EQ(is_possible(*table, variant.values), variant.exact) << variant.text;
        }
        EXPECT_GT(texts.size(), stage.span == "verify" ? 1u : 5u) << stage.span;
      }
    }
  }
}

TEST(Tuning, StartsWhereTheDeviceLikesIt) {
  opencl::TuningTable table;
  table.parameters = {{"group", 128, 16, {}, 1, 512, opencl::Follows::work_group},
                      {"width", 1, 4, {1, 2, 4, 8}, 0, 0, opencl::Follows::vector_width},
                      {"tiled", 1, 0, {0, 1}, 0, 0, opencl::Follows::local_memory},
                      {"rows", 8, 8, {}, 1, 64}};
  DeviceInfo gpu;
  gpu.type = opencl::DeviceType::gpu;
  EXPECT_EQ(start_values(table, gpu, {}), default_values(table, gpu));
  EXPECT_EQ(start_values(table, gpu, {256, 3, false}),
            (TuningValues{{"group", 256}, {"width", 2}, {"tiled", 0}, {"rows", 8}}));
  EXPECT_EQ(start_values(table, gpu, {1024, 0, {}}),
            (TuningValues{{"group", 512}, {"width", 1}, {"tiled", 1}, {"rows", 8}}));
  table.fit_together = [](const TuningValues& values) { return std::get<int>(values.at("group")) < 300; };
  EXPECT_EQ(start_values(table, gpu, {1024, 4, {}}), default_values(table, gpu));
}

TEST(Tuning, GridsHaveEveryVariantOnce) {
  const opencl::TunedStage stage{
      "scan", "{word} {number}", {{{{"word", {"a", "b"}}, {"number", {1, 4, 16}}}}, {{{"number", {3}}}}}};
  const TuningValues base{{"word", "b"}, {"number", 9}};
  const std::vector<opencl::TuningGrid> grids = grids_of(stage, {});
  ASSERT_EQ(grids.size(), 2u);
  EXPECT_EQ(grids[0].at({1, 2}, stage, base).text, "b 16");
  EXPECT_EQ(grids[0].nearest(base), (std::vector<std::size_t>{1, 1})) << "4 and 16 are as far: the lower";
  EXPECT_EQ(grids[1].at({0}, stage, base).text, "b 3");
  std::vector<std::string> texts;
  for (const opencl::TuningVariant& one : variants_of(stage, base, {})) texts.push_back(one.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"a 1", "a 4", "a 16", "b 1", "b 4", "b 16", "b 3"}));
}

// Settings of made-up kernels: a word, a switch, a number, and what is no parameter.
struct MadeUpSettings {
  std::string way = "plain";
  bool tiled = false;
  int rows = 3;
  int capacity = 7;
  friend bool operator==(const MadeUpSettings&, const MadeUpSettings&) = default;
};

SettingsTable<MadeUpSettings> made_up_table() {
  return SettingsTable<MadeUpSettings>({{{"way", "local", "plain", {"plain", "local"}}, &MadeUpSettings::way},
                                        {{"tiled", 1, 0, {0, 1}}, &MadeUpSettings::tiled},
                                        {{"rows", 8, 4, {}, 1, 16}, &MadeUpSettings::rows}});
}

TEST(Tuning, SettingsAndValuesAreTheSame) {
  const SettingsTable<MadeUpSettings> table = made_up_table();
  const MadeUpSettings settings{"local", true, 5, 7};
  const TuningValues values{{"way", "local"}, {"tiled", 1}, {"rows", 5}};
  EXPECT_EQ(table.values(settings), values) << "and not what is no parameter";
  EXPECT_EQ(table.settings(values), settings);
  EXPECT_EQ(table.settings(table.values({"plain", false, 5, 9})), (MadeUpSettings{"plain", false, 5, 7}));
  EXPECT_THROW(table.settings({{"way", "local"}}), std::out_of_range);
}

TEST(Tuning, SettingsAreThoseOfTheDevice) {
  const SettingsTable<MadeUpSettings> table = made_up_table();
  ASSERT_EQ(table.parameters.size(), 3u);
  EXPECT_EQ(table.parameters[2].highest, 16);
  EXPECT_EQ(table.defaults(device_of_type(DeviceType::gpu)), (MadeUpSettings{"local", true, 8, 7}));
  EXPECT_EQ(table.defaults(device_of_type(DeviceType::cpu)), (MadeUpSettings{"plain", false, 4, 7}));
  EXPECT_FALSE(is_possible(table, table.values({"plain", false, 17, 7})));
}

}  // namespace
}  // namespace sightline::opencl
