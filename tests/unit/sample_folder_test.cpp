#include "training/sample_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_folder.hpp"
#include "evaluation/ground_truth.hpp"
#include "media/gray_png.hpp"
#include "media/reader.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"
#include "support/temp_dir.hpp"
#include "support/training.hpp"
#include "training/window_samples.hpp"

namespace sightline::training {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST(GrayPng, IsReadBackToTheBit) {
  const test::TempDir folder;
  for (const Size size : {Size{1, 1}, Size{3, 5}, Size{67, 41}}) {
    const Image<std::uint8_t> picture = test::random_picture(size, 1);
    media::write_gray_png(folder / "a.png", picture.view());
    media::Reader reader(folder / "a.png");
    EXPECT_EQ(test::pixels_of(to_gray(*reader.read()).view()), test::pixels_of(picture.view()));
  }
}

TEST(AtomicFolder, HasItsNameOnceItIsFinished) {
  const test::TempDir folder;
  test::expect_error(ExitCode::failed, [&] { AtomicFolder(folder / "deep/out", false); });
  fs::create_directory(folder / "deep");
  {
    AtomicFolder unfinished(folder / "deep/out/", false);
    test::store((unfinished.place() / "a").string(), std::string("a"));
    EXPECT_FALSE(fs::exists(folder / "deep/out"));
  }
  EXPECT_TRUE(fs::is_empty(folder / "deep"));
  AtomicFolder finished(folder / "deep/out/", false);
  test::store((finished.place() / "a").string(), std::string("a"));
  finished.finish();
  EXPECT_TRUE(fs::exists(folder / "deep/out/a"));
  test::expect_error(ExitCode::failed, "out", [&] { AtomicFolder(folder / "deep/out", false); });
  AtomicFolder replacing(folder / "deep/out", true);
  replacing.finish();
  EXPECT_TRUE(fs::is_empty(folder / "deep/out"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "deep"), {}), 1);
}

