// `sightline detect` from the outside: what it writes for good input.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "support/media.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;

const std::string kTenFrames = "lavfi:testsrc=size=160x200:rate=10:duration=1";

std::vector<std::int64_t> numbers(const std::vector<Json>& lines) {
  std::vector<std::int64_t> result;
  for (const Json& line : lines) result.push_back(line.at("frame"));
  return result;
}

std::vector<Json> results_with(const Words& options) {
  const Outcome outcome = expect_run(0, Words{"detect", kTenFrames, "-q"} + options);
  return parse_lines(outcome.out);
}

// Objects over time, pictures and tracks; nothing of operating points where there is one.
TEST(Detect, PageOfARunShowsWhatWasFound) {
  TempDir folder;
  expect_run(
      0, Words{"detect", moving_clip(200, 240, 10), "--track", "--report", folder / "run.html"} + kFindsSome);
  const std::string page = bytes_of(folder / "run.html");
  EXPECT_THAT(page, testing::AllOf(testing::HasSubstr("src=\"data:image/png;base64,iVBORw0KGgo"),
                                   testing::HasSubstr("aria-label=\"Objects over time\""),
                                   testing::HasSubstr("<th scope=\"row\">person #1"),
                                   testing::Not(testing::HasSubstr("Operating point"))));
  // Pictures have no times and no tracks.
  expect_run(0, Words{"detect", std::string(SIGHTLINE_SOURCE_DIR) + "/tools/pictures/street.jpg", "--report",
                      folder / "picture.html"});
  EXPECT_THAT(
      bytes_of(folder / "picture.html"),
      testing::AllOf(testing::HasSubstr("data:image/png"), testing::Not(testing::HasSubstr(">Tracks<"))));
}

TEST(Detect, EveryFrameHasItsLine) {
  const Outcome outcome = expect_run(0, Words{"detect", moving_clip(200, 240, 10)} + kFindsSome);
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 10u);
  std::size_t objects = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::set<std::string> keys;
    for (const auto& [key, value] : lines[i].items()) keys.insert(key);
    EXPECT_EQ(keys,
              (std::set<std::string>{"source", "frame", "time", "status", "width", "height", "objects"}));
    EXPECT_EQ(lines[i].at("source"), moving_clip(200, 240, 10));
    EXPECT_EQ(lines[i].at("frame"), i + 1);
    EXPECT_NEAR(lines[i].at("time").get<double>(), 0.1 * static_cast<double>(i), 1e-6);
    EXPECT_EQ(lines[i].at("status"), "ok");
    EXPECT_EQ(lines[i].at("width"), 200);
    EXPECT_EQ(lines[i].at("height"), 240);
    double last = 1e9;
    for (const Json& object : lines[i].at("objects")) {
      ++objects;
      EXPECT_EQ(object.size(), 3u);
      EXPECT_EQ(object.at("label"), "person");
      EXPECT_LE(object.at("score").get<double>(), last);
      EXPECT_GE(object.at("score").get<double>(), -4);
      last = object.at("score");
      const std::vector<double> box = object.at("box");
      ASSERT_EQ(box.size(), 4u);
      EXPECT_GE(box[0], 0);
      EXPECT_GE(box[1], 0);
      EXPECT_LE(box[0] + box[2], 200.01);
      EXPECT_LE(box[1] + box[3], 240.01);
      const bool cut = box[1] == 0 || box[1] + box[3] > 239.9;  // at the frame's edge
      EXPECT_GE(box[3], cut ? 80 : 95.9);
    }
  }
  EXPECT_GT(objects, 10u);
  EXPECT_NE(outcome.err.find("person: " + std::to_string(objects) + " detections in "), std::string::npos)
      << outcome.err;
}

TEST(Detect, SummaryAndStages) {
  const Outcome outcome = expect_run(0, "10 frames in ", {"-v", "detect", kTenFrames});
  EXPECT_NE(outcome.err.find("frames/s"), std::string::npos);
  for (const char* stage : {"decode", "pyramid", "filter", "histogram", "classify", "group", "output"}) {
    EXPECT_NE(outcome.err.find(stage), std::string::npos) << stage;
  }
}

TEST(Detect, QuietSaysNothing) {
  TempDir folder;
  const Outcome outcome = expect_run(0, {"-q", "detect", kTenFrames, "-d", folder / "d.jsonl", "-o",
                                         folder / "o.mp4", "--contact-sheet", folder / "sheet.png"});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(parse_lines(bytes_of(folder / "d.jsonl")).size(), 10u);
  EXPECT_EQ(media::test::read_all(folder / "o.mp4").size(), 10u);
  EXPECT_EQ(media::test::read_all(folder / "sheet.png").size(), 1u);
}

