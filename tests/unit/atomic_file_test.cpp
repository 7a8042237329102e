// Files that have their name only once they are whole.

#include "base/atomic_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/filterbank.hpp"

namespace sightline {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST(AtomicFile, HasItsNameOnceItIsFinished) {
  const TempDir folder;
  const fs::path name = folder / "a";
  write(name, "before");
  {
    AtomicFile file(name);
    EXPECT_EQ(file.place(), folder / "a.part");
    write(file.place(), "half");
  }
  EXPECT_EQ(test::bytes_of(name), "before");
  EXPECT_FALSE(fs::exists(folder / "a.part"));
  {
    AtomicFile file(name);
    write(file.place(), "whole");
    EXPECT_EQ(test::bytes_of(name), "before");
    EXPECT_FALSE(file.finish());
  }
  EXPECT_EQ(test::bytes_of(name), "whole");
  EXPECT_FALSE(fs::exists(folder / "a.part"));
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
  EXPECT_TRUE(file.finish()) << "nothing was written";
  write(file.place(), "whole");
  fs::create_directories(folder / "a/b");
  EXPECT_TRUE(file.finish()) << "a folder has the name";
}

TEST(NameOfItsOwn, DiffersFromCallToCall) {
  EXPECT_NE(name_of_its_own("f/a"), name_of_its_own("f/a"));
  EXPECT_EQ(name_of_its_own("f/a").parent_path(), "f");
  EXPECT_TRUE(name_of_its_own("f/a").filename().string().starts_with("a.tmp"));
}

}  // namespace
}  // namespace sightline
