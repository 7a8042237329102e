// `sightline faces add` and `calibrate`, with faces that a picture's pixels say.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "apps/faces/faces_add.hpp"
#include "faces/gallery/gallery.hpp"
#include "media/gray_png.hpp"
#include "media/reader.hpp"
#include "support/errors.hpp"
#include "support/face_finder.hpp"
#include "support/log_capture.hpp"
#include "support/temp_dir.hpp"

namespace sightline::apps {
namespace {

namespace fs = std::filesystem;
using gallery::Gallery;
using test::expect_error;
using test::MadeUpFinder;
using testing::ElementsAre;
using testing::HasSubstr;

struct Face {
  int who;
  int looks;
  int sharpness = 1;
  int side = 10;  // of its box, pixels
};

/// The first row of a picture is the number of faces, then the numbers of each.
class FinderOfPixels : public MadeUpFinder {
 public:
  FinderOfPixels() : MadeUpFinder([](double share) { return share < 0.01 ? 40 : 500; }) {}
  gallery::FaceQuality least_quality() const override { return {0, 5, 1}; }
  std::vector<gallery::FaceTemplate> find(PictureView picture) override {
    const std::uint8_t* const row = picture.gray().row(0);
    std::vector<gallery::FaceTemplate> faces;
    for (int i = 0; i < row[0]; ++i) {
      const std::uint8_t* const one = row + 1 + 4 * i;
      faces.push_back(face(one[0], one[1], one[2], {100.0 * i, 0, double(one[3]), double(one[3])}));
    }
    return faces;
  }
};

class AddFaces : public testing::Test {
 protected:
  AddFaces() { fs::create_directory(folder_ / "in"); }

  std::string picture(const std::string& name, const std::vector<Face>& faces) const {
    Image<std::uint8_t> image(64, 16);
    for (int y = 0; y < 16; ++y) std::fill_n(image.view().row(y), 64, std::uint8_t{0});
    std::uint8_t* const row = image.view().row(0);
    row[0] = static_cast<std::uint8_t>(faces.size());
    for (std::size_t i = 0; i < faces.size(); ++i) {
      const int numbers[] = {faces[i].who, faces[i].looks, faces[i].sharpness, faces[i].side};
      for (std::size_t k = 0; k < 4; ++k) row[1 + 4 * i + k] = static_cast<std::uint8_t>(numbers[k]);
    }
    media::write_gray_png(folder_ / ("in/" + name), image.view());
    return folder_ / ("in/" + name);
  }
  /// Of numbered pictures, which are read as a video is.
  std::string video(const std::vector<std::vector<Face>>& frames) const {
    for (std::size_t i = 0; i < frames.size(); ++i)
      picture("v" + std::to_string(1000 + i).substr(1) + ".png", frames[i]);
    return folder_ / "in/v%03d.png";
  }
  int add(const std::string& name, const std::vector<std::string>& inputs, AddFacesArguments a = {}) {
    a.name = name;
    a.inputs = inputs;
    a.gallery = file();
    return add_faces(std::move(a), finder_, -1);
  }
  std::string file() const { return folder_ / "people/faces.gallery"; }
  std::vector<int> looks(const std::string& name) const {
    const Gallery gallery(file(), Gallery::Access::read);
    std::vector<int> looks;
    for (const auto& one : gallery.templates(gallery.person(name))) looks.push_back(one.bytes[1]);
    return looks;
  }

