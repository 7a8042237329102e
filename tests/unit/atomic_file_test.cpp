// Files that have their name only once they are whole.

#include "base/atomic_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "support/filterbank.hpp"

namespace sightline {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

std::size_t files_in(const TempDir& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
}

TEST(AtomicFile, HasItsNameOnceItIsFinished) {
  const TempDir folder;
  const fs::path name = folder / "a";
  write(name, "before");
  {
    AtomicFile file(name);
    EXPECT_TRUE(file.place().string().starts_with(folder / "a.part-"));
    write(file.place(), "half");
  }
  EXPECT_EQ(test::bytes_of(name), "before");
  EXPECT_EQ(files_in(folder), 1u);
  {
    AtomicFile file(name);
    write(file.place(), "whole");
    EXPECT_EQ(test::bytes_of(name), "before");
    EXPECT_FALSE(file.finish());
  }
  EXPECT_EQ(test::bytes_of(name), "whole");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(AtomicFile, ALinkStaysAndItsFileIsWritten) {
  const TempDir folder;
  fs::create_directory(folder / "elsewhere");
  write(folder / "elsewhere/a", "before");
  fs::create_symlink("elsewhere/a", folder / "link");
  AtomicFile file(folder / "link");
  write(file.place(), "whole");
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
  write(file.place(), "whole");
  fs::create_directories(folder / "a/b");
  EXPECT_TRUE(file.finish()) << "a folder has the name";
}

// Somebody else may write to the folder, and plant links to files of the user's.
TEST(AtomicFile, LinksAtNamesThatCanBeGuessedAreNotFollowed) {
  const TempDir folder;
  write(folder / "precious", "precious");
  for (const char* name : {"a.part", "a.tmp", "a.part-00000000"})
    fs::create_symlink("precious", folder / name);
  write_whole(folder / "a", "whole", "file");
  EXPECT_EQ(test::bytes_of(folder / "precious"), "precious");
  EXPECT_EQ(test::bytes_of(folder / "a"), "whole");
  EXPECT_EQ(files_in(folder), 5u);
}

TEST(AtomicFile, PersonalDataIsReadByItsOwnerAlone) {
  const TempDir folder;
  write(folder / "a", "before");
  write_whole(folder / "a", "whole", "file", Readers::owner);
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
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
