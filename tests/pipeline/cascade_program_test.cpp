// Cascades from the outside: pictures, folders, sections inside, evaluation, `model show`, and misuse.

#include <map>
#include <nlohmann/json.hpp>

#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;
using media::test::store;

// Finds squares whose left half is brighter than their right.
constexpr char kCascade[] = R"(<?xml version="1.0"?>
<opencv_storage><cascade><stageType>BOOST</stageType><featureType>HAAR</featureType>
<height>20</height><width>20</width><featureParams><maxCatCount>0</maxCatCount></featureParams>
<stages><_><stageThreshold>0.5</stageThreshold><weakClassifiers><_>
<internalNodes>0 -1 0 0.35</internalNodes><leafValues>0 1</leafValues></_></weakClassifiers></_></stages>
<features><_><rects><_>0 0 20 20 -1.</_><_>0 0 10 20 2.</_></rects></_></features></cascade></opencv_storage>
)";

class CascadeProgram : public testing::Test {
 protected:
  CascadeProgram() { store(folder_ / "left.xml", std::string(kCascade)); }

  // White on the left, black on the right: found about the border, in the middle of the width.
  void picture(const std::string& name, int side = 80) {
    const std::string half = std::to_string(side / 2), whole = std::to_string(side);
    make_clip(folder_ / name, "color=white:size=" + half + "x" + whole + ",pad=" + whole + ":" + whole +
                                  ":0:0:black,trim=end_frame=1");
  }
  std::string file(const std::string& name, const std::string& text) {
    store(folder_ / name, text);
    return folder_ / name;
  }
  std::string model() const { return folder_ / "left.xml"; }

  TempDir folder_;
  const std::string outer_ =
      "[detector]\nfamily = \"cascade\"\nmodel = \"left.xml\"\nlabel = \"big\"\nmin_size = 40\n";
  const std::string inner_ =
      "[[detector.inside]]\nfamily = \"cascade\"\nmodel = \"left.xml\"\nlabel = \"small\"\nmax_size = 30\n";
};

TEST_F(CascadeProgram, AnyModelOnASinglePicture) {
  picture("a.png");
  const Outcome outcome = expect_run(0, "1 stage", {"detect", folder_ / "a.png", "-m", model(), "-v"});
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 1u);
  ASSERT_FALSE(lines[0].at("objects").empty());
  for (const Json& object : lines[0].at("objects")) {
    EXPECT_EQ(object.at("label"), "left");
    EXPECT_GT(object.at("score").get<double>(), 3);
    const double x = object.at("box")[0], width = object.at("box")[2];
    EXPECT_NEAR(x + width / 2, 40, width / 4);
  }
  // All windows, and only large ones.
  const auto boxes = [&](const Words& options) {
    const Outcome all = expect_run(0, Words{"-q", "detect", folder_ / "a.png", "-m", model()} + options);
    return parse_lines(all.out)[0].at("objects");
  };
  EXPECT_GT(boxes({"--min-neighbors", "0"}).size(), 10 * boxes({}).size());
  for (const Json& object : boxes({"--min-neighbors", "0", "--min-size", "50", "--max-size", "60"})) {
    EXPECT_GE(object.at("box")[2].get<double>(), 50);
    EXPECT_LE(object.at("box")[2].get<double>(), 60);
  }
  EXPECT_TRUE(boxes({"--min-neighbors", "100000"}).empty());
}

TEST_F(CascadeProgram, NothingFoundNamesTheOptionThatHelps) {
  picture("a.png");
  expect_run(0, "--min-neighbors", {"detect", folder_ / "a.png", "-m", model(), "--min-neighbors", "100000"});
}

TEST_F(CascadeProgram, FoldersOfPicturesKeepTheirNames) {
  fs::create_directories(folder_ / "in");
  picture("in/a.png");
  picture("in/b.png", 120);
  const Outcome outcome = expect_run(
      0, "2 pictures", {"detect", folder_ / "in", "-m", model(), "-o", folder_ / "out", "-d", "-"});
  const std::vector<Json> lines = parse_lines(outcome.out);
  ASSERT_EQ(lines.size(), 2u);
  for (const Json& line : lines) EXPECT_FALSE(line.at("objects").empty());
  for (const std::string name : {"a.png", "b.png"}) {
    EXPECT_TRUE(fs::exists(folder_ / ("out/" + name)));
    EXPECT_NE(bytes_of(folder_ / ("out/" + name)), bytes_of(folder_ / ("in/" + name)));
  }
}

std::map<std::string, int> count_labels(const Outcome& outcome) {
  std::map<std::string, int> labels;
  for (const Json& line : parse_lines(outcome.out)) {
    for (const Json& object : line.at("objects")) ++labels[object.at("label")];
  }
  return labels;
}

