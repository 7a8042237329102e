// Networks whose outputs fit several readings: names, structure and values of a test picture decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "detectors/network/class_names.hpp"
#include "detectors/network/detector.hpp"
#include "detectors/network/explain.hpp"
#include "detectors/network/labels.hpp"
#include "network/functions.hpp"
#include "network/made_outputs.hpp"
#include "network/onnx_builder.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::network {
namespace {

using nn::functions::sigmoid;

using test::expect_box;
using test::kCells;
using test::Made;
using test::put;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

TEST(ClassNames, AreReadAsExportersWriteThem) {
  const auto three = Optional(ElementsAre("cat", "dog", "owl"));
  for (const char* text : {"{0: 'cat', 1: 'dog', 2: 'owl'}", "{2: 'owl', 0: \"cat\", 1: 'dog',}",
                           R"({"0": "cat", "1": "dog", "2": "owl"})", "{'0': 'cat', '1': 'dog', '2': 'owl'}",
                           "['cat', 'dog', 'owl']", R"(["cat","dog","owl"])", "('cat', 'dog', 'owl')",
                           R"({"cat": 0, "owl": 2, "dog": 1})", "cat, dog,owl", "cat\r\ndog\nowl\n",
                           " { 0 : u'cat' , 1 : u'dog' , 2 : u'owl' } "})
    EXPECT_THAT(parse_class_names(text), three) << text;
  EXPECT_THAT(parse_class_names(R"({0: "farmer's dog", 1: 'a "cat"', 2: 'it\'s', 3: 'a, b: {c}'})"),
              Optional(ElementsAre("farmer's dog", "a \"cat\"", "it's", "a, b: {c}")));
  EXPECT_THAT(parse_class_names(R"(["H\u00fcndchen \ud83d\udc15", "\x41\\\/", "猫"])"),
              Optional(ElementsAre("Hündchen 🐕", "A\\/", "猫")));
  EXPECT_THAT(parse_class_names("{0: 'cat', 2: 'owl'}"), Optional(ElementsAre("cat", "", "owl")));
  for (const char* text : {"{0: 'cat', 1: 'dog", "{0: 'cat', 0: 'dog'}", "{0: cat}", "['cat'] and more",
                           "{0 'cat'}", "{999999999: 'cat'}", "[1, 2]"})
    EXPECT_FALSE(parse_class_names(text)) << text;
}

// A small network with 2 classes and what its metadata and the user say of them.
Network named(const std::string& names, const std::vector<std::string>& labels = {}) {
  test::OnnxBuilder builder = test::small_yolox(64, 2);
  if (!names.empty()) builder.metadata("names", names);
  Settings settings;
  settings.file = "small.onnx";
  settings.labels = labels;
  return make_network(builder.model(), settings);
}

TEST(ClassNames, FitTheClassesThatTheOutputsHave) {
  EXPECT_THAT(named("['ball', 'box']").labels, ElementsAre("ball", "box"));
  EXPECT_THAT(named("").labels, ElementsAre("class 0", "class 1"));
  EXPECT_THAT(named("{0: 'ball'").labels, ElementsAre("class 0", "class 1"));
  EXPECT_THAT(named("{1: 'box'}").labels, ElementsAre("class 0", "box"));
  for (const char* names : {"['ball']", "['ball', 'box', 'cup']"}) {
    const std::string refused = test::error_of(ExitCode::model, [&] { named(names); });
    EXPECT_THAT(refused, testing::AllOf(HasSubstr("2 classes"), HasSubstr("class name")));
  }
  test::expect_error(ExitCode::usage, "3 class names", [] { named("", {"ball", "box", "cup"}); });
}

