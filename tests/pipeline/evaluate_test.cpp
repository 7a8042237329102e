// `sightline evaluate` on pictures whose figures are known beforehand.

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "detectors/filterbank/detector.hpp"
#include "support/media.hpp"
#include "support/program.hpp"
#include "support/waldboost.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;

class Evaluate : public testing::Test {
 protected:
  Evaluate() {
    fs::create_directories(folder_ / "positives");
    fs::create_directories(folder_ / "negatives");
  }
  void picture(const std::string& name, const std::string& graph) {
    make_clip(folder_ / name, graph + ",trim=end_frame=1");
  }
  Outcome windows(const Words& options = {}) {
    Outcome outcome = run(Words{"evaluate", "windows", "--positives", folder_ / "positives", "--negatives",
                                folder_ / "negatives"} +
                          options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }
  TempDir folder_;
};

// The second word of each line that starts with a number: the miss rate of each rate of false positives.
Words miss_rates(const std::string& report) {
  Words rates;
  std::istringstream stream(report);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    double rate = 0;
    std::string miss;
    if (words >> rate >> miss && miss.ends_with('%')) rates.push_back(miss);
  }
  return rates;
}

TEST_F(Evaluate, WindowsThatCannotBeToldApartAreAllMissed) {
  for (const char* name : {"positives/a.png", "positives/b.png", "negatives/c.png"})
    picture(name, "color=gray:size=64x128");
  const Outcome outcome = windows({"--scale-step", "2"});
  EXPECT_NE(outcome.out.find("2 positive windows, 1 negative windows from 1 pictures"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(miss_rates(outcome.out), (Words(4, "100%")));
}

TEST_F(Evaluate, EveryWindowOfANegativeCounts) {
  picture("positives/a.png", "color=gray:size=64x128");
  picture("negatives/b.png", "color=gray:size=128x256");
  picture("negatives/small.png", "color=gray:size=32x32");
  // 9 x 17 windows at the first scale, 1 at half of it, none in the picture that is too small.
  EXPECT_NE(
      windows({"--scale-step", "2"}).out.find("1 positive windows, 154 negative windows from 2 pictures"),
      std::string::npos);
}

TEST_F(Evaluate, WindowsThatScoreHigherAreAllFound) {
  const Words graphs{"testsrc=size=64x128", "testsrc2=size=64x128", "color=gray:size=64x128",
                     "mandelbrot=size=64x128", "smptebars=size=64x128"};
  const filterbank::FilterbankDetector detector(
      filterbank::load_model(fs::path(SIGHTLINE_SOURCE_DIR) / "configs/models/people.safetensors"), {});
  filterbank::FilterbankWorkspace own;
  std::vector<std::pair<double, std::string>> scored;
  for (const std::string& graph : graphs) {
    picture("one.png", graph);
    media::Reader reader(folder_ / "one.png");
    const Frame frame = *reader.read();
    ASSERT_TRUE(detector.prepare(own, frame.view()));
    detector.score_windows(own);
    scored.emplace_back(detector.score(own.levels[0], 0, 0), graph);
  }
  std::sort(scored.begin(), scored.end());
  ASSERT_LT(scored.front().first, scored.back().first);
  picture("positives/a.png", scored.back().second);
  picture("negatives/b.png", scored.front().second);
  const Outcome outcome = windows({"--scale-step", "8", "--csv", folder_ / "curve.csv", "--svg",
                                   folder_ / "curve.svg", "--name", "ours"});
  EXPECT_EQ(miss_rates(outcome.out), (Words(4, "0%"))) << outcome.out;
  EXPECT_TRUE(bytes_of(folder_ / "curve.csv").starts_with("curve,threshold,false_positives_per_window,"));
  EXPECT_NE(bytes_of(folder_ / "curve.csv").find("\nours,"), std::string::npos);
  EXPECT_NE(bytes_of(folder_ / "curve.svg").find("<svg"), std::string::npos);
}

TEST_F(Evaluate, WindowsRefuseBadPictures) {
  const Words command{"evaluate", "windows", "--negatives", folder_ / "negatives", "--positives"};
  expect_run(3, "nowhere", command + Words{folder_ / "nowhere"});
  picture("positives/small.png", "color=gray:size=32x32");
  picture("negatives/a.png", "color=gray:size=64x128");
  expect_run(3, "small.png", command + Words{folder_ / "positives"});
  media::test::store(folder_ / "list.txt", "a.png\nmissing.png\n");
  picture("a.png", "color=gray:size=64x128");
  expect_run(3, "list.txt:2", command + Words{folder_ / "list.txt"});
}

// What the detector finds, as ground truth for itself.
TEST_F(Evaluate, FramesWithEverythingFound) {
  const std::string clip = moving_clip(200, 240, 5);
  const Words tuning{"-t", "-3", "--no-verify", "--scale-step", "1.3"};
  const Outcome found = expect_run(0, Words{"-q", "detect", clip, "-f", "mot"} + tuning);
  std::string truth;
  std::string elsewhere;
  std::set<std::string> frames;
  int objects = 0;
  std::istringstream rows(found.out);
  for (std::string row; std::getline(rows, row);) {
    std::replace(row.begin(), row.end(), ',', ' ');
    std::istringstream fields(row);
    std::string frame, id, x, y, width, height;
    fields >> frame >> id >> x >> y >> width >> height;
    truth += frame + ",1," + x + "," + y + "," + width + "," + height + ",1\n";
    elsewhere += frame + ",1,5000,5000," + width + "," + height + ",1\n";
    frames.insert(frame);
    ++objects;
  }
  ASSERT_GT(objects, 3);
  media::test::store(folder_ / "truth.txt", truth);
  media::test::store(folder_ / "elsewhere.txt", elsewhere);
  const std::string counts =
      std::to_string(frames.size()) + " frames with " + std::to_string(objects) + " objects";

  const Words command = Words{"evaluate", "frames", clip} + tuning;
  const Outcome all = expect_run(0, command + Words{"--truth", folder_ / "truth.txt"});
  EXPECT_NE(all.out.find(counts), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("log-average miss rate   0.0000"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("average precision       1.0000"), std::string::npos) << all.out;
  EXPECT_EQ(miss_rates(all.out), (Words(3, "0%"))) << all.out;

  const Outcome none =
      expect_run(0, command + Words{"--truth", folder_ / "elsewhere.txt", "--csv", folder_ / "curve.csv"});
  EXPECT_NE(none.out.find(counts), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("log-average miss rate   1.0000"), std::string::npos) << none.out;
  EXPECT_NE(none.out.find("average precision       0.0000"), std::string::npos) << none.out;
  EXPECT_EQ(miss_rates(none.out), (Words(3, "100%"))) << none.out;
  EXPECT_TRUE(bytes_of(folder_ / "curve.csv").starts_with("curve,threshold,false_positives_per_image,"));
}

TEST_F(Evaluate, FramesRecogniseTheFormatOfTheTruth) {
  fs::create_directories(folder_ / "in");
  fs::create_directories(folder_ / "mot/gt");
  fs::create_directories(folder_ / "flat");
  fs::create_directories(folder_ / "yolo");
  picture("in/p.png", "testsrc=size=200x240");
  media::test::store(folder_ / "boxes.txt", std::string("p.png 10 20 50 120\n"));
  media::test::store(folder_ / "mot/gt/gt.txt", std::string("1,1,10,20,40,100,1\n"));
  media::test::store(folder_ / "flat/gt.txt", std::string("\xEF\xBB\xBF\n1,1,10,20,40,100,1\n"));
  media::test::store(folder_ / "yolo/p.txt", std::string("0 0.5 0.5 0.2 0.4\n"));
  media::test::store(folder_ / "coco.json",
                     std::string(R"({"images":[{"id":1,"file_name":"p.png","width":200,"height":240}],
      "categories":[{"id":1,"name":"person"}],
      "annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[10,20,40,100]}]})"));
  for (const char* truth : {"boxes.txt", "mot", "mot/gt", "mot/gt/gt.txt", "flat", "yolo", "coco.json"}) {
    const Outcome outcome = run({"evaluate", "frames", folder_ / "in", "--truth", folder_ / truth});
    EXPECT_EQ(outcome.exit_code, 0) << truth << ": " << outcome.err;
    EXPECT_NE(outcome.out.find("1 frame with 1 object;"), std::string::npos) << truth << ": " << outcome.out;
  }
}

TEST_F(Evaluate, FramesOfASequenceAsMotHasThem) {
  fs::create_directories(folder_ / "mot/gt");
  fs::create_directories(folder_ / "mot/img1");
  picture("mot/img1/000001.png", "testsrc=size=200x240");
  picture("mot/img1/000002.png", "testsrc=size=200x240");
  media::test::store(folder_ / "mot/gt/gt.txt", std::string("2,1,10,20,40,100,1\n"));
  const Outcome outcome = expect_run(0, {"evaluate", "frames", folder_ / "mot", "--truth", folder_ / "mot"});
  EXPECT_NE(outcome.out.find("1 frame with 1 object;"), std::string::npos) << outcome.out;
}

TEST_F(Evaluate, FramesSayWhichMarksMatchNone) {
  fs::create_directories(folder_ / "in");
  fs::create_directories(folder_ / "yolo");
  picture("in/p.png", "testsrc=size=200x240");
  const std::string box = " 10 20 50 120\n";
  const auto evaluate = [&](int code, const std::string& words, const std::string& truth) {
    return expect_run(code, words, {"evaluate", "frames", folder_ / "in", "--truth", folder_ / truth});
  };
  media::test::store(folder_ / "boxes.txt", "p.png" + box + "a.png" + box + "b.png" + box);
  EXPECT_NE(evaluate(0, "'a.png'", "boxes.txt").err.find(" 2 "), std::string::npos);
  media::test::store(folder_ / "endings.txt", "p.jpg" + box);
  evaluate(3, "'p.png'", "endings.txt");
  media::test::store(folder_ / "yolo/q.txt", std::string("0 0.5 0.5 0.2 0.4\n"));
  evaluate(3, "'q.txt'", "yolo");
  media::test::store(folder_ / "yolo/p.txt", std::string("0 0.5 0.5 0.2 0.4\n"));
  evaluate(0, "'q.txt'", "yolo");
  media::test::store(folder_ / "all.txt", "p.png" + box);
  const Outcome all = evaluate(0, "", "all.txt");
  EXPECT_EQ(all.err.find("warning"), std::string::npos) << all.err;
}

TEST_F(Evaluate, FramesRefuseBadTruth) {
  const Words command{"evaluate", "frames", moving_clip(200, 240, 2), "--truth"};
  media::test::store(folder_ / "bad.txt", "1,1,0,0,10,10,1\n1,1,zero,0,10,10,1\n");
  expect_run(3, "bad.txt:2", command + Words{folder_ / "bad.txt"});
  media::test::store(folder_ / "other.txt", "900,1,0,0,10,10,1\n");
  expect_run(3, command + Words{folder_ / "other.txt"});
  expect_run(3, "gone.txt", command + Words{folder_ / "gone.txt"});
}

TEST_F(Evaluate, CurvesOfEarlierEvaluationsCompare) {
  const std::string header = "curve,threshold,false_positives_per_image,miss_rate,positives,images\n";
  media::test::store(folder_ / "a.csv", header + "one,1,0.09,0.25,8,10\n");
  media::test::store(folder_ / "b.csv", header + "two,1,0,0.5,8,10\n");
  const Words command{"evaluate", "compare", folder_ / "a.csv", folder_ / "b.csv"};
  const Outcome outcome = expect_run(
      0, command + Words{"--svg", folder_ / "both.svg", "--title", "Ours", "--name", "first", "--name", "b"});
  EXPECT_NE(outcome.out.find(
                "\n100%    25%     25%     0.4629       first\n50%     50%     50%     0.5000       b\n"),
            std::string::npos)
      << outcome.out;
  for (const char* part : {"aria-label=\"Ours\"", ">first: ", ">b: ", "log-average 46.3%"})
    EXPECT_NE(bytes_of(folder_ / "both.svg").find(part), std::string::npos) << part;
  expect_run(2, "2 curves", command + Words{"--name", "one"});
  media::test::store(
      folder_ / "c.csv",
      "curve,threshold,false_positives_per_window,miss_rate,positives,windows\nc,1,0,0.5,8,10\n");
  expect_run(3, command + Words{folder_ / "c.csv"});
}

// A table of what is missed and why, and a picture of it.
TEST_F(Evaluate, Misses) {
  media::test::store(folder_ / "truth.txt", "1,1,10,10,41,100,1\n1,2,90,60,41,100,1\n2,1,60,20,10,24,1\n");
  const Words command{"evaluate", "frames", moving_clip(160, 200, 2), "--truth", folder_ / "truth.txt",
                      "--device", "none"};
  const Outcome outcome =
      expect_run(0, command + Words{"--misses", "0.1", "--misses-sheet", folder_ / "sheet.png"});
  EXPECT_NE(outcome.out.find("Missed at 0.1 false positives per image"), std::string::npos) << outcome.out;
  for (const char* word :
       {"suppressed", "low score", "unseen", "all", "0 to 48 pixels high", "96 to 128 pixels high"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << outcome.out;
  EXPECT_GT(media::test::read_all(folder_ / "sheet.png").at(0).size().height, 250);
  expect_run(2, "--misses 0.1", command + Words{"--misses-sheet", folder_ / "sheet.png", "--overwrite"});
  expect_run(2, command + Words{"--config", "faces-opencv", "--misses", "0.1"});
}

// Boxes with the better half of the scores are marked as right: confidences then tell the halves apart.
TEST_F(Evaluate, FramesCalibrateAModelWhoseConfidencesCountFromThenOn) {
  const std::string model = folder_ / "raw.safetensors", calibrated = folder_ / "calibrated.safetensors";
  waldboost::save_model(random_waldboost(1, 30), model);
  const std::string clip = moving_clip(160, 120, 10), truth = folder_ / "truth.txt";
  const auto found = [&](const Words& options) {
    const Outcome outcome = expect_run(0, Words{"detect", clip} + options);
    return parse_lines(outcome.out);
  };
  const std::vector<Json> raw = found({"--model", model, "--threshold", "-1e6"});
  std::vector<double> scores;
  for (const Json& frame : raw) {
    for (const Json& object : frame["objects"]) {
      scores.push_back(object["score"]);
      EXPECT_FALSE(object.contains("confidence"));
    }
  }
  ASSERT_GE(scores.size(), 80U);
  std::ranges::sort(scores);
  const double middle = scores[scores.size() / 2];
  std::string rows;
  for (const Json& frame : raw) {
    for (const Json& object : frame["objects"]) {
      const Json& box = object["box"];
      if (object["score"] > middle)
        rows += frame["frame"].dump() + ",-1," + box[0].dump() + ',' + box[1].dump() + ',' + box[2].dump() +
                ',' + box[3].dump() + ",1\n";
    }
  }
  std::ofstream(truth) << rows;
  expect_run(0, {"evaluate", "frames", clip, "--model", model, "--truth", truth, "--protocol", "faces",
                 "--calibrate", calibrated, "--reliability", folder_ / "plot.svg"});
  EXPECT_TRUE(fs::exists(folder_ / "plot.svg"));
  EXPECT_FALSE(waldboost::load_model(calibrated, 1 << 24).calibration.empty());

  int sure = 0;
  for (const Json& frame : found({"--model", calibrated, "--confidence", "0.5"})) {
    for (const Json& object : frame["objects"]) {
      EXPECT_GE(object["confidence"], 0.5);
      EXPECT_GE(object["score"], middle - 1);
      ++sure;
    }
  }
  EXPECT_GT(sure, 20);
  expect_run(2, {"detect", clip, "--model", model, "--confidence", "0.5"});
}

}  // namespace
}  // namespace sightline::test