TEST_F(CascadeProgram, ADetectorInsideTheBoxesOfAnother) {
  picture("a.png");
  const std::string config = file("nested.toml", outer_ + inner_);
  const Outcome outcome = expect_run(0, "inside", {"detect", folder_ / "a.png", "-c", config, "-v"});
  const auto labels = count_labels(outcome);
  EXPECT_GT(labels.at("big"), 0);
  EXPECT_GT(labels.at("small"), 0);
  // Inside boxes only: none, where the first detector finds none.
  EXPECT_TRUE(
      count_labels(run({"-q", "detect", folder_ / "a.png", "-c", config, "--min-neighbors", "100000"}))
          .empty());
  // A family does not matter: cascades in the boxes of people.
  const std::string mixed = file(
      "mixed.toml", "[detector]\nmodel = \"" + std::string(SIGHTLINE_SOURCE_DIR) +
                        "/configs/models/people.safetensors\"\nthreshold = -4\nverify = false\n" + inner_);
  const Outcome people = expect_run(0, {"-q", "detect", moving_clip(200, 240, 3), "-c", mixed});
  EXPECT_GT(count_labels(people)["person"], 0);
}

TEST_F(CascadeProgram, SectionsInsideThatAreWrong) {
  const auto refused = [&](int code, const std::string& words, const std::string& text) {
    expect_run(code, words, {"detect", moving_clip(100, 100, 1), "-c", file("bad.toml", text)});
  };
  refused(2, "bad.toml:11: 'min_sise'", outer_ + inner_ + "min_sise = 3\n");
  refused(2, "bad.toml:11: 'part'", outer_ + inner_ + "part = \"top\"\n");
  refused(2, "bad.toml:11: 'filters'", outer_ + inner_ + "filters = 50\n");
  refused(2, "bad.toml:6: 'inside'", outer_ + "inside = true\n");
  refused(4, "none.xml", outer_ + "[[detector.inside]]\nfamily = \"cascade\"\nmodel = \"none.xml\"\n");
}

TEST_F(CascadeProgram, MeasureKnowsTheStageInside) {
  picture("a.png");
  const std::string config = file("nested.toml", outer_ + inner_);
  const Outcome outcome = expect_run(0, {"measure", folder_ / "a.png", "-c", config, "--device", "none",
                                         "--seconds", "0.2", "--repeats", "1"});
  for (const char* stage : {"pyramid", "scan", "group", "inside"})
    EXPECT_NE(outcome.out.find(stage), std::string::npos) << stage << "\n" << outcome.out << outcome.err;
}

TEST_F(CascadeProgram, MeasureComparesFormsOfKernels) {
  picture("a.png", 64);
  const auto measure = [&](const Words& options) {
    return Words{"measure", folder_ / "a.png",  "-m",         model(), "--seconds", "0.1", "--repeats", "1",
                 "--json",  folder_ / "m.json", "--overwrite"} +
           options;
  };
  // Without a device they make no difference.
  const Outcome once =
      expect_run(0, measure({"--device", "none", "--schedules", "cpu", "--kernels", "naive,compacted"}));
  EXPECT_FALSE(Json::parse(bytes_of(folder_ / "m.json")).contains("measurements")) << "one: " << once.err;
  expect_run(2, measure({"--kernels", "fast"}));
  expect_run(2, "--kernels", {"measure", folder_ / "a.png", "--kernels", "naive"});
  if (!has_cpu_device()) GTEST_SKIP() << "there is no OpenCL device for the CPU";
  const Outcome outcome =
      expect_run(0, measure({"--device", "cpu:1", "--schedules", "gpu", "--kernels", "naive,compacted"}));
  EXPECT_NE(outcome.out.find("side by side"), std::string::npos) << outcome.out;
  const Json all = Json::parse(bytes_of(folder_ / "m.json")).at("measurements");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("kernels"), "naive");
  EXPECT_EQ(all[1].at("kernels"), "compacted");
  const Json& work = all[0].at("work");
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].at("what"), "windows");
  EXPECT_EQ(work[1].at("what"), "left after boosting stage 1");
  EXPECT_GT(work[0].at("count"), work[1].at("count"));
  EXPECT_GT(work[1].at("count"), 0);
  EXPECT_EQ(all[1].at("work"), work);
}

