// `sightline label` as a user runs it: with a mouse and a keyboard, and without a window.

#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>

#include "evaluation/ground_truth.hpp"
#include "labelling/viewport.hpp"
#include "support/desktop.hpp"
#include "support/media.hpp"
#include "support/patience.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Size kPicture{320, 240};

class Label : public testing::Test {
 protected:
  Label() { fs::create_directories(folder_ / "in"); }
  void picture(const std::string& name, Size size = kPicture) {
    make_clip(folder_ / ("in/" + name), "testsrc=rate=1:duration=1:size=" + std::to_string(size.width) + "x" +
                                            std::to_string(size.height));
  }
  std::string text(const std::string& name) const { return bytes_of(folder_ / name); }
  Words label(const Words& options) const { return Words{"label"} + options; }

  TempDir folder_;
};

TEST_F(Label, EveryFormatBecomesEveryOther) {
  picture("a.png");
  picture("b 2.png", {100, 50});
  picture("c.png");
  store(folder_ / "in/boxes.txt", "a.png 10 20 30 50 cup\na.png 0 0 320 240 \"big plate\"\n\"b 2.png\"\n");
  const std::string in = folder_ / "in";
  expect_run(0, label({in, "--convert-to", folder_ / "boxes.json"}));
  expect_run(0, label({in, "--boxes", folder_ / "boxes.json", "--convert-to", folder_ / "labels"}));
  expect_run(0, label({in, "--boxes", folder_ / "labels", "--convert-to", folder_ / "again.txt"}));
  EXPECT_EQ(text("again.txt"), text("in/boxes.txt"));
  EXPECT_EQ(text("labels/classes.txt"), "cup\nbig plate\n");
  EXPECT_EQ(text("labels/b 2.txt"), "");
  EXPECT_FALSE(fs::exists(folder_ / "labels/c.txt")) << "what nobody has looked at is not said to be empty";
  const GroundTruth coco = load_coco_truth(folder_ / "boxes.json");
  EXPECT_EQ(coco.facts.at("b 2.png").size, (Size{100, 50}));
}

TEST_F(Label, ConversionSaysWhatIsLost) {
  picture("a.png");
  store(folder_ / "boxes.json",
        R"({"images": [{"id": 1, "file_name": "a.png", "width": 320, "height": 240}], "annotations": [
            {"image_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 1}, {"image_id": 1, "bbox": [900, 2, 3, 4]}]})");
  const Outcome outcome = expect_run(
      0, "1 box",
      label({folder_ / "in", "--boxes", folder_ / "boxes.json", "--convert-to", folder_ / "boxes.txt"}));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("a.png:"), HasSubstr("1 box")));
  EXPECT_EQ(text("boxes.txt"), "a.png 900 2 903 6\n");
}

TEST_F(Label, RefusesWhatCannotBe) {
  expect_run(3, label({folder_ / "in"}));
  expect_run(3, "nowhere", label({folder_ / "nowhere"}));
  picture("a.png");
  const std::string in = folder_ / "in", to = folder_ / "out.txt";
  expect_run(3, label({in, "--convert-to", to}));
  expect_run(2, "--format", label({in, "--format", "voc"}));
  expect_run(1, label({in, "--boxes", folder_ / "none/boxes.txt"}));
  expect_run(2, label({folder_ / "in/a.png", "--boxes", folder_ / "in/a.png"}));
  expect_run(2, "--frames", label({in, "--frames", folder_ / "frames"}));
  store(folder_ / "in/boxes.txt", "a.png 1 2 3\n");
  expect_run(3, "boxes.txt:1: 4 columns", label({in}));
  store(folder_ / "in/boxes.txt", "a.png 1 2 3 4\n");
  expect_run(2, label({in, "--convert-to", folder_ / "in/boxes.txt"}));
  fs::create_directories(folder_ / "more");
  fs::copy(folder_ / "in/a.png", folder_ / "more/a.png");
  expect_run(3, "'a.png'", label({in, folder_ / "more"}));
  fs::rename(folder_ / "more/a.png", folder_ / "more/a.jpg");
  expect_run(3, "YOLO", label({in, folder_ / "more", "--format", "yolo", "--boxes", folder_ / "labels"}));
  make_clip(folder_ / "clip.mp4", "testsrc=rate=5:duration=1:size=64x48");
  expect_run(2, "--frames FOLDER", label({in, folder_ / "clip.mp4"}));
  // A picture that is marked and has gone since.
  store(folder_ / "list.txt", "in/a.png\n");
  fs::remove(folder_ / "in/a.png");
  expect_run(3, "list.txt:1:", label({folder_ / "list.txt"}));
}

