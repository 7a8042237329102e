// WaldBoost models: codes, Sightline's own file and the XML, and what is refused.
#include "waldboost/model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

#include "model/safetensors.hpp"
#include "support/cascade.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"
#include "support/waldboost.hpp"
#include "waldboost/haar.hpp"
#include "waldboost/scan.hpp"
#include "waldboost/xml.hpp"

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

void expect_the_same(const Model& a, const Model& b) {
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.window, b.window);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.responses, b.responses);
  EXPECT_EQ(a.thresholds, b.thresholds);
  EXPECT_EQ(a.unit, b.unit);
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_EQ(a.survivors, b.survivors);
  EXPECT_EQ(a.provenance, b.provenance);
}

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
      expect_the_same(loaded, model);
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
  const char* message;  // part of it: the place, and the remedy
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
    {"no_kind", kLbp, no_text("kind"), "the header has no 'kind'"},
    {"other_kind", kLbp, text("kind", "sightline"), "choose a model of the WaldBoost detector"},
    {"other_version", kLbp, text("version", "2"),
     "'version' is '2', but this program reads '1'; train it again"},
    {"no_label", kLbp, no_text("label"), "the header has no 'label'"},
    {"empty_label", kLbp, text("label", ""), "'label' must have 1 to 64 characters"},
    {"long_label", kLbp, text("label", "01234567890123456789012345678901234567890123456789012345678901234"),
     "'label' must have 1 to 64 characters"},
    {"no_window", kLbp, no_text("window"), "the header has no 'window'"},
    {"window_of_letters", kLbp, text("window", "axb"), "which is not 2 finite number(s)"},
    {"window_of_one_side", kLbp, text("window", "24"), "which is not 2 finite number(s)"},
    {"window_small", kLbp, text("window", "7x24"),
     "'window' is '7x24'; each side must be a whole number from 8"},
    {"window_large", kLbp, text("window", "24x65"), "'window' is '24x65'"},
    {"window_huge", kLbp, text("window", "1e300x24"), "'window' is '1e300x24'"},
    {"window_negative", kLbp, text("window", "24x-24"), "'window' is '24x-24'"},
    {"window_fraction", kLbp, text("window", "24.5x24"), "'window' is '24.5x24'"},
    {"other_feature", kLbp, text("feature", "hog"),
     "'feature' is 'hog'; it must be 'lbp', 'lrp', 'lrd' or 'haar'"},
    {"no_feature", kLbp, no_text("feature"), "the header has no 'feature'"},
    {"no_unit", kLbp, no_text("unit"), "the header has no 'unit'"},
    {"unit_zero", kLbp, text("unit", "0"), "'unit' is 0, out of range"},
    {"unit_negative", kLbp, text("unit", "-1"), "'unit' is -1, out of range"},
    {"unit_infinite", kLbp, text("unit", "inf"), "'unit' is 'inf', which is not 1 finite number(s)"},
    {"unit_nan", kLbp, text("unit", "nan"), "'unit' is 'nan', which is not 1 finite number(s)"},
    {"no_threshold", kLbp, no_text("threshold"), "the header has no 'threshold'"},
    {"threshold_infinite", kLbp, text("threshold", "-inf"), "which is not 1 finite number(s)"},
    {"threshold_huge", kLbp, text("threshold", "1e31"), "'threshold' is 1e31, out of range"},
    {"no_provenance", kLbp, no_text("provenance"), ""},
    {"none", kLbp, weak_classifiers(0), "there are 0 weak classifiers; a model has 1 to 4096"},
    {"most", kLbp, weak_classifiers(4096), ""},
    {"too_many", kLbp, weak_classifiers(4097), "there are 4097 weak classifiers; a model has 1 to 4096"},
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
    {"survivors_above_1", kLbp, survivors({1.5F, 1, 1}), "'survivors' holds 1.5"},
    {"survivors_below_0", kLbp, survivors({0.5F, 0.4F, -0.1F}), "shares lie between 0 and 1"},
    {"survivors_rising", kLbp, survivors({0.5F, 0.25F, 0.375F}), "'survivors' holds 0.375000 at 2"},
    {"survivors_nan", kLbp, survivors({0.5F, kNotANumber, 0.2F}), "survivors"},
    {"in_the_corner", kLbp, feature({18, 14, 2, 2, 0, 0}), ""},
    {"right_of_the_window", kLbp, feature({19, 14, 2, 2, 0, 0}),
     "weak classifier 1 (counted from 0) has 3x3 blocks of 2x2 pixels at (19, 14), which do not lie in the "
     "window; the window has 24x20 pixels"},
    {"below_the_window", kLbp, feature({18, 15, 2, 2, 0, 0}), "at (18, 15), which do not lie in the window"},
    {"far_away", kLbp, feature({255, 255, 1, 1, 0, 0}), "do not lie in the window"},
    {"no_block", kLbp, feature({0, 0, 0, 1, 0, 0}),
     "weak classifier 1 (counted from 0) has blocks of 0x1 pixels; each side must be 1 or 2"},
    {"high_block", kLbp, feature({0, 0, 1, 3, 0, 0}), "has blocks of 1x3 pixels"},
    {"lbp_compares", kLbp, feature({0, 0, 1, 1, 1, 0}), "compares blocks 1 and 0; with LBP, both must be 0"},
    {"lbp_compares_second", kLbp, feature({0, 0, 1, 1, 0, 1}), "compares blocks 0 and 1"},
    {"lrp", kLrp, feature({0, 0, 1, 1, 8, 0}), ""},
    {"lrp_same", kLrp, feature({0, 0, 1, 1, 3, 3}),
     "compares blocks 3 and 3; with LRP and LRD, they must be two"},
    {"lrp_first", kLrp, feature({0, 0, 1, 1, 9, 3}), "compares blocks 9 and 3"},
    {"lrd_second", kLrd, feature({0, 0, 1, 1, 0, 9}), "compares blocks 0 and 9"},
    {"lrd_same", kLrd, feature({0, 0, 1, 1, 0, 0}), "compares blocks 0 and 0"},
    {"haar_largest", kHaar, feature({0, 0, 12, 20, 0, 0}), ""},
    {"haar_four", kHaar, feature({4, 2, 10, 9, 4, 0}), ""},
    {"haar_shape", kHaar, feature({0, 0, 2, 2, 5, 0}),
     "weak classifier 1 (counted from 0) has shape 5 and 0; with Haar features, the shape is one of 0 to 4"},
    {"haar_second", kHaar, feature({0, 0, 2, 2, 1, 1}), "has shape 1 and 1"},
    {"haar_empty", kHaar, feature({0, 0, 2, 0, 1, 0}),
     "has blocks of 2x0 pixels; each side must be at least 1"},
    {"haar_wide", kHaar, feature({0, 0, 13, 20, 0, 0}),
     "has 2x1 blocks of 13x20 pixels at (0, 0), which do not lie in the window"},
    {"haar_high", kHaar, feature({0, 3, 2, 6, 3, 0}), "has 1x3 blocks of 2x6 pixels at (0, 3), which do not"},
    {"haar_overflow", kHaar, feature({255, 255, 255, 255, 4, 0}), "has blocks of 255x255 pixels"},
    {"haar_as_lbp", kHaar, text("feature", "lbp"), "each side must be 1 or 2"},
};

