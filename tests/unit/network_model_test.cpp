// Models with a network for verification, and their files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <stdexcept>

#include "support/model_file.hpp"
#include "support/network.hpp"

namespace sightline::filterbank {
namespace {

using ::testing::HasSubstr;

// A file with a model in three sizes, and with a network.
class NetworkFile : public test::ModelFileTest {
 protected:
  NetworkFile() {
    for (Model& model : models) model.network = test::random_network(model.window.pixels(), 1);
    save_models(models, file);
  }

  using ModelFileTest::complaint_about;
  /// The same with another array, of ones except for one value.
  template <typename T>
  std::string complaint_about(const std::string& name, const TensorShape& shape, T value = T{1},
                              std::size_t at = 0) const {
    std::size_t count = 1;
    for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
    std::vector<T> values(count, T{1});
    if (at < count) values[at] = value;
    return complaint([&](Safetensors& container) { container.set<T>(name, shape, values); });
  }

  std::vector<Model> models = test::random_sizes({3, 5, 9}, 1);
};

void expect_equal_networks(const Network& a, const Network& b) {
  EXPECT_EQ(a.window, b.window);
  ASSERT_EQ(a.convolutions.size(), b.convolutions.size());
  for (std::size_t i = 0; i < a.convolutions.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(a.convolutions[i].size, b.convolutions[i].size);
    EXPECT_EQ(a.convolutions[i].stride, b.convolutions[i].stride);
    EXPECT_EQ(a.convolutions[i].inputs, b.convolutions[i].inputs);
    EXPECT_EQ(a.convolutions[i].outputs, b.convolutions[i].outputs);
    EXPECT_EQ(a.convolutions[i].weights, b.convolutions[i].weights);
    EXPECT_EQ(a.convolutions[i].bias, b.convolutions[i].bias);
    EXPECT_EQ(a.convolutions[i].scale, b.convolutions[i].scale);
  }
  EXPECT_EQ(a.head.weights, b.head.weights);
  EXPECT_EQ(a.head.bias, b.head.bias);
  EXPECT_EQ(a.head.scale, b.head.scale);
  EXPECT_TRUE(a.box == b.box);
  EXPECT_EQ(a.first_stage_threshold, b.first_stage_threshold);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.limit, b.limit);
  EXPECT_EQ(a.provenance, b.provenance);
}

TEST_F(NetworkFile, RoundTripOfOneSize) {
  for (const char* provenance : {R"({"network":"made up \"so\""})", ""}) {
    Model model = models[2];
    model.network.provenance = provenance;
    save_model(model, file);
    const std::vector<Model> loaded = load_models(file);
    ASSERT_EQ(loaded.size(), 1U);
    expect_equal_networks(loaded[0].network, model.network);
    EXPECT_TRUE(loaded[0].network == model.network);
    EXPECT_EQ(loaded[0].weights, model.weights);
    EXPECT_EQ(loaded[0].provenance, model.provenance);
    save_models(loaded, changed);
    EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
  }
}

TEST_F(NetworkFile, RoundTripOfSizesThatShareIt) {
  const std::vector<Model> loaded = load_models(file);
  ASSERT_EQ(loaded.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_equal_networks(loaded[i].network, models[2].network);
    EXPECT_EQ(loaded[i].weights, models[i].weights);
    expect_equal_networks(load_model(file, loaded[i].dictionary.size()).network, models[2].network);
  }
  save_models(loaded, changed);
  EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
}

TEST_F(NetworkFile, TheNetworkOfTheLastIsSaved) {
  models[0].network = {};
  models[1].network = test::random_network(models[1].window.pixels(), 2);
  save_models(models, file);
  for (const Model& loaded : load_models(file)) expect_equal_networks(loaded.network, models[2].network);
}

TEST_F(NetworkFile, OneConvolutionIsANetworkToo) {
  Network& network = models[2].network;
  network.convolutions.resize(1);
  network.head.weights.assign(12 * 16 * 16, 3);
  save_model(models[2], file);
  expect_equal_networks(load_model(file).network, network);
}

TEST_F(NetworkFile, RoundTripOfHeadsOfBoxes) {
  for (Model& model : models) test::add_boxes(model.network, 20, 3);
  save_models(models, file);
  EXPECT_EQ(Safetensors::load(file).metadata.at("version"), "3");
  const std::vector<Model> loaded = load_models(file);
  for (const Model& model : loaded) expect_equal_networks(model.network, models[2].network);
  save_models(loaded, changed);
  EXPECT_EQ(test::bytes_of(changed), test::bytes_of(file));
}