// Loading them would take longer than all else at the program's start.
TEST(Detect, CaptureLibrariesAreNotLoadedAtTheStart) {
  ASSERT_EQ(setenv("LD_TRACE_LOADED_OBJECTS", "1", 1), 0);  // the loader lists them and does not start it
  const Outcome outcome = run({"--version"});
  unsetenv("LD_TRACE_LOADED_OBJECTS");
  EXPECT_NE(outcome.out.find("libavformat"), std::string::npos) << outcome.out;
  for (const char* library : {"libavdevice", "libavfilter"})
    EXPECT_EQ(outcome.out.find(library), std::string::npos) << library;
}

TEST(Detect, FoldersOfVideos) {
  TempDir folder;
  fs::create_directories(folder / "in/inner");
  make_clip(folder / "in/a.mp4", "testsrc=size=160x200:rate=10:duration=1");
  make_clip(folder / "in/inner/b.mkv", "testsrc=size=160x200:rate=10:duration=0.5");
  make_clip(folder / "in/c.png", "testsrc=size=160x200:rate=1:duration=1");
  const auto frames = [&](const Words& options) {
    std::map<std::string, int> counts;
    const Outcome outcome = expect_run(0, Words{"detect", folder / "in", "-d", "-"} + options);
    for (const Json& line : parse_lines(outcome.out))
      ++counts[fs::path(line.at("source").get<std::string>()).filename().string()];
    return counts;
  };
  using Counts = std::map<std::string, int>;
  EXPECT_EQ(frames({}), (Counts{{"a.mp4", 10}, {"in", 1}}));
  EXPECT_EQ(frames({"--recursive", "-o", folder / "out/"}), (Counts{{"a.mp4", 10}, {"b.mkv", 5}, {"in", 1}}));
  for (const char* name : {"a-detected.mp4", "b-detected.mp4", "in/c.png"})
    EXPECT_TRUE(fs::exists(folder / ("out/" + std::string(name)))) << name;
  // A line for each input.
  const Outcome outcome = expect_run(0, {"detect", folder / "in", "-d", "/dev/null"});
  for (const std::string name : {"in/a.mp4: no people found", "/in: no people found"})
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome.err;
}

TEST(Detect, PicturesOfEveryKindKeepTheirNames) {
  TempDir folder;
  make_clip(folder / "a.bmp", "testsrc=size=160x200:rate=1:duration=1");
  make_clip(folder / "b.tga", "testsrc=size=160x200:rate=1:duration=1");
  expect_run(0, {"detect", folder / "a.bmp", folder / "b.tga", "-o", folder / "out/"});
  EXPECT_TRUE(fs::exists(folder / "out/a.bmp"));
  EXPECT_TRUE(fs::exists(folder / "out/b.png"));
  expect_run(0, {"detect", folder / "b.tga", "-o", folder / "one/"});
  EXPECT_TRUE(fs::exists(folder / "one/b.png"));
  expect_run(0, {"detect", folder / "b.tga", "-o", folder / "b.webp"});
  EXPECT_EQ(media::test::read_all(folder / "b.webp").size(), 1u);
}

TEST(Detect, AnyThresholdIsAccepted) {
  for (const char* threshold : {"-4", "-0.5", "0", "3.25", "-1e3"})
    EXPECT_EQ(results_with({"-t", threshold}).size(), 10u) << threshold;
  EXPECT_EQ(results_with({"--threshold=-4"}).size(), 10u);
}

TEST(Detect, PartsOfTheInput) {
  using V = std::vector<std::int64_t>;
  EXPECT_EQ(numbers(results_with({"--every", "3"})), (V{1, 4, 7, 10}));
  EXPECT_EQ(results_with({"--start", "0.5"}).size(), 5u);
  EXPECT_NEAR(results_with({"--start", "0.5"}).front().at("time").get<double>(), 0.5, 1e-6);
  EXPECT_EQ(numbers(results_with({"--duration", "0.4"})), (V{1, 2, 3, 4}));
  const std::vector<Json> looped = results_with({"--loop", "1", "--every", "5"});
  EXPECT_EQ(numbers(looped), (V{1, 6, 11, 16}));
  EXPECT_NEAR(looped[2].at("time").get<double>(), 1.0, 1e-6);
}