TEST_F(Label, WithoutAScreenItSaysWhatToDo) {
  picture("a.png");
  RunSetup setup;
  setup.environment = {"DISPLAY=:9999", "WAYLAND_DISPLAY=", "SDL_VIDEODRIVER=x11"};
  expect_run(1, label({folder_ / "in"}), setup);
  EXPECT_FALSE(fs::exists(folder_ / "in/boxes.txt"));
}

TEST_F(Label, MarksOfEveryFormatAreKnownToEvaluate) {
  picture("a.png");
  store(folder_ / "in/boxes.txt", "a.png 10 20 130 200 person\na.png 0 0 50 50 dog\n");
  const std::string in = folder_ / "in";
  expect_run(0, label({in, "--convert-to", folder_ / "boxes.json"}));
  expect_run(0, label({in, "--convert-to", folder_ / "labels"}));
  for (const auto& [format, place] : {std::pair<std::string, std::string>{"boxes", "in/boxes.txt"},
                                      {"coco", "boxes.json"},
                                      {"yolo", "labels"}}) {
    const Words evaluate{"evaluate",       "frames", in,         "--truth", folder_ / place,
                         "--truth-format", format,   "--device", "none"};
    // The detector's label is the name of a class.
    EXPECT_THAT(expect_run(0, evaluate).out, HasSubstr("1 frame with 1 object"));
    EXPECT_THAT(expect_run(0, evaluate + Words{"--truth-label", "dog"}).out,
                HasSubstr("1 frame with 1 object"));
    expect_run(2, evaluate + Words{"--truth-label", "cat"});
  }
}

// A window on a screen of its own, without panels, so that pictures are where the test computes them.
class LabelInWindow : public Label {
 protected:
  void SetUp() override {
    if (!Desktop::is_installed()) GTEST_SKIP() << "no Xvfb and xdotool to try windows with";
    view_.set(kPicture, 1, {1280, 800});
  }
  void open(const Words& options, const Words& variables = {}) {
    // Another one each time: the key that ends a program may never be let go of, since its window is gone
    // before.
    program_.reset();
    desktop_ = std::make_unique<Desktop>();
    ChildSetup setup = desktop_->environment();
    setup.environment.insert(setup.environment.begin(), variables.begin(), variables.end());
    program_ = std::make_unique<ChildProcess>(Words{SIGHTLINE_PROGRAM} + label(options), setup);
    ASSERT_TRUE(desktop_->act({"search", "--sync", "--onlyvisible", "--name", "Sightline label"}, kPatience))
        << program_->output();
    press("o");
  }
  void act(const Words& action) {
    ASSERT_TRUE(becomes_true([&] {
      return desktop_->act(
                 Words{"search", "--onlyvisible", "--name", "Sightline label", "windowfocus"} + action,
                 kPatience) ||
             !program_->is_running();
    })) << program_->output();
  }
  void press(const std::string& key) { act({"key", key}); }
  // With the mouse, in pixels of the picture.
  void drag(double x1, double y1, double x2, double y2) {
    const auto from = view_.to_output({x1, y1}), to = view_.to_output({x2, y2});
    const auto at = [](Point point) {
      return Words{"mousemove", std::to_string(std::lround(point.x)), std::to_string(std::lround(point.y))};
    };
    const Words pause{"sleep", "0.05"};
    act(at(from) + pause + Words{"mousedown", "1"} + pause + at({(from.x + to.x) / 2, (from.y + to.y) / 2}) +
        pause + at(to) + pause + Words{"mouseup", "1"});
  }
  void expect_saved(const std::string& wanted, const std::string& name = "in/boxes.txt") {
    EXPECT_TRUE(becomes_true([&] { return text(name) == wanted || !program_->is_running(); }));
    EXPECT_EQ(text(name), wanted) << program_->output();
  }
  GroundTruth load_if_there(const std::string& name) {
    return fs::exists(folder_ / name) ? load_box_list(folder_ / name) : GroundTruth{};
  }
  void expect_end(int code) {
    EXPECT_EQ(program_->wait(kPatience), code) << program_->output();
    program_->kill();
  }

  std::unique_ptr<Desktop> desktop_;
  std::unique_ptr<ChildProcess> program_;
  labelling::Viewport view_;
};

