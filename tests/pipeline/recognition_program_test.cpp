// `train recognition`, `evaluate verify` and `evaluate identify` from the outside, on made-up faces: a person
// is a texture of coarse squares, a photo of one a little noise upon it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/random.hpp"
#include "faces/recognition/model.hpp"
#include "faces/recognition/training/channels.hpp"
#include "media/gray_png.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr int kPeopleInPhotos = 24, kPhotos = 4, kSide = 96;

class RecognitionProgram : public testing::Test {
 protected:
  RecognitionProgram() {
    std::filesystem::create_directory(folder_ / "photos");
    std::string points, people, pairs, list;
    for (int person = 0; person < kPeopleInPhotos; ++person) {
      const std::string name = "p" + std::to_string(person);
      if (person < 16) people += name + "\n";
      for (int photo = 0; photo < kPhotos; ++photo) {
        const std::string file = fmt::format("{}_{}", name, photo);
        draw(person, photo, file);
        points += file + " 34 36 62 36 48 53 36 68 60 68\n";
        if (person < 16) continue;
        const bool is_known = person < 20;
        list += fmt::format("{} {} {}\n",
                            !is_known   ? "unknown"
                            : photo < 2 ? "gallery"
                                        : "probe",
                            name, file);
        pairs += fmt::format("{} {} {}_{} 1\n", person % 2, file, name, (photo + 1) % kPhotos);
        pairs += fmt::format("{} {} p{}_{} 0\n", person % 2, file, (person + 1) % kPeopleInPhotos, photo);
      }
    }
    store(folder_ / "points.txt", points);
    store(folder_ / "people.txt", people);
    store(folder_ / "pairs.txt", pairs);
    store(folder_ / "list.txt", list);
  }

  void draw(int person, int photo, const std::string& name) {
    Random own(static_cast<std::uint64_t>(person)), noise(1, static_cast<std::uint64_t>(photo));
    int squares[16][16];
    for (auto& row : squares) {
      for (int& square : row) square = 60 + static_cast<int>(own.below(120));
    }
    Image<std::uint8_t> picture(kSide, kSide);
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x)
        picture.view().at(x, y) =
            static_cast<std::uint8_t>(squares[y / 6][x / 6] + static_cast<int>(noise.below(30)));
    }
    media::write_gray_png(folder_ / ("photos/" + name + ".png"), picture.view());
  }

  Words train(const std::string& kind, const std::string& output) const {
    return {"train",
            "recognition",
            folder_ / "photos",
            "--people",
            folder_ / "people.txt",
            "--landmarks",
            folder_ / "points.txt",
            "--kind",
            kind,
            "--axes",
            "48",
            "--dims",
            "32",
            "--overwrite",
            "--output",
            folder_ / output};
  }
  Words evaluate(const std::string& command, const std::string& option, const std::string& model) const {
    return {"evaluate",
            command,
            folder_ / "photos",
            option,
            folder_ / (command == "verify" ? "pairs.txt" : "list.txt"),
            "--landmarks",
            folder_ / "points.txt",
            "--model",
            folder_ / model};
  }
  TempDir folder_;
};

TEST_F(RecognitionProgram, TrainsWhatItThenEvaluates) {
  for (const char* kind : {"learned", "weighted", "plain"}) {
    const std::string model = kind + std::string(".safetensors");
    expect_run(0, train(kind, model));
    Words verify = evaluate("verify", "--pairs", model);
    verify.insert(verify.end(),
                  {"--json", folder_ / "verify.json", "--csv", folder_ / "verify.csv", "--overwrite"});
    EXPECT_THAT(expect_run(0, verify).out, HasSubstr("equal error rate 0%")) << kind;
    EXPECT_THAT(bytes_of(folder_ / "verify.json"), HasSubstr("\"equal_error_rate\": 0.0")) << kind;
    EXPECT_TRUE(
        bytes_of(folder_ / "verify.csv").starts_with("curve,threshold,false_positives_per_stranger,"));
    const Outcome outcome = expect_run(0, evaluate("identify", "--list", model));
    EXPECT_THAT(outcome.out,
                HasSubstr("8 photos of 4 people are known; 8 other photos of them, 16 of people unknown"));
    EXPECT_THAT(outcome.out, HasSubstr("the right one is nearest for 100%")) << kind;
  }
  EXPECT_THAT(expect_run(0, {"evaluate", "compare", folder_ / "verify.csv"}).out,
              HasSubstr("false positives per stranger"));
}

TEST_F(RecognitionProgram, GoesOnFromFinishedSteps) {
  expect_run(0, train("learned", "a.safetensors"));
  const std::string first = bytes_of(folder_ / "a.safetensors");
  ASSERT_FALSE(first.empty());
  expect_run(0, train("learned", "a.safetensors"));
  EXPECT_EQ(bytes_of(folder_ / "a.safetensors"), first);
}

recognition::FaceModel load_face_model(const std::string& file) {
  return recognition::load_face_model(file, std::uint64_t{recognition::kMaxFaceModelSize} << 20);
}

TEST_F(RecognitionProgram, TrainsForHardLight) {
  expect_run(0, "16 people", train("light", "light.safetensors"));
  expect_run(2, "--state", train("light", "x") + Words{"--state", folder_ / "steps"});
  expect_run(0, train("light", "again.safetensors"));
  const std::string first = bytes_of(folder_ / "light.safetensors");
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(bytes_of(folder_ / "again.safetensors"), first);

  const recognition::FaceModel model = load_face_model(folder_ / "light.safetensors");
  EXPECT_EQ(model.geometry, recognition::kLightGeometry);
  EXPECT_EQ(model.channels, recognition::light_channels());
  EXPECT_FALSE(model.projection);
  EXPECT_THAT(model.region_weights, Contains(0));
  EXPECT_THAT(model.region_weights, Contains(4));
  EXPECT_FALSE(model.strangers.empty());
  const Words report{"--json", folder_ / "identify.json"};
  EXPECT_THAT(expect_run(0, evaluate("identify", "--list", "light.safetensors") + report).out,
              HasSubstr("light: the right one is nearest for 100%"));
  const Json figures = Json::parse(bytes_of(folder_ / "identify.json"));
  const double distance = figures.at(0).at("identified").back().at("distance");
  EXPECT_GT(distance, 0);
  EXPECT_LT(distance, 2) << "strangers are about 1 apart";
}

TEST_F(RecognitionProgram, GoesOnFromFinishedStepsForHardLight) {
  const Words state{"--state", folder_ / "steps"};
  EXPECT_THAT(expect_run(0, train("learned-light", "a.safetensors") + state).err, HasSubstr("axes"));
  const Outcome again = expect_run(0, train("learned-light", "b.safetensors") + state);
  EXPECT_THAT(again.err, Not(HasSubstr("axes")));
  EXPECT_EQ(bytes_of(folder_ / "b.safetensors"), bytes_of(folder_ / "a.safetensors"));
  EXPECT_TRUE(load_face_model(folder_ / "b.safetensors").projection);
}

TEST_F(RecognitionProgram, SaysWhatItCannotUse) {
  expect_run(2, "--dims", train("learned", "x") + Words{"--dims", "40"});
  store(folder_ / "people.txt", std::string("nobody\n"));
  expect_run(3, "0 photos", train("learned", "x"));
  store(folder_ / "points.txt", std::string("p1_0 1 2 3\n"));
  expect_run(3, train("learned", "x"));
}

}  // namespace
}  // namespace sightline::test