TEST(Detect, Formats) {
  TempDir folder;
  const Words command = Words{"-q", "detect", moving_clip(200, 240, 4)} + kFindsSome;
  const auto text = [&](const std::string& name, const Words& options = {}) {
    expect_run(0, command + Words{"-d", folder / name} + options);
    return bytes_of(folder / name);
  };
  const std::vector<Json> lines = parse_lines(text("a.jsonl"));
  ASSERT_EQ(lines.size(), 4u);
  std::size_t objects = 0;
  for (const Json& line : lines) objects += line.at("objects").size();
  ASSERT_GT(objects, 4u);

  const Json document = Json::parse(text("a.json"));
  EXPECT_EQ(document.at("frames"), Json(lines));
  EXPECT_EQ(text("by-option", {"-f", "json"}), bytes_of(folder / "a.json"));

  const Json coco = Json::parse(text("a.coco.json"));
  EXPECT_EQ(coco.at("images").size(), 4u);
  EXPECT_EQ(coco.at("annotations").size(), objects);
  EXPECT_EQ(coco.at("categories"), Json::parse(R"([{"id":1,"name":"person"}])"));

  std::istringstream csv(text("a.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "source,frame,time,status,label,score,x,y,width,height,track,name,distance,confidence");
  std::size_t rows = 0;
  while (std::getline(csv, line)) rows += line.find(",ok,person,") != std::string::npos;
  EXPECT_EQ(rows, objects);

  std::istringstream mot(text("a.txt"));
  rows = 0;
  while (std::getline(mot, line)) {
    ++rows;
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 9) << line;
    EXPECT_TRUE(line.ends_with(",-1,-1,-1")) << line;
  }
  EXPECT_EQ(rows, objects);
}

TEST(Detect, TrackedObjectsHaveIdentities) {
  const Words base = Words{"detect", moving_clip(200, 240, 10), "-q"} + kFindsSome;
  const Outcome plain = run(base);
  EXPECT_EQ(plain.out.find("track"), std::string::npos);

  const Outcome tracked = expect_run(0, base + Words{"--track"});
  const std::vector<Json> lines = parse_lines(tracked.out);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_TRUE(lines[0].at("objects").empty());
  EXPECT_TRUE(lines[1].at("objects").empty());
  std::map<std::int64_t, int> frames;
  for (const Json& line : lines) {
    for (const Json& object : line.at("objects")) ++frames[object.at("track").get<std::int64_t>()];
  }
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.begin()->first, 1);
  EXPECT_EQ(frames.rbegin()->first, static_cast<std::int64_t>(frames.size()));
  EXPECT_GT(frames.at(1), 2);

  const std::vector<Json> at_once = parse_lines(run(base + Words{"--track", "--track-hits", "1"}).out);
  EXPECT_EQ(at_once.at(0).at("objects").size(), parse_lines(plain.out).at(0).at("objects").size());
  expect_run(2, base + Words{"--track-gap", "1"});
}

TEST(Detect, SeveralInputs) {
  TempDir folder;
  make_clip(folder / "one.mkv", "testsrc=size=160x200:rate=10:duration=0.5");
  make_clip(folder / "two.mkv", "testsrc2=size=200x240:rate=10:duration=0.3");
  const Outcome outcome =
      expect_run(0, {"detect", folder / "one.mkv", folder / "two.mkv", "-o", folder / "out", "-d", "-"});
  const std::vector<Json> lines = parse_lines(outcome.out);
  EXPECT_EQ(numbers(lines), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 1, 2, 3}));
  EXPECT_EQ(lines[4].at("source"), folder / "one.mkv");
  EXPECT_EQ(lines[5].at("source"), folder / "two.mkv");
  EXPECT_EQ(media::test::read_all(folder / "out/one-detected.mp4").size(), 5u);
  EXPECT_EQ(media::test::read_all(folder / "out/two-detected.mp4").size(), 3u);
}

TEST(Detect, SeveralInputsRefuseWhatWouldNotWork) {
  TempDir folder;
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  for (const char* name : {"a/same.mkv", "b/same.mkv"})
    make_clip(folder / name, "testsrc=size=160x200:rate=10:duration=0.2");
  const Words command{"detect", folder / "a/same.mkv", folder / "b/same.mkv"};
  expect_run(2, "same-detected.mp4", command + Words{"-o", folder / "out"});
  expect_run(2, command + Words{"-d", folder / "d.txt"});
  EXPECT_FALSE(fs::exists(folder / "d.txt"));
}

TEST(Detect, FolderOfPictures) {
  TempDir folder;
  fs::create_directories(folder / "in");
  make_clip(folder / "in/p%d.png", "testsrc=size=160x200:rate=10:duration=1.1");
  const Outcome outcome = run({"-q", "detect", folder / "in"});
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_EQ(lines[0].at("source"), folder / "in");
  EXPECT_EQ(lines[0].at("picture"), "p1.png");
  EXPECT_EQ(lines[10].at("picture"), "p11.png");
}