TEST_F(WaldBoostModel, ChangedFilesAreRefusedWithPlaceAndRemedy) {
  for (const Change& one : kChanges) {
    SCOPED_TRACE(one.name);
    const std::string message = complaint(one.kind, one.change);
    if (*one.message == '\0') {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_THAT(message, HasSubstr(one.message));
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
  test::expect_error(ExitCode::failed, "", [&] { save_model(good, "/nowhere/a"); });
}

// --- the XML

// `value` wherever no other prediction is given.
std::string predictions(const std::string& first, const std::string& value = "0", int count = kCodes) {
  std::string list = first;
  for (int i = 1; i < count; ++i) list += ' ' + value;
  return list;
}

const std::string kXml = R"(<?xml version="1.0"?>
<!-- a <classifier> -->
<WaldBoostClassifier classifierName="face" minStdDev="0" imageSizeX="24" imageSizeY="20" type="LBP">
  <stage posT="1e+50" negT="-0.75">
    <HistogramWeakHypothesis predictionValues=")" +
                         predictions("1.5", "-0.25") + R"(">
      <LBPFeature positionX="3" positionY="5" blockWidth="2" blockHeight="1" binMappingType="0"/>
    </HistogramWeakHypothesis>
  </stage>
  <stage posT="inf" negT="-1e+50">
    <HistogramWeakHypothesis predictionValues=")" +
                         predictions("+.5", "1e-20") + R"(">
      <LBPFeature positionX="18" positionY="14" blockWidth="2" blockHeight="2"/>
    </HistogramWeakHypothesis>
  </stage>
</WaldBoostClassifier>
)";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("no '" + what + "' in the text");
  return text.replace(at, what.size(), instead);
}

