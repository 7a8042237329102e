// The cascade loader: both layouts, small made-up cascades, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "detectors/cascade/model.hpp"
#include "support/errors.hpp"
#include "support/replaced.hpp"

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

constexpr auto& with = test::replaced;

void expect_refused(const std::string& xml, const std::string& fact = "a.xml") {
  test::expect_error(ExitCode::model, fact, [&] { parse_model(xml, "a.xml"); });
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
  const char* fact;  // that the message names: the line
};

const Bad kBad[] = {
    {"empty", "", "a.xml:1:"},
    {"text", "hello", "a.xml:1:"},
    {"cut_off", kHaar.substr(0, kHaar.size() / 2), "a.xml"},
    {"other_xml", "<svg></svg>", "<opencv_storage>"},
    {"no_cascade", "<opencv_storage/>", "a.xml:1:"},
    {"something_else", "<opencv_storage><mean>1</mean></opencv_storage>", "a.xml:1:"},
    {"hog", with(kHaar, "HAAR", "HOG"), "a.xml:4:"},
    {"other_boosting", with(kHaar, "BOOST", "FOREST"), "a.xml:3:"},
    {"no_width", with(kHaar, "<width>24</width>", ""), "a.xml:3:"},
    {"two_widths", with(kHaar, "<width>24</width>", "<width>24</width><width>2</width>"), "a.xml:6:"},
    {"window_of_nothing", with(kHaar, "<width>24<", "<width>0<"), "a.xml:6:"},
    {"negative_window", with(kHaar, "<width>24<", "<width>-24<"), "a.xml:6:"},
    {"huge_window", with(kHaar, "<width>24<", "<width>99999<"), "a.xml:6:"},
    {"width_of_letters", with(kHaar, "<width>24<", "<width>2x<"), "a.xml:6:"},
    {"width_too_long", with(kHaar, "<width>24<", "<width>99999999999999999999<"), "a.xml"},
    {"categories", with(kHaar, "<maxCatCount>0<", "<maxCatCount>256<"), "a.xml:8:"},
    {"no_categories", with(kLbp, "<maxCatCount>256<", "<maxCatCount>0<"), "a.xml"},
    {"stage_number", with(kHaar, "<stageNum>1<", "<stageNum>2<"), "a.xml:9:"},
    {"threshold_nan", with(kHaar, "-1.5<", "nan<"), "a.xml:12:"},
    {"threshold_inf", with(kHaar, "-1.5<", "inf<"), "a.xml"},
    {"threshold_huge", with(kHaar, "-1.5<", "1e30<"), "a.xml"},
    {"no_threshold", with(kHaar, "-1.5<", "<"), "a.xml:12:"},
    {"two_thresholds", with(kHaar, "-1.5<", "-1.5 2<"), "a.xml:12:"},
    {"nested_threshold", with(kHaar, "-1.5<", "<b>1</b><"), "a.xml:12:"},
    {"child_beyond", with(kHaar, "0 1 0 4.25", "0 2 0 4.25"), "a.xml:15:"},
    {"leaf_beyond", with(kHaar, "-1 -2 1", "-1 -3 1"), "a.xml:15:"},
    {"child_before", with(kHaar, "-1 -2 1", "1 -2 1"), "a.xml:15:"},
    {"feature_beyond", with(kHaar, "0 1 0 4.25", "0 1 2 4.25"), "'2'"},
    {"feature_negative", with(kHaar, "0 1 0 4.25", "0 1 -1 4.25"), "'-1'"},
    {"node_cut_off", with(kHaar, " +1.5e-2<", "<"), "a.xml:15:"},
    {"leaf_missing", with(kHaar, "-1. .5<", "-1.<"), "a.xml"},
    {"leaf_too_many", with(kHaar, "-1. .5<", "-1. .5 3<"), "a.xml"},
    {"set_cut_off", with(kLbp, " 7 -2147483648<", " 7<"), "<internalNodes>"},
    {"set_too_large", with(kLbp, "-2147483648<", "4294967296<"), "a.xml"},
    {"rect_outside", with(kHaar, "0 0 24 20 -1.", "1 0 24 20 -1."), "a.xml:22:"},
    {"rect_negative", with(kHaar, "0 0 24 20 -1.", "-1 0 24 20 -1."), "a.xml:22:"},
    {"rect_of_nothing", with(kHaar, "0 0 24 20 -1.", "0 0 0 20 -1."), "a.xml:22:"},
    {"rect_overflow", with(kHaar, "0 0 24 20 -1.", "0 0 2147483647 20 -1."), "a.xml"},
    {"rect_tilted_outside", with(kHaar, "4 1 3 4 -1.", "3 1 3 4 -1."), "a.xml"},
    {"one_rect", with(kHaar, "<_>\n          0 0 12 20 2.</_>", ""), "a.xml:21:"},
    {"block_outside", with(kLbp, "3 0 7 8", "4 0 7 8"), "a.xml:16:"},
    {"no_features", with(kLbp, "<_><rect>3 0 7 8</rect></_>", ""), "a.xml"},
    {"old_size", with(kOld, "24 20", "24"), "a.xml:3:"},
    {"old_both", with(kOld, "<left_val>0.25</left_val>", "<left_val>0.25</left_val><left_node>1</left_node>"),
     "a.xml:15:"},
    {"old_neither", with(kOld, "<left_val>0.25</left_val>", ""), "a.xml:8:"},
    {"old_child_beyond", with(kOld, "<right_node>1<", "<right_node>2<"), "a.xml"},
    {"old_child_negative", with(kOld, "<right_node>1<", "<right_node>-1<"), "a.xml:16:"},
    {"old_next", with(kOld, "<next>-1<", "<next>1<"), "'1'"},
    {"entities",
     "<!DOCTYPE a [<!ENTITY b \"1 2\"><!ENTITY c \"&b;&b;\">]>" +
         with(kHaar.substr(22), "<width>24<", "<width>&c;<"),
     "'&c;'"},
};

