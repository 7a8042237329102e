#include "training/image_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "support/filterbank.hpp"
#include "support/training.hpp"
#include "training/augmentation.hpp"
#include "training/augmented_images.hpp"
#include "training/file_image_set.hpp"

namespace sightline::training {
namespace {

using test::pixels_of;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<std::string> names_of(const ImageSet& set) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < set.size(); ++i) names.push_back(set.name(i));
  return names;
}

class Files : public ::testing::Test {
 protected:
  Files() { std::filesystem::create_directory(folder / "pictures"); }

  // A picture of 4x2 pixels of one value.
  void write_picture(const std::string& name, int value) const {
    std::ofstream(folder / name, std::ios::binary)
        << "P5 4 2 255\n"
        << std::string(8, static_cast<char>(static_cast<unsigned char>(value)));
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  std::string complaint(const std::string& name, const std::string& where = "") const {
    return test::error_of(ExitCode::input, [&] {
      FileImageSet(folder / name,
                   where.empty() ? std::filesystem::path() : std::filesystem::path(folder / where));
    });
  }

  test::TempDir folder;
};

TEST_F(Files, PicturesOfAFolderByName) {
  write_picture("pictures/b.pgm", 20);
  write_picture("pictures/a.PGM", 10);
  write_picture("pictures/c.txt", 30);  // not a picture's name
  std::filesystem::create_directory(folder / "pictures/d.png");
  const FileImageSet set(folder / "pictures");
  EXPECT_THAT(names_of(set), ElementsAre("a.PGM", "b.pgm"));
  const Image<std::uint8_t> picture = set.load(1);
  EXPECT_THAT(pixels_of(picture.view()), AllOf(SizeIs(8), Each(20)));
}

TEST_F(Files, PicturesOfAListInItsOrder) {
  write_picture("b.pgm", 20);
  write_picture("pictures/a.pgm", 10);
  write("list", "# of two\nb.pgm\r\n\n  \n");
  EXPECT_THAT(complaint("list"), HasSubstr("4:"));  // a name of two spaces
  write("list", "\xEF\xBB\xBF# of two\nb.pgm\r\n\npictures/a.pgm");
  const FileImageSet set(folder / "list");
  EXPECT_THAT(names_of(set), ElementsAre("b.pgm", "a.pgm"));
  EXPECT_THAT(pixels_of(set.load(0).view()), Each(20));
}

TEST_F(Files, ListedPicturesElsewhere) {
  write_picture("pictures/a.pgm", 10);
  write("list",
        "\xEF\xBB\xBF"
        "a.pgm\n");
  EXPECT_THAT(complaint("list"), AllOf(HasSubstr("1:"), HasSubstr("--folder")));
  EXPECT_THAT(names_of(FileImageSet(folder / "list", folder / "pictures")), ElementsAre("a.pgm"));
}

// The line that is wrong is named, comments and empty lines counted.
TEST_F(Files, BadLinesOfAList) {
  write_picture("a.pgm", 10);
  write("list", "a.pgm\n\n# a comment\nmissing.pgm\na.pgm\n");
  EXPECT_THAT(complaint("list"), AllOf(HasSubstr("4:"), HasSubstr("missing.pgm")));
  write("list", "a.pgm\npictures\n");  // a folder
  EXPECT_THAT(complaint("list"), HasSubstr("2:"));
}

TEST_F(Files, Nothing) {
  EXPECT_THAT(complaint("pictures"), AllOf(HasSubstr(".jpg"), HasSubstr(".png")));
  write("list", "# nothing\n\n");
  EXPECT_NE(complaint("list"), "");
  EXPECT_NE(complaint("missing"), "");
}

TEST_F(Files, NoPictureInsideAFile) {
  write_picture("pictures/a.pgm", 10);
  write("pictures/b.png", "not a picture");
  const FileImageSet set(folder / "pictures");
  EXPECT_EQ(set.size(), 2U);
  test::expect_error(ExitCode::input, "b.png", [&] { set.load(1); });
}

TEST_F(Files, SeveralFoldersAndLists) {
  write_picture("pictures/b.pgm", 20);
  write_picture("a.pgm", 10);
  write("list", "a.pgm\na.pgm\n");
  FileImageSet set(folder / "pictures");
  set.add(FileImageSet(folder / "list"));
  EXPECT_THAT(names_of(set), ElementsAre("b.pgm", "a.pgm", "a.pgm"));
  EXPECT_THAT(pixels_of(set.load(2).view()), Each(10));
}

class InMemory : public ::testing::Test {
 protected:
  static test::Pictures make(int count, int first_value) {
    test::Pictures set;
    for (int i = 0; i < count; ++i)
      set.add(test::flat_picture({5, 3}, static_cast<std::uint8_t>(first_value + i)));
    return set;
  }
  static test::Pictures make_structured(int count) {
    test::Pictures set;
    for (int i = 0; i < count; ++i) set.add(test::random_picture({40 + i, 50}, static_cast<unsigned>(i)));
    return set;
  }
};

TEST_F(InMemory, ConcatenatedInTheirOrder) {
  const test::Pictures empty;
  const test::Pictures two = make(2, 10);
  const test::Pictures three = make(3, 20);
  const ConcatenatedImages set({&empty, &two, &empty, &three, &empty});
  ASSERT_EQ(set.size(), 5U);
  std::vector<int> values;
  for (std::size_t i = 0; i < set.size(); ++i) values.push_back(set.load(i).view().at(0, 0));
  EXPECT_THAT(values, ElementsAre(10, 11, 20, 21, 22));
  EXPECT_THAT(names_of(set), ElementsAre("picture-0", "picture-1", "picture-0", "picture-1", "picture-2"));
  EXPECT_EQ(ConcatenatedImages({}).size(), 0U);
  EXPECT_EQ(ConcatenatedImages({&empty}).size(), 0U);
}

TEST_F(InMemory, NegativesAreMirroredThenEnlarged) {
  const test::Pictures pictures = make_structured(2);
  const AugmentedNegatives set(pictures, 3, 7);
  ASSERT_EQ(set.size(), 8U);
  for (std::size_t i = 0; i < set.size(); ++i) {
    EXPECT_EQ(set.name(i), pictures.name(i % 2));
    const Image<std::uint8_t> original = pictures.load(i % 2);
    const Image<std::uint8_t> picture = set.load(i);
    EXPECT_EQ(pixels_of(picture.view()), pixels_of(set.load(i).view())) << i;
    if (i >= 4) {
      EXPECT_GE(picture.width(), original.width());
      EXPECT_LE(picture.width(), kEnlargement * original.width());
      EXPECT_NE(pixels_of(picture.view()), pixels_of(set.load((i + 2) % 4 + 4).view())) << "the same twice";
      continue;
    }
    ASSERT_EQ(picture.view().size(), original.view().size());
    for (int x = 0; x < original.width(); ++x) {
      const int from = i < 2 ? x : original.width() - 1 - x;
      ASSERT_EQ(picture.view().at(x, 7), original.view().at(from, 7)) << i << ' ' << x;
    }
  }
  EXPECT_EQ(AugmentedNegatives(pictures, 0, 7).size(), 2U);
  EXPECT_NE(pixels_of(AugmentedNegatives(pictures, 3, 8).load(4).view()), pixels_of(set.load(4).view()));
}

TEST_F(InMemory, PositivesThenJitteredThenOccluded) {
  test::Pictures pictures;  // the object's part says which picture it is
  for (const int value : {40, 90, 140, 190})
    pictures.add(test::flat_picture({29, 37}, static_cast<std::uint8_t>(value)));
  PositiveAugmentation augmentation;
  augmentation.jittered_copies = 2;
  augmentation.occluded_copies = 5;
  augmentation.window = {24, 32};
  augmentation.object = {4, 4, 16, 24};
  const AugmentedPositives set(pictures, augmentation);
  ASSERT_EQ(set.size(), 4U * 8U);
  int covered = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const int own = pictures.load(i % 4).view().at(0, 0);
    EXPECT_EQ(set.name(i), pictures.name(i % 4));
    const Image<std::uint8_t> picture = set.load(i);
    const std::vector<int> pixels = pixels_of(picture.view());
    EXPECT_EQ(picture.view().size(), (Size{29, 37}));
    EXPECT_EQ(pixels, pixels_of(set.load(i).view()));
    if (i < 12) {
      EXPECT_THAT(pixels, Each(own));  // shifting and blurring change nothing of a flat picture
    } else {
      covered += std::count(pixels.begin(), pixels.end(), own) < 29 * 37 ? 1 : 0;
    }
  }
  EXPECT_GT(covered, 10);  // of 20: some are covered by themselves, or hardly
  EXPECT_EQ(AugmentedPositives(pictures, {}).size(), 4U);
}

TEST_F(InMemory, JitteredPositivesDiffer) {
  const test::Pictures pictures = make_structured(1);
  PositiveAugmentation augmentation;
  augmentation.jittered_copies = 3;
  const AugmentedPositives set(pictures, augmentation);
  std::set<std::vector<int>> variants;
  for (std::size_t i = 0; i < set.size(); ++i) variants.insert(pixels_of(set.load(i).view()));
  EXPECT_EQ(variants.size(), 4U);
}

TEST(Mirror, SwapsLeftAndRight) {
  Image<std::uint8_t> picture(3, 2);
  for (int i = 0; i < 6; ++i) picture.view().at(i % 3, i / 3) = static_cast<std::uint8_t>(i);
  mirror(picture.view());
  EXPECT_THAT(pixels_of(picture.view()), ElementsAre(2, 1, 0, 5, 4, 3));
}

}  // namespace
}  // namespace sightline::training
