// What a file claims is not what is allocated, and what a detector finds is bounded: memory, time and boxes,
// with limits that options move.

#include <unistd.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "model/safetensors.hpp"
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

using media::test::store;

const std::string kSmall = "lavfi:testsrc2=size=160x200:rate=10:duration=0.2";

class Limits : public testing::Test {
 protected:
  // The program's own size, the libraries that it loads included, and little more.
  static constexpr long kLittleMemory = 400'000;

  std::string file(const std::string& name, const std::string& bytes) {
    store(folder_ / name, bytes);
    return folder_ / name;
  }
  // A safetensors file of that header and so much data.
  std::string tensors(const std::string& header, std::size_t data = 64) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i);
    return file("hostile.safetensors", bytes + header + std::string(data, '\1'));
  }
  void expect_refused(const std::string& model, const std::string& fact) {
    const Outcome outcome = expect_run(4, fact, {"detect", kSmall, "--device", "none", "-m", model});
    expect_memory(outcome, kLittleMemory);
  }
  // Sanitizers take memory of their own.
  static void expect_memory(const Outcome& outcome, long kilobytes) {
    EXPECT_LT(outcome.peak_kilobytes, kSanitized ? std::numeric_limits<long>::max() : kilobytes)
        << outcome.err;
  }
  TempDir folder_;
};

TEST_F(Limits, SizesThatAModelClaims) {
  const auto one = [](const std::string& shape, const std::string& offsets) {
    return R"({"weights":{"dtype":"I8","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}}";
  };
  std::string length;
  for (const char byte : {'\0', '\0', '\0', '\0', '\0', '\0', '\0', '\x10'}) length += byte;  // 2^60
  expect_refused(file("length.safetensors", length + "{}"), "1152921504606846976");
  expect_refused(tensors(one("1152921504606846976", "0,1152921504606846976")), "'weights'");
  expect_refused(tensors(one("1152921504606846976", "0,64")), "'weights'");
  expect_refused(tensors(one("4294967296,4294967296", "0,64")), "'weights'");  // the product is 2^64, or 0
  expect_refused(tensors(one("4294967296,4294967296,0", "0,64")), "'weights'");
  expect_refused(tensors(one("-64", "0,64")), "hostile.safetensors");
  expect_refused(tensors(one("64", "-1,63")), "hostile.safetensors");
  expect_refused(tensors(one("64", "64,0")), "'weights'");
  expect_refused(tensors(one("18446744073709551615", "0,64")), "'weights'");
  expect_refused(tensors(one("1e18", "0,64")), "hostile.safetensors");
  expect_refused(tensors(R"({"a":{"dtype":"I8","shape":[40],"data_offsets":[0,40]},)"
                         R"("b":{"dtype":"I8","shape":[40],"data_offsets":[24,64]}})"),
                 "overlapping arrays");
  expect_refused(tensors(R"({"a":{"dtype":"I8","shape":[40],"data_offsets":[0,40]}})"), "");
}

TEST_F(Limits, ArraysAndTextsThatTakeMoreRoomThanTheirHeader) {
  std::string arrays = "{", texts = R"({"__metadata__":{)";
  for (int i = 0; i < 400'000; ++i) {
    const std::string name = (i > 0 ? ",\"" : "\"") + std::to_string(i);
    arrays += name + R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    texts += name + R"(":"")";
  }
  expect_refused(tensors(arrays + "}", 0), "10000");
  expect_refused(tensors(texts + "}}", 0), "10000");
}

// A terabyte that takes no room on the disk.
TEST_F(Limits, ModelFilesThatAreTooLarge) {
  const std::string header =
      R"({"w":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}})";
  const std::string sparse = tensors(header, 0);
  if (truncate(sparse.c_str(), static_cast<off_t>(8 + header.size() + 1099511627776)) != 0)
    GTEST_SKIP() << "the file system has no sparse files";
  expect_refused(sparse, "more than a model may have (256 MiB); give a larger --max-model-size");
  expect_run(4, "(256 MiB)", {"model", "show", sparse});
  expect_run(4, "(300 MiB)", {"model", "show", sparse, "--max-model-size", "300"});

  // A real model is refused where the limit is below it, and taken where it is not.
  const std::string padded = folder_ / "padded.safetensors";
  Safetensors model = Safetensors::load(SIGHTLINE_SOURCE_DIR "/configs/models/people.safetensors");
  model.set<std::uint8_t>("padding", {1 << 20}, std::vector<std::uint8_t>(1 << 20));
  model.save(padded);
  expect_run(4, "(1 MiB)", {"detect", kSmall, "-m", padded, "--max-model-size", "1"});
  expect_run(0, {"detect", kSmall, "-m", padded, "--max-model-size", "100"});

  std::string xml = "<?xml version=\"1.0\"?><opencv_storage><cascade>";
  while (xml.size() <= (std::size_t{16} << 20)) xml += "<a/><a/><a/><a/><a/><a/><a/><a/>";
  xml += "</cascade></opencv_storage>";
  expect_refused(file("large.xml", xml), "more than 16 MiB; give a larger --max-model-size");
  const Outcome allowed =
      expect_run(4, {"detect", kSmall, "-m", folder_ / "large.xml", "--max-model-size", "17"});
  expect_memory(allowed, 30 * 16 * 1024 + kLittleMemory);
}

