// `train cascade` from the outside: a cascade from pictures, the sweep, and what goes wrong.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/media.hpp"
#include "support/program.hpp"
#include "support/training.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::store;
using testing::HasSubstr;

void store_picture(const fs::path& file, GrayView picture) {
  std::string text =
      "P5\n" + std::to_string(picture.width()) + " " + std::to_string(picture.height()) + "\n255\n";
  for (int y = 0; y < picture.height(); ++y)
    text.append(reinterpret_cast<const char*>(picture.row(y)), static_cast<std::size_t>(picture.width()));
  store(file, text);
}

class TrainCascade : public testing::Test {
 protected:
  TrainCascade() {
    const Crosses data(80, 20);
    for (const char* folder : {"crosses", "scenes", "judge"}) fs::create_directory(folder_ / folder);
    const auto number = [](std::size_t i) { return std::to_string(1000 + i) + ".pgm"; };
    for (std::size_t i = 0; i < data.positives.size(); ++i)
      store_picture(folder_ / "crosses/" + number(i), data.positives.load(i).view());
    for (std::size_t i = 0; i < data.negatives.size(); ++i)
      store_picture(folder_ / "scenes/" + number(i), data.negatives.load(i).view());
  }

  Words train(const std::string& output, const Words& more = {}) const {
    return Words{"train",       "cascade",
                 "--positives", folder_ / "crosses",
                 "--negatives", folder_ / "scenes",
                 "--window",    "12x12",
                 "--stages",    "2",
                 "--objects",   "200",
                 "--windows",   "200",
                 "--copies",    "1",
                 "--output",    folder_ / output} +
           more;
  }

  // Every other one has a cross.
  void make_judges() {
    std::string boxes;
    for (unsigned i = 0; i < 8; ++i) {
      Image<std::uint8_t> frame = random_picture({100, 80}, 300 + i);
      const std::string name = std::to_string(i) + ".pgm";
      if (i % 2 == 0) {
        const Image<std::uint8_t> cross = cross_picture(36, 400 + i);
        for (int y = 0; y < 36; ++y) std::copy_n(cross.view().row(y), 36, frame.view().row(20 + y) + 40);
        boxes += name + " 46 26 70 50\n";
      }
      store_picture(folder_ / "judge/" + name, frame.view());
    }
    store(folder_ / "boxes.txt", boxes);
  }

  TempDir folder_;
};

TEST_F(TrainCascade, WritesWhatModelShowAndDetectRead) {
  for (const char* features : {"lbp", "haar", "haar-all"}) {
    const std::string file = std::string(features) + ".xml";
    const Outcome outcome =
        expect_run(0, "stage 1: ", train(file, {"--features", features, "--provenance", "a -- b"}));
    EXPECT_EQ(outcome.out, folder_ / file + "\n");
    EXPECT_THAT(expect_run(0, {"model", "show", folder_ / file}).out, HasSubstr("12 x 12 pixels"));
    make_judges();
    const Outcome found = expect_run(0, {"detect", folder_ / "judge/0.pgm", "--model", folder_ / file});
    ASSERT_FALSE(parse_lines(found.out).at(0).at("objects").empty()) << features;
  }
}

TEST_F(TrainCascade, GoesOnWhereItWasStopped) {
  expect_run(0, train("whole.xml"));
  {
    Program program(train("stopped.xml"));
    EXPECT_TRUE(
        program.wait_until([&] { return fs::exists(folder_ / "stopped.xml.training/stage-1.safetensors"); }));
    program.send(SIGINT);
    const Outcome outcome = program.wait();
    EXPECT_TRUE(outcome.exit_code == 130 || outcome.exit_code == 0) << outcome.exit_code;
    EXPECT_EQ(fs::exists(folder_ / "stopped.xml"), outcome.exit_code == 0);
  }
  expect_run(0, train("stopped.xml", {"--overwrite"}));
  EXPECT_EQ(bytes_of(folder_ / "stopped.xml"), bytes_of(folder_ / "whole.xml"));
}