TEST_F(WaldBoostModel, ReadsXml) {
  test::store(file.string(), kXml);
  EXPECT_TRUE(looks_like_model(file));
  const Model model = load_model(file, kMaxBytes);
  EXPECT_EQ(model.name, "face");
  EXPECT_EQ(model.label, "face");
  EXPECT_EQ(model.window, (Size{24, 20}));
  EXPECT_EQ(model.kind, FeatureKind::lbp);
  EXPECT_EQ(model.threshold, 0);
  EXPECT_TRUE(model.survivors.empty());
  EXPECT_EQ(model.features, (std::vector<Feature>{{3, 5, 2, 1, 0, 0}, {18, 14, 2, 2, 0, 0}}));
  EXPECT_EQ(model.unit, std::ldexp(1.0, -14));  // 1.5 * 2^15 would be more than 32767
  ASSERT_EQ(model.responses.size(), 512U);
  EXPECT_EQ(model.table(0)[0], 1.5 * 16384);
  EXPECT_EQ(model.table(0)[1], -0.25 * 16384);
  EXPECT_EQ(model.table(0)[255], -0.25 * 16384);
  EXPECT_EQ(model.table(1)[0], 0.5 * 16384);
  EXPECT_EQ(model.table(1)[1], 0);
  EXPECT_EQ(model.thresholds, (std::vector<std::int32_t>{-12288, kNoThreshold}));
  save_model(model, folder / "own");
  expect_the_same(load_model(folder / "own", kMaxBytes), model);
}

TEST(WaldBoostXml, PredictionsAreRoundedToTheNearestAndThresholdsUp) {
  // A unit of 1.
  const auto model_of = [](const std::string& values, const std::string& threshold) {
    return parse_xml_model(
        with(with(kXml, "1.5 -0.25 -0.25 -0.25 -0.25 -0.25", values), "\"-0.75\"", '"' + threshold + '"'),
        "a.xml");
  };
  const Model model = model_of("32767 0.5 1.5 -0.5 -1.5 2.500001", "7");
  EXPECT_EQ(model.unit, 1);
  EXPECT_EQ(model.table(0)[0], 32767);
  EXPECT_EQ(model.table(0)[1], 0);
  EXPECT_EQ(model.table(0)[2], 2);
  EXPECT_EQ(model.table(0)[3], 0);
  EXPECT_EQ(model.table(0)[4], -2);
  EXPECT_EQ(model.table(0)[5], 3);
  EXPECT_EQ(model.thresholds[0], 7);
  EXPECT_EQ(model_of("32767 0 0 0 0 0", "7.25").thresholds[0], 8);
  EXPECT_EQ(model_of("32767 0 0 0 0 0", "-7.75").thresholds[0], -7);
  EXPECT_EQ(model_of("32767 0 0 0 0 0", "-1e29").thresholds[0], kNoThreshold);
  EXPECT_EQ(model_of("32767 0 0 0 0 0", "-inf").thresholds[0], kNoThreshold);
  EXPECT_EQ(model_of("32767 0 0 0 0 0", "2147483647").thresholds[0], 2147483647);
  // One more, and the unit doubles.
  EXPECT_EQ(model_of("-32767.5 0 0 0 0 0", "7").unit, 2);
  EXPECT_EQ(model_of("-32767.5 0 0 0 0 0", "7").table(0)[0], -16384);
  EXPECT_EQ(model_of("-32767.5 0 0 0 0 0", "7").thresholds[0], 4);
  EXPECT_EQ(model_of("1e9 0 0 0 0 0", "7").unit, 32768);
  EXPECT_EQ(model_of("-1 0 0 0 0 0", "-0.5").table(0)[0], -16384);
}