// A cascade of one stage that every window passes.
std::string greedy_cascade() {
  return R"(<?xml version="1.0"?><opencv_storage><cascade type_id="opencv-cascade-classifier">
<stageType>BOOST</stageType><featureType>HAAR</featureType><height>8</height><width>8</width>
<featureParams><maxCatCount>0</maxCatCount></featureParams><stageNum>1</stageNum>
<stages><_><stageThreshold>-1000</stageThreshold><weakClassifiers><_>
<internalNodes>0 -1 0 0.</internalNodes><leafValues>-1. 1.</leafValues></_></weakClassifiers></_></stages>
<features><_><rects><_>0 0 8 8 -1.</_><_>0 0 4 8 2.</_></rects><tilted>0</tilted></_></features>
</cascade></opencv_storage>)";
}

Json only_line(const Outcome& outcome) {
  const std::vector<Json> lines = parse_lines(outcome.out);
  EXPECT_EQ(lines.size(), 1u) << outcome.err;
  return lines.empty() ? Json::object() : lines.front();
}

TEST_F(Limits, ACascadeThatTakesEveryWindow) {
  const std::string picture = folder_ / "picture.png";
  media::test::make_clip(picture, "mandelbrot=size=1280x720,trim=end_frame=1");
  const std::string model = file("greedy.xml", greedy_cascade());
  const Words command{"detect", picture, "--device", "none", "-d", "-", "-m", model};
  for (const char* neighbors : {"0", "3"}) {
    const Outcome outcome = expect_run(0, "100000", command + Words{"--min-neighbors", neighbors});
    EXPECT_LE(only_line(outcome).at("objects").size(), 100'000u);
    expect_memory(outcome, 2'000'000);
  }
  // The same ones, however the work is shared out.
  const Words few{"--min-neighbors", "0", "--max-candidates", "100"};
  const Outcome one = expect_run(0, "100", command + few + Words{"--threads", "1"});
  const Outcome two = expect_run(0, "100", command + few + Words{"--threads", "2"});
  EXPECT_EQ(only_line(one).at("objects").size(), 100u);
  EXPECT_EQ(one.out, two.out);
}

TEST_F(Limits, AThresholdThatEveryWindowReaches) {
  const std::string clip = moving_clip(1280, 720, 2);
  const Words command{"detect",      clip,    "--device",    "none",      "-d", "-",
                      "--threshold", "-1000", "--no-verify", "--filters", "12"};
  const Words smaller{"--min-size", "48"};
  const Outcome all = expect_run(0, "20000", command + smaller);
  expect_memory(all, 1'000'000);
  // Once, not for each frame.
  EXPECT_NE(all.err.find("--max-candidates"), std::string::npos) << all.err;
  EXPECT_EQ(all.err.find("--max-candidates"), all.err.rfind("--max-candidates"));

  const Outcome few = expect_run(0, "40", command + smaller + Words{"--max-candidates", "40"});
  const std::vector<Json> all_lines = parse_lines(all.out), few_lines = parse_lines(few.out);
  ASSERT_EQ(all_lines.size(), 2u);
  ASSERT_EQ(few_lines.size(), 2u);
  for (int i = 0; i < 2; ++i) {
    const Json &many = all_lines[i].at("objects"), &best = few_lines[i].at("objects");
    EXPECT_LE(best.size(), 40u);
    ASSERT_GT(best.size(), 1u);
    ASSERT_GT(many.size(), best.size());
    EXPECT_EQ(best[0], many[0]) << "the best stays the best";
  }
  expect_run(2, "--max-candidates", command + Words{"--max-candidates", "0"});
}

TEST_F(Limits, ConfigurationsThatAreTooLarge) {
  const std::string sparse = file("large.toml", "[detector]\n");
  if (truncate(sparse.c_str(), off_t{1} << 40) != 0) GTEST_SKIP() << "the file system has no sparse files";
  expect_memory(expect_run(2, {"detect", kSmall, "-c", sparse}), kLittleMemory);
}

TEST_F(Limits, Pixels) {
  const std::string clip = folder_ / "clip.mkv";
  media::test::make_clip(clip, "testsrc2=size=320x240:rate=5:duration=1");
  expect_run(0, {"detect", clip, "--max-pixels", "76800"});
  expect_run(
      3,
      "320x240 pixels in '" + clip + "' is larger than the limit of 76799 pixels; use a larger --max-pixels",
      {"detect", clip, "--max-pixels", "76799"});
  expect_run(3, "--max-pixels", {"live", clip, "--headless", "--max-pixels", "76799"});
  expect_run(3, "--max-pixels", {"measure", clip, "--max-pixels", "76799", "--device", "none"});
  expect_run(2, "--max-pixels", {"detect", clip, "--max-pixels", "0"});
}

}  // namespace
}  // namespace sightline::test
