// Networks that classify whole pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "detectors/network/detector.hpp"
#include "drawing/canvas.hpp"
#include "network/made_outputs.hpp"
#include "network/onnx_builder.hpp"
#include "support/errors.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace sightline::test {
namespace {

using network::Fit;
using network::Preprocessing;

TEST(Classification, MakesProbabilitiesOfLogits) {
  for (const Shape& shape : {Shape{1, 3}, Shape{1, 3, 1, 1}}) {
    Made made;
    put(made.add("logits", shape).as<float>().data(), {1, 3, 2});
    EXPECT_EQ(made.type(), "classification");
    const std::vector<RawBox> found = made.decoded("", 0);
    ASSERT_EQ(found.size(), 3U);
    const double sum = std::exp(1) + std::exp(3) + std::exp(2);
    EXPECT_NEAR(found[0].score, std::exp(1) / sum, 1e-6);
    EXPECT_NEAR(found[1].score, std::exp(3) / sum, 1e-6);
    EXPECT_EQ(found[2].label, 2);
    EXPECT_EQ(made.decoded("classify", 0.5F).size(), 1U);
  }
}

TEST(Classification, TakesProbabilitiesAsTheyAre) {
  Made made;
  put(made.add("output", {1, 3}, true).as<float>().data(), {0.1F, 0.7F, 0.2F});
  const std::vector<RawBox> found = made.decoded("", 0.15F);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].score, 0.7F);
}

TEST(Classification, ReadsOneScoreAndABackground) {
  Made one;
  one.add("logit", {1, 1}).as<float>().data()[0] = 2;
  ASSERT_EQ(one.decoded("", 0).size(), 1U);
  EXPECT_NEAR(one.decoded("", 0)[0].score, 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_EQ(one.scheme().threshold, 0.5);
  Made image_net;
  image_net.add("logits", {1, 1001}).as<float>().data()[1000] = 20;
  image_net.outputs.classes = 1000;
  ASSERT_EQ(image_net.decoded("", 0.5F).size(), 1U);
  EXPECT_EQ(image_net.decoded("", 0.5F)[0].label, 999);
  image_net.outputs.classes = 1001;
  EXPECT_EQ(image_net.decoded("", 0.5F)[0].label, 1000);
}

TEST(Classification, RefusesDescriptionsAndScoresBesideOthers) {
  Made described;
  described.add("embedding", {1, 128});
  EXPECT_THROW(described.type(), network::Problem);
  EXPECT_EQ(described.scheme("classification").type, "classification");
  Made normalised;
  normalised.add("output", {1, 128});
  normalised.outputs.all[0].maker = "Div";
  EXPECT_THROW(normalised.type(), network::Problem);
  Made several;
  several.add("a", {1, 100});
  several.add("b", {1, 7, 5});
  EXPECT_THROW(several.type(), network::Problem);
  Made of_numbers;
  of_numbers.add("labels", {1, 9}, false, 0, DataType::i64);
  EXPECT_THROW(of_numbers.type(), network::Problem);
}

TEST(Classification, PreparesPicturesAsTheFileTells) {
  Made made;
  made.add("logits", {1, 10});
  made.outputs.input = {224, 224};
  const auto prepared = [&] { return made.scheme().preprocessing; };
  EXPECT_EQ(prepared().fit, Fit::crop);
  EXPECT_EQ(prepared().crop_fraction, 0.875);
  EXPECT_EQ(prepared().mean[0], 123.675);
  EXPECT_TRUE(prepared().antialias);
  made.outputs.has_channels_last = true;
  EXPECT_EQ(prepared().fit, Fit::standard);
  EXPECT_EQ(prepared().scale[2], 127.5);
  made.outputs.highest_level = 255;
  EXPECT_EQ(prepared().scale[2], 1);
  made.outputs.highest_level = 1;
  EXPECT_EQ(prepared().scale[2], 255);
  made.outputs.has_channels_last = false;
  made.outputs.highest_level = 0;
  made.outputs.metadata["task"] = "classify";
  EXPECT_EQ(prepared().crop_fraction, 1);
  EXPECT_EQ(prepared().scale[0], 255);
  made.outputs.metadata.clear();
  made.outputs.input = {32, 32};
  EXPECT_EQ(prepared().crop_fraction, 1);
  made.outputs.channels = 1;
  EXPECT_EQ(prepared().mean[0], 0);
}

// What Pillow 9.4 and torchvision's Resize(8) and CenterCrop(7) make of a gray picture.
TEST(Classification, ShrinksAndCutsLikeTorchvision) {
  constexpr Size kFrame{37, 23};
  const float expected[] = {130, 121, 118, 130, 139, 131, 127, 124, 118, 125, 133, 133, 128,
                            123, 117, 119, 133, 134, 128, 122, 115, 138, 139, 133, 127, 121,
                            119, 128, 138, 132, 127, 121, 118, 123, 137, 131, 127, 122, 117,
                            126, 136, 130, 128, 122, 124, 129, 133, 132, 126};
  std::vector<std::uint8_t> pixels(kFrame.width * kFrame.height);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(i) * 2654435761U >> 24);
  Preprocessing p;
  p.size = {7, 7};
  p.fit = Fit::crop;
  p.crop_fraction = 0.875;
  p.antialias = true;
  p.channels = 1;
  const network::Letterbox letterbox(kFrame, p);
  std::vector<float> tensor(49, -1);
  const GrayView frame(pixels.data(), kFrame.width, kFrame.height, kFrame.width);
  letterbox.fill(frame, tensor.data(), 3, 7);
  letterbox.fill(frame, tensor.data(), 0, 3);
  EXPECT_THAT(tensor, testing::ElementsAreArray(expected));
}

