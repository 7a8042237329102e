// Tensors whose data lies in files beside the model: what is read, and what is refused.
#include "onnx/external_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "detectors/network/detector.hpp"
#include "model/foreign_file.hpp"
#include "network/onnx_builder.hpp"
#include "onnx/file.hpp"
#include "params/config.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::network {
namespace {

namespace fs = std::filesystem;
using test::OnnxBuilder;
using ::testing::HasSubstr;

void refer(onnx::TensorProto& tensor, const std::string& key, const std::string& value) {
  onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

// Moves the data of all weights out of a model, as exporters do. Returns the data.
std::string move_data_out(OnnxBuilder& builder, const std::string& location) {
  std::string data;
  for (onnx::TensorProto& one : *builder.proto().mutable_graph()->mutable_initializer()) {
    if (!one.has_raw_data()) continue;
    data.resize((data.size() + 63) / 64 * 64);
    refer(one, "location", location);
    refer(one, "offset", std::to_string(data.size()));
    refer(one, "length", std::to_string(one.raw_data().size()));
    one.set_data_location(onnx::TensorProto::EXTERNAL);
    data += one.raw_data();
    one.clear_raw_data();
  }
  return data;
}

std::vector<float> weights_of(const nn::OnnxModel& model) {
  std::vector<float> all;
  for (const nn::OnnxValue& value : model.graph.values) {
    if (!value.constant || value.constant->data() != DataType::f32) continue;
    all.insert(all.end(), value.constant->as<float>().begin(), value.constant->as<float>().end());
  }
  return all;
}

// Four numbers that are the weights of a network, in a folder of its own.
class ExternalDataTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kMost = 1 << 20;

  ExternalDataTest() {
    fs::create_directory(folder_);
    test::store(folder_ / "model.data", std::string(64, '\x40'));
    test::store(outside_, std::string(64, '\x41'));
  }
  onnx::TensorProto& tensor() { return *builder_.proto().mutable_graph()->mutable_initializer(0); }
  nn::OnnxModel read(std::uint64_t most = kMost) {
    builder_.save(model_);
    return nn::read_onnx(model_, most);
  }
  std::string complaint(std::uint64_t most = kMost) {
    return test::error_of(ExitCode::model, [&] { read(most); });
  }
  std::string complaint_about(const std::string& location, const std::string& offset = "0",
                              const std::string& length = "16") {
    tensor().clear_external_data();
    refer(tensor(), "location", location);
    refer(tensor(), "offset", offset);
    refer(tensor(), "length", length);
    return complaint();
  }

  test::TempDir temp_;
  const fs::path folder_ = temp_ / "model", model_ = folder_ / "model.onnx", outside_ = temp_ / "outside";
  OnnxBuilder builder_ = [] {
    OnnxBuilder builder;
    builder.input("x", {4});
    builder.reals("w", {4}, {});
    builder.node("Add", {"x", "w"}, {"y"});
    builder.output("y");
    onnx::TensorProto& tensor = *builder.proto().mutable_graph()->mutable_initializer(0);
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    return builder;
  }();
};

TEST_F(ExternalDataTest, IsReadLikeDataInTheModel) {
  OnnxBuilder whole = test::small_yolox(64, 2), parts = whole;
  const std::string data = move_data_out(parts, "sub/model.onnx.data");
  parts.save(model_);
  fs::create_directory(folder_ / "sub");
  test::store(folder_ / "sub/model.onnx.data", data);
  const nn::OnnxModel model = nn::read_onnx(model_, kMost);
  EXPECT_EQ(weights_of(model), weights_of(whole.model()));
  EXPECT_EQ(model.data_files.size(), 1U);
}

TEST_F(ExternalDataTest, NeedsNeitherOffsetNorLength) {
  refer(tensor(), "location", "./model.data");
  EXPECT_EQ(weights_of(read()), std::vector<float>(4, std::bit_cast<float>(0x40404040)));
}

TEST_F(ExternalDataTest, IsReadForAttributesToo) {
  onnx::TensorProto value = tensor();
  refer(value, "location", "model.data");
  builder_.proto().mutable_graph()->clear_initializer();
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output("w");
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = value;
  *builder_.proto().mutable_graph()->add_node() = node;
  builder_.proto().mutable_graph()->mutable_node()->SwapElements(0, 1);
  const nn::OnnxModel model = read();
  EXPECT_FLOAT_EQ(model.graph.nodes[0].tensor("value")->as<float>()[3], std::bit_cast<float>(0x40404040));
}

TEST_F(ExternalDataTest, ChangesTheFingerprint) {
  OnnxBuilder builder = test::small_yolox(64, 2);
  std::string data = move_data_out(builder, "model.data");
  builder.save(model_);
  const auto fingerprint = [&] {
    test::store(folder_ / "model.data", data);
    Config config = Config::parse("[detector]\n", "test");
    config.set("detector", "model", model_.string());
    make_network_detector(config);
    EXPECT_TRUE(config.files().contains(fs::canonical(folder_ / "model.data")));
    return config.fingerprint();
  };
  const std::string first = fingerprint();
  EXPECT_EQ(fingerprint(), first);
  data.front() ^= 1;
  EXPECT_NE(fingerprint(), first);
}

TEST_F(ExternalDataTest, NamesTensorAndFileThatIsMissing) {
  EXPECT_THAT(complaint_about("model.weights"),
              testing::AllOf(HasSubstr("'w'"), HasSubstr("'model.weights'")));
}

TEST_F(ExternalDataTest, StaysInTheFolderOfTheModel) {
  fs::create_symlink(outside_, folder_ / "link");
  fs::create_directory_symlink(temp_.path(), folder_ / "folder");
  for (const std::string& location :
       {outside_.string(), std::string("../outside"), std::string("sub/../../outside"), std::string("link"),
        std::string("folder/outside"), std::string("model.data\0", 11), std::string("."), std::string()})
    EXPECT_NE(complaint_about(location), "") << location;
  // A folder whose name begins like the model's.
  fs::create_directory(temp_ / "model2");
  test::store(temp_ / "model2/data", std::string(64, 'x'));
  fs::create_symlink(temp_ / "model2/data", folder_ / "neighbour");
  EXPECT_NE(complaint_about("neighbour"), "");
}

TEST_F(ExternalDataTest, FollowsLinksInTheFolder) {
  fs::create_symlink("model.data", folder_ / "link");
  EXPECT_EQ(complaint_about("link"), "");
}

// As caches of downloads have it: both files are links into a folder of contents.
TEST_F(ExternalDataTest, MayLieBesideTheModelThatALinkLeadsTo) {
  complaint_about("weights");
  fs::create_directory(temp_ / "shown");
  fs::create_symlink(model_, temp_ / "shown/model.onnx");
  fs::create_symlink(folder_ / "model.data", temp_ / "shown/weights");
  EXPECT_EQ(nn::read_onnx(temp_ / "shown/model.onnx", kMost).data_files.size(), 1U);
}

TEST_F(ExternalDataTest, RefusesPlacesThatAreNotInTheFile) {
  EXPECT_EQ(complaint_about("model.data", "48"), "");
  for (const char* const offset :
       {"49", "65", "-16", "18446744073709551615", "18446744073709551600", "1x", ""})
    EXPECT_THAT(complaint_about("model.data", offset), HasSubstr("'model.data'")) << offset;
  for (const char* const length : {"15", "17", "-16", "0", "99999999999999999999"})
    EXPECT_NE(complaint_about("model.data", "0", length), "") << length;
}

TEST_F(ExternalDataTest, TakesNoMemoryForDataThatIsNotThere) {
  tensor().set_dims(0, nn::kMaxElements);
  const std::string all = std::to_string(nn::kMaxElements * 4);
  EXPECT_THAT(complaint_about("model.data", "0", all), HasSubstr(all));
}

TEST_F(ExternalDataTest, CountsDataThatTensorsShareForEach) {
  complaint_about("model.data");
  const auto size = fs::file_size(model_);
  EXPECT_EQ(complaint(size + 16), "");
  EXPECT_THAT(complaint(size + 15), HasSubstr("--max-model-size"));
  *builder_.proto().mutable_graph()->add_initializer() = tensor();
  builder_.proto().mutable_graph()->mutable_initializer(1)->set_name("w2");
  builder_.save(model_);
  EXPECT_THAT(complaint(fs::file_size(model_) + 31), HasSubstr("'w2'"));
}

TEST_F(ExternalDataTest, RefusesFilesThatAreNotRegular) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_NE(complaint_about("pipe"), "");
  fs::create_symlink("/dev/zero", folder_ / "zero");
  EXPECT_NE(complaint_about("zero"), "");
}

TEST_F(ExternalDataTest, TellsPointersOfGitLfs) {
  test::store(folder_ / "model.data", std::string("version https://git-lfs.github.com/spec/v1\n"));
  EXPECT_THAT(complaint_about("model.data", "4096"), HasSubstr("git lfs pull"));
}

TEST_F(ExternalDataTest, IsNoModelItself) {
  for (const char* const name : {"model.onnx.data", "model.onnx_data"})
    EXPECT_FALSE(foreign_kind("\x01\x02", name).empty()) << name;
}

TEST_F(ExternalDataTest, IsRefusedForModelsInMemory) {
  refer(tensor(), "location", "model.data");
  EXPECT_THAT(test::error_of(ExitCode::model, [&] { builder_.model(); }),
              testing::AllOf(HasSubstr("'w'"), HasSubstr("'model.data'")));
}

}  // namespace
}  // namespace sightline::network