TEST_F(NetworkFile, HeadsOfBoxesAreWholeOrNotThere) {
  // Programs of before would ignore them.
  EXPECT_THAT(complaint_about("network.box_scale", "1,1,1"), HasSubstr("'network.box'"));
  for (Model& model : models) test::add_boxes(model.network, 20, 3);
  save_models(models, file);
  EXPECT_THAT(complaint_about("version", "2"), HasSubstr("'network.box'"));
  EXPECT_THAT(complaint_without("network.box"), HasSubstr("'network.box'"));
  for (const std::string key : {"network.box_bias", "network.box_scale"}) {
    EXPECT_THAT(complaint([&](Safetensors& container) { container.metadata.erase(key); }),
                HasSubstr("'" + key + "'"));
    for (const char* text : {"", "x", "1,2", "1,2,3,4", "nan,1,1", "1,2,inf", "1,2,1e999"})
      EXPECT_THAT(complaint_about(key, text), HasSubstr("'" + key + "'")) << text;
  }
  for (const char* text : {"1,2,0.5", "1,2147483648,1", "-2147483649,1,1"})
    EXPECT_THAT(complaint_about("network.box_bias", text), HasSubstr("'network.box_bias'")) << text;
  for (const char* text : {"0,1,1", "1,-1,1"})
    EXPECT_NE(complaint_about("network.box_scale", text), "") << text;
  EXPECT_THAT(complaint_about<std::int8_t>("network.box", {2, 8, 6, 16}), HasSubstr("'network.box'"));
}

// Programs of before would ignore the network, so they must not take the file.
TEST_F(NetworkFile, TheVersionSaysThatThereIsANetwork) {
  EXPECT_EQ(Safetensors::load(file).metadata.at("version"), "2");
  EXPECT_THAT(complaint_about("version", "1"), HasSubstr("'network'"));
  EXPECT_THAT(complaint_about("version", "4"), HasSubstr("'version'"));
  EXPECT_THAT(complaint_about("version", "3"), HasSubstr("'network.box'"));
  for (Model& model : models) model.network = {};
  save_models(models, file);
  const Safetensors without = Safetensors::load(file);
  EXPECT_EQ(without.metadata.at("version"), "1");
  for (const auto& [key, value] : without.metadata) EXPECT_NE(key.substr(0, 7), "network");
  for (const auto& [name, tensor] : without.tensors()) EXPECT_NE(name.substr(0, 7), "network");
  for (const Model& loaded : load_models(file)) EXPECT_TRUE(loaded.network.empty());
  EXPECT_THAT(complaint_about("version", "2"), HasSubstr("'network'"));
}

TEST_F(NetworkFile, EveryKeyIsNeeded) {
  int keys = 0;
  const Safetensors whole = Safetensors::load(file);
  for (const auto& [key, value] : whole.metadata) {
    const std::string name = key;
    if (name.substr(0, 7) != "network") continue;
    ++keys;
    EXPECT_THAT(complaint([&](Safetensors& container) { container.metadata.erase(name); }),
                HasSubstr("'" + name + "'"));
  }
  EXPECT_EQ(keys, 8);
}

TEST_F(NetworkFile, EveryArrayIsNeeded) {
  int arrays = 0;
  const Safetensors whole = Safetensors::load(file);
  for (const auto& [name, tensor] : whole.tensors()) {
    if (name.substr(0, 7) != "network") continue;
    ++arrays;
    EXPECT_THAT(complaint_without(name), HasSubstr("'" + name + "'"));
  }
  EXPECT_EQ(arrays, 10);
}

TEST_F(NetworkFile, TheCountIsThatOfTheArrays) {
  for (const char* text : {"", "x", "nan", "2.5", "-1", "0", "17", "1e300", "3,3"})
    EXPECT_THAT(complaint_about("network", text), HasSubstr("'network'")) << text;
  const auto with_count = [&](const char* count, const char* strides) {
    return complaint([&](Safetensors& container) {
      container.metadata["network"] = count;
      container.metadata["network.strides"] = strides;
    });
  };
  EXPECT_THAT(with_count("4", "2,1,2,1"), HasSubstr("'network.3.weights'"));
  EXPECT_THAT(with_count("2", "2,1"), HasSubstr("'network.2.weights'"));
  EXPECT_EQ(with_count("3", "2,1,2"), "");
}

TEST_F(NetworkFile, StridesAreOneOrTwo) {
  for (const char* text : {"", "2", "2,1", "2,1,2,", "2,1,2,1", "2,1,3", "0,1,2", "-2,1,2", "2,1.5,2",
                           "2;1;2", "2,one,2", "nan,1,2", "1e300,1,2", "2, 1, 2"}) {
    EXPECT_THAT(complaint_about("network.strides", text), HasSubstr("'network.strides'")) << text;
  }
  // Right in themselves, but not what the head is for.
  for (const char* text : {"1,1,2", "2,2,2", "2,1,1"})
    EXPECT_THAT(complaint_about("network.strides", text), HasSubstr("'network.head'")) << text;
}

