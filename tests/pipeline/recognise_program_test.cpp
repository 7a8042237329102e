// Recognition with the models that ship, from the outside, on faces that are drawn: who is added is named,
// the same on every processor, and a gallery is of one model.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "base/random.hpp"
#include "faces/gallery/gallery.hpp"
#include "media/gray_png.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kPictureSide = 240;

// What one person looks like: an oval with hair, brows, eyes, a nose and a mouth.
class DrawnPerson {
 public:
  explicit DrawnPerson(std::uint64_t number) : random_(number) {
    for (auto& row : skin_) {
      for (double& square : row) square = drawn(-6, 6);
    }
  }

  /// @param photo  another noise for each
  void draw(std::uint64_t photo, const std::string& file) const {
    Random noise(1, photo);
    Image<std::uint8_t> picture(kPictureSide, kPictureSide);
    for (int y = 0; y < kPictureSide; ++y) {
      for (int x = 0; x < kPictureSide; ++x) {
        const double value =
            light(x - kPictureSide / 2, y - kPictureSide / 2) + skin_[y / 6][x / 6] + 3 * noise.unit();
        picture.view().at(x, y) = static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0));
      }
    }
    media::write_gray_png(file, picture.view());
  }

 private:
  double drawn(double from, double to) { return from + (to - from) * random_.unit(); }

  double light(double x, double y) const {
    const double from_edge = std::pow(x / width_, 2) + std::pow(y / height_, 2) - 1;
    const double inside = 1 / (1 + std::exp(14 * from_edge));
    const double hair = 1 / (1 + std::exp((y + hair_ * height_) / 3));
    double value = 70 + inside * (100 + 5 * x / width_ - 10 * std::max(0.0, from_edge) - 60 * hair);
    const auto spot = [&](double at_x, double at_y, double wide, double high, double depth) {
      value += depth * std::exp(-(std::pow((x - at_x) / wide, 2) + std::pow((y - at_y) / high, 2)) / 2);
    };
    for (const int side : {-1, 1}) {
      spot(side * eyes_, eye_row_, eye_width_, 3.5, -75);
      spot(side * eyes_, eye_row_ - brow_, 10, brow_height_, -45);
      spot(side * eyes_ * 0.9, eye_row_ + 18, 11, 8, 15);  // a cheek
      spot(side * 4, eye_row_ + 24, 3, 2, -40);            // a nostril
    }
    spot(0, eye_row_ + 12, 3, 9, 25);
    spot(0, eye_row_ + 38, mouth_, mouth_height_, -55);
    return value;
  }

  Random random_;
  double width_ = drawn(40, 52), height_ = drawn(54, 68), hair_ = drawn(0.5, 0.8);
  double eyes_ = drawn(18, 22), eye_row_ = drawn(-13, -8), eye_width_ = drawn(5, 9);
  double brow_ = drawn(8, 12), brow_height_ = drawn(1.5, 3.5);
  double mouth_ = drawn(9, 17), mouth_height_ = drawn(2, 5);
  double skin_[kPictureSide / 6][kPictureSide / 6];
};

class RecogniseProgram : public testing::Test {
 protected:
  RecogniseProgram() {
    for (std::uint64_t person = 0; person < 4; ++person) {
      for (const std::uint64_t photo : {0, 1}) DrawnPerson(person).draw(photo, picture(person, photo));
    }
  }
  std::string picture(std::uint64_t person, std::uint64_t photo) const {
    return folder_ / (std::to_string(person) + "_" + std::to_string(photo) + ".png");
  }
  Words with(const std::string& config) const {
    return {"--config", config, "--gallery", folder_ / (config + ".gallery")};
  }
  // Three people by a photo each.
  void add_people(const std::string& config) const {
    const char* names[] = {"Ada", "Bob", "Cy"};
    for (std::uint64_t person = 0; person < 3; ++person)
      expect_run(0, Words{"faces", "add", "--name", names[person], picture(person, 0)} + with(config));
  }
  // Of everybody's other photo.
  std::string lines(const std::string& config, const Words& options) const {
    Words arguments{"-q", "detect"};
    for (std::uint64_t person = 0; person < 4; ++person) arguments.push_back(picture(person, 1));
    return expect_run(0, arguments + with(config) + options).out;
  }
  TempDir folder_;
};

class RecogniseModels : public RecogniseProgram, public testing::WithParamInterface<const char*> {};

TEST_P(RecogniseModels, NamesTheSameEverywhere) {
  const std::string config = GetParam();
  add_people(config);
  const std::string calibrated = expect_run(0, Words{"faces", "calibrate"} + with(config)).out;
  const std::string found = lines(config, {"--device", "none"});
  Words names;
  std::vector<double> distances;
  for (const Json& line : parse_lines(found)) {
    ASSERT_EQ(line.at("objects").size(), 1u) << line;
    names.push_back(line.at("objects").at(0).at("name"));
    distances.push_back(line.at("objects").at(0).at("distance"));
  }
  EXPECT_THAT(names, ElementsAre("Ada", "Bob", "Cy", "unknown")) << found;
  const Json list = Json::parse(expect_run(0, Words{"faces", "list", "--json"} + with(config)).out);
  EXPECT_EQ(list.at("people").size(), 3u);
  const double threshold = list.at("threshold").at("distance");
  EXPECT_THAT(calibrated, HasSubstr(fmt::format("threshold {:.4f}", threshold)));
  for (std::size_t person = 0; person < 3; ++person) EXPECT_LE(distances[person], threshold) << found;
  EXPECT_GT(distances[3], threshold);
  EXPECT_LT(distances[3], 2) << "strangers are about 1 apart";
  if (!has_cpu_device()) GTEST_SKIP() << "there is no OpenCL device on the CPU here";
  EXPECT_EQ(lines(config, {"--device", "cpu", "--schedule", "gpu"}), found);
  EXPECT_EQ(lines(config, {"--device", "cpu", "--map", "describe=gpu,identify=gpu"}), found);
}