TEST(AtomicFolder, WhatTookItsPlaceIsNeitherNamedNorRemoved) {
  const test::TempDir folder;
  fs::path place;
  {
    AtomicFolder unfinished(folder / "out", false);
    place = unfinished.place();
    fs::rename(place, folder / "stolen");
    fs::create_directory(place);
    test::store((place / "a").string(), std::string("a"));
    test::expect_error(ExitCode::failed, "replaced", [&] { unfinished.finish(); });
  }
  EXPECT_TRUE(fs::exists(place / "a"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(AtomicFolder, TakesAnEmptyFoldersPlace) {
  const test::TempDir folder;
  fs::create_directory(folder / "out");
  AtomicFolder taking(folder / "out", false);
  test::store((taking.place() / "a").string(), std::string("a"));
  taking.finish();
  EXPECT_TRUE(fs::exists(folder / "out/a"));
}

// Gray pictures, each as bright as the object that it shows, by these names.
class NamedPictures : public ImageSet {
 public:
  explicit NamedPictures(std::vector<std::string> names) : names_(std::move(names)) {}
  std::size_t size() const override { return names_.size(); }
  Image<std::uint8_t> load(std::size_t index) const override {
    return test::flat_picture({36, 36}, static_cast<std::uint8_t>(std::stoi(names_[index])));
  }
  std::string name(std::size_t index) const override { return names_[index]; }

 private:
  std::vector<std::string> names_;
};

TEST(NumberSources, CopiesInARowAreOneObject) {
  EXPECT_THAT(number_sources(NamedPictures(
                  {"1-a~b~0.png", "1-a~b~1.png", "1-a~c~0.png", "x.png", "x.png", "2-a~0.png"})),
              ElementsAre(0, 0, 1, 2, 3, 4));
}

TEST(NumberSources, WhatIsHeldOutIsHeldOutWithAllItsCopies) {
  std::vector<std::string> names;
  for (int object = 10; object < 60; ++object) {
    for (int copy = 0; copy < 7; ++copy)
      names.push_back(std::to_string(object) + "~" + std::to_string(copy) + ".png");
  }
  ProgressClock clock([](const TrainingProgress&) { return true; }, 1);
  const PositiveSamples samples = cut_positives(NamedPictures(names), {}, clock);
  const auto shown = [](const WindowSamples& windows) {
    std::set<int> objects;
    for (std::size_t i = 0; i < windows.size(); ++i) objects.insert(windows.view(i).at(0, 0));
    return objects;
  };
  const std::set<int> seen = shown(samples.seen), held_out = shown(samples.held_out);
  EXPECT_EQ(seen.size() + held_out.size(), 50U);
  EXPECT_GT(held_out.size(), 4U);
}

TEST(NumberSources, OfFewObjectsSomeAreOnEitherSide) {
  for (int count = 2; count < 7; ++count) {
    std::vector<std::string> names;
    for (int object = 0; object < count; ++object) names.push_back(std::to_string(object + 1) + "~0.png");
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      CutOptions options;
      options.seed = seed;
      ProgressClock clock([](const TrainingProgress&) { return true; }, 1);
      const PositiveSamples samples = cut_positives(NamedPictures(names), options, clock);
      EXPECT_GT(samples.seen.size(), 0U);
      EXPECT_GT(samples.held_out.size(), 0U);
    }
  }
}

// Ten pictures, of which two are equal, with an object or two in each, and six backgrounds.
class SampleFolders : public ::testing::Test {
 protected:
  SampleFolders() {
    fs::create_directories(folder_ / "pictures");
    fs::create_directories(folder_ / "backgrounds");
    for (unsigned i = 0; i < 10; ++i) {
      const std::string name = "picture-" + std::to_string(i) + ".png";
      media::write_gray_png(fs::path(folder_ / "pictures") / name,
                            test::random_picture({60, 50}, std::min(i, 8u)).view());
      list_ += name;
      objects_.push_back({i, {10, 10, 20, 24}});
      if (i == 3) objects_.push_back({i, {35, 20, 16, 16}});
    }
    for (unsigned i = 0; i < 6; ++i)
      media::write_gray_png(folder_ / ("backgrounds/" + std::to_string(i) + ".png"),
                            test::random_picture({100, 80}, 100 + i).view());
    options_.copies = 3;
    options_.test_share = 0.3;
    options_.scenes = 4;
    options_.empty_scenes = 2;
    options_.crop.object = {16, 16};
  }

  ProgressClock clock() {
    return {[](const TrainingProgress&) { return true; }, 1};
  }
  // Everything in a folder, by its path there.
  std::map<std::string, std::string> make(const std::string& name) {
    const FileImageSet pictures(folder_ / "pictures"), backgrounds(folder_ / "backgrounds");
    ProgressClock progress = clock();
    const SampleFolder samples(pictures, objects_, &backgrounds, options_, progress);
    fs::create_directory(folder_ / name);
    samples.write(folder_ / name, progress);
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / name)) {
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(folder_ / name).string()] = test::bytes_of(entry.path());
    }
    return files;
  }
  void expect_refused(const std::string& words) {
    const FileImageSet pictures(folder_ / "pictures"), backgrounds(folder_ / "backgrounds");
    test::expect_error(ExitCode::input, words, [&] {
      ProgressClock progress = clock();
      SampleFolder(pictures, objects_, &backgrounds, options_, progress);
    });
  }

  test::TempDir folder_;
  std::string list_;
  std::vector<MarkedObject> objects_;
  SampleFolderOptions options_;
};

TEST_F(SampleFolders, NoPictureIsOnBothSides) {
  const std::map<std::string, std::string> files = make("out");
  std::map<bool, std::set<std::string>> pictures;
  int crops = 0;
  for (const auto& [name, bytes] : files) {
    const bool is_test = name.starts_with("test/");
    if (!is_test && !name.starts_with("train/")) continue;
    ++crops;
    const std::size_t begin = name.find("picture-");
    pictures[is_test].insert(name.substr(begin, name.rfind('~') - begin));
  }
  EXPECT_EQ(crops, 11 * 4);
  std::vector<std::string> both;
  std::ranges::set_intersection(pictures[false], pictures[true], std::back_inserter(both));
  EXPECT_TRUE(both.empty());
  // 3 of 9 different ones; the equal ones are on the same side.
  EXPECT_EQ(pictures[true].contains("picture-8"), pictures[true].contains("picture-9"));
  EXPECT_GE(pictures[true].size(), 3U);
  EXPECT_LE(pictures[true].size(), 4U);
}

