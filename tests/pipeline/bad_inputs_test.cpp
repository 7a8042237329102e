// Whatever is wrong with what the program is given, it says so, names it, and ends with the code documented
// for it.

#include <fstream>
#include <nlohmann/json.hpp>

#include "model/safetensors.hpp"
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::load;
using media::test::make_clip;
using media::test::store;

const std::string kClip = "lavfi:testsrc=size=160x200:rate=10:duration=1";
const std::string kModel = std::string(SIGHTLINE_SOURCE_DIR) + "/configs/models/people.safetensors";

class BadInput : public testing::Test {
 protected:
  std::string clip(const std::string& name, const std::string& size = "200x240") {
    media::WriteOptions options;
    options.threads = 1;
    make_clip(folder_ / name, "testsrc=size=" + size + ":rate=25:duration=2", options);
    return folder_ / name;
  }
  std::string file(const std::string& name, const std::string& text) {
    store(folder_ / name, text);
    return folder_ / name;
  }
  static std::int64_t frames(const Outcome& outcome) {
    return static_cast<std::int64_t>(parse_lines(outcome.out).size());
  }
  TempDir folder_;
};

TEST_F(BadInput, WhatIsNoVideoIsNamed) {
  const std::string prose = "just some words\nand more of them\n";
  for (const std::string& input : {folder_ / "nothing.mp4", folder_.path(), file("empty.mp4", ""),
                                   file("notes.txt", prose), file("notes.mp4", prose)})
    expect_run(3, input, {"detect", input});
  expect_run(3, {"detect", "lavfi:sine=duration=1"});
}

TEST_F(BadInput, WhatComesBeforeTheCutIsProcessed) {
  for (const char* type : {".mkv", ".mp4"}) {  // an MP4 file lacks its index
    std::vector<char> bytes = load(clip(std::string("whole") + type));
    bytes.resize(bytes.size() / 2);
    const std::string cut = folder_ / (std::string("cut") + type);
    store(cut, bytes);
    const std::int64_t found = frames(expect_run(3, cut, {"detect", cut}));
    if (type == std::string(".mkv")) {
      EXPECT_GT(found, 5);
      EXPECT_LT(found, 45);
    }
  }
}

TEST_F(BadInput, DamageIsCountedAndTheRestProcessed) {
  const std::string path = clip("whole.avi");
  std::vector<char> bytes = load(path);
  for (std::size_t i = bytes.size() / 3; i < bytes.size() * 2 / 3; i += 97)
    bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  store(folder_ / "flipped.avi", bytes);
  const Outcome outcome = expect_run(3, "flipped.avi", {"detect", folder_ / "flipped.avi"});
  EXPECT_GT(frames(outcome), 25);
}

TEST_F(BadInput, OnePixel) {
  const Outcome outcome =
      expect_run(0, "2 frames",
                 {"detect", "lavfi:testsrc=size=1x1:rate=2:duration=1", "-o", folder_ / "o.mp4", "-d", "-",
                  "--contact-sheet", folder_ / "sheet.png"});
  EXPECT_EQ(frames(outcome), 2);
  EXPECT_EQ(media::test::read_all(folder_ / "o.mp4").size(), 2u);
  EXPECT_TRUE(fs::exists(folder_ / "sheet.png"));
}

TEST_F(BadInput, FramesSmallerThanTheWindowAreSkipped) {
  for (const auto& [size, border] : {std::pair("60x120", "0"), {"60x78", "24"}}) {
    const Outcome outcome = expect_run(
        0, {"detect", std::string("lavfi:testsrc=rate=5:duration=1:size=") + size, "--border", border});
    const std::vector<Json> lines = parse_lines(outcome.out);
    ASSERT_EQ(lines.size(), 5u);
    for (const Json& line : lines) {
      EXPECT_EQ(line.at("status"), "skipped");
      EXPECT_TRUE(line.at("objects").empty());
      EXPECT_NE(line.at("message").get<std::string>().find("smaller"), std::string::npos);
    }
  }
}