// Pictures have neither a time nor, where the format does without, a number.
TEST(Detect, PicturesHaveNoTime) {
  TempDir folder;
  fs::create_directories(folder / "in");
  make_clip(folder / "in/p%d.png", "testsrc=size=160x200:rate=10:duration=0.2");
  for (const std::string& input : {folder / "in", folder / "in/p1.png"}) {
    const Outcome outcome = expect_run(0, {"-v", "detect", input});
    EXPECT_EQ(outcome.err.find("frames/s"), std::string::npos) << outcome.err;
    for (const Json& line : parse_lines(outcome.out)) {
      EXPECT_TRUE(line.at("time").is_null()) << line;
      EXPECT_TRUE(line.at("frame").is_null()) << line;
    }
    for (const Words& option : std::vector<Words>{{"--track"}, {"--start", "1"}, {"--duration", "1"}})
      expect_run(2, option.front(), Words{"detect", input} + option);
  }
  EXPECT_NE(run({"-q", "detect", folder / "in", "-f", "csv"}).out.find("in/p1.png,,,ok,"), std::string::npos);
  const Json coco = Json::parse(run({"-q", "detect", folder / "in/p1.png", "-f", "coco"}).out);
  EXPECT_EQ(coco.at("images").at(0).at("file_name"), folder / "in/p1.png");
  // Numbered pictures of a video have times.
  const Outcome pattern = expect_run(0, {"-q", "detect", folder / "in/p%d.png", "--track"});
  EXPECT_EQ(numbers(parse_lines(pattern.out)), (std::vector<std::int64_t>{1, 2}));
}

TEST(Detect, PicturesKeepTheirNames) {
  TempDir folder;
  fs::create_directories(folder / "in");
  make_clip(folder / "in/first.jpg", "testsrc=size=160x200:rate=1:duration=1");
  make_clip(folder / "in/second 2.PNG", "testsrc=size=201x240:rate=1:duration=1");
  make_clip(folder / "in/dog.bmp", "testsrc=size=160x200:rate=1:duration=1");
  fs::rename(folder / "in/dog.bmp", folder / "in/a%20dog.bmp");
  make_clip(folder / "in/gray.pgm", "testsrc=size=160x200:rate=1:duration=1");
  const std::set<std::string> names{"first.jpg", "second 2.PNG", "a_20dog.bmp", "gray.png"};
  const auto written = [&](const std::string& to) {
    std::set<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder / to)) {
      result.insert(entry.path().filename().string());
      const auto frames = media::test::read_all(entry.path().string());
      EXPECT_EQ(frames.size(), 1u) << entry.path();
      const bool second = entry.path().filename() == "second 2.PNG";
      for (const auto& frame : frames) EXPECT_EQ(frame.size().width, second ? 201 : 160) << entry.path();
    }
    return result;
  };
  // A folder into a new one, into one that is there, and one picture of it.
  expect_run(0, {"detect", folder / "in", "-o", folder / "out"});
  EXPECT_EQ(written("out"), names);
  fs::create_directories(folder / "there");
  expect_run(0, {"detect", folder / "in/", "-o", folder / "there"});
  EXPECT_EQ(written("there"), names);
  expect_run(0, {"detect", folder / "in/first.jpg", "-o", folder / "one/"});
  EXPECT_EQ(written("one"), std::set<std::string>{"first.jpg"});
  // Several, with a video among them.
  make_clip(folder / "clip.mkv", "testsrc=size=160x200:rate=10:duration=0.3");
  expect_run(0, {"detect", folder / "in/first.jpg", folder / "in/second 2.PNG", folder / "clip.mkv", "-o",
                 folder / "several"});
  EXPECT_EQ(media::test::read_all(folder / "several/clip-detected.mp4").size(), 3u);
  fs::remove(folder / "several/clip-detected.mp4");
  EXPECT_EQ(written("several"), (std::set<std::string>{"first.jpg", "second 2.PNG"}));
}

TEST(Detect, PicturesAreNotOverwrittenUnnoticed) {
  TempDir folder;
  for (const char* name : {"in", "other"}) {
    fs::create_directories(folder / name);
    make_clip(folder / (std::string(name) + "/p.png"), "testsrc=size=160x200:rate=1:duration=1");
  }
  const std::vector<char> before = media::test::load(folder / "in/p.png");
  expect_run(2, "in/p.png", {"detect", folder / "in", "-o", folder / "in"});
  expect_run(2, "in/p.png", {"detect", folder / "in/p.png", "-o", folder / "in"});
  expect_run(2, "p.png", {"detect", folder / "in/p.png", folder / "other/p.png", "-o", folder / "out"});
  EXPECT_EQ(media::test::load(folder / "in/p.png"), before);

  expect_run(0, {"detect", folder / "in", "-o", folder / "new"});
  expect_run(2, "--overwrite", {"detect", folder / "in", "-o", folder / "new"});
  expect_run(0, {"detect", folder / "in", "-o", folder / "new", "--overwrite"});
}

// Pictures that cannot be written in their own type become PNG, whose names may be taken.
TEST(Detect, PicturesOfOneNameAndSeveralTypesAreAllWritten) {
  TempDir folder;
  fs::create_directories(folder / "in");
  for (const char* name : {"a.png", "a.pgm", "b.pbm", "b.pgm"})
    make_clip(folder / "in/" + name, "testsrc=size=160x200:rate=1:duration=1");
  for (int i = 0; i < 2; ++i) expect_run(0, {"detect", folder / "in", "-o", folder / "out/", "--overwrite"});
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "out")) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{"a.png", "a.pgm.png", "b.png", "b.pgm.png"}));
}