TEST(Classification, CutsNarrowFramesInBoundedMemory) {
  Preprocessing p;
  p.size = {224, 224};
  p.fit = Fit::crop;
  p.crop_fraction = 0.1;
  const network::Letterbox letterbox({1, 1'000'000}, p);
  EXPECT_EQ(letterbox.visible().size, p.size);
  EXPECT_EQ(letterbox.rows().first.size(), 224U);
}

// Its logits are 10 times the means of red, green and blue, from 0 to 1.
OnnxBuilder colour_classifier() {
  OnnxBuilder builder;
  builder.input("picture", {1, 3, 32, 32});
  builder.node("GlobalAveragePool", {"picture"}, {"means"});
  builder.node("Flatten", {"means"}, {"flat"}, {{"axis", 1}});
  builder.node("Gemm", {"flat", builder.reals("w", {3, 3}, {10, 0, 0, 0, 10, 0, 0, 0, 10})}, {"logits"});
  builder.output("logits", {1, 3});
  builder.metadata("task", "classify");  // so that levels are from 0 to 1
  return builder;
}

class ClassificationProgram : public testing::Test {
 protected:
  void SetUp() override {
    colour_classifier().save(model_);
    std::ofstream(labels_) << "red\ngreen\nblue\n";
  }
  Words detect(const Words& options) const {
    return Words{"detect", picture_, "--model", model_, "--labels", labels_} + options;
  }

  TempDir folder_;
  const std::string model_ = folder_ / "colours.onnx", labels_ = folder_ / "colours.txt";
  const std::string picture_ = std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg";
};

TEST_F(ClassificationProgram, GivesThePictureItsBestClasses) {
  const auto found = [&](const Words& options) {
    const Outcome outcome = expect_run(0, detect(options));
    return Json::parse(outcome.out);
  };
  const Json best = found({});
  ASSERT_EQ(best["objects"].size(), 1U);
  const Json all = found({"--top", "5"});
  ASSERT_EQ(all["objects"].size(), 3U);
  EXPECT_EQ(all["objects"][0], best["objects"][0]);
  double sum = 0, before = 1;
  for (const Json& object : all["objects"]) {
    EXPECT_EQ(object["box"], Json::array({0, 0, all["width"], all["height"]}));
    EXPECT_LE(object["score"], before);
    before = object["score"];
    sum += before;
  }
  EXPECT_NEAR(sum, 1, 2e-4);
  EXPECT_EQ(found({"--top", "2", "--classes", "green"})["objects"].size(), 1U);
  EXPECT_EQ(found({"--threshold", "1"})["objects"].size(), 0U);
}

TEST_F(ClassificationProgram, RefusesOptionsThatNeedBoxes) {
  const std::string crops = folder_ / "crops";
  for (const Words& options : {Words{"--tiles", "64"}, Words{"--crops", crops}})
    expect_run(2, "classifies whole pictures", detect(options));
  EXPECT_FALSE(std::filesystem::exists(crops));
  const std::string found = folder_ / "found.jsonl";
  expect_run(2, "classifies whole pictures",
             {"detect", "lavfi:testsrc=duration=0.1", "--model", model_, "--track", "--detections", found});
  EXPECT_FALSE(std::filesystem::exists(found));
  small_yolox(64, 2).save(folder_ / "boxes.onnx");
  expect_run(2, "--top", {"detect", picture_, "--model", folder_ / "boxes.onnx", "--top", "2"});
}

// A picture of a brown wall is red, and not blue.
TEST_F(ClassificationProgram, IsEvaluatedOnFoldersOfClasses) {
  for (const std::string name : {"red", "blue"}) {
    std::filesystem::create_directories(folder_ / ("in/" + name));
    Canvas(40, 30, {0.8, 0.4, 0.1, 1}).write_png(folder_ / ("in/" + name + "/a.png"));
  }
  const std::string json = folder_ / "classes.json";
  const Words evaluate{"evaluate", "classes", folder_ / "in", "--model", model_, "--labels", labels_};
  expect_run(0, evaluate + Words{"--top", "2", "--json", json});
  const Json found = Json::parse(load(json));
  EXPECT_EQ(found["all"], (Json{{"pictures", 2}, {"top_1", 0.5}, {"top_k", 0.5}}));
  EXPECT_EQ(found["classes"][0]["class"], "red");
  EXPECT_EQ(found["classes"][0]["top_1"], 1);
  std::filesystem::create_directory(folder_ / "in/reds");
  expect_run(3, "'red'", evaluate);
  const std::string missing = folder_ / "missing";
  expect_run(3, "'" + missing + "' (No such file",
             {"evaluate", "classes", missing, "--model", model_, "--labels", labels_});
  small_yolox(64, 2).save(folder_ / "boxes.onnx");
  expect_run(2, "evaluate frames",
             {"evaluate", "classes", folder_ / "in", "--model", folder_ / "boxes.onnx"});
}

TEST_F(ClassificationProgram, IsExplained) {
  const Outcome outcome = expect_run(0, {"network", "explain", model_, picture_});
  EXPECT_THAT(outcome.out, testing::AllOf(testing::HasSubstr("classification"), testing::HasSubstr("softmax"),
                                          testing::HasSubstr("crop 1"), testing::HasSubstr("class 2")));
}

}  // namespace
}  // namespace sightline::test