TEST(ClassNames, ComeFromAFileThatIsThere) {
  const test::TempDir folder;
  std::ofstream(folder / "names.txt") << "\xEF\xBB\xBF"
                                         "ball\r\nbox\r\n\r\n";
  EXPECT_THAT(labels_from("names.txt", folder / "names.txt", ""), ElementsAre("ball", "box"));
  std::ofstream(folder / "names.json") << R"({"0": "ball", "1": "box"})";
  EXPECT_THAT(labels_from("names.json", folder / "names.json", ""), ElementsAre("ball", "box"));
  for (const char* missing : {"classes.txt", "obj.names", "data/labels"})
    test::expect_error(ExitCode::usage, missing, [&] { labels_from(missing, folder / missing, ""); });
  EXPECT_THAT(labels_from("ball", folder / "ball", ""), ElementsAre("ball"));
}

// Rows of one place a cell: four coordinates, and 3 numbers that are classes, or objectness and 2 classes.
TEST(Readings, TellYolov8AsRowsFromYolox) {
  Made made;
  Tensor& out = made.add("output", {1, kCells, 7});
  put(out.as<float>().data() + 33 * 7, {30, 20, 10, 8, 0.1F, 0.9F, 0.2F});
  EXPECT_EQ(made.type(), "yolov8");
  made.outputs.all[0].last_runs = {{4}, {3, Content::probability}};
  expect_box(made.decoded(), 1, 0.9F, {25, 16, 35, 24});
  made.outputs.all[0].last_runs = {{4}, {1, Content::probability}, {2, Content::probability}};
  EXPECT_EQ(made.type(), "yolox");
  made.outputs.all[0].last_runs.clear();
  made.outputs.classes = 2;
  EXPECT_EQ(made.type(), "yolox");
  made.outputs.classes = 3;
  EXPECT_EQ(made.type(), "yolov8");
  made.outputs.classes = 7;  // names choose, but make no reading
  EXPECT_EQ(made.scheme().classes, 3);
}

TEST(Readings, TellRowsOfCornersScoreAndClassThatAreNotSuppressed) {
  for (const std::int64_t places : {kCells, 3 * kCells}) {
    for (const float label : {0.0F, 2.0F}) {
      Made made;
      Tensor& out = made.add("output", {1, places, 6}, false, 0);
      for (std::int64_t i = 0; i < places; ++i)
        put(out.as<float>().data() + 6 * i, {1, 2, 9, 12, 0.01F, label});
      put(out.as<float>().data() + 6 * 33, {25, 16, 35, 24, 0.9F, label});
      made.show();
      EXPECT_EQ(made.type(), "end_to_end");
      EXPECT_TRUE(made.scheme().suppresses);
      expect_box(made.decoded(), static_cast<int>(label), 0.9F, {25, 16, 35, 24});
    }
  }
}

TEST(Readings, TellScoreFromClassInRows) {
  for (const bool is_nas : {false, true}) {
    for (const float label : {0.0F, 7.0F}) {
      Made made;
      Tensor& out = made.add("output", {2, 7});
      put(out.as<float>().data(), {0, 10, 12, 20, 30, is_nas ? 0.9F : label, is_nas ? label : 0.9F});
      made.show();
      expect_box(made.decoded(), static_cast<int>(label), 0.9F, {10, 12, 20, 30});
      made.outputs.probe = nullptr;
      made.outputs.all[0].last_runs = {{1}, {4}, {1}, {1, Content::label}};
      if (!is_nas) made.outputs.all[0].last_runs = {{1}, {4}, {1, Content::label}, {1}};
      expect_box(made.decoded(), static_cast<int>(label), 0.9F, {10, 12, 20, 30});
    }
  }
  Made flat;
  put(flat.add("graph2_flat_predictions", {2, 7}).as<float>().data(), {0, 10, 12, 20, 30, 0.9F, 2});
  expect_box(flat.decoded(), 2, 0.9F, {10, 12, 20, 30});
}

