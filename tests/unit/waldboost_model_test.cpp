// WaldBoost models: codes, and Sightline's own file: what is read, and what is refused.
#include "detectors/waldboost/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "detectors/waldboost/haar.hpp"
#include "detectors/waldboost/scan.hpp"
#include "model/safetensors.hpp"
#include "support/cascade.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMaxBytes = 1 << 24;

Feature comparing(int first, int second) {
  Feature feature;
  feature.first = static_cast<std::uint8_t>(first);
  feature.second = static_cast<std::uint8_t>(second);
  return feature;
}

// --- codes

TEST(WaldBoostCode, LbpSetsABitForEachNeighbourThatIsAtLeastTheMiddle) {
  const auto code = [](const std::array<std::uint32_t, 9>& sums) {
    return code_of(FeatureKind::lbp, {}, sums);
  };
  EXPECT_EQ(code({0, 0, 0, 0, 5, 0, 0, 0, 0}), 0);
  EXPECT_EQ(code({5, 5, 5, 5, 5, 5, 5, 5, 5}), 255);  // ties
  EXPECT_EQ(code({5, 0, 0, 0, 5, 0, 0, 0, 0}), 1);    // the upper left one
  EXPECT_EQ(code({0, 6, 0, 0, 5, 0, 0, 0, 0}), 2);
  EXPECT_EQ(code({0, 0, 6, 0, 5, 0, 0, 0, 0}), 4);
  EXPECT_EQ(code({0, 0, 0, 0, 5, 6, 0, 0, 0}), 8);
  EXPECT_EQ(code({0, 0, 0, 0, 5, 0, 0, 0, 6}), 16);
  EXPECT_EQ(code({0, 0, 0, 0, 5, 0, 0, 6, 0}), 32);
  EXPECT_EQ(code({0, 0, 0, 0, 5, 0, 6, 0, 0}), 64);
  EXPECT_EQ(code({0, 0, 0, 6, 5, 0, 0, 0, 0}), 128);
  EXPECT_EQ(code({1020, 4, 3, 2, 4, 5, 4, 3, 1}), 1 + 2 + 8 + 64);
}