TEST_F(BadInput, SizeThatChangesMidway) {
  make_clip(folder_ / "a%02d.jpg", "testsrc=size=200x240:rate=5:duration=1");
  make_clip(folder_ / "b%02d.jpg", "testsrc=size=300x260:rate=5:duration=1");
  std::vector<char> stream;
  for (const char* name : {"a01.jpg", "b01.jpg", "a02.jpg", "b02.jpg"}) {
    const std::vector<char> picture = load(folder_ / name);
    stream.insert(stream.end(), picture.begin(), picture.end());
  }
  store(folder_ / "both.mjpeg", stream);
  const Outcome outcome = expect_run(
      0, {"detect", folder_ / "both.mjpeg", "-d", "-", "-o", folder_ / "o.mkv", "--in-flight", "4"});
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("status"), "ok");
    EXPECT_EQ(lines[i].at("width"), i % 2 == 0 ? 200 : 300);
    EXPECT_EQ(lines[i].at("height"), i % 2 == 0 ? 240 : 260);
  }
  const auto written = media::test::read_all(folder_ / "o.mkv");
  ASSERT_EQ(written.size(), 4u);
  EXPECT_EQ(written[1].size(), (Size{200, 240}));
}

TEST_F(BadInput, OutputsThatCannotBeOpened) {
  for (const auto& [option, name] :
       {std::pair{"-o", "gone/o.mp4"}, {"-d", "gone/o.jsonl"}, {"--contact-sheet", "gone/o.png"}}) {
    expect_run(1, folder_ / name, {"detect", kClip, option, folder_ / name});
  }
}

TEST_F(BadInput, FullDetections) {
  expect_run(1, "/dev/full", {"detect", kClip, "-d", "/dev/full"});
  RunSetup setup;
  setup.output = "/dev/full";
  expect_run(1, {"detect", kClip}, setup);
}

TEST_F(BadInput, FullVideo) {
  RunSetup setup;
  setup.file_limit = 50'000;
  expect_run(1, "big.mp4",
             {"detect", "lavfi:testsrc2=size=640x480:rate=25:duration=4", "--min-size", "350", "-o",
              folder_ / "big.mp4"},
             setup);
}

TEST_F(BadInput, BadInputLeavesAnExistingOutputAlone) {
  const std::string kept = file("kept.jsonl", "precious\n");
  expect_run(3, "nothing.mp4", {"detect", folder_ / "nothing.mp4", "-d", kept, "--overwrite"});
  expect_run(2, "formt", {"detect", kClip, "-d", kept, "-f", "formt", "--overwrite"});
  EXPECT_EQ(bytes_of(kept), "precious\n");
}

TEST_F(BadInput, OutputThatIsTheInput) {
  const std::string path = clip("in.mp4", "160x200");
  const std::vector<char> before = load(path);
  fs::create_symlink(path, folder_ / "link.mp4");
  for (const char* option : {"-o", "-d", "--contact-sheet"}) {
    expect_run(2, {"detect", path, option, path});
    expect_run(2, {"detect", path, option, folder_ / "link.mp4"});
  }
  EXPECT_EQ(load(path), before);
}

TEST_F(BadInput, TwoOutputsThatAreOneFile) {
  expect_run(2, "o.mp4", {"detect", kClip, "-o", folder_ / "o.mp4", "-d", folder_ / "o.mp4"});
  const std::string input = clip("in.mp4", "160x200");
  expect_run(2, {"live", input, "--headless", "--trace", folder_ / "x", "-d", folder_ / "x"});
  const std::string there = file("there.jsonl", "precious\n");
  fs::create_symlink(there, folder_ / "link.png");
  expect_run(2, {"detect", input, "-d", there, "--contact-sheet", folder_ / "link.png", "--overwrite"});
  EXPECT_EQ(bytes_of(there), "precious\n");
}

TEST_F(BadInput, Models) {
  const std::vector<char> whole = load(kModel);
  ASSERT_GT(whole.size(), 1000u);
  expect_run(4, "no.safetensors", {"detect", kClip, "-m", folder_ / "no.safetensors"});
  for (const std::size_t length : {std::size_t{0}, std::size_t{5}, std::size_t{200}, whole.size() - 1}) {
    store(folder_ / "cut.safetensors", std::vector<char>(whole.begin(), whole.begin() + length));
    expect_run(4, "cut.safetensors", {"detect", kClip, "-m", folder_ / "cut.safetensors"});
  }

  for (const auto& [key, value] : {std::pair{"kind", "sightline.cascade"}, {"bias", "nan"}}) {
    Safetensors changed = Safetensors::load(kModel);
    changed.metadata[key] = value;
    changed.save(folder_ / "changed.safetensors");
    expect_run(4, value, {"detect", kClip, "-m", folder_ / "changed.safetensors"});
  }

  Safetensors numbers = Safetensors::load(kModel);
  const Tensor& reference = numbers.at("dictionary.reference");
  std::vector<float> values(reference.bytes.size() / sizeof(float), std::numeric_limits<float>::quiet_NaN());
  numbers.set<float>("dictionary.reference", TensorShape(reference.shape), values);
  numbers.save(folder_ / "nan.safetensors");
  expect_run(4, "dictionary.reference", {"detect", kClip, "-m", folder_ / "nan.safetensors"});
}