TEST(Readings, KnowTheDetectionsOfTensorFlow) {
  for (const char* suffix : {"", ":0"}) {
    Made made;
    const auto name = [&](const char* of) { return std::string("detection_") + of + suffix; };
    put(made.add(name("boxes"), {1, 100, 4}).as<float>().data(), {0.25F, 0.5F, 0.75F, 1});
    made.add(name("classes"), {1, 100}).as<float>().data()[0] = 18;
    made.add(name("scores"), {1, 100}).as<float>().data()[0] = 0.9F;
    made.add(std::string("num_detections") + suffix, {1}, false, 100);
    made.add(std::string("raw_detection_boxes") + suffix, {1, 500, 4});
    made.add(name("anchor_indices"), {1, 100});
    expect_box(made.decoded(), 17, 0.9F, {32, 16, 64, 48});
    EXPECT_TRUE(made.scheme().coco91);
    EXPECT_FALSE(made.scheme().suppresses);
    EXPECT_EQ(made.scheme().preprocessing.scale[0], 1);
    made.outputs.classes = 20;
    EXPECT_FALSE(made.scheme().coco91);
  }
}

TEST(Readings, SuppressOutputsOfAllPlaces) {
  for (const bool is_named : {true, false}) {
    Made made;
    put(made.add(is_named ? "boxes" : "a", {1, kCells, 4}).as<float>().data(),
        {25, 16, 35, 24, 26, 16, 36, 24});
    put(made.add(is_named ? "scores" : "b", {1, kCells, 1}).as<float>().data(), {0.9F, 0.8F});
    made.add(is_named ? "class_idx" : "c", {1, kCells, 1}).as<float>().data()[0] = 2;
    made.show();
    EXPECT_TRUE(made.scheme().suppresses);
    expect_box(made.decoded("", 0.85F), 2, 0.9F, {25, 16, 35, 24});
  }
}

// Boxes in four forms, with scores of each class by itself.
TEST(Readings, TellTheFormOfBoxesByTheirValues) {
  const std::initializer_list<float> forms[] = {
      {16, 32, 48, 40}, {0.25F, 0.5F, 0.75F, 0.625F}, {32, 36, 32, 8}, {0.5F, 0.5625F, 0.5F, 0.125F}};
  for (const auto& form : forms) {
    for (const bool has_four_sides : {false, true}) {
      Made made;
      const std::int64_t places = 9 * kCells;
      Tensor& boxes = made.add("boxes", has_four_sides ? Shape{1, places, 1, 4} : Shape{1, places, 4});
      made.add("classes", {1, places, 3}, true).as<float>().data()[5 * 3] = 0.9F;
      for (std::int64_t i = 0; i < places; ++i) put(boxes.as<float>().data() + 4 * i, form);
      made.show();
      EXPECT_EQ(made.type(), "decoded");
      expect_box(made.decoded(), 0, 0.9F, {16, 32, 48, 40});
    }
  }
}

TEST(Readings, TellScoresWithABackgroundByTheirSum) {
  Made made;
  Tensor& boxes = made.add("boxes", {1, 2000, 4});
  Tensor& scores = made.add("scores", {1, 2000, 3});
  for (std::int64_t i = 0; i < 2000; ++i) {
    put(boxes.as<float>().data() + 4 * i, {0.25F, 0.5F, 0.5F, 1});
    put(scores.as<float>().data() + 3 * i, {0.8F, 0.1F, 0.1F});
  }
  put(scores.as<float>().data() + 30, {0.1F, 0.2F, 0.7F});
  made.show();
  EXPECT_EQ(made.type(), "ssd");
  expect_box(made.decoded(), 1, 0.7F, {16, 32, 32, 64});
  put(scores.as<float>().data() + 30, {0.8F, 0.9F, 0.7F});
  EXPECT_EQ(made.type(), "decoded");
}

