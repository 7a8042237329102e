// Networks through the program: files in, boxes and words out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "network/onnx_builder.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace sightline::test {
namespace {

using ::testing::HasSubstr;

class NetworkProgram : public testing::Test {
 protected:
  void SetUp() override {
    OnnxBuilder builder = small_yolox(64, 2);
    builder.metadata("names", "{0: 'ball', 1: 'box'}");
    builder.save(model_);
  }
  TempDir folder_;
  const std::string model_ = folder_ / "small.onnx";
  const std::string picture_ = std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg";
};

TEST_F(NetworkProgram, DetectsWithoutAConfiguration) {
  const std::string found = folder_ / "found.jsonl";
  const Outcome outcome =
      run({"detect", picture_, "--model", model_, "--threshold", "0.1", "--detections", found});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("yolox"));
  std::ifstream stream(found);
  const Json result = Json::parse(stream);
  ASSERT_FALSE(result["objects"].empty());
  for (const Json& object : result["objects"])
    EXPECT_TRUE(object["label"] == "ball" || object["label"] == "box");
}

TEST_F(NetworkProgram, ReportsTheClassesThatAreAskedFor) {
  const std::string found = folder_ / "found.jsonl";
  EXPECT_EQ(run({"detect", picture_, "--model", model_, "--threshold", "0", "--classes", "box",
                 "--detections", found})
                .exit_code,
            0);
  std::ifstream stream(found);
  for (const Json& object : Json::parse(stream)["objects"]) EXPECT_EQ(object["label"], "box");
  const Outcome none = run({"detect", picture_, "--model", model_, "--threshold", "1"});
  EXPECT_THAT(none.err, testing::AllOf(HasSubstr("--threshold"), testing::Not(HasSubstr("--min-size"))));
  EXPECT_EQ(run({"detect", picture_, "--model", model_, "--classes", "cup"}).exit_code, 2);
}

TEST_F(NetworkProgram, ExplainsANetworkAndAPicture) {
  const std::string input = folder_ / "input.png";
  const Outcome outcome = run({"network", "explain", model_, picture_, "--picture", input});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"yolox", "64x64", "ball, box", "rejected"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  EXPECT_GT(load(input).size(), 100U);
}

TEST_F(NetworkProgram, ComparesWithReferences) {
  // An array of zeros is not what the network gives.
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 84, 7), }";
  header.resize(118, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  const std::string file = folder_ / "zeros.npy";
  std::ofstream(file, std::ios::binary) << bytes + std::string(84 * 7 * 4, '\0');
  const Outcome outcome = run({"network", "compare", model_, "--reference", file});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("588 values"));
  EXPECT_EQ(run({"network", "compare", model_, "--reference", file, "--tolerance", "1e38"}).exit_code, 0);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(run({"network", "compare", model_, "--reference", file}).exit_code, 3);
}

TEST_F(NetworkProgram, RefusesWhatCannotRun) {
  OnnxBuilder builder = small_yolox(64, 2);
  builder.proto().mutable_graph()->mutable_node(2)->set_op_type("Whirl");
  builder.save(model_);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"detect", picture_, "--model", model_},
        {"network", "explain", model_},
        {"model", "show", model_}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 4) << words[0];
    EXPECT_THAT(outcome.err, HasSubstr("Whirl"));
  }
}

TEST_F(NetworkProgram, TakesWordsOfAConfiguration) {
  const std::string config = folder_ / "mine.toml";
  std::ofstream(config)
      << "[detector]\nfamily = \"network\"\nmodel = \"small.onnx\"\nmodel_type = \"yolox\"\n"
         "resize_type = \"standard\"\nreverse_input_channels = true\nmean_values = [1, 2, 3]\n"
         "labels = \"cat,dog\"\nconfidence_threshold = 0.05\n";
  const Outcome outcome = run({"network", "explain", model_, "--config", config});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"RGB, standard", "mean 1 2 3", "cat, dog", "from 0.05"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  EXPECT_EQ(run({"detect", picture_, "--config", config}).exit_code, 0);
}

}  // namespace
}  // namespace sightline::test
