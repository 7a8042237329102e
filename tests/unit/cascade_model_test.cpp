// The cascade loader: both layouts, small made-up cascades, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "detectors/cascade/model.hpp"

namespace sightline::cascade {
namespace {

// A small cascade of the new layout, with tags to be replaced.
const std::string kHaar = R"(<?xml version="1.0"?>
<opencv_storage>
<cascade type_id="opencv-cascade-classifier"><stageType>BOOST</stageType>
  <featureType>HAAR</featureType>
  <height>20</height>
  <width>24</width>
  <featureParams>
    <maxCatCount>0</maxCatCount></featureParams>
  <stageNum>1</stageNum>
  <stages>
    <_>
      <stageThreshold>-1.5</stageThreshold>
      <weakClassifiers>
        <_>
          <internalNodes>
            0 1 0 4.25e-003 -1 -2 1 +1.5e-2</internalNodes>
          <leafValues>
            0.25 -1. .5</leafValues></_></weakClassifiers></_></stages>
  <features>
    <_>
      <rects>
        <_>
          0 0 24 20 -1.</_>
        <_>
          0 0 12 20 2.</_></rects></_>
    <_>
      <rects>
        <_>
          4 1 3 4 -1.</_>
        <_>
          4 1 3 2 2.</_></rects>
      <tilted>1</tilted></_></features></cascade>
</opencv_storage>
)";

const std::string kLbp = R"(<opencv_storage>
<cascade>
  <stageType>BOOST</stageType>
  <featureType>LBP</featureType>
  <height>24</height>
  <width>24</width>
  <featureParams><maxCatCount>256</maxCatCount></featureParams>
  <stages>
    <_>
      <stageThreshold>0.5</stageThreshold>
      <weakClassifiers>
        <_>
          <internalNodes>0 -1 0 -1 2 3 4 5 6 7 -2147483648</internalNodes>
          <leafValues>-1 1</leafValues></_></weakClassifiers></_></stages>
  <features>
    <_><rect>3 0 7 8</rect></_></features></cascade>
</opencv_storage>
)";

const std::string kOld = R"(<opencv_storage>
<my_cascade type_id="opencv-haar-classifier">
  <size>24 20</size>
  <stages>
    <_>
      <trees>
        <_>
          <_>
            <feature>
              <rects>
                <_>0 0 24 20 -1.</_>
                <_>0 0 12 20 2.</_></rects>
              <tilted>0</tilted></feature>
            <threshold>4.25e-3</threshold>
            <left_val>0.25</left_val>
            <right_node>1</right_node></_>
          <_>
            <feature>
              <rects>
                <_>4 1 3 4 -1.</_>
                <_>4 1 3 2 2.</_></rects>
              <tilted>1</tilted></feature>
            <threshold>1.5e-2</threshold>
            <left_val>-1.</left_val>
            <right_val>0.5</right_val></_></_></trees>
      <stage_threshold>-1.5</stage_threshold>
      <parent>-1</parent>
      <next>-1</next></_></stages></my_cascade>
</opencv_storage>
)";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("no '" + what + "' in the text");
  return text.replace(at, what.size(), instead);
}

std::string refusal(const std::string& xml) {
  try {
    parse_model(xml, "a.xml");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::model);
    return e.what();
  }
  return "taken";
}