TEST(Readings, LeaveOutputsOutThatAreMoreThanNeeded) {
  for (const Shape& more : {Shape{1, 300, 256}, Shape{1, 300, 16, 16}, Shape{1, 7}}) {
    Made made;
    put(made.add("pred_boxes", {1, 300, 4}).as<float>().data(), {0.5F, 0.5F, 0.25F, 0.5F});
    made.add("logits", {1, 300, 80}, false, -9).as<float>().data()[2] = 2;
    made.add("more", more);
    EXPECT_EQ(made.type(), "detr");
    expect_box(made.decoded(), 2, sigmoid(2.0F), {24, 16, 40, 48});
    EXPECT_THAT(made.scheme().reason, HasSubstr("'more'"));
  }
  Made first;  // in front of the others
  first.add("last_hidden_state", {1, 300, 256});
  put(first.add("pred_boxes", {1, 300, 4}).as<float>().data(), {0.5F, 0.5F, 0.25F, 0.5F});
  first.add("logits", {1, 300, 80}, false, -9).as<float>().data()[2] = 2;
  first.add("encoder_last_hidden_state", {1, 1050, 256});
  expect_box(first.decoded(), 2, sigmoid(2.0F), {24, 16, 40, 48});
}

TEST(Readings, TellPointsAndMasksFromClasses) {
  for (const bool is_shown : {true, false}) {
    Made made;
    Tensor& out = made.add("output0", {1, 4 + 2 + 15, kCells});
    const float values[] = {30, 20, 10, 8, 0.1F, 0.7F, 50, 40, 0.9F};
    for (std::int64_t c = 0; c < 9; ++c) out.as<float>().data()[c * kCells + 33] = values[c];
    made.outputs.all[0].first_runs = {{4}, {2, Content::probability}, {15}};
    if (is_shown) {
      made.outputs.all[0].first_runs.clear();
      made.show();
    }
    EXPECT_EQ(made.scheme().classes, 2);
    expect_box(made.decoded(), 1, 0.7F, {25, 16, 35, 24});
  }
  Made plates;  // eight coordinates of corners in front of two classes
  put(plates.add("output", {1, 3 * kCells, 15}).as<float>().data() + 15,
      {30, 20, 10, 8, 0.9F, 25, 16, 35, 16, 35, 24, 25, 24, 0.1F, 0.9F});
  plates.show();
  expect_box(plates.decoded(), 1, 0.81F, {25, 16, 35, 24});
  Made turned;
  Tensor& out = turned.add("output0", {1, 4 + 2 + 1, kCells});
  out.as<float>().data()[6 * kCells] = -0.5F;
  turned.show();
  EXPECT_THROW(turned.type(), Problem);
}

TEST(Readings, KnowCoordinatesInPartsOfTheInput) {
  for (const std::int64_t anchors : {1, 3}) {
    Made made;
    const std::int64_t places = anchors * kCells;
    Tensor& out = made.add("output", {1, places, 4 + 4});
    for (std::int64_t i = 0; i < places; ++i) {
      put(out.as<float>().data() + 8 * i,
          {(static_cast<float>(i % 8) + 0.5F) / 8, (static_cast<float>(i / 8 % 8) + 0.5F) / 8, 0.2F, 0.1F,
           0.1F, 0.1F, 0.2F, 0.1F});
    }
    put(out.as<float>().data(), {0.5F, 0.25F, 0.25F, 0.125F, 0.9F, 0.1F, 0.8F, 0.2F});
    made.show();
    EXPECT_EQ(made.type(), anchors == 1 ? "yolov8" : "yolov5");
    const std::vector<RawBox> found = made.decoded("", 0.7F);
    expect_box(found, anchors == 1 ? 0 : 1, anchors == 1 ? 0.9F : 0.72F, {24, 12, 40, 20});
  }
}