TEST_F(BadInput, Configurations) {
  const std::string head = "[detector]\nmodel = \"" + kModel + "\"\n";
  expect_run(2, "type.toml:3: 'min_size'",
             {"detect", kClip, "-c", file("type.toml", head + "min_size = \"small\"\n")});
  expect_run(2, "range.toml:3: 'scale_step'",
             {"detect", kClip, "-c", file("range.toml", head + "scale_step = 0.5\n")});
  expect_run(2, "syntax.toml:1:", {"detect", kClip, "-c", file("syntax.toml", "[detector\n")});
  expect_run(2, "'family'", {"detect", kClip, "-c", file("family.toml", head + "family = 3\n")});
  expect_run(2, {"detect", kClip, "-c", "no such"});
  expect_run(2, "gone.toml", {"detect", kClip, "-c", folder_ / "gone.toml"});
}

TEST_F(BadInput, Usage) {
  expect_run(2, {"detect"});
  for (const char* size : {"24", "24x48x8", "4x8", "axb"}) {
    expect_run(2, "--window",
               {"train", "waldboost", "--window", size, "--positives", folder_.path(), "--negatives",
                folder_.path()});
  }
  for (const auto& [option, value] :
       {std::pair{"--threshold", "high"}, {"--threads", "0"}, {"--every", "0"}, {"--start", "-1"}})
    expect_run(2, option, {"detect", kClip, option, value});
  expect_run(2, "'xml'", {"detect", kClip, "-f", "xml"});
  expect_run(2, "o.strange", {"detect", kClip, "-o", folder_ / "o.strange"});
  expect_run(2, "'no-such-encoder'",
             {"detect", kClip, "-o", folder_ / "o.mp4", "--encoder", "no-such-encoder"});
  expect_run(2, "'mmx'", {"--instruction-set", "mmx", "detect", kClip});
  expect_run(2, {"detect", kClip, "--min-size", "200", "--max-size", "100"});
  EXPECT_FALSE(fs::exists(folder_ / "o.mp4"));
}

TEST_F(BadInput, MisspeltSubcommand) {
  expect_run(2, "'detect'", {"detct", kClip});
  expect_run(2, "'evaluate'", {"-q", "evalute", "--config", "people"});
  expect_run(2, "'filterbank'", {"train", "filterbnk"});
  expect_run(2, {"somethingelse"});
}

TEST_F(BadInput, ContactSheetsArePng) {
  expect_run(2, "sheet.jpg", {"detect", kClip, "--contact-sheet", folder_ / "sheet.jpg"});
  EXPECT_FALSE(fs::exists(folder_ / "sheet.jpg"));
  for (const char* name : {"sheet.PNG", "sheet"}) {
    expect_run(0, {"detect", kClip, "--contact-sheet", folder_ / name});
    EXPECT_TRUE(bytes_of(folder_ / name).starts_with("\x89PNG")) << name;
  }
}