  test::TempDir folder_;
  FinderOfPixels finder_;
};

TEST_F(AddFaces, PictureWithOneFace) {
  EXPECT_EQ(add("Ada", {picture("a.png", {{1, 50, 3}})}), 0);
  EXPECT_THAT(looks("Ada"), ElementsAre(50));
  const Gallery gallery(file(), Gallery::Access::read);
  const auto kept = gallery.templates(gallery.person("Ada"))[0];
  EXPECT_EQ(kept.source, folder_ / "in/a.png");
  EXPECT_EQ(kept.sharpness, 3);
  EXPECT_THAT(kept.picture, HasSubstr("PNG"));
  EXPECT_EQ(add("Ada", {folder_ / "in/a.png"}), 0) << "again";
  EXPECT_THAT(looks("Ada"), ElementsAre(50));
}

TEST_F(AddFaces, AFolderOfPeopleHasAFolderEach) {
  for (const char* name : {"in/Ada", "in/Bob", "in/Nobody"}) fs::create_directories(folder_ / name);
  picture("Ada/a.png", {{1, 50}});
  picture("Bob/b.png", {{2, 60}});
  picture("Nobody/n.png", {});
  AddFacesArguments people;
  people.inputs = {folder_ / "in"};
  people.gallery = file();
  EXPECT_EQ(add_people(people, finder_, -1), static_cast<int>(ExitCode::failed)) << "Nobody has no face";
  EXPECT_THAT(looks("Ada"), ElementsAre(50));
  EXPECT_THAT(looks("Bob"), ElementsAre(60));
  const gallery::Snapshot known = Gallery(file(), Gallery::Access::read).snapshot();
  EXPECT_TRUE(are_unlike(known, "Ada", "Bob", finder_));
  EXPECT_FALSE(are_unlike(known, "Ada", "Ada", finder_));
}

TEST_F(AddFaces, NoFaceOrSeveral) {
  expect_error(ExitCode::input, [&] { add("Ada", {picture("none.png", {})}); });
  const std::string three = picture("three.png", {{1, 0, 1, 10}, {2, 7, 1, 30}, {3, 9, 1, 20}});
  expect_error(ExitCode::input, "--face 1 to --face 3", [&] { add("Ada", {three}); });
  expect_error(ExitCode::input, [&] { add("Ada", {folder_ / "nowhere.png"}); });
  EXPECT_FALSE(fs::exists(file())) << "nothing was added, nothing is made";
  AddFacesArguments largest;
  largest.choice.largest = true;
  EXPECT_EQ(add("Ada", {three}, largest), 0);
  AddFacesArguments third;
  third.choice.number = 3;
  EXPECT_EQ(add("Grace", {three}, third), 0);
  EXPECT_THAT(looks("Ada"), ElementsAre(7));
  EXPECT_THAT(looks("Grace"), ElementsAre(9));
}

TEST_F(AddFaces, FolderSaysWhatIsLeftOut) {
  picture("1.png", {{1, 0}});
  picture("2.png", {});
  picture("3.png", {{1, 100}});
  picture("4.png", {{1, 104}});
  picture("5.png", {{1, 200}, {2, 0}});
  test::store(folder_ / "in/6.png", std::string("no picture"));
  test::LogCapture log;
  EXPECT_EQ(add("Ada", {folder_ / "in"}), 0);
  EXPECT_THAT(looks("Ada"), ElementsAre(0, 100));
  for (const char* words : {"2.png", "5.png", "6.png"}) EXPECT_THAT(log.str(), HasSubstr(words));
  fs::remove(folder_ / "in/1.png");
  fs::remove(folder_ / "in/3.png");
  fs::remove(folder_ / "in/4.png");
  expect_error(ExitCode::input, "3 pictures", [&] { add("Grace", {folder_ / "in"}); });
}

TEST_F(AddFaces, ManyPicturesThatAreLeftOutAreSummed) {
  for (int i = 0; i < 20; ++i) picture(std::to_string(i) + ".png", {});
  picture("20.png", {{1, 0}, {2, 0}});
  picture("a.png", {{1, 0}});
  test::LogCapture log;
  EXPECT_EQ(add("Ada", {folder_ / "in"}), 0);
  EXPECT_THAT(log.str(), HasSubstr("21 pictures"));
  EXPECT_THAT(log.str(), HasSubstr("20 without a face"));
  EXPECT_THAT(log.str(), testing::Not(HasSubstr("17.png")));
}

TEST_F(AddFaces, NamesInOneNormalForm) {
  picture("1.png", {{1, 0}});
  picture("2.png", {{1, 100}});
  EXPECT_EQ(add("M\u00fcller", {folder_ / "in/1.png"}), 0);
  EXPECT_EQ(add("Mu\u0308ller", {folder_ / "in/2.png"}), 0);
  EXPECT_THAT(looks("M\u00fcller"), ElementsAre(0, 100));
}

TEST_F(AddFaces, DoubtfulFacesAreRefused) {
  const std::string small = picture("small.png", {{1, 0, 3, 4}});
  const std::string blurred = picture("blurred.png", {{1, 0, 0, 10}});
  AddFacesArguments force;
  force.force = true;
  for (const std::string& one : {small, blurred}) {
    expect_error(ExitCode::input, "doubtful", [&] { add("Ada", {one}); });
    EXPECT_FALSE(fs::exists(file()));
  }
  expect_error(ExitCode::input, [&] { add("Ada", {video({{{1, 0, 0}}, {{1, 0, 0}}})}); });
  const std::string beside = picture("beside.png", {{2, 0, 3, 4}, {1, 7, 3, 10}});
  EXPECT_EQ(add("Ada", {beside}), 0) << "the other is not meant";
  EXPECT_THAT(looks("Ada"), ElementsAre(7));
  EXPECT_EQ(add("Eve", {small}, force), 0);
  EXPECT_THAT(looks("Eve"), ElementsAre(0));
}

TEST_F(AddFaces, StrangersAreNotOnePerson) {
  std::vector<std::string> strangers;
  for (int who = 0; who < 20; ++who)
    strangers.push_back(picture("s" + std::to_string(who) + ".png", {{who, who}}));
  AddFacesArguments force;
  force.force = true;
  expect_error(ExitCode::input, [&] { add("Ada", strangers); });
  EXPECT_FALSE(fs::exists(file()));
  const std::vector<std::string> with_one{picture("a.png", {{1, 0}}), picture("b.png", {{1, 60}}),
                                          picture("c.png", {{5, 0}}), picture("d.png", {{1, 120}})};
  test::LogCapture log;
  EXPECT_EQ(add("Ada", with_one), 0);
  EXPECT_THAT(looks("Ada"), ElementsAre(0, 60, 120));
  EXPECT_THAT(log.str(), HasSubstr("c.png"));
  EXPECT_THAT(log.str(), HasSubstr("taken: " + folder_.path() + "/in/a.png: 10x10 pixels at 0,0"));
  // Of people who are known already.
  const std::string other = picture("other.png", {{9, 3}});
  expect_error(ExitCode::input, "'Ada'", [&] { add("Ada", {other}); });
  expect_error(ExitCode::input, "'Ada'", [&] { add("Ada", {video({{{9, 3}}, {{9, 4}}})}); });
  EXPECT_EQ(add("Ada", {other}, force), 0);
  EXPECT_EQ(looks("Ada").size(), 4u);
  EXPECT_EQ(add("Crowd", strangers, force), 0);
  EXPECT_EQ(looks("Crowd").size(), 20u);
}

TEST_F(AddFaces, VideoOfOnePerson) {
  std::vector<std::vector<Face>> frames;
  for (int i = 0; i < 20; ++i) frames.push_back({{1, 10 * i, 5}});
  frames.push_back({});
  frames.push_back({{1, 250, 9}, {2, 0, 9}});
  frames.push_back({{7, 0, 9}});
  test::LogCapture log;
  AddFacesArguments three;
  three.most = 3;
  EXPECT_EQ(add("Ada", {video(frames)}, three), 0);
  EXPECT_THAT(looks("Ada"), ElementsAre(0, 90, 190));
  EXPECT_THAT(log.str(), HasSubstr("1 frame"));
}

TEST_F(AddFaces, VideoWithoutThePersonAlone) {
  expect_error(ExitCode::input, "2 frames", [&] { add("Ada", {video({{}, {}})}); });
  expect_error(ExitCode::input, [&] { add("Ada", {video({{{1, 0}, {2, 0}}, {}})}); });
}

TEST_F(AddFaces, SaysWhoLooksTheSame) {
  add("Ada", {picture("a.png", {{1, 0}})});
  test::LogCapture log;
  add("Countess", {picture("b.png", {{1, 20}})});
  EXPECT_THAT(log.str(), AllOf(HasSubstr("'Countess'"), HasSubstr("'Ada'")));
}

TEST_F(AddFaces, BadNamesAndAnotherModelAreRefusedBeforeAnythingIsRead) {
  expect_error(ExitCode::usage, "empty", [&] { add("", {folder_ / "nowhere.png"}); });
  gallery::TemplateKind kind = finder_.kind();
  kind.hash = "another";
  Gallery::open_or_make(file(), kind);
  expect_error(ExitCode::model, "another", [&] { add("Ada", {folder_ / "nowhere.png"}); });
}

TEST_F(AddFaces, CalibrationIsKept) {
  add("Ada", {picture("a.png", {{1, 0}}), picture("b.png", {{1, 30}})});
  add("Grace", {picture("c.png", {{2, 0}})});
  EXPECT_EQ(calibrate_gallery(file(), finder_, 0.5), 0);
  Gallery gallery(file(), Gallery::Access::read);
  ASSERT_TRUE(gallery.threshold());
  EXPECT_EQ(gallery.threshold()->distance, 969);
  EXPECT_EQ(gallery.threshold()->people, 2);
  const gallery::Calibration found = gallery::calibrate(gallery.snapshot(), finder_, 0.01);
  const std::string text = calibration_text(found, finder_);
  EXPECT_THAT(text, HasSubstr("1%"));
  // As distances stand beside names.
  const double threshold = finder_.real_distance(found.threshold.distance + 1);
  EXPECT_THAT(text, HasSubstr(fmt::format("threshold {:.4f}: ", threshold)));
}

}  // namespace
}  // namespace sightline::apps