TEST(Readings, DecodeRowsOfSigmoids) {
  Made made;
  Tensor& out = made.add("output", {1, 3 * kCells, 8}, true, 0.01F);
  made.outputs.all[0].last_runs = {{8, Content::probability}};
  // Second anchor (62x45) of stride 16, row 1, column 2: its centre is the cell's, its size the anchor's.
  put(out.as<float>().data() + (3 * 64 + 16 + 6) * 8, {0.5F, 0.5F, 0.5F, 0.5F, 0.9F, 0.1F, 0.2F, 0.9F});
  expect_box(made.decoded(), 2, 0.81F, {40 - 31, 24 - 22.5F, 40 + 31, 24 + 22.5F});
}

TEST(Readings, DecodeFastestDetAndYoloFastest) {
  Made fastest;
  Tensor& map = fastest.add("output", {1, 5 + 3, 4, 4});
  const float values[] = {0.5F, 0.5F, -0.5F, 0, 0, 0.1F, 0.8F, 0.1F};
  for (std::int64_t c = 0; c < 8; ++c) map.as<float>().data()[c * 16 + 6] = values[c];  // row 1, column 2
  fastest.show();
  EXPECT_EQ(fastest.type(), "fastestdet");
  const float dx = 16 * std::tanh(0.5F);
  expect_box(fastest.decoded(), 1, std::pow(0.5F, 0.6F) * std::pow(0.8F, 0.4F),
             {32 + dx - 16, 16 - dx - 16, 32 + dx + 16, 16 - dx + 16});

  for (const bool is_last : {true, false}) {
    Made made;
    for (const std::int64_t side : {4, 2}) {
      Tensor& out = made.add("out" + std::to_string(side),
                             is_last ? Shape{1, side, side, 15 + 3} : Shape{1, 15 + 3, side, side});
      if (side != 4) continue;
      float row[18] = {};
      put(row + 4, {0.5F, 0.5F, 0.5F, 0.5F});  // second anchor
      put(row + 12, {0.1F, 0.9F, 0.1F, 0.1F, 0.1F, 0.8F});
      for (std::int64_t c = 0; c < 18; ++c)
        out.as<float>().data()[is_last ? 6 * 18 + c : c * 16 + 6] = row[c];
    }
    EXPECT_EQ(made.type(), "yolo-fastestv2");
    expect_box(made.decoded(), 2, 0.72F, {40 - 18.94F, 24 - 25.74F, 40 + 18.94F, 24 + 25.74F});
  }
}

TEST(Readings, DecodeMediaPipeAndOtherPriors) {
  Made made;
  constexpr std::int64_t kRows = 2 * 64 + 6 * 16;
  put(made.add("regressors", {1, kRows, 16}).as<float>().data() + (2 * 64 + 6 * 5 + 3) * 16,
      {2, -3, 20, 10});  // cell 5 of stride 16
  made.add("classificators", {1, kRows, 1}, false, -9).as<float>().data()[2 * 64 + 6 * 5 + 3] = 2;
  EXPECT_EQ(made.type(), "mediapipe");
  expect_box(made.decoded(), 0, sigmoid(2.0F), {26 - 10, 21 - 5, 26 + 10, 21 + 5});

  Made retinaface;
  retinaface.add("bbox", {1, 2 * kCells, 4});
  retinaface.add("confidence", {1, 2 * kCells, 2}, true).as<float>().data()[1] = 0.8F;
  retinaface.add("landmark", {1, 2 * kCells, 10});
  retinaface.outputs.anchors = {10, 12, 20, 20, 32, 32, 64, 64, 128, 128, 256, 256};
  expect_box(retinaface.decoded(), 0, 0.8F, {4 - 5, 4 - 6, 4 + 5, 4 + 6});
}

