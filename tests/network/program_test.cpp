// Networks through the program: files in, boxes and words out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "detectors/network/published.hpp"
#include "media/download.hpp"
#include "network/onnx_builder.hpp"
#include "support/http_server.hpp"
#include "support/program.hpp"
#include "support/shared_data.hpp"
#include "support/temp_dir.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class NetworkProgram : public testing::Test {
 protected:
  void SetUp() override {
    OnnxBuilder builder = small_yolox(64, 2);
    builder.metadata("names", "{0: 'ball', 1: 'box'}");
    builder.save(model_);
  }
  // Objects by label.
  static std::map<std::string, int> numbers_in(const std::string& file) {
    std::ifstream stream(file);
    const Json result = Json::parse(stream);
    std::map<std::string, int> numbers;
    for (const Json& object : result["objects"]) ++numbers[object["label"]];
    return numbers;
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

// A published network has a name, once it is in the user's folder.
TEST_F(NetworkProgram, TakesPublishedNetworksByName) {
  RunSetup setup;
  setup.environment = {"XDG_DATA_HOME=" + folder_.path()};
  const std::string command = "sightline network get yolox-nano", found = folder_ / "found.jsonl";
  expect_run(4, command, {"detect", picture_, "--model", "yolox-nano"}, setup);
  expect_run(4, command, {"network", "explain", "yolox-nano"}, setup);
  const std::string config = folder_ / "own.toml";
  std::ofstream(config) << "[detector]\nfamily = \"network\"\nmodel = \"yolox-nano\"\n";
  expect_run(4, command, {"detect", picture_, "--config", config}, setup);
  std::filesystem::create_directories(folder_ / "sightline/networks");
  std::filesystem::copy(model_, folder_ / "sightline/networks/yolox-nano.onnx");
  for (const Words& by_name :
       {Words{"--model", "yolox-nano"}, Words{"--config", "yolox-nano"}, Words{"--config", config}}) {
    expect_run(
        0, Words{"detect", picture_, "--threshold", "0.1", "--overwrite", "--detections", found} + by_name,
        setup);
    EXPECT_GT(numbers_in(found)["ball"], 0);
  }
  expect_run(0, {"network", "explain", "yolox-nano"}, setup);
  expect_run(0, {"model", "show", "yolox-nano"}, setup);
  expect_run(0, {"detect", picture_, "--config", "people,yolox-nano", "--detections", folder_ / "both.jsonl"},
             setup);
  const std::string nearly = expect_run(4, {"detect", picture_, "--model", "yolox-nan"}, setup).err;
  EXPECT_THAT(nearly, HasSubstr("'yolox-nano'"));
}

TEST_F(NetworkProgram, DownloadsOnlyTheFileThatIsListed) {
  const HttpServer server([](const std::string& request) {
    return request.starts_with("GET /yolox-nano.onnx ")
               ? HttpServer::ok("something else")
               : std::string("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  });
  RunSetup setup;
  setup.environment = {"XDG_DATA_HOME=" + folder_.path(), "SIGHTLINE_NETWORKS_URL=" + server.url("/")};
  expect_run(1, "3678356", {"network", "get", "yolox-nano"}, setup);
  expect_run(1, "404", {"network", "get", "yunet"}, setup);
  expect_run(2, "'yolox-nano'", {"network", "get", "yolox-nan"}, setup);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "sightline/networks"));
  const Outcome list = expect_run(0, {"network", "get"}, setup);
  EXPECT_THAT(list.out, testing::AllOf(HasSubstr("deimv2-atto"), HasSubstr("Apache-2.0")));
  EXPECT_EQ(server.requests().size(), 2U);
}

// Each entry says where the file is, what it must be, and by whose leave.
TEST(PublishedNetworks, AreDescribedIn80Columns) {
  const fs::path real = shared_data();
  std::set<std::string_view> names;
  for (const network::PublishedNetwork& one : network::published_networks()) {
    SCOPED_TRACE(one.name);
    EXPECT_TRUE(names.insert(one.name).second);
    EXPECT_THAT(
        std::string(one.address),
        testing::MatchesRegex("https://raw\\.githubusercontent\\.com/[^/]+/[^/]+/[0-9a-f]+/.+\\.onnx"));
    EXPECT_THAT(std::string(one.sha256), testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(one.sha256.size(), 64U);
    EXPECT_GT(one.bytes, 100'000U);
    EXPECT_LT(one.bytes, 100U << 20);
    for (const std::string_view text : {one.finds, one.licence, one.origin, one.carrier})
      EXPECT_FALSE(text.empty());
    const fs::path copy = real / "networks" / fs::path(one.address).filename();
    if (fs::exists(copy)) {
      EXPECT_EQ(media::sha256_of(copy), one.sha256);
    }
  }
  const TempDir folder;
  RunSetup setup;
  setup.environment = {"XDG_DATA_HOME=" + folder.path()};
  std::istringstream text(run({"network", "get"}, setup).out);
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) {
    if (line.find('/') == std::string::npos) {
      EXPECT_LE(line.size(), 80U) << line;
    }
  }
  EXPECT_GT(lines, 20);
}

// Two pictures in turn, so that a frame with the boxes of another one is seen.
TEST_F(NetworkProgram, GivesTheSameBoxesUnderAllSchedulesAndBatches) {
  if (!has_cpu_device(1)) GTEST_SKIP() << "there is no OpenCL device for the CPU";
  small_yolox(64, 2, true).save(model_);
  std::filesystem::create_directory(folder_ / "in");
  for (int i = 0; i < 9; ++i)
    std::filesystem::copy(
        i % 2 == 0 ? picture_ : std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street-people.jpg",
        folder_ / ("in/" + std::to_string(i) + ".jpg"));
  const auto found = [&](std::vector<std::string> options) {
    const std::string file = folder_ / "found.jsonl";
    options.insert(options.begin(), {"detect", folder_ / "in", "--model", model_, "--threshold", "0.05",
                                     "--device", "cpu", "--detections", file, "--overwrite"});
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, testing::Not(HasSubstr("disabled")));
    std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string expected = found({"--schedule", "cpu"});
  EXPECT_GT(expected.size(), 1000U);
  EXPECT_EQ(found({"--schedule", "gpu", "--batch", "4"}), expected);
  if (is_thorough()) {
    EXPECT_EQ(found({"--schedule", "gpu"}), expected);
    EXPECT_EQ(found({"--schedule", "overlap", "--batch", "2"}), expected);
  }
  EXPECT_EQ(found({"--map", "network_1=gpu,network_3=gpu", "--batch", "8"}), expected);
}

// A network that takes bytes finds the same as one that takes them as real numbers.
TEST_F(NetworkProgram, TakesPicturesOfBytes) {
  OnnxBuilder builder = small_yolox(64, 2);
  onnx::GraphProto& graph = *builder.proto().mutable_graph();
  const std::string picture = graph.input(0).name();
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::UINT8);
  for (onnx::NodeProto& node : *graph.mutable_node())
    for (std::string& input : *node.mutable_input())
      if (input == picture) input = "reals";
  builder.node("Cast", {picture}, {"reals"}, {{"to", 1}});
  for (int i = graph.node_size() - 1; i > 0; --i) graph.mutable_node()->SwapElements(i, i - 1);
  builder.metadata("names", "{0: 'ball', 1: 'box'}");
  const std::string bytes = folder_ / "bytes.onnx";
  builder.save(bytes);
  const auto found = [&](const std::string& model) {
    const Outcome outcome = run({"-q", "detect", picture_, "--model", model, "--threshold", "0.05"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string expected = found(model_);
  EXPECT_THAT(expected, HasSubstr("score"));
  EXPECT_EQ(found(bytes), expected);
}

// Networks are not split: nobody has asked for it.
TEST_F(NetworkProgram, IsMeasuredUnderTheSchedulesThatItHas) {
  if (!has_cpu_device(1)) GTEST_SKIP() << "there is no OpenCL device for the CPU";
  const std::string json = folder_ / "m.json";
  const std::vector<std::string> measure{"measure",   moving_clip(160, 80, 1),
                                         "--model",   model_,
                                         "--device",  "cpu",
                                         "--frames",  "10",
                                         "--repeats", "1",
                                         "--preload", "1"};
  std::vector<std::string> all = measure;
  all.insert(all.end(), {"--json", json});
  const Outcome outcome = run(all);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("schedule split"));
  std::ifstream stream(json);
  std::set<std::string> schedules;
  const Json measured = Json::parse(stream);
  for (const Json& one : measured.at("schedules")) schedules.insert(one.at("schedule").get<std::string>());
  EXPECT_THAT(schedules, testing::IsSupersetOf({"cpu", "gpu", "auto"}));
  EXPECT_FALSE(schedules.contains("split"));
  std::vector<std::string> named = measure;
  named.insert(named.end(), {"--schedules", "cpu,split"});
  EXPECT_EQ(run(named).exit_code, 2) << "whoever asks for it is told";
}

TEST_F(NetworkProgram, ReportsTheClassesThatAreAskedFor) {
  const std::string found = folder_ / "found.jsonl";
  EXPECT_EQ(run({"detect", picture_, "--model", model_, "--threshold", "0", "--classes", "box",
                 "--detections", found})
                .exit_code,
            0);
  const std::map<std::string, int> numbers = numbers_in(found);
  ASSERT_EQ(numbers.size(), 1U);
  EXPECT_EQ(numbers.begin()->first, "box");
  const Outcome none = run({"detect", picture_, "--model", model_, "--threshold", "1"});
  EXPECT_THAT(none.err, testing::AllOf(HasSubstr("--threshold"), testing::Not(HasSubstr("--min-size"))));
  EXPECT_EQ(run({"detect", picture_, "--model", model_, "--classes", "cup"}).exit_code, 2);
}

TEST_F(NetworkProgram, HasThresholdsByClass) {
  const auto labels = [&](const std::vector<std::string>& options) {
    const std::string found = folder_ / "found.jsonl";
    std::vector<std::string> words{"detect", picture_,      "--model",      model_, "--threshold",
                                   "0.1",    "--overwrite", "--detections", found};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(run(words).exit_code, 0);
    return numbers_in(found);
  };
  std::map<std::string, int> all = labels({});
  ASSERT_GT(all["ball"], 0);
  ASSERT_GT(all["box"], 0);
  std::map<std::string, int> some = labels({"--class-thresholds", "ball=1"});
  EXPECT_EQ(some["ball"], 0);
  EXPECT_EQ(some["box"], all["box"]);
  some = labels({"--class-thresholds", "ball=0.1", "--threshold", "1"});
  EXPECT_EQ(some["ball"], all["ball"]);
  EXPECT_EQ(some["box"], 0);
  for (const char* wrong :
       {"ball", "ball=", "ball=x", "cup=0.5", "ball=nan", "ball=2", "ball=-1", "ball=0.2,ball=0.3"})
    EXPECT_EQ(run({"detect", picture_, "--model", model_, "--class-thresholds", wrong}).exit_code, 2)
        << wrong;
  EXPECT_EQ(run({"detect", picture_, "--model", model_, "--classes", "box", "--class-thresholds", "ball=0.5"})
                .exit_code,
            2);
}

// An evaluation needs the low scores, too.
TEST_F(NetworkProgram, IsEvaluatedWithoutItsThresholds) {
  const std::string truth = folder_ / "truth.txt", config = folder_ / "mine.toml";
  std::ofstream(truth) << "street.jpg 100 100 300 400 box\n";
  std::filesystem::create_directory(folder_ / "in");
  std::filesystem::copy_file(picture_, folder_ / "in/street.jpg");
  const auto evaluated = [&](const std::string& thresholds) {
    std::ofstream(config) << "[detector]\nfamily = \"network\"\nmodel = \"small.onnx\"\n" + thresholds;
    const Outcome outcome =
        run({"evaluate", "frames", folder_ / "in", "--truth", truth, "--config", config, "--label", "box"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(evaluated("class_thresholds = \"ball=1,box=1\"\n"), evaluated(""));
}

TEST_F(NetworkProgram, RunsBesideAnotherDetector) {
  const std::string found = folder_ / "found.jsonl";
  const Outcome outcome = run({"detect", picture_, "--config", "people," + model_, "--classes", "box",
                               "--class-thresholds", "box=0.1", "--detections", found});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, int> numbers = numbers_in(found);
  EXPECT_GT(numbers["person"], 0);
  EXPECT_GT(numbers["box"], 0);
  EXPECT_EQ(numbers["ball"], 0);
  // Both have a threshold.
  EXPECT_EQ(run({"detect", picture_, "--config", "people," + model_, "--threshold", "0.1"}).exit_code, 2);
  EXPECT_EQ(run({"detect", picture_, "--config", "people," + (folder_ / "missing.onnx")}).exit_code, 4);
  const Outcome refused = run({"detect", picture_, "--config", "people", "--model", model_});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("people," + model_));
}

TEST_F(NetworkProgram, ExplainsANetworkAndAPicture) {
  const std::string input = folder_ / "input.png", drawing = folder_ / "plan.svg";
  const Outcome outcome =
      run({"network", "explain", model_, picture_, "--picture", input, "--times", "--graph", drawing});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"yolox", "64x64", "ball, box", "convolve 3x3 by 2x2, 3 to 16", "rejected"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  EXPECT_GT(load(input).size(), 100U);
  const std::vector<char> drawn = load(drawing);
  EXPECT_THAT(std::string(drawn.begin(), drawn.end()), HasSubstr(">convolve 3x3 by 2x2, 3 to 16<"));
}

TEST_F(NetworkProgram, TimesLaunchesOnADevice) {
  const auto timed_on = [&](const std::string& device, const std::string& batch) {
    return run({"network", "explain", model_, "--times", "--device", device, "--batch", batch});
  };
  EXPECT_EQ(timed_on("no such device", "1").exit_code, 5);
  EXPECT_EQ(timed_on("none", "1").exit_code, 2);
  // Millions of multiply-adds of all launches; the table's last row has ms and share before them.
  const auto total_of = [&](const std::string& batch) {
    const Outcome outcome = timed_on("cpu", batch);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::size_t at = outcome.out.rfind(" all ");
    EXPECT_NE(at, std::string::npos) << outcome.out;
    std::istringstream row(outcome.out.substr(at + 5));
    double ms = 0, multiply_adds = 0;
    std::string share;
    row >> ms >> share >> multiply_adds;
    EXPECT_GT(ms, 0);
    return multiply_adds;
  };
  const double of_one = total_of("1");
  EXPECT_GT(of_one, 0.1);
  EXPECT_NEAR(total_of("3"), 3 * of_one, 0.02);
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

TEST_F(NetworkProgram, RefusesReferencesThatContradictThemselves) {
  const std::string file = folder_ / "odd.npy";
  const auto result_of = [&](const std::string& header, std::size_t bytes) {
    std::ofstream(file, std::ios::binary)
        << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0' << header
        << std::string(bytes, '\0');
    return run({"network", "compare", model_, "--reference", file}).exit_code;
  };
  const std::string type = "{'descr': '<f4', ", order = "'fortran_order': False, ",
                    shape = "'shape': (1,84,7)";
  EXPECT_EQ(result_of(type + order + shape + "}", 588 * 4), 1);
  EXPECT_EQ(result_of(type + order + shape + "}", 588 * 4 + 1), 3);
  for (const std::string& header :
       {"{'descr': '<f4' '<i8', " + order + shape + "}", type + type.substr(1) + order + shape + "}",
        type + order + shape + ", " + shape + "}", type + shape + "}", type + order + "'shape': 3}",
        type + order + "'shape': (-1,84,7)}", type + order + "'shape': (99999999999999999999,)}",
        type + order + "'shape': (4294967296,4294967296)}", type + order + shape + ", 'more': 1}",
        type + order + shape, type + order + shape + "} '<i8'", "{'fortran_order': False, " + shape + "}",
        type + "'fortran_order': True, " + shape + "}", std::string()})
    EXPECT_EQ(result_of(header, 588 * 4), 3) << header;
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

// Truth with a class of the detector, which marks its best box, and one that the detector lacks.
TEST_F(NetworkProgram, EvaluatesTheClassesThatTruthAndLabelsShare) {
  const std::string found = folder_ / "found.jsonl", truth = folder_ / "truth.json";
  std::filesystem::create_directory(folder_ / "in");
  std::filesystem::copy(picture_, folder_ / "in/street.jpg");
  ASSERT_EQ(run({"detect", folder_ / "in", "--model", model_, "--threshold", "0.001", "--detections", found})
                .exit_code,
            0);
  std::ifstream stream(found);
  const Json best = Json::parse(stream)["objects"].at(0);
  const std::string label = best["label"];
  Json coco{{"images", {{{"id", 1}, {"file_name", "street.jpg"}}}},
            {"categories", {{{"id", 5}, {"name", label}}, {{"id", 7}, {"name", "van"}}}},
            {"annotations", {{{"image_id", 1}, {"category_id", 5}, {"bbox", best["box"]}}}}};
  for (int i = 0; i < 2; ++i)
    coco["annotations"].push_back({{"image_id", 1}, {"category_id", 7}, {"bbox", {10, 10, 100, 20 + i}}});
  std::ofstream(truth) << coco;
  const std::string json = folder_ / "figures.json", table = folder_ / "figures.csv";
  const auto evaluate = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{"evaluate", "frames", folder_ / "in", "--truth", truth, "--model",
                                   model_,     "--json", json,           "--coco",  table, "--overwrite"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::ifstream written(json);
    return std::pair(Json::parse(written), outcome);
  };

  const auto [figures, outcome] = evaluate({});
  EXPECT_EQ(figures["label"], label);
  EXPECT_EQ(figures["objects"], 1);
  EXPECT_LT(figures["log_average_miss_rate"], 1e-9);
  EXPECT_EQ(figures["miss_rates"].size(), 3U);
  EXPECT_EQ(figures["coco"]["mean"]["AP50"], 1);
  ASSERT_EQ(figures["coco"]["classes"].size(), 1U);
  EXPECT_EQ(figures["coco"]["classes"][0]["class"], label);
  EXPECT_EQ(figures["coco"]["classes"][0]["AP50"], 1);
  EXPECT_EQ(figures["coco"]["not_detected"], Json({{{"class", "van"}, {"objects", 2}}}));
  EXPECT_THAT(outcome.out, HasSubstr("van (2)"));
  std::ifstream rows(table);
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "class,objects,AP,AP50,AP75,APs,APm,APl,AR1,AR10,AR100,ARs,ARm,ARl");
  std::getline(rows, row);
  EXPECT_TRUE(row.starts_with(label + ",1,"));
  std::getline(rows, row);
  EXPECT_TRUE(row.starts_with("mean,1,"));

  // The user's choice, whatever its name.
  const Json chosen = evaluate({"--label", label}).first;
  EXPECT_EQ(chosen["objects"], 1);
  EXPECT_EQ(chosen["coco"]["classes"][0]["objects"], 1);
  EXPECT_EQ(evaluate({"--truth-label", "van"}).first["objects"], 2);
  const Json other = evaluate({"--label", label == "box" ? "ball" : "box"}).first;
  EXPECT_EQ(other["objects"], 3);
  EXPECT_EQ(other["coco"]["classes"][0]["objects"], 3);
  coco["categories"][0]["name"] = "tram";
  std::ofstream(truth) << coco;
  const auto [all, said] = evaluate({});
  EXPECT_EQ(all["label"], "ball");
  EXPECT_EQ(all["objects"], 3);
  EXPECT_THAT(said.err, testing::AllOf(HasSubstr("tram, van"), HasSubstr("--truth-label")));
}

// As networks give whose last layer was quantised too coarsely.
TEST_F(NetworkProgram, WarnsOfScoresThatAreAllEqual) {
  OnnxBuilder builder = small_yolox(64, 2);
  onnx::NodeProto& last =
      *builder.proto().mutable_graph()->mutable_node(builder.proto().graph().node_size() - 1);
  last.set_output(0, "before");
  builder.node("Mul", {"before", builder.reals("zero", {1}, {0})}, {"output"});
  builder.save(model_);
  const Outcome outcome = run({"detect", picture_, "--model", model_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("warning"));
  EXPECT_THAT(outcome.err, HasSubstr("score 0"));
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

TEST_F(NetworkProgram, TakesAnchorsForRawMaps) {
  OnnxBuilder builder;
  std::string x = builder.input("images", {1, 3, 64, 64});
  for (const int stride : {2, 4, 8, 16, 32}) {
    const std::string name = "s" + std::to_string(stride);
    x = builder.convolution(name, x, stride == 2 ? 3 : 8, 8, 3, 2);
    if (stride < 8) continue;
    builder.output(builder.convolution(name + "_map", x, 8, 2 * 6, 1));
  }
  builder.save(model_);
  const Outcome without = run({"network", "explain", model_});
  EXPECT_EQ(without.exit_code, 4);
  const std::string config = folder_ / "mine.toml";
  std::ofstream(config)
      << "[detector]\nfamily = \"network\"\nmodel = \"small.onnx\"\nmodel_type = \"yolov5\"\n"
         "anchors = \"8x9 10x11  12x13 14x15 16x17 18.5x19\"\n";
  const Outcome outcome = run({"network", "explain", model_, "--config", config});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("16x17 18.5x19"));
  EXPECT_EQ(run({"detect", picture_, "--config", config}).exit_code, 0);
  for (const char* wrong : {"8x9 10", "8x-1", "x", "8x9x3"}) {
    std::ofstream(config) << "[detector]\nfamily = \"network\"\nmodel = \"small.onnx\"\nanchors = \"" << wrong
                          << "\"\n";
    EXPECT_EQ(run({"network", "explain", model_, "--config", config}).exit_code, 2) << wrong;
  }
  small_yolox(64, 2).save(model_);  // which has none
  std::ofstream(config) << "[detector]\nfamily = \"network\"\nmodel = \"small.onnx\"\nanchors = \"8x9\"\n";
  EXPECT_EQ(run({"network", "explain", model_, "--config", config}).exit_code, 2);
}

}  // namespace
}  // namespace sightline::test