void expect_the_haar_cascade(const Model& m) {
  EXPECT_EQ(m.kind, FeatureKind::haar);
  EXPECT_EQ(m.window, (Size{24, 20}));
  ASSERT_EQ(m.stages.size(), 1U);
  EXPECT_EQ(m.stages[0].trees, 1);
  EXPECT_FLOAT_EQ(m.stages[0].threshold, -1.50001F);
  ASSERT_EQ(m.trees.size(), 1U);
  EXPECT_EQ(m.trees[0].nodes, 2);
  ASSERT_EQ(m.nodes.size(), 2U);
  EXPECT_EQ(m.nodes[0].left, 0);
  EXPECT_EQ(m.nodes[0].right, 1);
  EXPECT_EQ(m.nodes[0].threshold, 4.25e-3F);
  EXPECT_EQ(m.nodes[1].left, -1);
  EXPECT_EQ(m.nodes[1].right, -2);
  EXPECT_EQ(m.nodes[1].threshold, 1.5e-2F);
  EXPECT_EQ(m.leaves, (std::vector<float>{0.25F, -1.0F, 0.5F}));
  ASSERT_EQ(m.haar.size(), 2U);
  EXPECT_EQ(m.haar[m.nodes[0].feature].rects[1], (Rect{0, 0, 12, 20}));
  EXPECT_EQ(m.haar[m.nodes[0].feature].weights, (std::array<float, 3>{-1, 2, 0}));
  EXPECT_FALSE(m.haar[m.nodes[0].feature].tilted);
  EXPECT_TRUE(m.haar[m.nodes[1].feature].tilted);
  EXPECT_TRUE(m.has_tilted);
  EXPECT_EQ(m.max_tree_nodes, 2);
}

TEST(CascadeModel, ReadsTheNewLayout) {
  expect_the_haar_cascade(parse_model(kHaar, "a.xml"));
}

TEST(CascadeModel, ReadsTheOldLayoutAsTheSame) {
  expect_the_haar_cascade(parse_model(kOld, "a.xml"));
}

TEST(CascadeModel, ReadsLocalBinaryPatterns) {
  const Model m = parse_model(kLbp, "folder/lbp.xml");
  EXPECT_EQ(m.kind, FeatureKind::lbp);
  EXPECT_EQ(m.name, "lbp");
  EXPECT_EQ(m.lbp, (std::vector<Rect>{{3, 0, 7, 8}}));
  EXPECT_EQ(m.subsets, (std::vector<std::uint32_t>{0xFFFFFFFF, 2, 3, 4, 5, 6, 7, 0x80000000}));
}

TEST(CascadeModel, LeavesOfStumpsAreLeftAndRight) {
  const Model m = parse_model(with(kLbp, "0 -1 0 -1 2", "-1 0 0 -1 2"), "a.xml");
  EXPECT_EQ(m.nodes[0].left, 0);
  EXPECT_EQ(m.nodes[0].right, -1);
}

struct Bad {
  const char* name;
  std::string xml;
  const char* message;  // part of it: the line and the reason
};