// DETR, YOLOS and Table Transformer have a last class for no object, whose number names would tell.
TEST(Readings, TellAClassForNoObjectByWhatMostQueriesFind) {
  for (const bool has_no_object : {true, false}) {
    Made made;
    Tensor& logits = made.add("logits", {1, 100, 3}, false, -5);
    put(made.add("pred_boxes", {1, 100, 4}).as<float>().data(), {0.5F, 0.5F, 0.25F, 0.5F});
    for (std::int64_t i = 0; i < 100 && has_no_object; ++i)
      put(logits.as<float>().data() + 3 * i, {-2, -1, 4});
    put(logits.as<float>().data(), {-3, 6, -3});
    EXPECT_EQ(made.scheme().classes, 3);
    made.show();
    EXPECT_EQ(made.type(), "detr");
    EXPECT_EQ(made.scheme().classes, has_no_object ? 2 : 3);
    const float score = has_no_object ? 1 / (1 + 2 * std::exp(-9.0F)) : sigmoid(6.0F);
    expect_box(made.decoded(), 1, score, {24, 16, 40, 48});
    made.outputs.classes = 3;  // names go before
    EXPECT_EQ(made.scheme().classes, 3);
  }
}

TEST(Readings, DecodeCenterFace) {
  for (const bool is_named : {true, false}) {
    Made made;
    constexpr std::int64_t kMapCells = 256, kCell = 5 * 16 + 9;  // row 5, column 9 of stride 4
    const auto add = [&](const char* name, const char* number, std::int64_t channels,
                         bool is_probability = false) -> Tensor& {
      return made.add(is_named ? name : number, {1, channels, 16, 16}, is_probability);
    };
    const auto put_at = [](Tensor& map, std::initializer_list<float> values) {
      std::int64_t channel = 0;
      for (const float value : values) map.as<float>().data()[channel++ * kMapCells + kCell] = value;
    };
    put_at(add("heatmap", "537", 1, true), {0.9F});
    if (is_named) put_at(add("offset", "", 2), {0.25F, -0.25F});
    put_at(add("scale", "538", 2), {std::log(3.0F), std::log(2.0F)});
    if (!is_named) put_at(add("", "539", 2), {0.25F, -0.25F});
    put_at(add("landmarks", "540", 10), {0.25F, 0.5F, 0.25F, 0.75F});
    EXPECT_EQ(made.type(), "centerface");
    // The centre is 9.25 columns and 5.75 rows; 2 columns wide and 3 rows high.
    const std::vector<RawBox> boxes = made.decoded();
    expect_box(boxes, 0, 0.9F, {33, 17, 41, 29});
    EXPECT_NEAR(boxes[0].points[0], 33 + 0.5F * 8, 1e-3);
    EXPECT_NEAR(boxes[0].points[1], 17 + 0.25F * 12, 1e-3);
    EXPECT_NEAR(boxes[0].points[2], 33 + 0.75F * 8, 1e-3);
  }
}