TEST_F(LabelInWindow, DrawsMovesResizesNamesAndUndoes) {
  picture("a.png");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in", "--classes", "cup,plate"}));
  drag(40, 60, 100, 160);
  expect_saved("a.png 40 60 100 160 cup\n");
  press("2");
  expect_saved("a.png 40 60 100 160 plate\n");
  drag(70, 110, 90, 120);
  expect_saved("a.png 60 70 120 170 plate\n");
  drag(120, 170, 200, 200);
  expect_saved("a.png 60 70 200 200 plate\n");
  press("Right");
  press("shift+Down");
  expect_saved("a.png 61 80 201 210 plate\n");
  press("ctrl+Left");
  expect_saved("a.png 61 80 200 210 plate\n");
  press("ctrl+z");
  press("z");
  press("z");
  expect_saved("a.png 60 70 200 200 plate\n");
  press("ctrl+shift+z");
  expect_saved("a.png 61 70 201 200 plate\n");
  press("v");  // there is no picture before
  press("c");
  act({"type", "jug q"});
  press("Return");
  expect_saved("a.png 61 70 201 200 \"jug q\"\n");
  drag(220, 10, 300, 50);
  expect_saved("a.png 61 70 201 200 \"jug q\"\na.png 220 10 300 50 \"jug q\"\n");
  press("Delete");
  expect_saved("a.png 61 70 201 200 \"jug q\"\n");
  for (const char* key : {"h", "h", "i", "Escape", "Tab", "plus", "minus", "w", "f", "f", "5"}) press(key);
  press("q");
  expect_end(0);
  EXPECT_EQ(text("in/boxes.txt"), "a.png 61 70 201 200 \"jug q\"\n");
}

TEST_F(LabelInWindow, GoesThroughPicturesAndOnWhereItWasLeft) {
  for (const char* name : {"a.png", "b.png", "c.png", "d.png"}) picture(name);
  store(folder_ / "in/boxes.txt", "elsewhere.png 1 2 3 4\nb.png 5 6 7 8\n");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in"}));
  press("Return");
  expect_saved("a.png\nb.png 5 6 7 8\nelsewhere.png 1 2 3 4\n");
  EXPECT_EQ(text("in/boxes.txt~"), "elsewhere.png 1 2 3 4\nb.png 5 6 7 8\n") << "what stood there before";
  press("n");
  drag(10, 10, 60, 60);
  expect_saved("a.png\nb.png 5 6 7 8\nc.png 10 10 60 60\nelsewhere.png 1 2 3 4\n");
  press("p");
  press("v");
  expect_saved("a.png\nb.png 5 6 7 8\nc.png 10 10 60 60\nelsewhere.png 1 2 3 4\n");
  press("q");
  expect_end(0);
  // d is the only one that is left.
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in", "--unseen"}));
  press("v");
  expect_saved("a.png\nb.png 5 6 7 8\nc.png 10 10 60 60\nd.png 10 10 60 60\nelsewhere.png 1 2 3 4\n");
  program_->send(SIGTERM);
  expect_end(128 + SIGTERM);
}

TEST_F(LabelInWindow, NothingIsLostWhereItIsKilled) {
  picture("a.png");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in", "--boxes", folder_ / "labels", "--format", "yolo"}));
  drag(80, 60, 240, 180);
  expect_saved("0 0.5 0.5 0.5 0.5\n", "labels/a.txt");
  program_->kill();
  EXPECT_EQ(text("labels/a.txt"), "0 0.5 0.5 0.5 0.5\n");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in", "--boxes", folder_ / "labels"}));
  press("Tab");
  press("Delete");
  expect_saved("", "labels/a.txt");
  press("q");
  expect_end(0);
}

TEST_F(LabelInWindow, AScreenThatIsGoneCostsNothing) {
  picture("a.png");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in"}));
  drag(40, 60, 100, 160);
  expect_saved("a.png 40 60 100 160\n");
  desktop_->kill();
  expect_end(1);
  expect_saved("a.png 40 60 100 160\n");
}

TEST_F(LabelInWindow, PicturesThatAreGoneOrNone) {
  for (const char* name : {"a.png", "b.png", "d.png"}) picture(name);
  store(folder_ / "in/c.png", "no picture");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in"}));
  fs::remove(folder_ / "in/b.png");
  press("n");
  EXPECT_TRUE(becomes_true([&] { return program_->output().find("b.png") != std::string::npos; }));
  drag(10, 10, 60, 60);
  press("Return");
  EXPECT_TRUE(becomes_true([&] { return program_->output().find("c.png") != std::string::npos; }));
  press("n");
  drag(10, 10, 60, 60);
  expect_saved("d.png 10 10 60 60\n");
  press("q");
  expect_end(0);
}

