// `sightline faces` as a user runs it: all but adding and calibrating (tests/faces), which need faces.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "faces/gallery/gallery.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using gallery::Gallery;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Faces : public testing::Test {
 protected:
  Faces() {
    setup_.environment = {"XDG_DATA_HOME=" + folder_.path()};
    fs::create_directory(folder_ / "sightline");
    Gallery gallery = Gallery::open_or_make(file(), kKind);
    add(gallery, "Ada", 2);
    add(gallery, "Grace O'Hara", 1);
    add(gallery, "Зоя", 1);
  }
  static void add(Gallery& gallery, const std::string& name, int templates) {
    std::vector<gallery::NewTemplate> all;
    for (int i = 0; i < templates; ++i) {
      const auto mark = static_cast<std::uint8_t>(i);
      all.push_back({{static_cast<std::uint8_t>(name[0]), mark}, "picture of " + name, name + ".png", 1.5});
    }
    gallery.add(name, all);
  }
  Outcome faces(int exit_code, const std::string& words, const Words& arguments) const {
    return expect_run(exit_code, words, Words{"faces"} + arguments, setup_);
  }
  /// Of `list --json`.
  Words names(const Words& options = {}) const {
    const Json all = Json::parse(faces(0, "", Words{"list", "--json"} + options).out);
    Words names;
    for (const Json& one : all.at("people")) names.push_back(one.at("name"));
    return names;
  }
  std::string file() const { return folder_ / "sightline/faces.gallery"; }

  inline static const gallery::TemplateKind kKind{"small", "0123", "of tests", 2};
  TempDir folder_;
  RunSetup setup_;
};

TEST_F(Faces, ListAndShow) {
  const Outcome list = faces(0, "", {"list"});
  for (const char* words : {"Зоя\n", "Grace O'Hara\n", "3 people, 4 pictures, in", "faces calibrate"})
    EXPECT_THAT(list.out, HasSubstr(words));
  const Json json = Json::parse(faces(0, "", {"list", "--json"}).out);
  EXPECT_EQ(json.at("model"), "small");
  EXPECT_EQ(json.at("people").at(0).at("pictures"), 2);
  EXPECT_TRUE(json.at("threshold").is_null());
  EXPECT_THAT(faces(0, "", {"show", "Ada"}).out, HasSubstr("Ada.png"));
  faces(0, "wrote 2 pictures", {"show", "Ada", "--pictures", folder_ / "out"});
  EXPECT_EQ(bytes_of(folder_ / "out/2.png"), "picture of Ada");
  EXPECT_EQ(Json::parse(faces(0, "", {"show", "Зоя", "--json"}).out).at("pictures").size(), 1u);
}

TEST_F(Faces, RenameMergeAndDelete) {
  faces(0, "'Ada L.' now", {"rename", "Ada", "Ada L."});
  faces(2, "called 'Ada'", {"rename", "Ada", "Hedy"});
  faces(2, "faces merge", {"rename", "Ada L.", "Зоя"});
  faces(2, "101 characters", {"rename", "Ada L.", std::string(101, 'x')});
  faces(0, "3 pictures now", {"merge", "Ada L.", "Grace O'Hara"});
  EXPECT_THAT(names(), ElementsAre("Ada L.", "Зоя"));
  faces(0, "1 picture now", {"delete", "Ada L.", "--picture", "1,3"});
  faces(2, "--picture", {"delete", "Ada L.", "Зоя", "--picture", "1"});
  faces(2, "nobody", {"delete", "Ada L.", "Ada"});
  faces(2, "'Ada L.'", {"delete", "Ada L"});
  faces(0, "2 people", {"delete", "Ada L.", "Зоя"});
  EXPECT_THAT(names(), ElementsAre());
  std::string bytes;
  for (const auto& entry : fs::directory_iterator(folder_ / "sightline")) bytes += bytes_of(entry.path());
  EXPECT_EQ(bytes.find("Ada"), std::string::npos);
  EXPECT_EQ(bytes.find("Зоя"), std::string::npos);
  EXPECT_THAT(faces(0, "", {"list"}).out, HasSubstr("0 people"));
}

TEST_F(Faces, ExportAndImport) {
  const std::string some = folder_ / "some.gallery", other = folder_ / "other.gallery";
  faces(0, "wrote 2 people", {"export", some, "Ada", "Зоя"});
  EXPECT_EQ(fs::status(some).permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);
  EXPECT_THAT(names({"--gallery", some}), ElementsAre("Ada", "Зоя"));
  faces(2, "exists already", {"export", some});
  faces(2, "nobody", {"export", folder_ / "none.gallery", "Hedy"});
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("none"))) << "nothing is left of what failed";
  faces(0, "2 pictures added", {"import", some, "Ada", "--gallery", other});
  faces(0, "1 picture added", {"import", some, "--gallery", other});
  EXPECT_THAT(names({"--gallery", other}), ElementsAre("Ada", "Зоя"));
  faces(2, "", {"import", file()});
  faces(3, "nowhere.gallery", {"import", folder_ / "nowhere.gallery"});
}

TEST_F(Faces, WhatIsNoGallery) {
  faces(3, "nowhere", {"list", "--gallery", folder_ / "nowhere"});
  store(folder_ / "text", std::string(5000, 'x'));
  faces(3, "text", {"list", "--gallery", folder_ / "text"});
  faces(3, "text", {"import", folder_ / "text"});
  faces(1, "cannot write", {"export", folder_ / "no/folder.gallery"});
}

TEST_F(Faces, FullDisk) {
  setup_.file_limit = 4096;
  faces(1, "space", {"rename", "Ada", "Hedy"});
  faces(1, "space", {"export", folder_ / "all.gallery"});
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("all"))) << "nothing is left of what failed";
  setup_.file_limit = 0;
  EXPECT_THAT(names(), ElementsAre("Ada", "Grace O'Hara", "Зоя"));
}

}  // namespace
}  // namespace sightline::test