TEST_F(CascadeProgram, MeasureComparesImplementations) {
  fs::create_directories(folder_ / "in/large");
  fs::create_directories(folder_ / "in/small");
  picture("in/large/a.png", 120);
  picture("in/small/b.png", 64);
  const auto measure = [&](const Words& options) {
    return Words{"measure", folder_ / "in", "-m", model(), "--repeats", "2", "--threads", "2"} + options;
  };
  const Outcome outcome = expect_run(
      0, measure({"--variants", "all", "--device", "cpu:1", "--seconds", "0.1", "--json", folder_ / "m.json",
                  "--csv", folder_ / "m.csv", "--report", folder_ / "m.html"}));
  EXPECT_NE(outcome.out.find("found the same objects"), std::string::npos) << outcome.out;
  const Json all = Json::parse(bytes_of(folder_ / "m.json"));
  std::map<std::string, int> names;
  for (const Json& one : all.at("implementations")) ++names[one.at("name")];
  for (const char* name : {"serial", "simd", "cpu"}) EXPECT_EQ(names[name], 1) << name;
  for (const char* name : {"naive", "reduced", "tiled", "packed", "compacted", "compacted-tiled",
                           "compacted-packed", "unrolled"})
    EXPECT_EQ(names[name], 2) << name << ": copied and mapped";
  ASSERT_EQ(all.at("groups").size(), 2u);
  EXPECT_EQ(all.at("groups")[0].at("group"), "large");
  for (const Json& picture : all.at("pictures")) {
    const Json& times = picture.at("times");
    EXPECT_GT(times[0].at("objects"), 0);
    // OpenCV's too, where it is there.
    for (const Json& one : times) {
      EXPECT_EQ(one.at("objects"), times[0].at("objects")) << one.at("implementation");
      EXPECT_EQ(one.at("runs_ms").size(), 2u);
    }
  }
  EXPECT_NE(bytes_of(folder_ / "m.html").find("compacted-tiled, copied"), std::string::npos);
  EXPECT_NE(bytes_of(folder_ / "m.csv").find("large,a.png,"), std::string::npos);

  // Some of them; buffers of one kind; no device.
  const Outcome some =
      expect_run(0, measure({"--variants", "cpu,compacted", "--buffers", "copied", "--device", "cpu:1"}));
  EXPECT_NE(some.out.find("compacted, copied"), std::string::npos) << some.out;
  EXPECT_EQ(some.out.find("mapped"), std::string::npos) << some.out;
  expect_run(0, measure({"--variants", "cpu,naive", "--device", "none"}));
  expect_run(5, measure({"--variants", "naive", "--device", "none"}));
  expect_run(2, "'fast'", measure({"--variants", "fast"}));
  expect_run(2, "--kernels", measure({"--variants", "all", "--kernels", "naive"}));
}