TEST_F(NetworkFile, Numbers) {
  for (const std::string key : {"head_bias", "head_scale", "gate", "weight", "limit"}) {
    for (const char* text : {"", "x", "nan", "inf", "-inf", "1e999", " 1", "1 ", "1,2"}) {
      EXPECT_THAT(complaint_about("network." + key, text), HasSubstr("'network." + key + "'")) << text;
    }
  }
  for (const char* text : {"0.5", "2147483648", "-2147483649"})
    EXPECT_THAT(complaint_about("network.head_bias", text), HasSubstr("'network.head_bias'")) << text;
  for (const char* text : {"0", "-1", "1e31"})
    EXPECT_THAT(complaint_about("network.head_scale", text), HasSubstr("'network.head_scale'")) << text;
  for (const char* text : {"-0.1", "1e10"}) {
    EXPECT_THAT(complaint_about("network.weight", text), HasSubstr("'network.weight'")) << text;
    EXPECT_THAT(complaint_about("network.limit", text), HasSubstr("'network.limit'")) << text;
  }
  for (const char* text : {"-1e10", "1e10"})
    EXPECT_THAT(complaint_about("network.gate", text), HasSubstr("'network.gate'")) << text;
  EXPECT_EQ(complaint_about("network.gate", "0"), "");
  EXPECT_EQ(complaint_about("network.weight", "0"), "");
}

TEST_F(NetworkFile, ShapesOfConvolutions) {
  const std::string weights = "network.1.weights";
  EXPECT_EQ(complaint_about<std::int8_t>(weights, {32, 1, 1, 16}), "");
  EXPECT_EQ(complaint_about<std::int8_t>(weights, {32, 3, 3, 16}), "");
  constexpr std::int64_t kVast = std::numeric_limits<std::int64_t>::max();
  for (const TensorShape& shape :
       {TensorShape{32, 16}, TensorShape{}, TensorShape{0, 1, 1, 16}, TensorShape{257, 1, 1, 16},
        TensorShape{272, 1, 1, 16}, TensorShape{32, 0, 0, 16}, TensorShape{32, 1, 3, 16},
        TensorShape{32, 3, 1, 16}, TensorShape{32, 7, 7, 16}, TensorShape{32, 1, 1, 32},
        TensorShape{32, 1, 1, 1}, TensorShape{kVast, 0, 0, 16}, TensorShape{32, 0, kVast, 16}}) {
    EXPECT_THAT(complaint_about<std::int8_t>(weights, shape), HasSubstr("'" + weights + "'"))
        << ::testing::PrintToString(shape);
  }
  EXPECT_THAT(complaint_about<std::int32_t>(weights, {32, 1, 1, 16}), HasSubstr("'" + weights + "'"));
  EXPECT_THAT(complaint_about<std::int8_t>("network.0.weights", {16, 3, 3, 2}),
              HasSubstr("'network.0.weights'"));
  for (const char* array : {"bias", "scale"}) {
    const std::string name = std::string("network.1.") + array;
    EXPECT_THAT(complaint_about<std::int8_t>(name, {32}), HasSubstr("'" + name + "'"));
    EXPECT_THAT(complaint_about<std::int32_t>(name, {16}), HasSubstr("'" + name + "'"));
    EXPECT_THAT(complaint_about<float>(name, {16}), HasSubstr("'" + name + "'"));
    EXPECT_THAT(complaint_about<float>(name, {32, 1}), HasSubstr("'" + name + "'"));
  }
  // The next one's inputs are these outputs.
  EXPECT_THAT(
      complaint([](Safetensors& container) {
        container.set<std::int8_t>("network.1.weights", {16, 1, 1, 16}, std::vector<std::int8_t>(256));
        container.set<std::int32_t>("network.1.bias", {16}, std::vector<std::int32_t>(16));
        container.set<float>("network.1.scale", {16}, std::vector<float>(16, 1));
      }),
      HasSubstr("'network.2.weights'"));
}

TEST_F(NetworkFile, TheHeadFitsTheLastConvolution) {
  const std::string head = "network.head";
  EXPECT_EQ(complaint_about<std::int8_t>(head, {8, 6, 16}), "");
  for (const TensorShape& shape : {TensorShape{6, 8, 16}, TensorShape{8, 6, 32}, TensorShape{8 * 6 * 16},
                                   TensorShape{7, 6, 16}, TensorShape{0, 6, 16}})
    EXPECT_THAT(complaint_about<std::int8_t>(head, shape), HasSubstr("'network.head'"));
  EXPECT_THAT(complaint_about<float>(head, {8, 6, 16}), HasSubstr("'network.head'"));
}