INSTANTIATE_TEST_SUITE_P(Shipped, RecogniseModels, testing::Values("recognise", "recognise-light"),
                         [](const auto& one) {
                           return std::string(one.param) == "recognise" ? "Learned" : "Light";
                         });

TEST_P(RecogniseModels, UnlikePeopleAreMergedOnlyByForce) {
  const std::string config = GetParam();
  add_people(config);
  const std::string file = folder_ / (config + ".gallery");
  {
    // Drawn people are all somewhat alike: this is Ada's opposite.
    gallery::Gallery people(file, gallery::Gallery::Access::write);
    gallery::NewTemplate opposite = people.templates(people.person("Ada")).front();
    for (std::uint8_t& byte : opposite.bytes) byte = static_cast<std::uint8_t>(~byte);
    people.add("Eve", std::span(&opposite, 1));
  }
  const Words in{"--gallery", file};
  const Words again{"faces", "add", "--name", "Ada again", picture(0, 1)};
  expect_run(0, again + with(config));
  expect_run(0, "2 pictures now", Words{"faces", "merge", "Ada", "Ada again"} + in);
  const Words merge{"faces", "merge", "Ada", "Eve"};
  const std::string before = bytes_of(file);
  expect_run(2, merge + in);
  EXPECT_EQ(bytes_of(file), before);
  expect_run(0, "3 pictures now", merge + in + Words{"--force"});
}

TEST_F(RecogniseProgram, JobsNameTheSamePeople) {
  add_people("recognise");
  std::vector<std::string> words{"batch", "plan", "--job", folder_ / "job"};
  for (std::uint64_t person = 0; person < 4; ++person) words.push_back(picture(person, 1));
  expect_run(0, "", words + with("recognise"));
  const std::vector<std::string> work{"-q", "batch", "work", folder_ / "job"};
  expect_run(0, "", work);
  EXPECT_EQ(expect_run(0, "", {"batch", "merge", folder_ / "job", "-o", "-"}).out, lines("recognise", {}));
  expect_run(0, "", {"faces", "delete", "Bob", "--gallery", folder_ / "recognise.gallery"});
  expect_run(4, "another model, configuration or gallery", work + std::vector<std::string>{"--verify"});
}

TEST_F(RecogniseProgram, GalleryOfAnotherModelIsRefused) {
  add_people("recognise-light");
  const std::string gallery = folder_ / "recognise-light.gallery";
  const Words other{"--config", "recognise", "--gallery", gallery};
  const std::string before = bytes_of(gallery);
  const std::vector<Words> commands{{"detect", picture(0, 1)},
                                    {"faces", "add", "--name", "Eve", picture(3, 0)},
                                    {"faces", "calibrate"},
                                    {"faces", "list"}};
  for (const auto& command : commands) {
    const Outcome refused = expect_run(4, command + other);
    for (const char* words : {"recognise-light.gallery", "'faces-recognition-light'", "'faces-recognition'",
                              "another gallery (--gallery)"})
      EXPECT_THAT(refused.err, HasSubstr(words));
  }
  EXPECT_EQ(bytes_of(gallery), before);
  // Who does not say of which model it is hears of people, but not how far distances are.
  expect_run(0, Words{"faces", "calibrate"} + with("recognise-light"));
  const Outcome list =
      expect_run(0, "'faces-recognition-light'", {"faces", "list", "--json", "--gallery", gallery});
  EXPECT_TRUE(Json::parse(list.out).at("threshold").at("distance").is_null());
  expect_run(0, {"faces", "add", "--name", "Ada", picture(0, 0), "--config", "recognise", "--gallery",
                 folder_ / "new.gallery"});
  expect_run(4,
             {"detect", picture(0, 1), "--config", "recognise-light", "--gallery", folder_ / "new.gallery"});
}

TEST_F(RecogniseProgram, AJobDoesNotNameWhoWasDeleted) {
  add_people("recognise-light");
  const std::string job = folder_ / "job", merged = folder_ / "merged.jsonl";
  const Words merge{"-q", "batch", "merge", job, "--overwrite", "--output", merged};
  expect_run(0, Words{"batch", "plan", picture(0, 1), "--job", job} + with("recognise-light"));
  expect_run(0, {"batch", "work", job, "--device", "none"});
  expect_run(0, merge);
  EXPECT_THAT(bytes_of(merged), HasSubstr("\"name\":\"Ada\""));
  std::filesystem::remove(merged);
  expect_run(0, {"faces", "delete", "Ada", "--gallery", folder_ / "recognise-light.gallery"});
  expect_run(4, "gallery", merge);
  EXPECT_FALSE(std::filesystem::exists(merged));
  for (const auto& part : std::filesystem::directory_iterator(job + "/parts"))
    EXPECT_EQ(std::filesystem::status(part).permissions() & std::filesystem::perms(0077),
              std::filesystem::perms::none)
        << "names from a gallery that its owner alone can read";
}

}  // namespace
}  // namespace sightline::test