TEST(WaldBoostXml, PredictionsThatAreAllTinyOr0) {
  const auto model_of = [](const std::string& value) {
    std::string xml = with(kXml, predictions("1.5", "-0.25"), predictions(value, value));
    return parse_xml_model(with(xml, predictions("+.5", "1e-20"), predictions(value, value)), "a.xml");
  };
  EXPECT_EQ(model_of("0").unit, 1);
  EXPECT_EQ(model_of("0").thresholds[0], 0);  // -0.75, rounded up
  EXPECT_EQ(model_of("1e-300").unit, std::ldexp(1.0, -100));
  EXPECT_EQ(model_of("1e-300").thresholds[0], kNoThreshold);
  EXPECT_EQ(model_of("1e-300").table(0)[0], 0);
}

TEST(WaldBoostXml, OptionalAttributes) {
  const auto taken = [](const std::string& xml) { return parse_xml_model(xml, "a.xml"); };
  EXPECT_EQ(taken(with(kXml, " minStdDev=\"0\"", "")).size(), 2);
  EXPECT_EQ(taken(with(kXml, " minStdDev=\"0\"", " minStdDev=\"0.000\"")).size(), 2);
  EXPECT_EQ(taken(with(kXml, " binMappingType=\"0\"", " binMappingType=\"NONE\"")).size(), 2);
  EXPECT_EQ(taken(with(kXml, " classifierName=\"face\"", "")).label, "object");
  EXPECT_EQ(taken(with(kXml, " classifierName=\"face\"", " classifierName=\"\"")).label, "object");
}

struct Bad {
  const char* name;
  std::string xml;
  const char* message;  // part of it: the line and the reason
};

std::string without_stages() {
  return "<WaldBoostClassifier imageSizeX='24' imageSizeY='24' type='LBP'/>";
}