TEST_F(SampleFolders, CropsHaveBackgroundsOfTheirOwnSide) {
  for (unsigned i = 0; i < 6; ++i)
    media::write_gray_png(folder_ / ("backgrounds/" + std::to_string(i) + ".png"),
                          test::flat_picture({100, 80}, static_cast<std::uint8_t>(10 + i)).view());
  options_.samples.bounds = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false};
  options_.crop.pasted = 1;
  options_.crop.margin = 1;
  const FileImageSet pictures(folder_ / "pictures"), backgrounds(folder_ / "backgrounds");
  ProgressClock progress = clock();
  const SampleFolder samples(pictures, objects_, &backgrounds, options_, progress);
  for (const SampleSide* side : {&samples.training(), &samples.testing()}) {
    ASSERT_FALSE(side->objects.empty());
    for (const std::size_t object : side->objects) {
      for (int copy = 1; copy < 10; ++copy) {
        const std::size_t behind = samples.crop(object, copy).view().at(0, 0) - 10U;
        EXPECT_EQ(std::ranges::count(side->backgrounds, behind), 1) << behind;
      }
    }
  }
}

TEST_F(SampleFolders, ListsAreWhatTrainingAndEvaluationRead) {
  make("out");
  const GroundTruth train = load_box_list(folder_ / "out/train-boxes.txt"),
                    test = load_box_list(folder_ / "out/test-boxes.txt");
  EXPECT_EQ(train.positives() + test.positives(), 11);
  EXPECT_EQ(train.images.size() + test.images.size(), 10U);
  const GroundTruth scenes = load_box_list(folder_ / "out/scenes.txt");
  EXPECT_EQ(scenes.images.size(), 6U);
  EXPECT_TRUE(scenes.find("empty-0002.png")->empty());
  EXPECT_FALSE(scenes.find("scene-0004.png")->empty());
  for (const auto& image : scenes.images) EXPECT_TRUE(fs::exists(folder_ / ("out/scenes/" + image.first)));
  const FileImageSet left(folder_ / "out/train-backgrounds.txt"), right(folder_ / "out/test-backgrounds.txt");
  EXPECT_EQ(left.size(), 4U);
  EXPECT_EQ(right.size(), 2U);
  const auto summary = nlohmann::json::parse(test::bytes_of(folder_ / "out/samples.json"));
  EXPECT_EQ(summary["options"]["copies"], 3);
  EXPECT_EQ(summary["test"]["objects"].size(), static_cast<std::size_t>(test.positives()));
}

TEST_F(SampleFolders, AreTheSameOnAnyNumberOfThreads) {
  const std::map<std::string, std::string> on_many = make("many");
  const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(make("one"), on_many);
  options_.samples.seed = 2;
  EXPECT_NE(make("other"), on_many);
}

TEST_F(SampleFolders, MarksThatShowNothingAreRefused) {
  objects_[2].box = {55, 45, 20, 20};
  expect_refused("'picture-2.png'");
  objects_[2].box = {5, 5, 4, 20};
  expect_refused("4x20 pixels");
}

TEST_F(SampleFolders, AVanishedPictureIsNamed) {
  const FileImageSet pictures(folder_ / "pictures");
  fs::remove(folder_ / "pictures/picture-4.png");
  test::expect_error(ExitCode::input, "picture-4.png", [&] {
    ProgressClock progress = clock();
    SampleFolder(pictures, objects_, nullptr, {}, progress);
  });
}

TEST_F(SampleFolders, ScenesNeedWhatIsForTesting) {
  options_.test_share = 0;
  expect_refused("0 objects");
  options_.test_share = 1;
  options_.scenes = options_.empty_scenes = 0;
  EXPECT_FALSE(make("all").contains("train-boxes.txt"));
}

TEST_F(SampleFolders, OneObjectIsEnough) {
  objects_.resize(1);
  options_.scenes = options_.empty_scenes = 0;
  EXPECT_EQ(make("one").size(), 4U + 4U);  // crops; two lists of backgrounds, one of boxes, the summary
}

TEST_F(SampleFolders, StopsWhenAsked) {
  const FileImageSet pictures(folder_ / "pictures");
  ProgressClock stopping([](const TrainingProgress&) { return false; }, 1);
  EXPECT_THROW(SampleFolder(pictures, objects_, nullptr, {}, stopping), TrainingStopped);
}

}  // namespace
}  // namespace sightline::training