TEST(WaldBoostCode, LrpIsOfTheNumbersOfLargerBlocks) {
  const auto code = [](int first, int second, const std::array<std::uint32_t, 9>& sums) {
    return code_of(FeatureKind::lrp, comparing(first, second), sums);
  };
  const std::array<std::uint32_t, 9> rising{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(code(0, 8, rising), 9 * 8 + 0);
  EXPECT_EQ(code(8, 0, rising), 9 * 0 + 8);
  EXPECT_EQ(code(3, 4, rising), 9 * 5 + 4);
  EXPECT_EQ(code(0, 1, {5, 5, 5, 5, 5, 5, 5, 5, 5}), 0);  // none is larger than its equals
  EXPECT_EQ(code(0, 1, {5, 5, 5, 7, 7, 1, 1, 1, 1}), 9 * 2 + 2);
  EXPECT_EQ(code(5, 0, {5, 5, 5, 7, 7, 1, 1, 1, 1}), 9 * 5 + 2);
}

TEST(WaldBoostCode, LrdIsTheDifferenceOfTheRanks) {
  const auto code = [](int first, int second, const std::array<std::uint32_t, 9>& sums) {
    return code_of(FeatureKind::lrd, comparing(first, second), sums);
  };
  const std::array<std::uint32_t, 9> rising{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(code(0, 8, rising), 16);
  EXPECT_EQ(code(8, 0, rising), 0);
  EXPECT_EQ(code(3, 4, rising), 9);
  EXPECT_EQ(code(0, 1, {5, 5, 5, 5, 5, 5, 5, 5, 5}), 8);
  EXPECT_EQ(code(5, 0, {5, 5, 5, 7, 7, 1, 1, 1, 1}), 5 - 2 + 8);
}

TEST(WaldBoostCode, HaarIsTheShareOfBrightCells) {
  const auto code = [](int shape, const std::array<std::uint32_t, 9>& sums) {
    return code_of(FeatureKind::haar, comparing(shape, 0), sums);
  };
  EXPECT_EQ(code(0, {100, 100}), 32);
  EXPECT_EQ(code(0, {101, 100}), 32);  // 128 * 101 / 201 is 64.3
  EXPECT_EQ(code(0, {100, 101}), 31);  // 63.7
  EXPECT_EQ(code(0, {300, 100}), 63);  // three quarters
  EXPECT_EQ(code(0, {299, 101}), 63);
  EXPECT_EQ(code(0, {296, 104}), 62);
  EXPECT_EQ(code(0, {100, 300}), 0);  // a quarter
  EXPECT_EQ(code(0, {0, 300}), 0);
  EXPECT_EQ(code(0, {300, 0}), 63);
  EXPECT_EQ(code(1, {60, 40}), 44);  // 76.8
  EXPECT_EQ(code(2, {50, 50, 50}), 32);
  EXPECT_EQ(code(2, {40, 60, 40}), 44);
  EXPECT_EQ(code(3, {60, 40, 60}), 19);  // 51.2
  EXPECT_EQ(code(4, {60, 40, 40, 60}), 44);
  EXPECT_EQ(code(4, {60, 60, 40, 40}), 32);
  for (int shape = 0; shape < 5; ++shape) EXPECT_EQ(code(shape, {}), 32) << "all black";
  // As bright and as large as anything.
  EXPECT_EQ(code(3, {255 * 1300, 255 * 1300, 255 * 1300}), 32);
}

TEST(WaldBoostCode, HaarOfAnIntegralImageIsTheSame) {
  const Image<std::uint8_t> picture = cascade::make_picture({40, 30}, 3);
  std::vector<std::uint32_t> integral(41 * 31);
  for (int y = 0; y < 30; ++y) {
    for (int x = 0; x < 40; ++x)
      integral[(y + 1) * 41 + x + 1] = picture.view().at(x, y) + integral[y * 41 + x + 1] +
                                       integral[(y + 1) * 41 + x] - integral[y * 41 + x];
  }
  const Model model = test::random_waldboost(5, 200, {24, 24}, FeatureKind::haar);
  std::set<int> codes;
  for (const Feature& f : model.features) {
    const int code = reference::code(FeatureKind::haar, f, picture.view(), 9, 4);
    EXPECT_EQ(use_haar_code(f, 41, [&](const auto& code_at) { return code_at(&integral[4 * 41 + 9]); }),
              code);
    codes.insert(code);
  }
  EXPECT_GT(codes.size(), 15U);
}

// --- the helper of the tests

TEST(RandomWaldBoost, ItsWindowsAreRejectedByAndBy) {
  for (const FeatureKind kind : kFeatureKinds) {
    SCOPED_TRACE(to_string(kind));
    const Model model = test::random_waldboost(3, 200, {24, 24}, kind);
    EXPECT_EQ(model.size(), 200);
    EXPECT_GT(model.survivors[0], 0.4);
    EXPECT_LT(model.survivors[0], 1);
    EXPECT_LT(model.survivors[30], 0.5 * model.survivors[0]);
    EXPECT_GT(model.survivors.back(), 0);
    EXPECT_GT(std::ranges::count(model.thresholds, kNoThreshold), 10);
  }
}

// --- Sightline's own file

class WaldBoostModel : public ::testing::Test {
 protected:
  // What is said of a good file once `change` was done to it; "" where it loads.
  std::string complaint(FeatureKind kind, const std::function<void(Safetensors&)>& change) const {
    save_model(test::random_waldboost(1, 3, {24, 20}, kind), file);
    Safetensors container = Safetensors::load(file);
    change(container);
    container.save(file);
    return test::error_of(ExitCode::model, [&] { load_model(file, kMaxBytes); });
  }

  test::TempDir folder;
  const std::filesystem::path file = folder / "face.model";
};

TEST_F(WaldBoostModel, RoundTrip) {
  for (const FeatureKind kind : kFeatureKinds) {
    for (const bool is_full : {false, true}) {
      Model model = test::random_waldboost(1, 70, {8, 64}, kind);
      model.threshold = -0.1;
      if (is_full) {
        model.label = "K\xC3\xB6nig \"quoted\"";
        model.provenance = "{\"a\": [1, 2]}\n";
        model.unit = 1.0 / 3;
      } else {
        model.survivors.clear();
      }
      model.responses[5] = std::numeric_limits<std::int16_t>::min();
      save_model(model, file);
      const Model loaded = load_model(file, kMaxBytes);
      test::expect_the_same(loaded, model);
      EXPECT_EQ(loaded.name, "face");
      EXPECT_TRUE(looks_like_model(file));
      save_model(loaded, folder / "again");
      EXPECT_EQ(test::bytes_of(folder / "again"), test::bytes_of(file));
    }
  }
}

// The length of the header, with which the file begins, may look like XML.
TEST_F(WaldBoostModel, IsNoXmlWhateverItsFirstByte) {
  Model model = test::random_waldboost(1, 1);
  bool seen = false;
  for (int length = 14'600; length < 15'400; length += 8) {
    model.provenance = std::string(length, 'a');
    save_model(model, file);
    const std::string bytes = test::bytes_of(file);
    seen = seen || bytes.starts_with(" <");
    EXPECT_NO_THROW(load_model(file, kMaxBytes)) << length;
  }
  EXPECT_TRUE(seen);
}

struct Change {
  const char* name;
  FeatureKind kind;
  std::function<void(Safetensors&)> change;
  const char* fact;  // that the message names; "": the file loads
};

std::function<void(Safetensors&)> text(const char* key, const char* value) {
  return [=](Safetensors& s) { s.metadata[key] = value; };
}

std::function<void(Safetensors&)> no_text(const char* key) {
  return [=](Safetensors& s) { s.metadata.erase(key); };
}

// Of the second weak classifier's feature.
std::function<void(Safetensors&)> feature(std::array<std::uint8_t, 6> numbers) {
  return [=](Safetensors& s) {
    const auto before = s.array<std::uint8_t>("features", {3, 6});
    std::vector<std::uint8_t> values(before.begin(), before.end());
    std::ranges::copy(numbers, values.begin() + 6);
    s.set<std::uint8_t>("features", {3, 6}, values);
  };
}

std::function<void(Safetensors&)> survivors(std::vector<float> values) {
  return
      [=](Safetensors& s) { s.set<float>("survivors", {static_cast<std::int64_t>(values.size())}, values); };
}

// With arrays of `count` weak classifiers.
void set_count(Safetensors& s, int count) {
  std::vector<std::uint8_t> features;
  for (int i = 0; i < count; ++i) features.insert(features.end(), {0, 0, 1, 1, 0, 0});
  const std::vector<std::int16_t> responses(static_cast<std::size_t>(count) * kCodes);
  const std::vector<std::int32_t> thresholds(count);
  s.set<std::uint8_t>("features", {count, 6}, features);
  s.set<std::int16_t>("responses", {count, kCodes}, responses);
  s.set<std::int32_t>("thresholds", {count}, thresholds);
  s.set<float>("survivors", {count}, std::vector<float>(count, 0.5F));
}

std::function<void(Safetensors&)> weak_classifiers(int count) {
  return [=](Safetensors& s) { set_count(s, count); };
}

constexpr FeatureKind kLbp = FeatureKind::lbp;
constexpr FeatureKind kLrp = FeatureKind::lrp;
constexpr FeatureKind kLrd = FeatureKind::lrd;
constexpr FeatureKind kHaar = FeatureKind::haar;
const float kNotANumber = std::numeric_limits<float>::quiet_NaN();

const Change kChanges[] = {
    {"nothing", kLbp, [](Safetensors&) {}, ""},
    {"no_kind", kLbp, no_text("kind"), "'kind'"},
    {"other_kind", kLbp, text("kind", "sightline"), "face.model"},
    {"other_version", kLbp, text("version", "2"), "'version'"},
    {"no_label", kLbp, no_text("label"), "'label'"},
    {"empty_label", kLbp, text("label", ""), "'label'"},
    {"long_label", kLbp, text("label", "01234567890123456789012345678901234567890123456789012345678901234"),
     "'label'"},
    {"no_window", kLbp, no_text("window"), "'window'"},
    {"window_of_letters", kLbp, text("window", "axb"), "face.model"},
    {"window_of_one_side", kLbp, text("window", "24"), "face.model"},
    {"window_small", kLbp, text("window", "7x24"), "'window'"},
    {"window_large", kLbp, text("window", "24x65"), "'window'"},
    {"window_huge", kLbp, text("window", "1e300x24"), "'window'"},
    {"window_negative", kLbp, text("window", "24x-24"), "'window'"},
    {"window_fraction", kLbp, text("window", "24.5x24"), "'window'"},
    {"other_feature", kLbp, text("feature", "hog"), "'feature'"},
    {"no_feature", kLbp, no_text("feature"), "'feature'"},
    {"no_unit", kLbp, no_text("unit"), "'unit'"},
    {"unit_zero", kLbp, text("unit", "0"), "'unit'"},
    {"unit_negative", kLbp, text("unit", "-1"), "'unit'"},
    {"unit_infinite", kLbp, text("unit", "inf"), "'unit'"},
    {"unit_nan", kLbp, text("unit", "nan"), "'unit'"},
    {"no_threshold", kLbp, no_text("threshold"), "'threshold'"},
    {"threshold_infinite", kLbp, text("threshold", "-inf"), "face.model"},
    {"threshold_huge", kLbp, text("threshold", "1e31"), "'threshold'"},
    {"no_provenance", kLbp, no_text("provenance"), ""},
    {"none", kLbp, weak_classifiers(0), "4096"},
    {"most", kLbp, weak_classifiers(4096), ""},
    {"too_many", kLbp, weak_classifiers(4097), "4097"},
    {"features_of_five", kLbp,
     [](Safetensors& s) {
       s.set<std::uint8_t>("features", {3, 5}, std::vector<std::uint8_t>(15));
     },
     "features"},
    {"responses_short", kLbp,
     [](Safetensors& s) {
       s.set<std::int16_t>("responses", {2, 256}, std::vector<std::int16_t>(512));
     },
     "responses"},
    {"responses_of_81", kLrp,
     [](Safetensors& s) {
       s.set<std::int16_t>("responses", {3, 81}, std::vector<std::int16_t>(243));
     },
     "responses"},
    {"thresholds_short", kLbp,
     [](Safetensors& s) { s.set<std::int32_t>("thresholds", {2}, std::vector<std::int32_t>(2)); },
     "thresholds"},
    {"thresholds_of_floats", kLbp,
     [](Safetensors& s) { s.set<float>("thresholds", {3}, std::vector<float>(3)); }, "thresholds"},
    {"survivors_short", kLbp, survivors({0.5F, 0.4F}), "survivors"},
    {"survivors_level", kLbp, survivors({1, 1, 0}), ""},
    {"survivors_above_1", kLbp, survivors({1.5F, 1, 1}), "'survivors'"},
    {"survivors_below_0", kLbp, survivors({0.5F, 0.4F, -0.1F}), "face.model"},
    {"survivors_rising", kLbp, survivors({0.5F, 0.25F, 0.375F}), "'survivors'"},
    {"survivors_nan", kLbp, survivors({0.5F, kNotANumber, 0.2F}), "survivors"},
    {"in_the_corner", kLbp, feature({18, 14, 2, 2, 0, 0}), ""},
    {"right_of_the_window", kLbp, feature({19, 14, 2, 2, 0, 0}), "(19, 14)"},
    {"below_the_window", kLbp, feature({18, 15, 2, 2, 0, 0}), "(18, 15)"},
    {"far_away", kLbp, feature({255, 255, 1, 1, 0, 0}), "face.model"},
    {"no_block", kLbp, feature({0, 0, 0, 1, 0, 0}), "0x1 pixels"},
    {"high_block", kLbp, feature({0, 0, 1, 3, 0, 0}), "1x3 pixels"},
    {"lbp_compares", kLbp, feature({0, 0, 1, 1, 1, 0}), "blocks 1 and 0"},
    {"lbp_compares_second", kLbp, feature({0, 0, 1, 1, 0, 1}), "blocks 0 and 1"},
    {"lrp", kLrp, feature({0, 0, 1, 1, 8, 0}), ""},
    {"lrp_same", kLrp, feature({0, 0, 1, 1, 3, 3}), "blocks 3 and 3"},
    {"lrp_first", kLrp, feature({0, 0, 1, 1, 9, 3}), "blocks 9 and 3"},
    {"lrd_second", kLrd, feature({0, 0, 1, 1, 0, 9}), "blocks 0 and 9"},
    {"lrd_same", kLrd, feature({0, 0, 1, 1, 0, 0}), "blocks 0 and 0"},
    {"haar_largest", kHaar, feature({0, 0, 12, 20, 0, 0}), ""},
    {"haar_four", kHaar, feature({4, 2, 10, 9, 4, 0}), ""},
    {"haar_shape", kHaar, feature({0, 0, 2, 2, 5, 0}), "shape 5 and 0"},
    {"haar_second", kHaar, feature({0, 0, 2, 2, 1, 1}), "shape 1 and 1"},
    {"haar_empty", kHaar, feature({0, 0, 2, 0, 1, 0}), "2x0 pixels"},
    {"haar_wide", kHaar, feature({0, 0, 13, 20, 0, 0}), "(0, 0)"},
    {"haar_high", kHaar, feature({0, 3, 2, 6, 3, 0}), "(0, 3)"},
    {"haar_overflow", kHaar, feature({255, 255, 255, 255, 4, 0}), "255x255 pixels"},
    {"haar_as_lbp", kHaar, text("feature", "lbp"), "face.model"},
};

TEST_F(WaldBoostModel, ChangedFilesAreRefusedWithTheirPlace) {
  for (const Change& one : kChanges) {
    SCOPED_TRACE(one.name);
    const std::string message = complaint(one.kind, one.change);
    if (*one.fact == '\0') {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_THAT(message, HasSubstr(one.fact));
      EXPECT_THAT(message, HasSubstr(file.string()));
    }
  }
}

TEST_F(WaldBoostModel, FilesThatCannotBeRead) {
  test::expect_error(ExitCode::model, "/nowhere/a", [] { load_model("/nowhere/a", kMaxBytes); });
  test::expect_error(ExitCode::model, folder.path(), [&] { load_model(folder.path(), kMaxBytes); });
  EXPECT_FALSE(looks_like_model("/nowhere/a"));
  EXPECT_FALSE(looks_like_model(folder.path()));
  test::store(file.string(), std::string());
  EXPECT_FALSE(looks_like_model(file));
  test::expect_error(ExitCode::model, file.string(), [&] { load_model(file, kMaxBytes); });
  save_model(test::random_waldboost(1, 3), file);
  test::expect_error(ExitCode::model, "MiB", [&] { load_model(file, 1000); });
}

TEST_F(WaldBoostModel, WhatCouldNotBeReadIsNotWritten) {
  const Model good = test::random_waldboost(1, 3);
  const auto expect_refused = [&](const std::function<void(Model&)>& change) {
    Model model = good;
    change(model);
    EXPECT_THROW(save_model(model, file), std::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(file));
  };
  expect_refused([](Model& m) { m.label.clear(); });
  expect_refused([](Model& m) { m.window = {7, 24}; });
  expect_refused([](Model& m) { m.unit = 0; });
  expect_refused([](Model& m) { m.threshold = std::numeric_limits<double>::infinity(); });
  expect_refused([](Model& m) { m.features[2].x = 22; });
  expect_refused([](Model& m) { m.responses.pop_back(); });
  expect_refused([](Model& m) { m.thresholds.pop_back(); });
  expect_refused([](Model& m) { m.survivors.pop_back(); });
  expect_refused([](Model& m) { m.survivors[2] = 1; });
  test::expect_error(ExitCode::failed, [&] { save_model(good, "/nowhere/a"); });
}

}  // namespace
}  // namespace sightline::waldboost