const Bad kBad[] = {
    {"cut_off", kXml.substr(0, kXml.size() / 2), "it is not well-formed XML"},
    {"other_xml", "<svg></svg>", "a.xml:1: <svg> is not a <WaldBoostClassifier>"},
    {"second_root", kXml + "<a/>", "a.xml:15: <a> is not a <WaldBoostClassifier>"},
    {"two", without_stages() + "\n" + without_stages(), "a.xml:2: a second <WaldBoostClassifier>"},
    {"no_stage", without_stages(), "a.xml:1: a classifier without a stage"},
    {"no_type", with(kXml, " type=\"LBP\"", ""), "a.xml:3: <WaldBoostClassifier> has no type"},
    {"haar", with(kXml, "\"LBP\"", "\"HAAR\""),
     "a.xml:3: features of this type are not supported; only LBP is"},
    {"deviation", with(kXml, "minStdDev=\"0\"", "minStdDev=\"5\""),
     "a.xml:3: a minStdDev other than 0 is not supported"},
    {"deviation_nan", with(kXml, "minStdDev=\"0\"", "minStdDev=\"nan\""), "a minStdDev other than 0"},
    {"deviation_text", with(kXml, "minStdDev=\"0\"", "minStdDev=\"no\""),
     "a.xml:3: 'no' in minStdDev of <WaldBoostClassifier> is not a number"},
    {"two_types", with(kXml, "type=\"LBP\"", "type=\"LBP\" type=\"LBP\""), "has a second type"},
    {"long_name", with(kXml, "\"face\"", '"' + std::string(65, 'a') + '"'),
     "a.xml:3: classifierName has more than 64 characters"},
    {"unknown_of_root", with(kXml, "minStdDev=", "stride="), "<WaldBoostClassifier> has an unknown stride"},
    {"no_width", with(kXml, " imageSizeX=\"24\"", ""), "a.xml:3: <WaldBoostClassifier> has no imageSizeX"},
    {"small", with(kXml, "imageSizeX=\"24\"", "imageSizeX=\"7\""),
     "a.xml:3: '7' in imageSizeX of <WaldBoostClassifier> is not between 8 and 64"},
    {"large", with(kXml, "imageSizeY=\"20\"", "imageSizeY=\"65\""), "'65' in imageSizeY"},
    {"fraction", with(kXml, "imageSizeY=\"20\"", "imageSizeY=\"20.5\""), "is not a whole number"},
    {"two_sizes", with(kXml, "imageSizeY=\"20\"", "imageSizeY=\"20 20\""),
     "imageSizeY of <WaldBoostClassifier> holds too much"},
    {"text_in_root", with(kXml, "<stage", "hello <stage"), "a.xml:3: text in <WaldBoostClassifier>"},
    {"data_in_root", with(kXml, "<stage", "<![CDATA[a]]><stage"), "a.xml:3: text in <WaldBoostClassifier>"},
    {"other_stage",
     with(kXml, "<stage posT=\"1e+50\" negT=\"-0.75\">", "<stage posT=\"1e+50\" negT=\"-0.75\"><a/>"),
     "a.xml:4: <a> in <stage> is not supported; only <HistogramWeakHypothesis> is"},
    {"no_stage_but", with(kXml, "  <stage", "  <node/>\n<stage"),
     "a.xml:4: <node> in <WaldBoostClassifier> is not supported; only <stage> is"},
    {"no_accepting", with(kXml, " posT=\"1e+50\"", ""), "a.xml:4: <stage> has no posT"},
    {"accepts_early", with(kXml, "1e+50", "3.5"),
     "a.xml:4: a stage that accepts early is not supported: posT must be at least 1e30"},
    {"accepts_nan", with(kXml, "1e+50", "nan"), "posT must be at least 1e30"},
    {"accepts_minus", with(kXml, "1e+50", "-1e+50"), "posT must be at least 1e30"},
    {"no_rejecting", with(kXml, " negT=\"-0.75\"", ""), "a.xml:4: <stage> has no negT"},
    {"rejects_all", with(kXml, "-0.75", "1e30"), "a.xml:4: negT is neither finite nor -1e30 or less"},
    {"rejects_nan", with(kXml, "-0.75", "nan"), "negT is neither finite"},
    {"rejects_large", with(kXml, "-0.75", "1e6"), "a.xml:4: negT is larger than any sum of predictions"},
    {"rejects_text", with(kXml, "-0.75", "-0,75"), "a.xml:4: '-0,75' in negT of <stage> is not a number"},
    {"unknown_of_stage", with(kXml, "negT=", "midT=\"0\" negT="), "a.xml:4: <stage> has an unknown midT"},
    {"too_few", with(kXml, "1.5 -0.25", "1.5"), "a.xml:5: predictionValues holds 255 numbers instead of 256"},
    {"too_many", with(kXml, "1.5", "1.5 1"), "a.xml:5: predictionValues holds 257 numbers instead of 256"},
    {"no_predictions", with(kXml, " predictionValues=\"" + predictions("1.5", "-0.25") + '"', ""),
     "a.xml:5: <HistogramWeakHypothesis> has no predictionValues"},
    {"prediction_nan", with(kXml, "1.5", "nan"),
     "a.xml:5: predictionValues holds a number that is too large"},
    {"prediction_inf", with(kXml, "1.5", "-inf"),
     "a.xml:5: predictionValues holds a number that is too large"},
    {"prediction_huge", with(kXml, "1.5", "1e10"),
     "a.xml:5: predictionValues holds a number that is too large"},
    {"prediction_text", with(kXml, "1.5", "a"), "a.xml:5: 'a' in predictionValues of <HistogramWeak"},
    {"unknown_of_weak", with(kXml, "predictionValues=", "binMap=\"0\" predictionValues="),
     "a.xml:5: <HistogramWeakHypothesis> has an unknown binMap"},
    {"other_hypothesis",
     "<WaldBoostClassifier imageSizeX='24' imageSizeY='24' type='LBP'><stage posT='1e50' negT='1'>"
     "<DecisionTree/></stage></WaldBoostClassifier>",
     "<DecisionTree> in <stage> is not supported; only <HistogramWeakHypothesis> is"},
    {"no_hypothesis",
     "<WaldBoostClassifier imageSizeX='24' imageSizeY='24' type='LBP'><stage posT='1e50' negT='1'/>"
     "</WaldBoostClassifier>",
     "<stage> has no <HistogramWeakHypothesis>"},
    {"other_feature", with(kXml, "<LBPFeature", "<HaarFeature"),
     "a.xml:6: <HaarFeature> in <HistogramWeakHypothesis> is not supported; only <LBPFeature> is"},
    {"two_features", with(kXml, "<LBPFeature", "<LBPFeature/><LBPFeature"), "a.xml:6: a second <LBPFeature>"},
    {"inside_a_feature", with(kXml, "binMappingType=\"0\"/>", "><a/></LBPFeature>"),
     "a.xml:6: <LBPFeature> must be empty"},
    {"mapping", with(kXml, "binMappingType=\"0\"", "binMappingType=\"UNIFORM\""),
     "a.xml:6: a binMappingType other than 0 or NONE is not supported"},
    {"unknown_of_feature", with(kXml, "binMappingType=", "rotation="),
     "a.xml:6: <LBPFeature> has an unknown rotation"},
    {"no_position", with(kXml, "positionX=\"3\" ", ""), "a.xml:6: <LBPFeature> has no positionX"},
    {"negative", with(kXml, "positionX=\"3\"", "positionX=\"-1\""),
     "'-1' in positionX of <LBPFeature> is not between 0"},
    {"no_block", with(kXml, "blockWidth=\"2\"", "blockWidth=\"0\""),
     "a.xml:6: '0' in blockWidth of <LBPFeature> is not between 1 and 2"},
    {"large_block", with(kXml, "blockHeight=\"1\"", "blockHeight=\"3\""), "'3' in blockHeight"},
    {"right_of", with(kXml, "positionX=\"18\"", "positionX=\"19\""),
     "a.xml:11: the 3x3 blocks do not lie in the window"},
    {"below", with(kXml, "positionY=\"14\"", "positionY=\"15\""),
     "a.xml:11: the 3x3 blocks do not lie in the window"},
    {"overflow", with(kXml, "positionX=\"18\"", "positionX=\"274\""), "'274' in positionX"},
};