TEST(Detect, ExistingOutputsStayUnlessToldOtherwise) {
  TempDir folder;
  for (const char* option : {"-o", "-d", "--contact-sheet", "--trace", "--report"}) {
    const std::string file = folder / (std::string("kept") + (option == std::string("-o") ? ".mp4" : ""));
    media::test::store(file, std::string("x"));
    expect_run(2, "--overwrite", {"detect", kTenFrames, option, file, "-f", "json"});
    EXPECT_EQ(bytes_of(file), "x") << option;
    expect_run(0, {"detect", kTenFrames, option, file, "-f", "json", "--overwrite"});
    EXPECT_GT(bytes_of(file).size(), 1U) << option;
  }
}

// One rule for all commands; it is looked at before the inputs are.
TEST(CommandOutputs, ReplaceNothingUnlessToldTo) {
  TempDir folder;
  const std::string out = folder / "out", in = folder / "in";
  const std::vector<Words> commands{
      {"detect", in, "-d", out},
      {"live", in, "--headless", "-d", out},
      {"live", in, "--headless", "--trace", out},
      {"live", in, "--headless", "--report", out},
      {"texture", in, "-o", out},
      {"texture", in, "--cells", "16", "--cells-output", out},
      {"texture", "compare", in, in, "--json", out},
      {"measure", in, "--report", out},
      {"measure", in, "--json", out},
      {"measure", "texture", in, "--report", out},
      {"evaluate", "windows", "--positives", in, "--negatives", in, "--csv", out},
      {"evaluate", "frames", in, "--truth", in, "--svg", out},
      {"evaluate", "frames", in, "--truth", in, "--calibrate", out},
      {"evaluate", "compare", in, "--csv", out},
      {"devices", "--characterise", "--json", out},
      {"model", "show", in, "--picture", out},
      {"train", "filterbank", "--positives", in, "--negatives", in, "-o", out},
      {"train", "landmarks", in, "--faces", in, "-o", out},
  };
  for (const Words& command : commands) {
    media::test::store(out, std::string("x"));
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(command) << outcome.err;
    EXPECT_NE(outcome.err.find("--overwrite"), std::string::npos)
        << testing::PrintToString(command) << outcome.err;
    EXPECT_EQ(bytes_of(out), "x") << testing::PrintToString(command);
    if (command.front() == "devices") continue;  // it would measure for a minute
    const Outcome told = run(command + Words{"--overwrite"});
    EXPECT_EQ(told.err.find("--overwrite"), std::string::npos) << testing::PrintToString(command) << told.err;
  }
}

TEST(CommandOutputs, NumberedPicturesAreNotReplacedEither) {
  TempDir folder;
  for (const char* output : {"frame%03d.png", "out/", "new/"}) {
    fs::create_directories(folder / "out");
    const Words command{"detect", kTenFrames, "--duration", "0.2", "-o", folder / output};
    expect_run(0, command);
    expect_run(2, "--overwrite", command);
    expect_run(0, command + Words{"--overwrite"});
  }
  EXPECT_TRUE(fs::exists(folder / "frame001.png"));
}

TEST(CommandOutputs, AreNoInputs) {
  TempDir folder;
  media::test::store(folder / "in.csv", std::string("x"));
  for (const char* more : {"-q", "--overwrite"})
    expect_run(2, {"evaluate", "compare", folder / "in.csv", "--csv", folder / "in.csv", more});
  EXPECT_EQ(bytes_of(folder / "in.csv"), "x");
}