TEST_F(TrainCascade, SweepJudgesModelsAndKeepsTheBest) {
  make_judges();
  const Outcome outcome =
      expect_run(0, "model 2 of 2: --false-alarm 0.7",
                 train("best.xml", {"--sweep", "0.3,0.7", "--judge", folder_ / "judge", "--judge-boxes",
                                    folder_ / "boxes.txt", "--csv", folder_ / "s.csv", "--json",
                                    folder_ / "s.json", "--page", folder_ / "s.html"}));
  EXPECT_THAT(outcome.out, HasSubstr("best by F1: --false-alarm 0."));
  const Json json = Json::parse(bytes_of(folder_ / "s.json"));
  ASSERT_EQ(json.at("models").size(), 2u);
  double highest = -1, best = 0;
  for (const Json& model : json.at("models")) {
    EXPECT_EQ(model.at("true_positives").get<int>() + model.at("false_negatives").get<int>(), 4);
    EXPECT_EQ(model.at("false_positives").get<int>() + model.at("true_negatives").get<int>(), 4);
    if (model.at("f1") > highest) {
      highest = model.at("f1");
      best = model.at("value");
    }
  }
  EXPECT_GT(highest, 0.8);
  EXPECT_EQ(json.at("best"), best);
  const std::string kept = best == 0.3 ? "best-0.3.xml" : "best-0.7.xml";
  EXPECT_EQ(bytes_of(folder_ / "best.xml"), bytes_of(folder_ / kept));
  EXPECT_THAT(bytes_of(folder_ / "s.csv"), HasSubstr("\nfalse-alarm 0.7,"));
  const std::string page = bytes_of(folder_ / "s.html");
  EXPECT_THAT(page,
              HasSubstr("<tr class=\"best\"><th scope=\"row\">" + std::string(best == 0.3 ? "0.3" : "0.7")));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

TEST_F(TrainCascade, Misuse) {
  make_judges();
  const std::string boxes = folder_ / "boxes.txt", judge = folder_ / "judge";
  expect_run(2, train("m.xml", {"--window", "4x4"}));
  expect_run(2, "--memory 1", train("m.xml", {"--features", "haar", "--memory", "1"}));
  expect_run(2, train("m.xml", {"--sweep", "0.3,x", "--judge", judge, "--judge-boxes", boxes}));
  expect_run(2, train("m.xml", {"--sweep", "1.5", "--judge", judge, "--judge-boxes", boxes}));
  expect_run(2, "--judge", train("m.xml", {"--sweep", "0.3"}));
  // What cannot be judged is refused before anything is trained.
  store(folder_ / "none.txt", std::string("elsewhere.pgm 1 2 3 4\n"));
  expect_run(3, train("m.xml", {"--sweep", "0.3", "--judge", judge, "--judge-boxes", folder_ / "none.txt"}));
  EXPECT_FALSE(fs::exists(folder_ / "m.xml.training"));

  fs::create_directory(folder_ / "empty");
  fs::create_directory(folder_ / "one");
  fs::copy_file(folder_ / "crosses/1000.pgm", folder_ / "one/1000.pgm");
  const auto with = [&](const std::string& positives, const std::string& negatives) {
    return Words{"train",       "cascade",           "--positives", folder_ / positives,
                 "--negatives", folder_ / negatives, "--output",    folder_ / "m.xml"};
  };
  expect_run(3, with("empty", "scenes"));
  expect_run(3, with("crosses", "empty"));
  expect_run(3, "--positives has 1 object", with("one", "scenes"));
  store(folder_ / "gone.txt", std::string("crosses/1000.pgm\ncrosses/gone.pgm\n"));
  expect_run(3, "gone.pgm", with("gone.txt", "scenes"));
  EXPECT_FALSE(fs::exists(folder_ / "m.xml"));
}

}  // namespace
}  // namespace sightline::test
