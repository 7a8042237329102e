// `train landmarks` and `evaluate landmarks` from the outside.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "media/gray_png.hpp"
#include "support/landmarks.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

using testing::HasSubstr;

class LandmarksProgram : public testing::Test {
 protected:
  LandmarksProgram() {
    std::filesystem::create_directory(folder_ / "photos");
    std::string lines;
    for (unsigned i = 0; i < 40; ++i) {
      const Spots spots(i);
      const std::string name = "photo_" + std::to_string(i);
      media::write_gray_png(folder_ / ("photos/" + name + ".png"), spots.picture.view());
      const Box& box = spots.face.box;
      lines += fmt::format("{} {} {} {} {} {}", name, i < 30 ? "train" : "test", box.x, box.y,
                           box.x + box.width, box.y + box.height);
      for (const Point& point : spots.face.points)
        lines += fmt::format(" {} {}", point.x - 0.5, point.y - 0.5);
      lines += "\n";
    }
    store(folder_ / "faces.txt", lines);
  }
  Words train(const std::string& output) const {
    return {"train",
            "landmarks",
            folder_ / "photos",
            "--faces",
            folder_ / "faces.txt",
            "--stages",
            "3",
            "--trees",
            "20",
            "--copies",
            "10",
            "--candidates",
            "20",
            "--shrinkage",
            "0.2",
            "--overwrite",
            "--output",
            folder_ / output};
  }
  TempDir folder_;
};

TEST_F(LandmarksProgram, TrainsWhatItThenEvaluates) {
  expect_run(0, train("five.safetensors"));
  const Outcome outcome =
      expect_run(0, {"evaluate", "landmarks", folder_ / "photos", "--faces", folder_ / "faces.txt", "--model",
                     folder_ / "five.safetensors", "--json", folder_ / "errors.json"});
  const Json figures = Json::parse(bytes_of(folder_ / "errors.json"));
  EXPECT_EQ(figures.at("results").at(0).at("found"), 10);
  EXPECT_LT(figures.at("results").at(0).at("points").at("all").get<double>(),
            figures.at("results").at(0).at("mean_shape").at("all").get<double>());
  EXPECT_THAT(outcome.out, HasSubstr("10 faces of part test"));
  EXPECT_THAT(outcome.out, HasSubstr("marked boxes: 10 faces found, 100.00%"));
  // Again, from the finished stages: the same bytes.
  const std::string first = bytes_of(folder_ / "five.safetensors");
  ASSERT_FALSE(first.empty());
  expect_run(0, train("five.safetensors"));
  EXPECT_EQ(bytes_of(folder_ / "five.safetensors"), first);
}

TEST_F(LandmarksProgram, SaysWhatItCannotUse) {
  expect_run(3, "'other'", train("x") + Words{"--part", "other"});
  expect_run(4, "faces.txt",
             {"evaluate", "landmarks", folder_ / "photos", "--faces", folder_ / "faces.txt", "--model",
              folder_ / "faces.txt"});
  store(folder_ / "faces.txt", std::string("nobody train 0 0 5 5 1 1 2 1 1 2 1 3 2 3\n"));
  expect_run(3, "'nobody'", train("x"));
  store(folder_ / "faces.txt", std::string("photo_1 train 0 0 5 5\n"));
  expect_run(3, train("x"));
}

}  // namespace
}  // namespace sightline::test