TEST_F(BadInput, MissingInputIsNoticedFirst) {
  const std::string good = clip("good.mkv", "160x200");
  const Outcome outcome = expect_run(
      3, "nothing.mp4", {"detect", good, folder_ / "nothing.mp4", "-o", folder_ / "out", "-d", "-"});
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(BadInput, ModelPathsSayWhatTheyAreRelativeTo) {
  const std::string config = file("own.toml", "[detector]\nmodel = \"models/no.safetensors\"\n");
  const Outcome outcome = expect_run(4, "models/no.safetensors", {"detect", kClip, "-c", config});
  EXPECT_NE(outcome.err.find(config), std::string::npos) << outcome.err;
}

TEST_F(BadInput, OtherFilesAsAModelAreNamed) {
  const std::pair<const char*, std::string> files[] = {
      {"ONNX", file("unnamed", std::string("\x08\x07\x12\x07pytorch", 11))},
      {"PyTorch", file("a.pt", std::string("PK\x03\x04", 4) + std::string(40, '\0'))},
      {"HDF5", file("a.model", "\x89HDF\r\n\x1A\n" + std::string(40, '\0'))},
      {"PNG", file("a.png", "\x89PNG\r\n\x1A\n" + std::string(40, '\0'))},
      {"Matroska", clip("good.mkv", "160x200")},
      {"a.txt", file("a.txt", "hello\n")},
      {"--config", file("own.toml", "[detector]\n")},
      {"empty", file("empty.safetensors", "")}};
  for (const auto& [type, model] : files) expect_run(4, type, {"detect", kClip, "--model", model});
  expect_run(4, "PNG",
             {"detect", kClip, "--model", file("a.xml", "\x89PNG\r\n\x1A\n" + std::string(40, '\0'))});
  expect_run(4, {"detect", kClip, "--model", folder_.path()});
  const std::string network = file("a.onnx", std::string("\x08\x07\x12\x07pytorch", 11));
  expect_run(4, network, {"detect", kClip, "--model", network});
  expect_run(4, network, {"model", "show", network});
}

TEST_F(BadInput, OutputsThatCannotHoldTheVideo) {
  // Newer versions of FFmpeg write GIF.
  const Outcome gif = run({"detect", kClip, "-o", folder_ / "o.gif"});
  if (gif.exit_code == 0) {
    EXPECT_FALSE(media::test::read_all(folder_ / "o.gif").empty());
    fs::remove(folder_ / "o.gif");
  } else {
    EXPECT_EQ(gif.exit_code, 2) << gif.err;
  }
  for (const char* name : {"o.m3u8", "o.mpd", "o.mp3", "o.ffmeta", "o.swf"}) {
    expect_run(2, name, {"detect", kClip, "-o", folder_ / name});
    EXPECT_FALSE(fs::exists(folder_ / name)) << name;
  }
  expect_run(2, "o.m3u8", {"detect", kClip, kClip, "-o", folder_ / "o.m3u8"});
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(BadInput, HardwareEncodersWithoutHardware) {
  for (const char* name : {"h264_vaapi", "h264_v4l2m2m", "h264_qsv", "h264_nvenc"}) {
    const Outcome outcome = run({"detect", kClip, "--encoder", name, "-o", folder_ / "o.mp4"});
    if (outcome.exit_code == 0) continue;  // it is there
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.err.find("preset"), std::string::npos) << outcome.err;
  }
}

TEST_F(BadInput, TheSamePicturesWithAndWithoutTheObject) {
  fs::create_directories(folder_ / "a");
  media::test::make_clip(folder_ / "a/p%d.png", "testsrc=size=64x128:rate=2:duration=1");
  fs::create_directory_symlink(folder_ / "a", folder_ / "b");
  for (const char* other : {"a", "b"}) {
    expect_run(2, "2 pictures",
               {"train", "waldboost", "--positives", folder_ / "a", "--negatives", folder_ / other, "-o",
                folder_ / "m.safetensors"});
    expect_run(2, "2 pictures",
               {"evaluate", "windows", "--positives", folder_ / "a", "--negatives", folder_ / other});
  }
  EXPECT_FALSE(fs::exists(folder_ / "m.safetensors"));
}

TEST_F(BadInput, UnknownKeysAreReportedBeforeTheModelIsRead) {
  const std::string head = "[detector]\nmodel = \"/no.safetensors\"\n";
  expect_run(2, "key.toml:3: 'min_sise'",
             {"detect", kClip, "-c", file("key.toml", head + "min_sise = 96\n")});
  expect_run(2, "section.toml:3: ", {"detect", kClip, "-c", file("section.toml", head + "[detecter]\n")});
  expect_run(2, "relative.toml:2: 'min_sise'",
             {"detect", kClip, "-c",
              file("relative.toml", "[detector]\nmin_sise = 96\nmodel = \"no.safetensors\"\n")});
  expect_run(4, "no.safetensors", {"detect", kClip, "-c", file("known.toml", head + "min_size = 96\n")});
}

TEST_F(BadInput, BadInputAmongSeveral) {
  const std::string good = clip("good.mkv", "160x200");
  const Outcome outcome = expect_run(3, "bad.mp4", {"detect", good, file("bad.mp4", "no video\n")});
  EXPECT_EQ(frames(outcome), 50);  // what was found before is not lost
}

}  // namespace
}  // namespace sightline::test