const Bad kBad[] = {
    {"empty", "", "a.xml:1: it is not well-formed XML"},
    {"text", "hello", "a.xml:1: it is not well-formed XML"},
    {"cut_off", kHaar.substr(0, kHaar.size() / 2), "it is not well-formed XML"},
    {"other_xml", "<svg></svg>", "has no <opencv_storage>"},
    {"no_cascade", "<opencv_storage/>", "a.xml:1: <opencv_storage> is empty"},
    {"something_else", "<opencv_storage><mean>1</mean></opencv_storage>", "a.xml:1: <mean> is not a cascade"},
    {"hog", with(kHaar, "HAAR", "HOG"), "a.xml:4: features of this type are not supported"},
    {"other_boosting", with(kHaar, "BOOST", "FOREST"), "a.xml:3: stages of this type are not supported"},
    {"no_width", with(kHaar, "<width>24</width>", ""), "a.xml:3: <cascade> has no <width>"},
    {"two_widths", with(kHaar, "<width>24</width>", "<width>24</width><width>2</width>"),
     "a.xml:6: a second <width>"},
    {"window_of_nothing", with(kHaar, "<width>24<", "<width>0<"), "a.xml:6: the window's size 0 x 20"},
    {"negative_window", with(kHaar, "<width>24<", "<width>-24<"), "a.xml:6: '-24' in <width> is not between"},
    {"huge_window", with(kHaar, "<width>24<", "<width>99999<"), "a.xml:6: the window's size 99999 x 20"},
    {"width_of_letters", with(kHaar, "<width>24<", "<width>2x<"),
     "a.xml:6: '2x' in <width> is not a whole number"},
    {"width_too_long", with(kHaar, "<width>24<", "<width>99999999999999999999<"), "is not a whole number"},
    {"categories", with(kHaar, "<maxCatCount>0<", "<maxCatCount>256<"), "a.xml:8: maxCatCount"},
    {"no_categories", with(kLbp, "<maxCatCount>256<", "<maxCatCount>0<"),
     "maxCatCount of these features must be 256"},
    {"stage_number", with(kHaar, "<stageNum>1<", "<stageNum>2<"),
     "a.xml:9: stageNum does not agree with the 1"},
    {"threshold_nan", with(kHaar, "-1.5<", "nan<"),
     "a.xml:12: 'nan' in <stageThreshold> is too large or not finite"},
    {"threshold_inf", with(kHaar, "-1.5<", "inf<"), "too large or not finite"},
    {"threshold_huge", with(kHaar, "-1.5<", "1e30<"), "too large or not finite"},
    {"no_threshold", with(kHaar, "-1.5<", "<"), "a.xml:12: <stageThreshold> ends too early"},
    {"two_thresholds", with(kHaar, "-1.5<", "-1.5 2<"), "a.xml:12: <stageThreshold> holds too much"},
    {"nested_threshold", with(kHaar, "-1.5<", "<b>1</b><"),
     "a.xml:12: <stageThreshold> must hold plain text"},
    {"node_to_itself", with(kHaar, "0 1 0 4.25", "0 0 0 4.25"), "taken"},  // leaf 0 twice
    {"child_beyond", with(kHaar, "0 1 0 4.25", "0 2 0 4.25"), "a.xml:15: node 0 of a tree of 2 leads to 2"},
    {"leaf_beyond", with(kHaar, "-1 -2 1", "-1 -3 1"), "a.xml:15: node 1 of a tree of 2 leads to -3"},
    {"child_before", with(kHaar, "-1 -2 1", "1 -2 1"), "a.xml:15: node 1 of a tree of 2 leads to 1"},
    {"feature_beyond", with(kHaar, "0 1 0 4.25", "0 1 2 4.25"),
     "'2' in <internalNodes> is not between 0 and 1"},
    {"feature_negative", with(kHaar, "0 1 0 4.25", "0 1 -1 4.25"),
     "'-1' in <internalNodes> is not between 0 and 1"},
    {"node_cut_off", with(kHaar, " +1.5e-2<", "<"), "a.xml:15: <internalNodes> ends too early"},
    {"leaf_missing", with(kHaar, "-1. .5<", "-1.<"),
     "a tree of 2 node(s) needs one leaf more than that, not 2"},
    {"leaf_too_many", with(kHaar, "-1. .5<", "-1. .5 3<"), "not 4"},
    {"set_cut_off", with(kLbp, " 7 -2147483648<", " 7<"), "<internalNodes> ends too early"},
    {"set_too_large", with(kLbp, "-2147483648<", "4294967296<"), "is not between -2147483648 and 2147483647"},
    {"rect_outside", with(kHaar, "0 0 24 20 -1.", "1 0 24 20 -1."),
     "a.xml:22: the rectangle 24 x 20 at (1, 0)"},
    {"rect_negative", with(kHaar, "0 0 24 20 -1.", "-1 0 24 20 -1."), "a.xml:22: '-1' in <_> is not between"},
    {"rect_of_nothing", with(kHaar, "0 0 24 20 -1.", "0 0 0 20 -1."),
     "a.xml:22: '0' in <_> is not between 1"},
    {"rect_overflow", with(kHaar, "0 0 24 20 -1.", "0 0 2147483647 20 -1."), "is not between 1 and 256"},
    {"rect_tilted_outside", with(kHaar, "4 1 3 4 -1.", "3 1 3 4 -1."),
     "the tilted rectangle 3 x 4 at (3, 1)"},
    {"one_rect", with(kHaar, "<_>\n          0 0 12 20 2.</_>", ""),
     "a.xml:21: a feature of fewer than two rectangles"},
    {"block_outside", with(kLbp, "3 0 7 8", "4 0 7 8"), "a.xml:16: the 3x3 blocks of 7 x 8 at (4, 0)"},
    {"no_features", with(kLbp, "<_><rect>3 0 7 8</rect></_>", ""), "a cascade without a feature"},
    {"old_size", with(kOld, "24 20", "24"), "a.xml:3: <size> ends too early"},
    {"old_both", with(kOld, "<left_val>0.25</left_val>", "<left_val>0.25</left_val><left_node>1</left_node>"),
     "a.xml:15: both <left_val> and <left_node>"},
    {"old_neither", with(kOld, "<left_val>0.25</left_val>", ""), "a.xml:8: <_> has no <left_node>"},
    {"old_child_beyond", with(kOld, "<right_node>1<", "<right_node>2<"), "leads to 2"},
    {"old_child_negative", with(kOld, "<right_node>1<", "<right_node>-1<"), "a.xml:16: '-1' in <right_node>"},
    {"old_next", with(kOld, "<next>-1<", "<next>1<"), "'1' in <next> is not between -1 and 0"},
    {"entities",
     "<!DOCTYPE a [<!ENTITY b \"1 2\"><!ENTITY c \"&b;&b;\">]>" +
         with(kHaar.substr(22), "<width>24<", "<width>&c;<"),
     "'&c;' in <width> is not a whole number"},
};