// Raw maps of three anchors each, as of YOLOv5 by their shapes: the operators tell.
TEST(Readings, TellDarknetsMapsFromYolov5) {
  const auto maps = [](std::initializer_list<std::int64_t> sides) {
    Made made;
    for (const std::int64_t side : sides) {
      Tensor& map = made.add("map" + std::to_string(side), {1, 3 * 8, side, side}, false, -9);
      const float values[] = {0.5F, -1, 0.5F, -0.5F, 3, -2, 2, 4};
      // Second anchor of stride 16, row 1, column 2.
      for (std::int64_t k = 0; k < 8 && side == 4; ++k) map.as<float>().data()[(8 + k) * 16 + 6] = values[k];
    }
    return made;
  };
  const float score = sigmoid(3.0F) * sigmoid(4.0F);
  const auto corners = [](float spread, float width, float height) -> std::array<float, 4> {
    const float x = (2.5F + spread * (sigmoid(0.5F) - 0.5F)) * 16,
                y = (1.5F + spread * (sigmoid(-1) - 0.5F)) * 16;
    const float w = std::exp(0.5F) * width / 2, h = std::exp(-0.5F) * height / 2;
    return {x - w, y - h, x + w, y + h};
  };
  Made three = maps({8, 4, 2});
  EXPECT_EQ(three.type(), "yolov5");
  expect_box(three.decoded("yolov3"), 2, score, corners(1, 62, 45));
  expect_box(three.decoded("yolov4"), 2, score, corners(1.1F, 76, 55));
  three.outputs.operators = {{"LeakyRelu", 72}, {"Add", 23}, {"Concat", 2}};
  EXPECT_EQ(three.type(), "yolov3");
  expect_box(three.decoded(), 2, score, corners(1, 62, 45));
  three.outputs.operators = {{"LeakyRelu", 35}, {"Mish", 72}, {"Add", 23}, {"Concat", 10}};
  expect_box(three.decoded(), 2, score, corners(1.1F, 76, 55));
  three.outputs.anchors = std::vector<double>(18, 20);
  expect_box(three.decoded(), 2, score, corners(1.1F, 20, 20));
  three.outputs.operators = {{"LeakyRelu", 55}, {"Add", 0}, {"Concat", 16}};  // YOLOv7-tiny
  EXPECT_EQ(three.type(), "yolov5");
  Made two = maps({4, 2});
  two.outputs.operators = {{"LeakyRelu", 11}, {"MaxPool", 6}, {"Concat", 1}};
  expect_box(two.decoded(), 2, score, corners(1, 23, 27));
  two.outputs.operators = {{"LeakyRelu", 19}, {"MaxPool", 3}, {"Concat", 7}, {"Split", 3}};
  expect_box(two.decoded(), 2, score, corners(1.05F, 37, 58));
  two.outputs.operators = {{"LeakyRelu", 60}, {"Add", 20}, {"Concat", 1}};  // Yolo-Fastest
  EXPECT_THROW(two.type(), Problem);
  two.outputs.anchors = std::vector<double>(12, 20);
  expect_box(two.decoded(), 2, score, corners(1, 20, 20));
  Made coco;  // which has no 191 classes of YOLOv8
  coco.add("map4", {1, 255, 4, 4});
  coco.add("map2", {1, 255, 2, 2});
  coco.outputs.operators = {{"LeakyRelu", 60}, {"Add", 20}, {"Concat", 1}};
  try {
    coco.type();
    ADD_FAILURE() << "is read";
  } catch (const Problem& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("`anchors`"));
  }
}

TEST(Readings, DecodeYolov2) {
  Made made;
  Tensor& map = made.add("grid", {1, 5 * 25, 2, 2}, false, -9);
  made.outputs.all[0].is_raw = true;
  made.outputs.operators["LeakyRelu"] = 8;
  const float values[] = {0.5F, -1, 0.5F, -0.5F, 3};  // second anchor of row 0, column 1
  for (std::int64_t k = 0; k < 5; ++k) map.as<float>().data()[(25 + k) * 4 + 1] = values[k];
  map.as<float>().data()[(25 + 5 + 7) * 4 + 1] = 2;  // class 7
  EXPECT_EQ(made.type(), "yolov2");
  const float x = (1 + sigmoid(0.5F)) * 32, y = sigmoid(-1) * 32;
  const float w = std::exp(0.5F) * 3.42F * 16, h = std::exp(-0.5F) * 4.41F * 16;
  const float score = sigmoid(3.0F) / (1 + 19 * std::exp(-11.0F));
  expect_box(made.decoded(), 7, score, {x - w, y - h, x + w, y + h});
  made.outputs.anchors = {1, 2, 32, 16, 5, 6, 7, 8, 9, 10};
  expect_box(
      made.decoded(), 7, score,
      {x - std::exp(0.5F) * 16, y - std::exp(-0.5F) * 8, x + std::exp(0.5F) * 16, y + std::exp(-0.5F) * 8});
}

