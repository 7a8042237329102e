// Files that have their name only once they are whole.

#include "base/atomic_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "base/utf8.hpp"
#include "support/errors.hpp"
#include "support/filterbank.hpp"

namespace sightline {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

TEST(AtomicFile, HasItsNameOnceItIsFinished) {
  const TempDir folder;
  const fs::path name = folder / "a";
  test::store(name, "before");
  {
    AtomicFile file(name);
    EXPECT_TRUE(file.place().string().starts_with(folder / "a.part-"));
    EXPECT_FALSE(file.write("half"));
  }
  EXPECT_EQ(test::bytes_of(name), "before");
  EXPECT_EQ(test::files_in(folder.path()), 1u);
  {
    AtomicFile file(name);
    EXPECT_FALSE(file.write("who"));
    EXPECT_FALSE(file.write("le"));
    EXPECT_EQ(test::bytes_of(name), "before");
    EXPECT_FALSE(file.finish());
  }
  EXPECT_EQ(test::bytes_of(name), "whole");
  EXPECT_EQ(test::files_in(folder.path()), 1u);
}

TEST(AtomicFile, ALinkStaysAndItsFileIsWritten) {
  const TempDir folder;
  fs::create_directory(folder / "elsewhere");
  test::store(folder / "elsewhere/a", "before");
  fs::create_symlink("elsewhere/a", folder / "link");
  AtomicFile file(folder / "link");
  EXPECT_FALSE(file.write("whole"));
  EXPECT_FALSE(file.finish());
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(test::bytes_of(folder / "elsewhere/a"), "whole");
}

TEST(AtomicFile, WhatIsNoFileIsWrittenDirectly) {
  AtomicFile file("/dev/null");
  EXPECT_EQ(file.place(), "/dev/null");
  EXPECT_FALSE(file.finish());
}

// Others may write to what standard output is, and it has no name that could be given later.
TEST(AtomicFile, StandardOutputIsWrittenDirectly) {
  AtomicFile file("/dev/stdout");
  EXPECT_EQ(file.place(), "/dev/stdout");
}

TEST(AtomicFile, ANameThatCannotBeGivenIsAnError) {
  const TempDir folder;
  AtomicFile file(folder / "a");
  EXPECT_FALSE(file.write("whole"));
  fs::create_directories(folder / "a/b");
  EXPECT_TRUE(file.finish()) << "a folder has the name";
}

// Somebody else may write to the folder, and plant links to files of the user's.
TEST(AtomicFile, LinksAtNamesThatCanBeGuessedAreNotFollowed) {
  const TempDir folder;
  test::store(folder / "precious", "precious");
  for (const char* name : {"a.part", "a.tmp", "a.part-00000000"})
    fs::create_symlink("precious", folder / name);
  write_whole(folder / "a", "whole", "file");
  EXPECT_EQ(test::bytes_of(folder / "precious"), "precious");
  EXPECT_EQ(test::bytes_of(folder / "a"), "whole");
  EXPECT_EQ(test::files_in(folder.path()), 5u);
}

TEST(AtomicFile, PersonalDataIsReadByItsOwnerAlone) {
  const TempDir folder;
  test::store(folder / "a", "before");
  write_whole(folder / "a", "whole", "file", Readers::owner);
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFile, WhatTookItsPlaceIsNeitherWrittenNorNamedNorRemoved) {
  for (const bool finishes : {true, false}) {
    const TempDir folder;
    test::store(folder / "precious", "precious");
    fs::path place;
    {
      AtomicFile file(folder / "a");
      place = file.place();
      fs::remove(place);
      fs::create_symlink("precious", place);
      EXPECT_FALSE(file.write("whole"));
      if (finishes)
        test::expect_error(ExitCode::failed, "replaced", [&] { static_cast<void>(file.finish()); });
    }
    EXPECT_TRUE(fs::is_symlink(place));
    EXPECT_FALSE(fs::exists(folder / "a"));
    EXPECT_EQ(test::bytes_of(folder / "precious"), "precious");
  }
}

TEST(AtomicFile, LongNamesAreUnfinishedUnderShorterOnes) {
  const TempDir folder;
  std::string umlauts;
  while (umlauts.size() < 254) umlauts += "\u00e4";
  for (const std::string& name : {std::string(242, 'b'), std::string(255, 'b'), umlauts, 'b' + umlauts}) {
    AtomicFile file(folder / name);
    ASSERT_TRUE(file.is_unfinished()) << name.size();
    EXPECT_TRUE(utf8_code_points(file.place().filename().string()));
    EXPECT_FALSE(file.write("whole"));
    EXPECT_FALSE(fs::exists(folder / name));
    EXPECT_FALSE(file.finish());
    EXPECT_EQ(test::bytes_of(folder / name), "whole");
  }
  EXPECT_EQ(AtomicFile(folder / std::string(256, 'b')).error(), std::errc::filename_too_long);
  EXPECT_EQ(test::files_in(folder.path()), 4u);
}

TEST(AtomicFile, WritesAtAnyPlace) {
  const TempDir folder;
  AtomicFile file(folder / "a");
  EXPECT_FALSE(file.write_at(2, "cd"));
  EXPECT_FALSE(file.write_at(0, "ab"));
  EXPECT_FALSE(file.finish());
  EXPECT_EQ(test::bytes_of(folder / "a"), "abcd");
}

TEST(AtomicFile, WhatCannotBeMadeSaysWhy) {
  const TempDir folder;
  AtomicFile file(folder / "none/a");
  EXPECT_EQ(file.error(), std::errc::no_such_file_or_directory);
  EXPECT_EQ(file.write("a"), file.error());
  EXPECT_EQ(file.finish(), file.error());
  EXPECT_EQ(AtomicFile(folder.path()).error(), std::errc::is_a_directory);
}

TEST(AtomicFile, UnderItsNameAtOnce) {
  const TempDir folder;
  test::store(folder / "a", "before");
  AtomicFile file(folder / "a", Readers::all, Naming::at_once);
  EXPECT_EQ(test::bytes_of(folder / "a"), "");
  EXPECT_FALSE(file.write("after"));
  EXPECT_EQ(test::bytes_of(folder / "a"), "after");
}

TEST(OpenAnew, AFileOfSeveralNamesIsReplaced) {
  const TempDir folder;
  test::store(folder / "precious", "precious");
  fs::create_hard_link(folder / "precious", folder / "a");
  const int file = open_anew(folder / "a");
  ASSERT_GE(file, 0);
  close(file);
  EXPECT_EQ(test::bytes_of(folder / "precious"), "precious");
  EXPECT_EQ(test::bytes_of(folder / "a"), "");
}

// As root alone can links of somebody else be made.
TEST(WithoutLink, OthersLinksAreNotFollowedWhereTheyCanMakeThem) {
  if (geteuid() != 0) GTEST_SKIP();
  const TempDir folder;
  const fs::path link = folder / "link";
  test::store(folder / "precious", "precious");
  fs::create_symlink("precious", link);
  ASSERT_EQ(lchown(link.c_str(), 65534, 65534), 0);
  EXPECT_EQ(without_link(link).filename(), "precious") << "nobody else can write to the folder";
  fs::permissions(folder.path(), fs::perms::all);
  EXPECT_EQ(without_link(link), link);
  write_whole(link, "whole", "file");
  EXPECT_EQ(test::bytes_of(link), "whole");
  fs::remove(link);
  fs::create_symlink("precious", link);
  ASSERT_EQ(lchown(link.c_str(), 65534, 65534), 0);
  const int file = open_anew(link);
  EXPECT_GE(file, 0);
  close(file);
  EXPECT_EQ(test::bytes_of(link), "");
  EXPECT_EQ(test::bytes_of(folder / "precious"), "precious");
}

TEST(NameOfItsOwn, CannotBeGuessed) {
  std::set<fs::path> names;
  for (int i = 0; i < 100; ++i) names.insert(name_of_its_own("f/a"));
  EXPECT_GT(names.size(), 98u);
  EXPECT_EQ(names.begin()->parent_path(), "f");
  EXPECT_TRUE(names.begin()->filename().string().starts_with("a.tmp-"));
}

}  // namespace
}  // namespace sightline