class BadCascade : public testing::TestWithParam<Bad> {};

TEST_P(BadCascade, IsRefusedWithLineAndReason) {
  EXPECT_NE(refusal(GetParam().xml).find(GetParam().message), std::string::npos) << refusal(GetParam().xml);
}
INSTANTIATE_TEST_SUITE_P(All, BadCascade, testing::ValuesIn(kBad),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CascadeModel, RefusesTooMuch) {
  std::string nodes, leaves = "0";
  for (int i = 0; i <= kMaxNodes; ++i) {
    nodes += "0 -1 0 0.5 ";
    leaves += " 1";
  }
  const std::string xml = with(with(kHaar, "0 1 0 4.25e-003 -1 -2 1 +1.5e-2", nodes), "0.25 -1. .5", leaves);
  EXPECT_NE(refusal(xml).find("more than 256 nodes in a tree"), std::string::npos) << refusal(xml);

  const std::string stage =
      kHaar.substr(kHaar.find("<stages>") + 8, kHaar.find("</stages>") - kHaar.find("<stages>") - 8);
  std::string stages;
  for (int i = 0; i <= kMaxStages; ++i) stages += stage;
  EXPECT_NE(refusal(with(kHaar, stage, stages)).find("more than 1000 stages"), std::string::npos);
}

// Elements in elements, a million deep: no recursion runs out of stack.
TEST(CascadeModel, RefusesDeepNesting) {
  std::string xml = "<opencv_storage>";
  for (int i = 0; i < 1'000'000; ++i) xml += "<a>";
  EXPECT_NE(refusal(xml).find("not well-formed"), std::string::npos);
  for (int i = 0; i < 1'000'000; ++i) xml += "</a>";
  xml += "</opencv_storage>";
  EXPECT_NE(refusal(xml).find("<a> is not a cascade"), std::string::npos);
}

TEST(CascadeModel, EveryCutOfAFileIsRefused) {
  for (std::size_t length = 0; length + 20 < kHaar.size(); ++length) {
    const std::string message = refusal(kHaar.substr(0, length));
    ASSERT_NE(message, "taken") << length;
  }
}

TEST(CascadeModel, FilesThatAreNotThere) {
  EXPECT_THROW(load_model("/nowhere/a.xml"), Error);
  EXPECT_THROW(load_model(std::filesystem::temp_directory_path()), Error);
  EXPECT_FALSE(looks_like_cascade("/nowhere/a.xml"));
}

TEST(CascadeModel, AllThatComeWithOpenCv) {
  const std::filesystem::path folder = "/usr/share/opencv4";
  if (!std::filesystem::exists(folder / "haarcascades")) GTEST_SKIP() << "no opencv-data";
  int count = 0;
  for (const char* kind : {"haarcascades", "lbpcascades"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / kind)) {
      EXPECT_NO_THROW(load_model(entry.path())) << entry.path();
      EXPECT_TRUE(looks_like_cascade(entry.path()));
      ++count;
    }
  }
  EXPECT_GT(count, 15);
}

}  // namespace
}  // namespace sightline::cascade