TEST_F(LabelInWindow, WhatCannotBeSavedIsRescued) {
  picture("a.png");
  fs::create_directories(folder_ / "out");
  fs::create_directories(folder_ / "tmp");
  ASSERT_NO_FATAL_FAILURE(
      open({folder_ / "in", "--boxes", folder_ / "out/boxes.txt"}, {"TMPDIR=" + folder_ / "tmp"}));
  fs::remove_all(folder_ / "out");
  drag(10, 10, 60, 60);
  EXPECT_TRUE(
      becomes_true([&] { return program_->output().find("cannot write boxes") != std::string::npos; }));
  press("q");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(program_->is_running()) << "who closes the window is told first";
  press("q");
  expect_end(1);
  std::vector<fs::path> rescued;
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "tmp"))
    if (entry.path().filename() == "boxes.txt") rescued.push_back(entry.path());
  ASSERT_EQ(rescued.size(), 1u);
  EXPECT_EQ(bytes_of(rescued[0]), "a.png 10 10 60 60\n");
  EXPECT_EQ(fs::status(rescued[0].parent_path()).permissions(), fs::perms::owner_all)
      << "nobody else can plant a link there";
}

TEST_F(LabelInWindow, AFullDiskThatHasRoomAgain) {
  picture("a.png");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "in"}, {"SIGHTLINE_FAULT=write:1"}));
  drag(10, 10, 60, 60);
  EXPECT_TRUE(
      becomes_true([&] { return program_->output().find("cannot write boxes") != std::string::npos; }));
  expect_saved("a.png 10 10 60 60\n");  // by itself
  press("q");
  expect_end(0);
}

TEST_F(LabelInWindow, ADetectorProposes) {
  make_clip(folder_ / "in/a.png", "testsrc2=rate=1:duration=1:size=320x240");
  ASSERT_NO_FATAL_FAILURE(open({Words{folder_ / "in", "--config", "people"} + kFindsSome}));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(fs::exists(folder_ / "in/boxes.txt")) << "proposals are nothing yet";
  EXPECT_TRUE(becomes_true([&] {
    press("space");
    return fs::exists(folder_ / "in/boxes.txt");
  }));
  press("Return");
  const auto found = [&] { return load_box_list(folder_ / "in/boxes.txt").positives(); };
  EXPECT_TRUE(becomes_true([&] { return found() > 2; }));
  EXPECT_EQ(load_box_list(folder_ / "in/boxes.txt").labels.at(0), "person");
  press("q");
  expect_end(0);
}

TEST_F(LabelInWindow, FramesThatReturnAcceptsAreWritten) {
  make_clip(folder_ / "clip.mp4", "testsrc2=rate=10:duration=2:size=320x240");
  ASSERT_NO_FATAL_FAILURE(open(
      {Words{folder_ / "clip.mp4", "--every", "7", "--frames", folder_ / "frames", "--config", "people"} +
       kFindsSome}));
  EXPECT_TRUE(becomes_true([&] {
    press("Return");
    return load_if_there("clip.boxes.txt").images.size() == 3;
  }));
  press("q");
  expect_end(0);
  for (const auto& [name, boxes] : load_if_there("clip.boxes.txt").images)
    EXPECT_TRUE(fs::exists(folder_ / ("frames/" + name))) << name;
}

TEST_F(LabelInWindow, FramesOfAVideo) {
  make_clip(folder_ / "clip.mp4", "testsrc=rate=10:duration=2:size=320x240");
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "clip.mp4", "--every", "7", "--frames", folder_ / "frames"}));
  drag(10, 10, 60, 60);
  press("n");
  press("n");
  drag(20, 20, 60, 60);
  expect_saved("clip-000001.png 10 10 60 60\nclip-000015.png 20 20 60 60\n", "clip.boxes.txt");
  press("n");  // there is no more
  press("p");
  press("p");
  press("Delete");
  press("Tab");
  press("Delete");
  expect_saved("clip-000001.png\nclip-000015.png 20 20 60 60\n", "clip.boxes.txt");
  press("q");
  expect_end(0);
  EXPECT_TRUE(fs::exists(folder_ / "frames/clip-000001.png"));
  EXPECT_FALSE(fs::exists(folder_ / "frames/clip-000008.png")) << "only what is marked";
  media::Reader picture_of(folder_ / "frames/clip-000015.png");
  EXPECT_EQ(picture_of.read()->size(), kPicture);
  // By number, for `evaluate`, where they are no files.
  ASSERT_NO_FATAL_FAILURE(open({folder_ / "clip.mp4", "--every", "7", "--boxes", folder_ / "numbers.txt"}));
  press("n");
  drag(10, 10, 60, 60);
  expect_saved("8 10 10 60 60\n", "numbers.txt");
  press("q");
  expect_end(0);
}

}  // namespace
}  // namespace sightline::test