TEST(CascadeModel, BadOnesAreRefusedWithTheLine) {
  for (const Bad& one : kBad) {
    SCOPED_TRACE(one.name);
    expect_refused(one.xml, one.fact);
  }
  EXPECT_NO_THROW(parse_model(with(kHaar, "0 1 0 4.25", "0 0 0 4.25"), "a.xml"));  // a leaf twice
}

TEST(CascadeModel, RefusesTooMuch) {
  std::string nodes, leaves = "0";
  for (int i = 0; i <= kMaxNodes; ++i) {
    nodes += "0 -1 0 0.5 ";
    leaves += " 1";
  }
  const std::string xml = with(with(kHaar, "0 1 0 4.25e-003 -1 -2 1 +1.5e-2", nodes), "0.25 -1. .5", leaves);
  expect_refused(xml, "256");

  const std::string stage =
      kHaar.substr(kHaar.find("<stages>") + 8, kHaar.find("</stages>") - kHaar.find("<stages>") - 8);
  std::string stages;
  for (int i = 0; i <= kMaxStages; ++i) stages += stage;
  expect_refused(with(kHaar, stage, stages), "1000");
}

// Elements in elements, a million deep: no recursion runs out of stack.
TEST(CascadeModel, RefusesDeepNesting) {
  std::string xml = "<opencv_storage>";
  for (int i = 0; i < 1'000'000; ++i) xml += "<a>";
  expect_refused(xml);
  for (int i = 0; i < 1'000'000; ++i) xml += "</a>";
  xml += "</opencv_storage>";
  expect_refused(xml);
}

TEST(CascadeModel, EveryCutOfAFileIsRefused) {
  for (std::size_t length = 0; length + 20 < kHaar.size(); ++length) {
    SCOPED_TRACE(length);
    expect_refused(kHaar.substr(0, length));
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
