// WaldBoost models as XML, as another program writes them: what is read, and what is refused.
#include "detectors/waldboost/xml.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "detectors/waldboost/model.hpp"
#include "support/errors.hpp"
#include "support/replaced.hpp"
#include "support/temp_dir.hpp"
#include "support/waldboost.hpp"

namespace sightline::waldboost {
namespace {

constexpr std::uint64_t kMostXmlBytes = 1 << 24;

class WaldBoostXmlFile : public ::testing::Test {
 protected:
  test::TempDir folder;
  const std::filesystem::path file = folder / "face.model";
};

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

constexpr auto& with = test::replaced;

TEST_F(WaldBoostXmlFile, IsReadAndMayBeWrittenAsOurOwn) {
  test::store(file.string(), kXml);
  EXPECT_TRUE(looks_like_model(file));
  const Model model = load_model(file, kMostXmlBytes);
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
  test::expect_the_same(load_model(folder / "own", kMostXmlBytes), model);
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
  const char* fact;  // that the message names: the line
};

std::string without_stages() {
  return "<WaldBoostClassifier imageSizeX='24' imageSizeY='24' type='LBP'/>";
}

const Bad kBad[] = {
    {"cut_off", kXml.substr(0, kXml.size() / 2), "a.xml"},
    {"other_xml", "<svg></svg>", "a.xml:1:"},
    {"second_root", kXml + "<a/>", "a.xml:15:"},
    {"two", without_stages() + "\n" + without_stages(), "a.xml:2:"},
    {"no_stage", without_stages(), "a.xml:1:"},
    {"no_type", with(kXml, " type=\"LBP\"", ""), "a.xml:3:"},
    {"haar", with(kXml, "\"LBP\"", "\"HAAR\""), "a.xml:3:"},
    {"deviation", with(kXml, "minStdDev=\"0\"", "minStdDev=\"5\""), "a.xml:3:"},
    {"deviation_nan", with(kXml, "minStdDev=\"0\"", "minStdDev=\"nan\""), "a.xml"},
    {"deviation_text", with(kXml, "minStdDev=\"0\"", "minStdDev=\"no\""), "a.xml:3:"},
    {"two_types", with(kXml, "type=\"LBP\"", "type=\"LBP\" type=\"LBP\""), "a.xml"},
    {"long_name", with(kXml, "\"face\"", '"' + std::string(65, 'a') + '"'), "a.xml:3:"},
    {"unknown_of_root", with(kXml, "minStdDev=", "stride="), "<WaldBoostClassifier>"},
    {"no_width", with(kXml, " imageSizeX=\"24\"", ""), "a.xml:3:"},
    {"small", with(kXml, "imageSizeX=\"24\"", "imageSizeX=\"7\""), "a.xml:3:"},
    {"large", with(kXml, "imageSizeY=\"20\"", "imageSizeY=\"65\""), "'65'"},
    {"fraction", with(kXml, "imageSizeY=\"20\"", "imageSizeY=\"20.5\""), "a.xml"},
    {"two_sizes", with(kXml, "imageSizeY=\"20\"", "imageSizeY=\"20 20\""), "<WaldBoostClassifier>"},
    {"text_in_root", with(kXml, "<stage", "hello <stage"), "a.xml:3:"},
    {"data_in_root", with(kXml, "<stage", "<![CDATA[a]]><stage"), "a.xml:3:"},
    {"other_stage",
     with(kXml, "<stage posT=\"1e+50\" negT=\"-0.75\">", "<stage posT=\"1e+50\" negT=\"-0.75\"><a/>"),
     "a.xml:4:"},
    {"no_stage_but", with(kXml, "  <stage", "  <node/>\n<stage"), "a.xml:4:"},
    {"no_accepting", with(kXml, " posT=\"1e+50\"", ""), "a.xml:4:"},
    {"accepts_early", with(kXml, "1e+50", "3.5"), "a.xml:4:"},
    {"accepts_nan", with(kXml, "1e+50", "nan"), "a.xml"},
    {"accepts_minus", with(kXml, "1e+50", "-1e+50"), "a.xml"},
    {"no_rejecting", with(kXml, " negT=\"-0.75\"", ""), "a.xml:4:"},
    {"rejects_all", with(kXml, "-0.75", "1e30"), "a.xml:4:"},
    {"rejects_nan", with(kXml, "-0.75", "nan"), "a.xml"},
    {"rejects_large", with(kXml, "-0.75", "1e6"), "a.xml:4:"},
    {"rejects_text", with(kXml, "-0.75", "-0,75"), "a.xml:4:"},
    {"unknown_of_stage", with(kXml, "negT=", "midT=\"0\" negT="), "a.xml:4:"},
    {"too_few", with(kXml, "1.5 -0.25", "1.5"), "a.xml:5:"},
    {"too_many", with(kXml, "1.5", "1.5 1"), "a.xml:5:"},
    {"no_predictions", with(kXml, " predictionValues=\"" + predictions("1.5", "-0.25") + '"', ""),
     "a.xml:5:"},
    {"prediction_nan", with(kXml, "1.5", "nan"), "a.xml:5:"},
    {"prediction_inf", with(kXml, "1.5", "-inf"), "a.xml:5:"},
    {"prediction_huge", with(kXml, "1.5", "1e10"), "a.xml:5:"},
    {"prediction_text", with(kXml, "1.5", "a"), "a.xml:5:"},
    {"unknown_of_weak", with(kXml, "predictionValues=", "binMap=\"0\" predictionValues="), "a.xml:5:"},
    {"other_hypothesis",
     "<WaldBoostClassifier imageSizeX='24' imageSizeY='24' type='LBP'><stage posT='1e50' negT='1'>"
     "<DecisionTree/></stage></WaldBoostClassifier>",
     "<DecisionTree>"},
    {"no_hypothesis",
     "<WaldBoostClassifier imageSizeX='24' imageSizeY='24' type='LBP'><stage posT='1e50' negT='1'/>"
     "</WaldBoostClassifier>",
     "<stage>"},
    {"other_feature", with(kXml, "<LBPFeature", "<HaarFeature"), "a.xml:6:"},
    {"two_features", with(kXml, "<LBPFeature", "<LBPFeature/><LBPFeature"), "a.xml:6:"},
    {"inside_a_feature", with(kXml, "binMappingType=\"0\"/>", "><a/></LBPFeature>"), "a.xml:6:"},
    {"mapping", with(kXml, "binMappingType=\"0\"", "binMappingType=\"UNIFORM\""), "a.xml:6:"},
    {"unknown_of_feature", with(kXml, "binMappingType=", "rotation="), "a.xml:6:"},
    {"no_position", with(kXml, "positionX=\"3\" ", ""), "a.xml:6:"},
    {"negative", with(kXml, "positionX=\"3\"", "positionX=\"-1\""), "'-1'"},
    {"no_block", with(kXml, "blockWidth=\"2\"", "blockWidth=\"0\""), "a.xml:6:"},
    {"large_block", with(kXml, "blockHeight=\"1\"", "blockHeight=\"3\""), "'3'"},
    {"right_of", with(kXml, "positionX=\"18\"", "positionX=\"19\""), "a.xml:11:"},
    {"below", with(kXml, "positionY=\"14\"", "positionY=\"15\""), "a.xml:11:"},
    {"overflow", with(kXml, "positionX=\"18\"", "positionX=\"274\""), "'274'"},
};

TEST(WaldBoostXml, BadOnesAreRefusedWithTheLine) {
  for (const Bad& one : kBad) {
    SCOPED_TRACE(one.name);
    test::expect_error(ExitCode::model, one.fact, [&] { parse_xml_model(one.xml, "a.xml"); });
  }
}

TEST(WaldBoostXml, TooManyStages) {
  const std::size_t begin = kXml.find("  <stage");
  const std::string stage = kXml.substr(begin, kXml.find("</stage>") + 9 - begin);
  std::string stages;
  for (int i = 0; i < kMaxWeakClassifiers - 2; ++i) stages += stage;
  EXPECT_EQ(parse_xml_model(with(kXml, stage, stages + stage), "a.xml").size(), kMaxWeakClassifiers);
  EXPECT_LT(stages.size(), std::size_t{kMaxModelSize} << 20);
  test::expect_error(ExitCode::model, std::to_string(kMaxWeakClassifiers),
                     [&] { parse_xml_model(with(kXml, stage, stages + stage + stage), "a.xml"); });
}

TEST(WaldBoostXml, EveryCutOfAFileIsRefused) {
  for (std::size_t length = 0; length + 23 < kXml.size(); length += 7) {
    ASSERT_NE(test::error_of(ExitCode::model, [&] { parse_xml_model(kXml.substr(0, length), "a.xml"); }), "")
        << length;
  }
}

TEST_F(WaldBoostXmlFile, IsRecognisedByItsFirstElement) {
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