TEST_F(CascadeProgram, EvaluatesBothKindsOfBoxLists) {
  fs::create_directories(folder_ / "in");
  picture("in/a.png");
  picture("in/b.png", 120);
  // What it finds, as the truth.
  const Outcome found =
      expect_run(0, {"-q", "detect", folder_ / "in", "-m", model(), "--min-neighbors", "1"});
  std::string corners, sizes;
  int objects = 0;
  for (const Json& line : parse_lines(found.out)) {
    const std::string name = line.at("picture");
    for (const Json& object : line.at("objects")) {
      const auto& box = object.at("box");
      const double x = box[0], y = box[1], width = box[2], height = box[3];
      corners += name + " " + std::to_string(x) + " " + std::to_string(y) + " " + std::to_string(x + width) +
                 " " + std::to_string(y + height) + "\n";
      sizes += name + " " + box[0].dump() + " " + box[1].dump() + " " + box[2].dump() + " " + box[3].dump() +
               " 0.5 80 80\n";
      ++objects;
    }
  }
  ASSERT_GT(objects, 1);
  for (const auto& [truth, protocol] :
       {std::pair{file("corners.txt", corners), "faces"}, {file("sizes.txt", sizes), "centre"}}) {
    const Outcome outcome = expect_run(
        0, {"evaluate", "frames", folder_ / "in", "-m", model(), "--truth", truth, "--truth-format", "boxes",
            "--protocol", protocol, "--csv", folder_ / "c.csv", "--overwrite"});
    EXPECT_NE(outcome.out.find("2 frames with " + std::to_string(objects) + " objects; protocol " + protocol),
              std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("average precision       1.0000"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("\nall 0 "), std::string::npos) << outcome.out;
    EXPECT_TRUE(bytes_of(folder_ / "c.csv").starts_with("curve,threshold,"));
  }
}

TEST_F(CascadeProgram, PicturesThatAreNotListedCanCountAsEmpty) {
  fs::create_directories(folder_ / "in");
  picture("in/a.png");
  picture("in/b.png");
  Words command{"evaluate",
                "frames",
                folder_ / "in",
                "-m",
                model(),
                "--truth",
                file("truth.txt", "a.png 1000 1000 1100 1100\n"),
                "--truth-format",
                "boxes"};
  EXPECT_TRUE(run(command).out.starts_with("1 frame with 1 object"));
  command.emplace_back("--unlisted-empty");
  const Outcome both = run(command);
  EXPECT_TRUE(both.out.starts_with("2 frames with 1 object")) << both.out << both.err;
}

TEST_F(CascadeProgram, EvaluatesOneLabel) {
  fs::create_directories(folder_ / "in");
  picture("in/a.png");
  const std::string config = file("nested.toml", outer_ + inner_);
  const std::string truth = file("truth.txt", "a.png 1000 1000 1100 1100\n");  // so that all are wrong
  const auto wrong = [&](const Words& options) {
    const Outcome outcome =
        expect_run(0, Words{"evaluate", "frames", folder_ / "in", "-c", config, "--truth", truth,
                            "--truth-format", "boxes", "--protocol", "faces", "--min-neighbors", "0"} +
                          options);
    const std::size_t at = outcome.out.find("\nall ");
    return at == std::string::npos ? -1 : std::stod(outcome.out.substr(at + 5));
  };
  const auto labels =
      count_labels(run({"-q", "detect", folder_ / "in", "-c", config, "--min-neighbors", "0"}));
  EXPECT_NE(labels.at("big"), labels.at("small"));
  EXPECT_EQ(wrong({}), labels.at("big"));
  EXPECT_EQ(wrong({"--label", "big"}), labels.at("big"));
  EXPECT_EQ(wrong({"--label", "small"}), labels.at("small"));
  expect_run(2, {"evaluate", "frames", folder_ / "in", "-c", config, "--truth", truth, "--truth-format",
                 "boxes", "--label", "eye"});
}

TEST_F(CascadeProgram, ModelShowDescribesACascade) {
  const Outcome outcome = expect_run(0, {"model", "show", model()});
  for (const char* words :
       {"OpenCV cascade of Haar features", "20 x 20 pixels", "1 Haar features", "0 tilted", "1 stumps"})
    EXPECT_NE(outcome.out.find(words), std::string::npos) << words << "\n" << outcome.out;
  picture("a.png");
  const Outcome counted = expect_run(0, {"model", "show", model(), "--survivors", folder_ / "a.png"});
  EXPECT_NE(counted.out.find("of all"), std::string::npos) << counted.out;
  EXPECT_NE(counted.out.find("windows on all scales"), std::string::npos) << counted.out;
  expect_run(2, "--filters", {"model", "show", model(), "--filters", "3"});
  expect_run(2, "--picture", {"model", "show", model(), "--picture", folder_ / "p.png"});
  expect_run(3, "none.png", {"model", "show", model(), "--survivors", folder_ / "none.png"});
  const std::string people = std::string(SIGHTLINE_SOURCE_DIR) + "/configs/models/people.safetensors";
  expect_run(2, "--survivors", {"model", "show", people, "--survivors", folder_ / "a.png"});
}

TEST_F(CascadeProgram, Misuse) {
  picture("a.png");
  const std::string clip = moving_clip(100, 100, 1);
  expect_run(4, "none.xml", {"detect", clip, "-m", folder_ / "none.xml"});
  expect_run(4, "opencv-data", {"detect", clip, "-c", "faces-opencv", "-m", "haarcascade_qqqqqqqqqqqq"});
  expect_run(4, "page.xml:1",
             {"detect", clip, "-m", file("page.xml", "<html><body>no cascade</body></html>\n")});
  expect_run(4, "text.xml", {"detect", clip, "-m", file("text.xml", "no XML at all\n")});
  expect_run(4, "cut.xml", {"detect", clip, "-m", file("cut.xml", std::string(kCascade).substr(0, 300))});
  for (const auto& option : std::vector<Words>{{"--filters", "50"},
                                               {"--exact"},
                                               {"--computed-scales", "2"},
                                               {"--no-verify"},
                                               {"--arithmetic", "float"}})
    expect_run(2, option[0] + " does nothing", Words{"detect", clip, "-m", model()} + option);
  expect_run(2, "--min-neighbors", {"detect", clip, "--min-neighbors", "2"});
  expect_run(2, {"evaluate", "windows", "-m", model(), "--positives", folder_.path(), "--negatives",
                 folder_.path()});
  expect_run(2, {"evaluate", "windows", "-c", "faces-opencv", "--positives", folder_.path(), "--negatives",
                 folder_.path()});
  expect_run(2, {"detect", clip, "-c", "people", "-m", model()});
  expect_run(2, "largest", {"detect", clip, "-m", model(), "--min-size", "50", "--max-size", "40"});
  expect_run(2, "scale", {"detect", clip, "-m", model(), "--scale-step", "1"});
  expect_run(4, "safetensors",
             {"detect", clip, "-c", "faces-opencv", "-m",
              std::string(SIGHTLINE_SOURCE_DIR) + "/configs/models/people.safetensors"});
}

}  // namespace
}  // namespace sightline::test