TEST(CommandOutputs, AreNamedOnce) {
  TempDir folder;
  for (const char* option : {"-o", "-d", "--contact-sheet"})
    expect_run(2, {"detect", kTenFrames, option, folder / "a.png", option, folder / "b.png"});
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(Detect, WhatDoesNotFitIntoOneFileLeavesNothing) {
  TempDir folder;
  fs::create_directories(folder / "in");
  for (const char* name : {"in/a.png", "in/b.png"})
    make_clip(folder / name, "testsrc=size=160x200:rate=1:duration=1");
  expect_run(2, {"detect", folder / "in", "-o", folder / "one.png"});
  expect_run(2, {"detect", kTenFrames, "-o", folder / "one.png"});
  expect_run(2, {"detect", kTenFrames, kTenFrames, "-o", folder / "two.mp4"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  media::test::store(folder / "kept.png", std::string("x"));
  expect_run(2, {"detect", kTenFrames, "-o", folder / "kept.png", "--overwrite"});
  EXPECT_EQ(bytes_of(folder / "kept.png"), "x");
  expect_run(0, {"detect", kTenFrames, "--duration", "0.1", "-o", folder / "one.png"});
  EXPECT_EQ(media::test::read_all(folder / "one.png").size(), 1u);
}

TEST(Detect, NamesOfDetectionsThatPromiseAnotherFormatWarn) {
  TempDir folder;
  const auto warnings = [&](const Words& options) {
    const Outcome outcome =
        expect_run(0, Words{"detect", kTenFrames, "--duration", "0.1", "--overwrite"} + options);
    return outcome.err.find("warning: ") != std::string::npos;
  };
  EXPECT_TRUE(warnings({"-d", folder / "out.data"}));
  EXPECT_TRUE(warnings({"-d", folder / "a.json", "-f", "csv"}));
  EXPECT_FALSE(warnings({"-d", folder / "a.csv"}));
  EXPECT_FALSE(warnings({"-d", folder / "a"}));
  EXPECT_FALSE(warnings({"-d", folder / "a.json", "-f", "coco"}));
  EXPECT_FALSE(warnings({"-d", "/dev/null"}));
}

// Every input that could not be read whole is named, in the log and in the results.
TEST(Detect, DamagedInputsAreNoSuccess) {
  TempDir folder;
  fs::create_directories(folder / "in");
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg"})
    make_clip(folder / (std::string("in/") + name), "testsrc2=size=200x240:rate=1:duration=1");
  std::vector<char> bytes = media::test::load(folder / "in/b.jpg");
  bytes.resize(bytes.size() / 2);
  media::test::store(folder / "in/b.jpg", bytes);
  const auto lines = [&](int code, const Words& arguments, const std::string& named) {
    return parse_lines(expect_run(code, named, Words{"detect"} + arguments).out);
  };
  // The run ends at the damaged picture, or goes on after it.
  const std::vector<Json> first = lines(3, {folder / "in", "-d", "-"}, "b.jpg");
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[1].at("status"), "failed");
  EXPECT_EQ(first[1].at("picture"), "b.jpg");
  EXPECT_NE(first[1].at("message"), "");
  const std::vector<Json> all =
      lines(1, {folder / "in", "--keep-going", "-o", folder / "out/", "-d", "-"}, "b.jpg");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].at("status"), "failed");
  EXPECT_EQ(all[2].at("status"), "ok");
  EXPECT_TRUE(fs::exists(folder / "out/c.jpg"));
  EXPECT_FALSE(fs::exists(folder / "out/b.jpg"));
  // So for inputs of their own.
  const Words three{folder / "in/a.jpg", folder / "in/b.jpg", folder / "in/c.jpg"};
  EXPECT_EQ(lines(3, three, "b.jpg").size(), 1u);
  const std::vector<Json> each = lines(1, three + Words{"--keep-going"}, "b.jpg");
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[1].at("source"), folder / "in/b.jpg");
  EXPECT_EQ(each[1].at("status"), "failed");
}