TEST(WaldBoostXml, BadOnesAreRefusedWithLineAndReason) {
  for (const Bad& one : kBad) {
    SCOPED_TRACE(one.name);
    const std::string message = test::error_of(ExitCode::model, [&] { parse_xml_model(one.xml, "a.xml"); });
    EXPECT_THAT(message, HasSubstr(one.message));
    EXPECT_THAT(message,
                HasSubstr("use the XML of a WaldBoost classifier of LBP features, or train a model"));
  }
}

TEST(WaldBoostXml, TooManyStages) {
  const std::size_t begin = kXml.find("  <stage");
  const std::string stage = kXml.substr(begin, kXml.find("</stage>") + 9 - begin);
  std::string stages;
  for (int i = 0; i < kMaxWeakClassifiers - 2; ++i) stages += stage;
  EXPECT_EQ(parse_xml_model(with(kXml, stage, stages + stage), "a.xml").size(), kMaxWeakClassifiers);
  EXPECT_LT(stages.size(), std::size_t{kMaxModelSize} << 20);
  const std::string message = test::error_of(
      ExitCode::model, [&] { parse_xml_model(with(kXml, stage, stages + stage + stage), "a.xml"); });
  EXPECT_THAT(message, HasSubstr("more than 4096 stages"));
}

TEST(WaldBoostXml, EveryCutOfAFileIsRefused) {
  for (std::size_t length = 0; length + 23 < kXml.size(); length += 7) {
    ASSERT_NE(test::error_of(ExitCode::model, [&] { parse_xml_model(kXml.substr(0, length), "a.xml"); }), "")
        << length;
  }
}

TEST_F(WaldBoostModel, IsRecognisedByItsFirstElement) {
  const auto looks = [&](const std::string& bytes) {
    test::store(file.string(), bytes);
    return looks_like_model(file);
  };
  EXPECT_TRUE(looks("<WaldBoostClassifier"));
  EXPECT_TRUE(looks("\xEF\xBB\xBF \n<WaldBoostClassifier>"));
  EXPECT_TRUE(
      looks("<?xml version='1.0'?><!DOCTYPE a [<!ELEMENT b (c)>]><!-- <d> --><WaldBoostClassifier/>"));
  EXPECT_FALSE(looks("<?xml version='1.0'?><opencv_storage><WaldBoostClassifier/></opencv_storage>"));
  EXPECT_FALSE(looks("<!-- <WaldBoostClassifier> --><opencv_storage>"));
  EXPECT_FALSE(looks("<!-- a > b <WaldBoostClassifier> --><opencv_storage>"));
  EXPECT_FALSE(looks("<!-- <WaldBoostClassifier>"));
  EXPECT_FALSE(looks("<WaldBoostClassifiers>"));
  EXPECT_FALSE(looks("WaldBoostClassifier"));
  EXPECT_FALSE(looks("<"));
  EXPECT_FALSE(looks("<!"));
  EXPECT_FALSE(looks("<?"));
}

}  // namespace
}  // namespace sightline::waldboost