// What is beyond shapes is what_is_wrong's to say.
TEST_F(NetworkFile, WhatIsWrongBeyondShapes) {
  const auto refused = HasSubstr("'network'");
  EXPECT_EQ(complaint_about<std::int8_t>("network.1.weights", {32, 1, 1, 16}, -64, 100), "");
  EXPECT_THAT(complaint_about<std::int8_t>("network.1.weights", {32, 1, 1, 16}, 65, 100), refused);
  EXPECT_THAT(complaint_about<std::int8_t>("network.1.weights", {32, 1, 1, 16}, -128, 100), refused);
  EXPECT_THAT(complaint_about<std::int8_t>("network.1.weights", {32, 2, 2, 16}), refused);
  EXPECT_THAT(complaint_about<std::int8_t>("network.head", {8, 6, 16}, -65, 5), refused);
  for (const float scale : {0.0f, -1.0f})
    EXPECT_THAT(complaint_about<float>("network.1.scale", {32}, scale, 31), refused);
  for (const float scale : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    EXPECT_THAT(complaint_about<float>("network.1.scale", {32}, scale, 31), HasSubstr("'network.1.scale'"));
  for (const std::int32_t bias :
       {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()})
    EXPECT_THAT(complaint_about<std::int32_t>("network.2.bias", {16}, bias, 3), refused);
  EXPECT_THAT(
      complaint([](Safetensors& container) {
        container.set<std::int8_t>("network.2.weights", {17, 1, 1, 32}, std::vector<std::int8_t>(17 * 32));
        container.set<std::int32_t>("network.2.bias", {17}, std::vector<std::int32_t>(17));
        container.set<float>("network.2.scale", {17}, std::vector<float>(17, 1));
        container.set<std::int8_t>("network.head", {8, 6, 17}, std::vector<std::int8_t>(8 * 6 * 17));
      }),
      refused);
}

TEST_F(NetworkFile, LinearClassifiersOnly) {
  EXPECT_THAT(complaint_about("classifier", "distance"), HasSubstr("'network'"));
  models[2].classifier = ClassifierKind::distance;
  EXPECT_THROW(save_model(models[2], changed), std::invalid_argument);
}

// A reader gives it the model's window, and refuses it as it is.
TEST_F(NetworkFile, NetworksThatNobodyCouldReadAreNotSaved) {
  const auto refused = [&](auto change) {
    Model model = models[2];
    change(model.network);
    std::filesystem::remove(changed);
    EXPECT_THROW(save_model(model, changed), std::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(changed));
  };
  refused([](Network& network) { network.window = {32, 24}; });
  refused([](Network& network) { network.head.weights.pop_back(); });
  refused([](Network& network) { network.head.weights[7] = 100; });
  refused([](Network& network) { network.convolutions[1].bias.pop_back(); });
  refused([](Network& network) { network.convolutions[1].weights.push_back(0); });
}

TEST_F(NetworkFile, CopiesForManySizesAreBounded) {
  const std::uint64_t size = std::filesystem::file_size(file);
  test::expect_error(ExitCode::model, "--max-model-size", [&] { load_models(file, size); });
  EXPECT_EQ(load_models(file, 3 * size).size(), 3U);
  save_model(models[2], file);
  EXPECT_EQ(load_models(file, std::filesystem::file_size(file)).size(), 1U);
}

TEST_F(NetworkFile, StoringAnEvaluationKeepsIt) {
  const Safetensors before = Safetensors::load(file);
  Model model = load_model(file, 5);
  model.evaluation = {0.1, 0.2, "data"};
  store_evaluation(model, file);
  EXPECT_EQ(load_model(file, 5).evaluation->data, "data");
  expect_equal_networks(load_model(file, 9).network, models[2].network);
  Safetensors after = Safetensors::load(file);
  EXPECT_EQ(after.metadata.erase("evaluation.5"), 1U);
  EXPECT_EQ(after.serialize(), before.serialize());
}

TEST_F(NetworkFile, EvaluationWithAnotherNetworkIsNotStored) {
  Model model = load_model(file, 5);
  model.evaluation = {0.1, 0.2, "data"};
  models[2].network.head.weights[11] ^= 1;
  save_models(models, file);
  const std::string bytes = test::bytes_of(file);
  test::expect_error(ExitCode::failed, [&] { store_evaluation(model, file); });
  EXPECT_EQ(test::bytes_of(file), bytes);
}

TEST_F(NetworkFile, TruncatedAnywhere) {
  expect_cuts_refused();
}

}  // namespace
}  // namespace sightline::filterbank