// Four threads search short files side by side, fewer one after the other.
TEST(Detect, ShortInputsAreWrittenInTheirOrder) {
  const TempDir folder;
  const std::string source = moving_clip(200, 240, 10).substr(std::string("lavfi:").size());
  for (const char* const name : {"a.mkv", "b.mkv", "c.mkv", "d.mkv", "e.mkv"})
    make_clip(folder / name, source);
  for (const char* const name : {"f.jpg", "broken.jpg"})
    make_clip(folder / name, "testsrc2=size=200x240:rate=1:duration=1");
  fs::resize_file(folder / "broken.jpg", fs::file_size(folder / "broken.jpg") / 2);
  const auto outcome = [&](const Words& inputs, const Words& options, const char* threads) {
    Words words{"detect", "-d", "-", "-v", "--threads", threads, "--device", "none"};
    for (const std::string& input : inputs) words.push_back(folder / input);
    return run(words + kFindsSome + options);
  };
  for (const auto& [inputs, options] :
       {std::pair{Words{"a.mkv", "f.jpg", "b.mkv", "c.mkv", "d.mkv", "e.mkv"}, Words{"-f", "csv"}},
        std::pair{Words{"b.mkv", "broken.jpg", "c.mkv"}, Words{}},
        std::pair{Words{"b.mkv", "c.mkv", "broken.jpg", "a.mkv"}, Words{"--keep-going"}}}) {
    SCOPED_TRACE(testing::PrintToString(inputs));
    const Outcome one = outcome(inputs, options, "3");
    const Outcome several = outcome(inputs, options, "4");
    EXPECT_GT(one.out.size(), 1'000U);
    EXPECT_EQ(several.exit_code, one.exit_code) << several.err;
    EXPECT_TRUE(several.out == one.out);
  }
}

// The flags of a damaged frame come too late from a decoder of several threads, in every second run.
TEST(Detect, ConcealedDamageIsToldInEveryRun) {
  const TempDir folder;
  const std::string file = folder / "damaged.mkv";
  make_clip(folder / "whole.mkv", "mandelbrot=size=176x144:rate=25:end_pts=150,trim=end_frame=150");
  std::string bytes = bytes_of(folder / "whole.mkv");
  // In several places: the decoder may take one damaged frame for a whole one.
  for (int place = 1; place <= 6; ++place) std::fill_n(bytes.begin() + std::ssize(bytes) * place / 7, 400, 0);
  std::ofstream(file, std::ios::binary) << bytes;
  for (int i = 0; i < 8; ++i)
    expect_run(
        3, "could not be read whole",
        {"detect", file, "-d", "/dev/null", "--min-size", "120", "--threads", "4", "--device", "none"});
}

// FFmpeg goes on behind them with the next cluster, and returns no error.
TEST(Detect, DamagedBlocksOfMatroskaAreTold) {
  const TempDir folder;
  const std::string whole = bytes_of(
      media::test::encode_clip(folder, {"-f", "lavfi", "-i", "testsrc2=size=160x120:rate=10:duration=3"},
                               {"-c:v", "ffv1", "-g", "1", "-cluster_time_limit", "1000"}, "whole.mkv"));
  const auto search = [&](int code, const std::string& bytes) {
    std::ofstream(folder / "in.mkv", std::ios::binary) << bytes;
    return expect_run(code, "",
                      {"detect", folder / "in.mkv", "-d", "-", "--min-size", "120", "--device", "none"});
  };
  const std::string in_front = whole.substr(0, whole.size() / 2);
  const Outcome middle =
      search(3, in_front + std::string(20'000, '\0') + whole.substr(in_front.size() + 20'000));
  const auto frames = std::ranges::count(middle.out, '\n');
  EXPECT_GT(frames, 15);
  EXPECT_LT(frames, 30);
  search(3, in_front + std::string(whole.size() - in_front.size(), '\0'));
  EXPECT_EQ(std::ranges::count(search(0, whole + std::string(20'000, '\0')).out, '\n'), 30);
}

TEST(Detect, StandardInput) {
  TempDir folder;
  make_clip(folder / "in.mkv", "testsrc=size=160x200:rate=10:duration=1");
  RunSetup setup;
  setup.input = folder / "in.mkv";
  const Outcome outcome = expect_run(0, {"-q", "detect", "-"}, setup);
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0].at("source"), "-");
  expect_run(3, {"detect", "-"});
  expect_run(2, {"detect", "-", "--loop", "1"}, setup);
}

TEST(Detect, ReaderThatGoesAway) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunSetup setup;
  setup.output_handle = ends[1];
  Program program({"detect", kTenFrames, "--loop", "-1"}, setup);
  char some[64];
  EXPECT_GT(read(ends[0], some, sizeof some), 0);
  close(ends[0]);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err.find("error"), std::string::npos) << outcome.err;
}

TEST(Detect, Interrupted) {
  TempDir folder;
  make_clip(folder / "in.mkv", "testsrc=size=160x200:rate=10:duration=1");
  for (const int signal : {SIGINT, SIGTERM}) {
    Program program({"detect", folder / "in.mkv", "--loop", "-1", "-o", folder / "o.mp4", "-d",
                     folder / "d.jsonl", "--contact-sheet", folder / "sheet.png", "--overwrite"});
    ASSERT_TRUE(program.wait_until([&] {
      const std::string text = bytes_of(folder / "d.jsonl");
      return std::count(text.begin(), text.end(), '\n') > 25;
    }));
    program.send(signal);
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_code, 128 + signal) << outcome.err;
    const std::vector<Json> lines = parse_lines(bytes_of(folder / "d.jsonl"));
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i].at("frame"), i + 1);
    EXPECT_EQ(media::test::read_all(folder / "o.mp4").size(), lines.size());
    EXPECT_EQ(media::test::read_all(folder / "sheet.png").size(), 1u);
    fs::remove(folder / "d.jsonl");
  }
}

TEST(Detect, InterruptedWhileItWaitsForInput) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  RunSetup setup;
  setup.input = "/proc/self/fd/" + std::to_string(ends[0]);
  Program program({"detect", "-"}, setup);
  std::this_thread::sleep_for(std::chrono::milliseconds(kSanitized ? 3000 : 500));
  program.send(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 130);
  close(ends[0]);
  close(ends[1]);
}

// The result for a frame depends on the frame and the detector alone.
TEST(Detect, ResultsDoNotDependOnHowItRuns) {
  const Words command = Words{"-q", "detect", moving_clip(360, 280, 12)} + kFindsSome;
  const Outcome reference = expect_run(0, command);
  ASSERT_NE(reference.out.find("score"), std::string::npos);
  for (const char* threads : {"1", "2", "4"}) {
    for (const char* in_flight : {"1", "2", "8"}) {
      const bool is_sampled = std::string_view(threads) == "1" || std::string_view(in_flight) == "8";
      if (!is_thorough() && !is_sampled) continue;
      const Outcome other = run(command + Words{"--threads", threads, "--in-flight", in_flight});
      EXPECT_TRUE(other.out == reference.out) << threads << " threads, " << in_flight << " in flight";
    }
  }
  int compared = 0;
  for (const char* set : {"ssse3", "sse4", "avx2", "avx512", "avx512-vnni", "neon"}) {
    const Outcome other = run(command + Words{"--instruction-set", set});
    if (other.exit_code == 2) continue;  // not on this processor
    EXPECT_TRUE(other.out == reference.out) << set;
    ++compared;
  }
  EXPECT_GE(compared, 1);
}

