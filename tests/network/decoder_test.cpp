// How outputs are read: each kind of network is told by its outputs alone, and one box that is put into them
// comes out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <oneapi/tbb/task_arena.h>

#include <array>
#include <cmath>
#include <deque>
#include <sstream>

#include "detectors/network/detector.hpp"
#include "detectors/network/explain.hpp"
#include "detectors/network/labels.hpp"
#include "detectors/network/scheme.hpp"
#include "network/functions.hpp"
#include "network/made_outputs.hpp"
#include "network/onnx_builder.hpp"
#include "support/errors.hpp"

namespace sightline::network {
namespace {

using nn::functions::sigmoid;

using test::expect_box;
using test::kCells;
using test::kCells16;
using test::kCells32;
using test::kCells8;
using test::Made;
using test::put;

TEST(Decoder, ReadsYolox) {
  Made made;
  Tensor& out = made.add("output", {1, kCells, 7});
  made.outputs.all[0].is_raw = true;
  put(out.as<float>().data() + (kCells8 + 5) * 7, {0.5F, 0.25F, std::log(2.0F), 0, 0.8F, 0.1F, 0.9F});
  EXPECT_EQ(made.type(), "yolox");
  // Cell (1, 1) of stride 16, twice as wide as high.
  expect_box(made.decoded(), 1, 0.72F, {24 - 16, 20 - 8, 24 + 16, 20 + 8});
  made.outputs.all[0].has_raw_scores = true;
  expect_box(made.decoded("", 0.45F), 1, sigmoid(0.8F) * sigmoid(0.9F), {24 - 16, 20 - 8, 24 + 16, 20 + 8});
  made.outputs.all[0].has_raw_scores = made.outputs.all[0].is_raw = false;  // the network has done it already
  made.outputs.operators["Exp"] = 1;
  put(out.as<float>().data() + (kCells8 + 5) * 7, {24, 20, 32, 16, 0.8F, 0.1F, 0.9F});
  expect_box(made.decoded(), 1, 0.72F, {8, 12, 40, 28});
  EXPECT_FALSE(made.scheme().preprocessing.rgb);
  made.outputs.operators.clear();  // YOLOv6, whose objectness is 1
  made.outputs.all[0].last_runs = {{4}, {1, Content::ones}, {2, Content::probability}};
  expect_box(made.decoded(), 1, 0.72F, {8, 12, 40, 28});
  EXPECT_TRUE(made.scheme().preprocessing.rgb);
}

TEST(Decoder, ReadsYolov5) {
  Made made;
  Tensor& out = made.add("output0", {1, 3 * kCells, 8});
  put(out.as<float>().data() + 100 * 8, {30, 20, 10, 8, 0.9F, 0.1F, 0.2F, 0.9F});
  EXPECT_EQ(made.type(), "yolov5");
  expect_box(made.decoded(), 2, 0.81F, {25, 16, 35, 24});
}

// What the last layer of YOLOv5 makes of four coordinates in cell (x, y).
std::array<float, 4> yolov5_corners(std::array<float, 4> v, float x, float y, float stride, float width,
                                    float height) {
  const float cx = (2 * sigmoid(v[0]) - 0.5F + x) * stride, cy = (2 * sigmoid(v[1]) - 0.5F + y) * stride;
  const float w = std::pow(2 * sigmoid(v[2]), 2.0F) * width, h = std::pow(2 * sigmoid(v[3]), 2.0F) * height;
  return {cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2};
}

TEST(Decoder, ReadsRawMapsOfYolov5InBothLayouts) {
  const float values[] = {1, -1, 0.5F, -0.5F, 3, -2, 2, 4};  // the third of three classes
  const float score = sigmoid(3.0F) * sigmoid(4.0F);
  for (const bool is_last : {true, false}) {
    Made made;
    for (const std::int64_t side : {2, 8, 4}) {  // in any order
      Tensor& out = made.add("map" + std::to_string(side),
                             is_last ? Shape{1, 3, side, side, 8} : Shape{1, 24, side, side}, false, -9);
      if (side != 4) continue;
      const std::int64_t cell = 1 * 4 + 2;  // second anchor of row 1, column 2
      for (std::int64_t k = 0; k < 8; ++k)
        out.as<float>().data()[is_last ? (16 + cell) * 8 + k : (8 + k) * 16 + cell] = values[k];
    }
    EXPECT_EQ(made.type(), "yolov5");
    expect_box(made.decoded(), 2, score, yolov5_corners({1, -1, 0.5F, -0.5F}, 2, 1, 16, 62, 45));
    expect_box(made.decoded("yolov7"), 2, score, yolov5_corners({1, -1, 0.5F, -0.5F}, 2, 1, 16, 76, 55));
    made.outputs.pools_like_yolov7 = true;
    expect_box(made.decoded(), 2, score, yolov5_corners({1, -1, 0.5F, -0.5F}, 2, 1, 16, 76, 55));
    made.outputs.anchors.assign(18, 8);
    made.outputs.anchors[9] = 24;  // height of the second anchor of the second stride
    expect_box(made.decoded(), 2, score, yolov5_corners({1, -1, 0.5F, -0.5F}, 2, 1, 16, 8, 24));
    made.outputs.anchors.assign(12, 8);  // two anchors a cell
    if (!is_last) continue;              // they are of more classes
    EXPECT_THROW(made.type(), Problem);
  }
}

TEST(Decoder, ReadsFacesOfYolov5) {
  Made made;
  Tensor& out = made.add("output", {1, 3 * kCells, 16});
  put(out.as<float>().data() + 100 * 16, {30, 20, 10, 8, 0.9F, 27, 18, 33, 18, 30, 20, 27, 22, 33, 22, 0.5F});
  EXPECT_EQ(made.type(), "yolov5");
  expect_box(made.decoded(), 0, 0.45F, {25, 16, 35, 24});
  EXPECT_EQ(made.decoded()[0].points[0], 27);
  EXPECT_EQ(made.decoded()[0].points[9], 22);
  Made raw;
  for (const std::int64_t side : {8, 4, 2}) {
    Tensor& map = raw.add("map" + std::to_string(side), {1, 3, side, side, 16}, false, -9);
    if (side == 4)  // second anchor of row 1, column 2
      put(map.as<float>().data() + (16 + 6) * 16,
          {1, -1, 0.5F, -0.5F, 9, 0.25F, 0.5F, 0, 0, 0, 0, 0, 0, 0, 0, 9});
  }
  const float sure = sigmoid(9.0F);
  expect_box(raw.decoded(), 0, sure * sure, yolov5_corners({1, -1, 0.5F, -0.5F}, 2, 1, 16, 43, 55));
  EXPECT_EQ(raw.decoded()[0].points[0], 32 + 0.25F * 43);
  EXPECT_EQ(raw.decoded()[0].points[1], 16 + 0.5F * 55);
  raw.outputs.classes = 11;
  EXPECT_EQ(raw.scheme().classes, 11);
}

TEST(Decoder, ReadsFinishedRowsOfYolov5BesideItsRawMaps) {
  Made made;
  Tensor& out = made.add("output", {1, 3 * kCells, 8});
  for (const std::int64_t side : {8, 4, 2}) made.add("raw", {1, 3, side, side, 8}, false, 5);
  put(out.as<float>().data() + 100 * 8, {30, 20, 10, 8, 0.9F, 0.1F, 0.2F, 0.9F});
  EXPECT_EQ(made.type(), "yolov5");
  expect_box(made.decoded(), 2, 0.81F, {25, 16, 35, 24});
}

TEST(Decoder, ReadsBoxesOfYolov5ForMasks) {
  Made made;
  Tensor& out = made.add("output0", {1, 3 * kCells, 5 + 3 + 32});
  made.add("output1", {1, 32, 16, 16});
  put(out.as<float>().data() + 100 * 40, {30, 20, 10, 8, 0.9F, 0.1F, 0.2F, 0.9F, 5, 5});
  EXPECT_EQ(made.type(), "yolov5");  // the masks tell where the classes end
  expect_box(made.decoded(), 2, 0.81F, {25, 16, 35, 24});
}

// Maps of 64 channels of distances and of classes look like three anchors of other classes.
TEST(Decoder, TellsMapsOfAnchorsFromMapsOfDistributions) {
  const auto type_of = [](std::int64_t channels, std::optional<int> classes) {
    Made made;
    made.outputs.classes = classes;
    for (const std::int64_t side : {8, 4, 2}) made.add("map", {1, channels, side, side});
    return made.type();
  };
  EXPECT_EQ(type_of(255, {}), "yolov5");
  EXPECT_EQ(type_of(144, {}), "yolov8");
  EXPECT_EQ(type_of(144, 80), "yolov8");
  EXPECT_EQ(type_of(144, 43), "yolov5");
  EXPECT_EQ(type_of(18, {}), "yolov5");
}

TEST(Decoder, ReadsYolov8InColumnsAndRows) {
  for (const bool in_columns : {true, false}) {
    Made made;
    made.outputs.classes = 3;
    Tensor& out = made.add("output0", in_columns ? Shape{1, 7, kCells} : Shape{1, kCells, 7});
    const float values[] = {30, 20, 10, 8, 0.1F, 0.7F, 0.2F};
    for (std::int64_t c = 0; c < 7; ++c)
      out.as<float>().data()[in_columns ? c * kCells + 33 : 33 * 7 + c] = values[c];
    EXPECT_EQ(made.type(), "yolov8");
    expect_box(made.decoded(), 1, 0.7F, {25, 16, 35, 24});
  }
}

TEST(Decoder, ReadsCornersAndClassesOfEachCell) {
  for (const bool in_columns : {true, false}) {
    Made made;
    Tensor& scores = made.add("scores", in_columns ? Shape{1, 3, kCells} : Shape{1, kCells, 3}, true);
    put(made.add("boxes", {1, kCells, 4}).as<float>().data() + 4 * 33, {25, 16, 35, 24});
    scores.as<float>().data()[in_columns ? kCells + 33 : 3 * 33 + 1] = 0.7F;
    EXPECT_EQ(made.type(), "yolov8");
    expect_box(made.decoded(), 1, 0.7F, {25, 16, 35, 24});
    made.outputs.knows_scale = true;
    EXPECT_TRUE(made.scheme().in_picture);
  }
}

TEST(Decoder, ReadsBoxesOfNetworksForMasks) {
  Made made;
  made.outputs.metadata["task"] = "segment";
  made.outputs.classes = 3;
  Tensor& out = made.add("output0", {1, 7 + 32, kCells});
  made.add("output1", {1, 32, 16, 16});
  const float values[] = {30, 20, 10, 8, 0.1F, 0.7F, 0.2F, 5};
  for (std::int64_t c = 0; c < 8; ++c) out.as<float>().data()[c * kCells + 33] = values[c];
  expect_box(made.decoded(), 1, 0.7F, {25, 16, 35, 24});
}

TEST(Decoder, ReadsYolov8AsMapsOfDistributions) {
  Made made;
  made.outputs.metadata["task"] = "pose";  // with points behind the classes
  made.outputs.classes = 2;
  for (const std::int64_t side : {8, 4, 2}) {
    Tensor& out = made.add("map" + std::to_string(side), {1, 64 + 2 + 15, side, side}, false, -20);
    if (side != 4) continue;
    const std::int64_t plane = side * side, cell = 6;  // row 1, column 2 of stride 16
    for (std::int64_t i = 0; i < 4; ++i)
      out.as<float>().data()[(i * 16 + 1) * plane + cell] = 20;  // one stride each way
    out.as<float>().data()[(64 + 1) * plane + cell] = 3;
  }
  EXPECT_EQ(made.type(), "yolov8");
  expect_box(made.decoded(), 1, sigmoid(3.0F), {40 - 16, 24 - 16, 40 + 16, 24 + 16});
}

TEST(Decoder, TakesMapsOfAStrideInAnyOrder) {
  Made made;
  for (const std::int64_t side : {8, 4, 2}) {
    made.add("cls", {1, 80, side, side}, true);
    made.add("reg", {1, 64, side, side});
  }
  EXPECT_EQ(made.type(), "yolov8");
  EXPECT_EQ(made.scheme().classes, 80);
}

TEST(Decoder, ReadsEndToEndRows) {
  Made made;
  Tensor& out = made.add("output0", {1, 300, 6});
  put(out.as<float>().data() + 6, {10, 12, 20, 30, 0.5F, 7});
  EXPECT_EQ(made.type(), "end_to_end");
  expect_box(made.decoded(), 7, 0.5F, {10, 12, 20, 30});
  Made with_picture;
  Tensor& rows = with_picture.add("output", {100, 7});
  put(rows.as<float>().data(), {0, 10, 12, 20, 30, 7, 0.5F});
  expect_box(with_picture.decoded(), 7, 0.5F, {10, 12, 20, 30});
  with_picture.outputs.all[0].shape.reset();  // as many as are found
  expect_box(with_picture.decoded(), 7, 0.5F, {10, 12, 20, 30});
}

TEST(Decoder, ReadsEndToEndRowsInOtherOrders) {
  Made named;
  put(named.add("batchno_classid_score_x1y1x2y2", {5, 7}).as<float>().data(), {0, 7, 0.5F, 10, 12, 20, 30});
  expect_box(named.decoded(), 7, 0.5F, {10, 12, 20, 30});
  Made last;
  put(last.add("label_xyxy_score", {1, 5, 6}).as<float>().data(), {7, 10, 12, 20, 30, 0.5F});
  expect_box(last.decoded(), 7, 0.5F, {10, 12, 20, 30});
  Made paddle;
  paddle.outputs.knows_scale = paddle.outputs.knows_frame_size = true;
  put(paddle.add("multiclass_nms3_0.tmp_0", {5, 6}).as<float>().data(), {7, 0.5F, 10, 12, 20, 30});
  paddle.add("multiclass_nms3_0.tmp_2", {1}, false, 0, DataType::i64);
  expect_box(paddle.decoded(), 7, 0.5F, {10, 12, 20, 30});
  EXPECT_TRUE(paddle.scheme().in_picture);
  EXPECT_EQ(paddle.scheme().preprocessing.scale[0], 58.395);
  paddle.outputs.operators["Sigmoid"] = 100;
  EXPECT_EQ(paddle.scheme().preprocessing.scale[0], 255);
  Made masks;  // whose numbers are behind the others
  masks.outputs.metadata["task"] = "segment";
  put(masks.add("output0", {1, 5, 6 + 32}).as<float>().data(), {10, 12, 20, 30, 0.5F, 7, 9, 9});
  masks.add("output1", {1, 32, 16, 16});
  expect_box(masks.decoded(), 7, 0.5F, {10, 12, 20, 30});
}

TEST(Decoder, ReadsNanoDet) {
  for (const int bins : {1, 8}) {
    Made made;
    for (const std::int64_t stride : {8, 16, 32}) {
      const std::int64_t cells = 64 / stride * (64 / stride);
      Tensor& scores = made.add("cls_" + std::to_string(stride), {1, cells, 3}, true);
      if (stride == 32) scores.as<float>().data()[2 * 3 + 1] = 0.6F;  // row 1, column 0
      Tensor& sides =
          made.add("dis_" + std::to_string(stride), {1, cells, 4 * bins}, false, bins == 1 ? 0.5F : -30);
      for (std::int64_t i = 0; stride == 32 && bins > 1 && i < 4; ++i)  // half of 0 and 1
        put(sides.as<float>().data() + 2 * 4 * bins + i * bins, {10, 10});
    }
    EXPECT_EQ(made.type(), "nanodet");
    expect_box(made.decoded(), 1, 0.6F, {0, 32, 32, 64});
  }
}

// Two kinds by their numbers alone, and names that say the opposite.
TEST(Decoder, TellsScoresFromDistances) {
  Made made;
  made.outputs.classes = 8;
  for (const std::int64_t cells : {kCells8, kCells16, kCells32}) {
    Tensor& scores = made.add("bbox" + std::to_string(cells), {cells, 8}, true);
    Tensor& sides = made.add("cls" + std::to_string(cells), {cells, 32}, false, -30);
    for (std::int64_t i = 0; cells == kCells32 && i < 4; ++i)
      put(sides.as<float>().data() + 2 * 32 + i * 8, {10, 10});
    if (cells == kCells32) scores.as<float>().data()[2 * 8 + 1] = 0.6F;
  }
  EXPECT_EQ(made.type(), "nanodet");
  expect_box(made.decoded(), 1, 0.6F, {0, 32, 32, 64});
  EXPECT_FALSE(made.scheme().preprocessing.rgb);
  made.add("more", {1, 1, 8}, true);  // PicoDet has a fourth stride
  made.add("bbox of it", {1, 1, 32});
  EXPECT_TRUE(made.scheme().preprocessing.rgb);
}

TEST(Decoder, ReadsSsdWithAndWithoutPriorsInTheNetwork) {
  Made made;
  Tensor& scores = made.add("scores", {1, 500, 3}, true);
  Tensor& boxes = made.add("boxes", {1, 500, 4});
  put(scores.as<float>().data() + 30, {0.1F, 0.2F, 0.7F});
  put(boxes.as<float>().data() + 40, {0.25F, 0.5F, 0.5F, 1});
  EXPECT_EQ(made.type(), "detr");  // of so few, but it can be said
  expect_box(made.decoded("ssd"), 1, 0.7F, {16, 32, 32, 64});
  Made relative;
  Tensor& logits = relative.add("conf", {1, 2 * kCells, 2});
  relative.add("loc", {1, 2 * kCells, 4});
  relative.outputs.all[1].is_raw = true;
  std::fill_n(logits.as<float>().data(), logits.size(), 0.0F);
  put(logits.as<float>().data() + 2, {-2, 2});  // the larger prior of the first cell
  expect_box(relative.decoded("ssd", 0.6F), 0, sigmoid(4.0F), {4 - 16, 4 - 16, 4 + 16, 4 + 16});
  Made ultraface;  // of 3, 2, 2 and 3 priors in the cells of each stride, of which the last is large
  constexpr std::int64_t kPriors = 3 * kCells8 + 2 * kCells16 + 2 * kCells32 + 3;
  ultraface.add("scores", {1, kPriors, 2}, true).as<float>().data()[2 * (kPriors - 1) + 1] = 0.9F;
  ultraface.add("boxes", {1, kPriors, 4});
  ultraface.outputs.all[1].is_raw = true;
  expect_box(ultraface.decoded("ssd", 0.6F), 0, 0.9F, {0, 0, 64, 64});
}

TEST(Decoder, ReadsFacesWithPoints) {
  Made yunet;
  for (const std::int64_t stride : {8, 16, 32}) {
    const std::int64_t cells = 64 / stride * (64 / stride);
    const std::string s = std::to_string(stride);
    Tensor& scores = yunet.add("cls_" + s, {1, cells, 1}, true);
    Tensor& objects = yunet.add("obj_" + s, {1, cells, 1}, true);
    yunet.add("bbox_" + s, {1, cells, 4});
    Tensor& points = yunet.add("kps_" + s, {1, cells, 10}, false, 0.5F);
    if (stride != 16) continue;
    scores.as<float>().data()[5] = 0.81F;
    objects.as<float>().data()[5] = 1;
    points.as<float>().data()[51] = -1;
  }
  EXPECT_EQ(yunet.type(), "yunet");
  expect_box(yunet.decoded(), 0, 0.9F, {8, 8, 24, 24});
  EXPECT_EQ(yunet.decoded()[0].points[0], 24);
  EXPECT_EQ(yunet.decoded()[0].points[1], 0);

  Made scrfd;
  for (const std::int64_t stride : {8, 16, 32}) {
    const std::int64_t places = 2 * (64 / stride) * (64 / stride);
    const std::string s = std::to_string(stride);
    Tensor& scores = scrfd.add("score_" + s, {places, 1}, true);
    scrfd.add("bbox_" + s, {places, 4}, false, 1);
    scrfd.add("kps_" + s, {places, 10}, false, 0.25F);
    if (stride == 8) scores.as<float>().data()[2 * 9 + 1] = 0.75F;  // second anchor of cell (1, 1)
  }
  EXPECT_EQ(scrfd.type(), "scrfd");
  expect_box(scrfd.decoded(), 0, 0.75F, {0, 0, 16, 16});
  EXPECT_EQ(scrfd.decoded()[0].points[0], 10);

  Made retinaface;
  retinaface.add("bbox", {1, 2 * kCells, 4});
  Tensor& scores = retinaface.add("confidence", {1, 2 * kCells, 2}, true);
  retinaface.add("landmark", {1, 2 * kCells, 10});
  scores.as<float>().data()[1] = 0.8F;
  EXPECT_EQ(retinaface.type(), "retinaface");
  expect_box(retinaface.decoded(), 0, 0.8F, {-4, -4, 12, 12});
  EXPECT_NEAR(retinaface.decoded()[0].points[0], 4, 1e-4);
}

TEST(Decoder, ReadsDetrLikeNetworks) {
  Made raw;
  Tensor& logits = raw.add("pred_logits", {1, 300, 4}, false, -9);
  Tensor& boxes = raw.add("pred_boxes", {1, 300, 4});
  logits.as<float>().data()[4 * 8 + 2] = 2;
  put(boxes.as<float>().data() + 32, {0.5F, 0.5F, 0.25F, 0.5F});
  EXPECT_EQ(raw.type(), "detr");
  EXPECT_EQ(raw.scheme().preprocessing.mean[0], 0);
  expect_box(raw.decoded(), 2, sigmoid(2.0F), {24, 16, 40, 48});

  Made first;  // of such networks, with a last class for no object
  Tensor& classes = first.add("logits", {1, 100, 92}, false, -20);
  put(first.add("pred_boxes", {1, 100, 4}).as<float>().data(), {0.5F, 0.5F, 0.25F, 0.5F});
  for (std::int64_t i = 0; i < 100; ++i) classes.as<float>().data()[i * 92 + 91] = 20;
  classes.as<float>().data()[91] = 10;
  classes.as<float>().data()[1] = 11;
  expect_box(first.decoded(), 1, sigmoid(1.0F), {24, 16, 40, 48});
  EXPECT_EQ(first.scheme().classes, 91);
  EXPECT_GT(first.scheme().preprocessing.mean[0], 0);

  Made last;  // RF-DETR: COCO's numbers with gaps, each by itself
  put(last.add("dets", {1, 300, 4}).as<float>().data(), {0.5F, 0.5F, 0.25F, 0.5F});
  last.add("labels", {1, 300, 91}, false, -9).as<float>().data()[90] = 2;
  expect_box(last.decoded(), 90, sigmoid(2.0F), {24, 16, 40, 48});
  EXPECT_TRUE(last.scheme().coco91);
  last.outputs.all[1].shape = Shape{1, 300, 3};  // of classes of one's own
  EXPECT_GT(last.scheme().preprocessing.mean[0], 0);

  Made finished;
  finished.outputs.knows_frame_size = true;
  finished.add("labels", {1, 300}, false, 0, DataType::i64).as<std::int64_t>().data()[3] = 5;
  Tensor& corners = finished.add("boxes", {1, 300, 4});
  finished.add("scores", {1, 300}, true).as<float>().data()[3] = 0.5F;
  put(corners.as<float>().data() + 12, {100, 110, 200, 300});
  EXPECT_EQ(finished.type(), "detr");
  expect_box(finished.decoded(), 5, 0.5F, {100, 110, 200, 300});
  EXPECT_TRUE(finished.scheme().in_picture);

  Made with_scores;  // behind the corners, as OpenMMLab's
  put(with_scores.add("dets", {1, 20, 5}).as<float>().data(), {10, 12, 20, 30, 0.5F});
  with_scores.add("labels", {1, 20}, false, 0, DataType::i64).as<std::int64_t>().data()[0] = 5;
  expect_box(with_scores.decoded(), 5, 0.5F, {10, 12, 20, 30});
  EXPECT_FALSE(with_scores.scheme().preprocessing.rgb);

  // Those with classes of YOLO count from 0, torchvision's from 1.
  for (const bool from_one : {false, true}) {
    Made made;
    if (!from_one) made.add("num_dets", {1, 1}, false, 0, DataType::i64);
    put(made.add("det_boxes", {1, 20, 4}).as<float>().data(), {10, 12, 20, 30});
    made.add("det_scores", {1, 20}).as<float>().data()[0] = 0.5F;
    made.add(from_one ? "labels" : "det_classes", {1, 20}, false, 0, DataType::i64)
        .as<std::int64_t>()
        .data()[0] = 5;
    expect_box(made.decoded(), from_one ? 4 : 5, 0.5F, {10, 12, 20, 30});
  }

  Made rows;  // of Ultralytics, where six numbers could be corners, too
  put(rows.add("output0", {1, 300, 6}).as<float>().data() + 6, {0.5F, 0.5F, 0.25F, 0.5F, 0.1F, 0.8F});
  rows.outputs.classes = 2;
  rows.outputs.metadata = {{"task", "detect"}, {"description", "Ultralytics rtdetr-l model"}};
  expect_box(rows.decoded(), 1, 0.8F, {24, 16, 40, 48});
}

TEST(Decoder, ReadsFcosAndCenterNet) {
  Made fcos;
  for (const std::int64_t side : {8, 4, 2}) {
    const std::string s = std::to_string(side);
    Tensor& scores = fcos.add("cls" + s, {1, 3, side, side}, true);
    fcos.add("reg" + s, {1, 4, side, side}, false, 1);
    Tensor& centred = fcos.add("ctr" + s, {1, 1, side, side}, true);
    if (side != 4) continue;
    scores.as<float>().data()[2 * 16 + 5] = 0.64F;
    centred.as<float>().data()[5] = 1;
  }
  EXPECT_EQ(fcos.type(), "fcos");
  expect_box(fcos.decoded(), 2, 0.8F, {24 - 16, 24 - 16, 24 + 16, 24 + 16});

  Made centernet;
  Tensor& heat = centernet.add("hm", {1, 3, 16, 16}, true);
  centernet.add("wh", {1, 2, 16, 16}, false, 2);
  centernet.add("reg", {1, 2, 16, 16}, false, 0.25F);
  heat.as<float>().data()[256 + 5 * 16 + 4] = 0.9F;
  heat.as<float>().data()[256 + 5 * 16 + 5] = 0.8F;  // next to a higher one
  EXPECT_EQ(centernet.type(), "centernet");
  expect_box(centernet.decoded(), 1, 0.9F, {17 - 4, 21 - 4, 17 + 4, 21 + 4});
}

TEST(Decoder, SaysWhatIsMissingWhereNothingFits) {
  const auto complaint = [](const Made& made, const std::string& type) {
    try {
      choose_scheme(made.outputs, type);
    } catch (const Problem& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  Made raw;  // of five strides
  for (const std::int64_t side : {16, 8, 4, 2, 1})
    raw.add("map" + std::to_string(side), {1, 3, side, side, 85});
  EXPECT_THAT(complaint(raw, ""), testing::HasSubstr("anchors"));
  Made other;
  other.add("features", {1, 512});
  EXPECT_THAT(complaint(other, ""),
              testing::AllOf(testing::HasSubstr("'features' 1x512"), testing::HasSubstr("yolov8")));
  EXPECT_THAT(complaint(other, "yolox"), testing::HasSubstr("yolox"));
  EXPECT_THAT(complaint(other, "yolo99"), testing::HasSubstr("known are"));
  other.outputs.metadata["task"] = "obb";
  EXPECT_THAT(complaint(other, ""), testing::HasSubstr("'obb'"));
  Made map;  // FastestDet's, which is no map of distributions
  map.add("map", {1, 85, 4, 4});
  EXPECT_THAT(complaint(map, ""), testing::HasSubstr("1x85x4x4"));
  Made rows;  // YOLO-FastestV2's, which are no queries
  rows.add("rows", {20, 95});
  EXPECT_THAT(complaint(rows, ""), testing::HasSubstr("20x95"));
}

TEST(Decoder, TellsScoresThatAreAllEqual) {
  Made made;
  Tensor& out = made.add("output", {1, kCells, 7}, false, 0.25F);
  made.outputs.operators["Exp"] = 1;
  const auto only = [&] { return only_score(made.scheme(), {&made.tensors.front()}); };
  EXPECT_EQ(only(), 0.0625F);
  out.as<float>().data()[7 * 40 + 5] = 0.5F;
  EXPECT_FALSE(only());
  std::fill_n(out.as<float>().data(), out.size(), NAN);
  EXPECT_EQ(only().value_or(0), 0);
}

TEST(Decoder, IgnoresWhatIsNotANumber) {
  Made made;
  Tensor& out = made.add("output", {1, kCells, 7});
  made.outputs.all[0].is_raw = true;
  put(out.as<float>().data(), {0, 0, 0, 0, NAN, 0.9F, 0.9F});
  put(out.as<float>().data() + 7, {NAN, 0, 0, 0, 1, 0.9F, 0.9F});
  put(out.as<float>().data() + 14, {0, 0, INFINITY, 0, 1, 0.9F, 0.9F});
  put(out.as<float>().data() + 21, {0, 0, 0, 0, 1, NAN, 0.9F});
  EXPECT_EQ(made.decoded().size(), 1U);
}

TEST(Decoder, SuppressesByIntersectionOverUnion) {
  std::vector<RawBox> boxes(4);
  const auto set = [&](std::size_t i, float x, float score, int label) {
    boxes[i].x1 = x;
    boxes[i].x2 = x + 10;
    boxes[i].y2 = 10;
    boxes[i].score = score;
    boxes[i].label = label;
    boxes[i].place = static_cast<int>(i);
  };
  set(0, 0, 0.5F, 0);
  set(1, 2, 0.9F, 0);  // overlaps the first by 8 of 12
  set(2, 1, 0.8F, 1);
  set(3, 50, 0.9F, 0);
  std::vector<RawBox> all = boxes;
  suppress(all, 0.7, false);
  EXPECT_EQ(all.size(), 4U);
  suppress(all, 0.6, false);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].place, 1);  // before the other one of the same score
  EXPECT_EQ(all[1].place, 3);
  suppress(all, 0.6, true);
  EXPECT_EQ(all.size(), 2U);
}

TEST(NetworkLabels, AreReadFromMetadataAndText) {
  EXPECT_EQ(coco_labels(false).size(), 80U);
  EXPECT_EQ(coco_labels(true).size(), 91U);
  EXPECT_EQ(coco_labels(true)[90], "toothbrush");
  EXPECT_THAT(labels_of_metadata({{"names", "{0: 'person', 1: \"driver's cab\"}"}}),
              testing::Optional(testing::ElementsAre("person", "driver's cab")));
  EXPECT_THAT(labels_from("person, car", "", ""), testing::ElementsAre("person", "car"));
  EXPECT_THAT(labels_from("person traffic_light", "", ""), testing::ElementsAre("person", "traffic light"));
}

// Numbers of places in other orders, and of another kind.
struct Layout {
  DataType data;
  std::int64_t place_step, channel_step;
};
class DecoderParts : public testing::TestWithParam<Layout> {};

TEST_P(DecoderParts, GiveAllBoxesInOrder) {
  constexpr std::int64_t kPlaces = 5000;
  constexpr int kClasses = 10;  // 1638 places have the scores of one part
  const auto [kind, place_step, channel_step] = GetParam();
  Scheme scheme;
  scheme.classes = kClasses;
  std::deque<Tensor> tensors;
  std::vector<const Tensor*> outputs;
  struct Found {
    int place, label;
    float score;
    bool operator==(const Found&) const = default;
  };
  std::vector<Found> expected;
  for (int h = 0; h < 2; ++h) {
    Head& head = scheme.heads.emplace_back();
    head.places = kPlaces;
    head.classes = {h, 3, place_step, channel_step};
    head.box = {h, 3 + kClasses * channel_step, place_step, channel_step};
    Tensor& tensor = tensors.emplace_back(kind, Shape{1, 3 + (kClasses + 4) * kPlaces * 2});
    outputs.push_back(&tensor);
    const auto set = [&](std::int64_t i, int value) {
      if (kind == DataType::f32) tensor.as<float>().data()[i] = static_cast<float>(value);
      if (kind != DataType::f32) tensor.as<std::int64_t>().data()[i] = value;
    };
    for (std::int64_t i = 0; i < tensor.size(); ++i) set(i, 0);
    for (const int place : {0, 1637, 1638, 3275, 3276, 4999}) {
      const int label = place % kClasses, score = 1 + h + place;
      set(head.classes.offset + place * place_step + label * channel_step, score);
      for (const int side : {2, 3})
        set(head.box.offset + place * place_step + side * channel_step, 1 + place);
      expected.push_back({static_cast<int>(h * kPlaces + place), label, static_cast<float>(score)});
    }
  }
  for (const int threads : {1, 3}) {
    std::vector<RawBox> boxes;
    oneapi::tbb::task_arena(threads).execute([&] { decode(scheme, outputs, 0.5F, boxes); });
    std::vector<Found> found;
    for (const RawBox& box : boxes) {
      found.push_back({box.place, box.label, box.score});
      EXPECT_EQ(box.x2, static_cast<float>(1 + box.place % kPlaces));
    }
    EXPECT_EQ(found, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, DecoderParts,
                         testing::Values(Layout{DataType::f32, 14, 1}, Layout{DataType::f32, 1, 5000},
                                         Layout{DataType::f32, 28, 2}, Layout{DataType::i64, 14, 1}));

TEST(NetworkInput, IsPlacedAndNormalised) {
  Preprocessing p;
  p.size = {8, 8};
  p.pad = 10;
  p.rgb = false;
  p.mean = {1, 2, 3};
  p.scale = {2, 2, 2};
  const std::uint8_t pixels[] = {10, 20, 30, 10, 20, 30};  // two equal pixels side by side
  const PackedView frame{pixels, 2, 1, 6, PackedFormat::rgb24};
  for (const Fit fit : {Fit::standard, Fit::fit_to_window, Fit::fit_to_window_letterbox}) {
    p.fit = fit;
    const Letterbox letterbox({2, 1}, p);
    std::vector<float> tensor(3 * 64, -1);
    letterbox.fill(frame, tensor.data(), 0, 8);
    const int top = fit == Fit::fit_to_window_letterbox ? 2 : 0;
    const int height = fit == Fit::standard ? 8 : 4;
    for (int c = 0; c < 3; ++c) {
      const auto mean = static_cast<float>(p.mean[static_cast<std::size_t>(c)]);
      EXPECT_EQ(tensor[static_cast<std::size_t>(c * 64 + top * 8)],
                (30.0F - 10.0F * static_cast<float>(c) - mean) / 2);
      if (height == 8) continue;
      EXPECT_EQ(tensor[static_cast<std::size_t>(c * 64 + (top + height) % 8 * 8)], (10 - mean) / 2);
    }
    EXPECT_EQ(letterbox.placement().frame_x(letterbox.placement().width), 2);
  }
}

Network small_network() {
  Settings settings;
  settings.file = "small.onnx";
  settings.threshold = 0.1;
  return make_network(test::small_yolox(64, 2).model(), settings);
}

TEST(NetworkDetector, FindsTheSameWithAnyThreads) {
  const NetworkDetector detector(small_network());
  EXPECT_THAT(detector.info().labels, testing::ElementsAre("class 0", "class 1"));
  std::vector<std::uint8_t> pixels(100 * 70 * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * i >> 3);
  const PackedView frame{pixels.data(), 100, 70, 300, PackedFormat::rgb24};
  const auto one = detector.make_workspace(), other = detector.make_workspace();
  const std::vector<Detection> found = detect(detector, *one, frame);
  EXPECT_FALSE(found.empty());
  tbb::task_arena(1).execute([&] { EXPECT_EQ(detect(detector, *other, frame), found); });
  EXPECT_EQ(detect(detector, *one, frame), found);  // in a used workspace
}

}  // namespace
}  // namespace sightline::network