TEST(Readings, DoubtWhatIsNeverRight) {
  Made made;  // no reading of its rows has scores up to 1
  Tensor& out = made.add("output", {1, 3 * kCells, 8}, false, 3);
  put(out.as<float>().data(), {30, 20, 10, 8, 5, 40, 50, 60});
  made.show();
  EXPECT_THAT(made.scheme().doubt, HasSubstr("score"));
  std::fill_n(out.as<float>().data(), out.size(), 0.5F);
  put(out.as<float>().data(), {30, 20, 10, 8});
  EXPECT_EQ(made.scheme().doubt, "");
}

// As the export scripts of DeepStream-Yolo write them; the rows' numbers are constants here.
test::OnnxBuilder deepstream(bool has_arg_max) {
  test::OnnxBuilder builder;
  const std::string picture = builder.input("input", {1, 3, 64, 64});
  const auto rows = [&](const std::string& name, std::int64_t columns, float fill,
                        const std::vector<float>& first) {
    std::vector<float> values(static_cast<std::size_t>(kCells * columns), fill);
    std::copy(first.begin(), first.end(), values.begin());
    return builder.reals(name, {1, kCells, columns}, values);
  };
  builder.node("ReduceMean", {picture}, {"mean"}, {{"keepdims", 0}});
  builder.node("Mul", {"mean", builder.reals("zero", {}, {0})}, {"nothing"});
  builder.node("Add", {rows("corners", 4, 0, {25, 16, 35, 24}), "nothing"}, {"boxes"});
  builder.node("Add", {rows("logits", 3, -9, {-9, -9, 2}), "nothing"}, {"raw"});
  builder.node("Sigmoid", {"raw"}, {"all"});
  if (has_arg_max) {
    builder.node("ReduceMax", {"all"}, {"scores"}, {{"axes", {-1}}, {"keepdims", 1}});
    builder.node("ArgMax", {"all"}, {"number"}, {{"axis", -1}, {"keepdims", 1}});
  } else {
    builder.node("TopK", {"all", builder.wholes("one", {1}, {1})}, {"scores", "number"}, {{"axis", -1}});
  }
  builder.node("Cast", {"number"}, {"labels"}, {{"to", 1}});
  builder.node("Concat", {"boxes", "scores", "labels"}, {"output"}, {{"axis", 2}});
  builder.output("output");
  return builder;
}

Network read(const test::OnnxBuilder& builder) {
  Settings settings;
  settings.file = "made.onnx";
  return make_network(builder.model(), settings);
}

TEST(Readings, KnowWhatAnArgMaxMade) {
  for (const bool has_arg_max : {true, false}) {
    const Network network = read(deepstream(has_arg_max));
    EXPECT_EQ(network.scheme.type, "end_to_end");
    EXPECT_TRUE(network.scheme.suppresses);
    EXPECT_THAT(network.labels, ElementsAre("class 0", "class 1", "class 2"));
    test::OnnxBuilder builder = deepstream(has_arg_max);
    builder.metadata("names", "['cat', 'dog']");
    test::expect_error(ExitCode::model, "3 classes", [&] { read(builder); });
  }
}

TEST(Readings, TakeTheUsualSizeOfAnInputOfAnySize) {
  test::OnnxBuilder builder;
  std::string x = builder.input("images", {-1, 3, -1, -1});
  for (const int stride : {2, 4, 8, 16, 32}) {
    const std::string name = "s" + std::to_string(stride);
    x = builder.convolution(name, x, stride == 2 ? 3 : 4, 4, 3, 2);
    if (stride >= 8) builder.output(builder.convolution(name + "_map", x, 4, 64 + 3, 1));
  }
  const Network network = read(builder);
  EXPECT_TRUE(network.has_usual_size);
  EXPECT_EQ(network.preprocessing.size, (Size{640, 640}));
  Settings settings;
  settings.file = "made.onnx";
  settings.input_size = Size{64, 96};
  EXPECT_FALSE(make_network(builder.model(), settings).has_usual_size);
}

}  // namespace
}  // namespace sightline::network