// Two detectors on the same frames find what each finds alone; parts of a processor are devices like any
// other.
TEST(Detect, SeveralDetectors) {
  const std::string clip = moving_clip(360, 280, 6);
  const auto boxes = [&](const Words& options) {
    const Outcome outcome = expect_run(0, Words{"-q", "detect", clip} + options);
    return outcome.out;
  };
  const std::string both = boxes({"--config", "faces-waldboost,faces", "--device", "none"});
  EXPECT_EQ(std::count(both.begin(), both.end(), '\n'), 6);
  EXPECT_EQ(boxes({"--config", "faces-waldboost,faces", "--device", "none", "--threads", "1"}), both);
  if (has_cpu_device(2)) {
    EXPECT_EQ(boxes({"--config", "faces-waldboost,faces", "--device", "cpu:1,cpu:1", "--schedule", "gpu"}),
              both);
  }
  const Words two{"-q", "detect", clip, "--config", "people,faces"};
  expect_run(2, "--threshold", two + Words{"--threshold", "1"});
  expect_run(2, "--model", two + Words{"--model", "haarcascade_eye"});
  expect_run(2, "'scan'", two + Words{"--map", "scan=gpu"});
  expect_run(2, "'nowhere'", {"detect", clip, "--config", "people,nowhere"});
}

// Frames in colour are converted by the first stage, wherever it runs.
TEST(Detect, ColourIsTheSameOnEveryProcessor) {
  TempDir folder;
  fs::create_directories(folder / "pictures");
  const std::string graph = "mandelbrot=size=361x280:rate=10,trim=end_frame=3";
  make_clip(folder / "pictures/%d.png", graph + ",format=rgb24");
  for (const std::string& input : {folder / "pictures", "lavfi:" + graph + ",format=bgr0"}) {
    const auto frames = media::test::read_all(input);
    ASSERT_EQ(frames.size(), 3u) << input;
    ASSERT_FALSE(frames[0].view().is_gray()) << input;
    const Words command = Words{"-q", "detect", input} + kFindsSome;
    const auto with = [&](const Words& options) { return run(command + options); };
    const Outcome reference = with({"--device", "none"});
    ASSERT_EQ(reference.exit_code, 0) << reference.err;
    ASSERT_NE(reference.out.find("score"), std::string::npos);
    for (const char* map : {"pyramid=gpu,filter=gpu,histogram=gpu,classify=gpu",
                            "pyramid=gpu,filter=cpu,histogram=cpu,classify=cpu",
                            "pyramid=cpu,filter=gpu,histogram=gpu,classify=gpu"}) {
      const Outcome other = with({"--device", "cpu", "--schedule", "cpu", "--map", map});
      if (other.exit_code == 5) GTEST_SKIP() << "there is no OpenCL device here";
      EXPECT_EQ(other.exit_code, 0) << other.err;
      EXPECT_TRUE(other.out == reference.out) << input << ", " << map;
    }
    const Outcome split = with({"--device", "cpu", "--schedule", "split", "--split", "0.4"});
    EXPECT_TRUE(split.out == reference.out) << input << ", split";
  }
}

TEST(Detect, FindsPeople) {
  const std::optional<std::string> clip = people_clip();
  if (!clip) GTEST_SKIP() << "the clip with people is not on this machine";
  const Outcome outcome =
      run({"-q", "detect", *clip, "--start", "2", "--duration", "0.2", "--min-size", "60"});
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 5u);
  for (const Json& line : lines) EXPECT_GE(line.at("objects").size(), 2u) << line;
}

// What a long run needs is what a short one needs. Small pictures, so that a leak shows beside the few that
// are in flight at an unlucky moment.
TEST(Detect, MemoryDoesNotGrow) {
  if (kSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  const auto peak = [](int frames) {
    const std::string input = "lavfi:testsrc2=size=320x240:rate=25,trim=end_frame=" + std::to_string(frames);
    return expect_run(0, {"-q", "detect", input, "--min-size", "200", "--threads", "2", "-d", "/dev/null"})
        .peak_kilobytes;
  };
  const auto few = peak(300), many = peak(6000);
  RecordProperty("kilobytes_300", std::to_string(few));
  RecordProperty("kilobytes_6000", std::to_string(many));
  EXPECT_LE(many, few + 4000);  // less than a kilobyte a frame
}

}  // namespace
}  // namespace sightline::test
