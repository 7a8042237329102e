// Names for files that several processes produce at the same time.

#include "base/publish.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::test {
namespace {

TEST(Publish, TheFirstFileGetsTheName) {
  const TempDir folder;
  const std::string name = folder / "part";
  store(folder / "a", std::string("one"));
  store(folder / "b", std::string("one"));
  store(folder / "c", std::string("two"));
  EXPECT_EQ(publish(folder / "a", name, equal_files), Published::first);
  EXPECT_EQ(publish(folder / "b", name, equal_files), Published::same);
  EXPECT_EQ(publish(folder / "c", name, equal_files), Published::differs);
  EXPECT_EQ(bytes_of(name), "one");
  EXPECT_EQ(bytes_of(folder / "c"), "two");
  EXPECT_EQ(files_in(folder.path()), 2u);
  expect_error(ExitCode::failed, "missing", [&] { publish(folder / "no", folder / "missing", equal_files); });
}

TEST(Publish, OneOfManyIsFirst) {
  const TempDir folder;
  std::atomic<int> first{0}, same{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto temporary = temporary_name(folder / "part", "tmp");
      store(temporary.string(), std::string(100'000, 'x'));
      ++(publish(temporary, folder / "part", equal_files) == Published::first ? first : same);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(same, 7);
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(Publish, FilesAreComparedToTheEnd) {
  const TempDir folder;
  std::string bytes(200'000, 'x');
  store(folder / "a", bytes);
  store(folder / "shorter", bytes.substr(1));
  bytes.back() = 'y';
  store(folder / "b", bytes);
  EXPECT_FALSE(equal_files(folder / "a", folder / "b"));
  EXPECT_FALSE(equal_files(folder / "a", folder / "shorter"));
  EXPECT_TRUE(equal_files(folder / "a", folder / "a"));
  expect_error(ExitCode::failed, "no'", [&] { equal_files(folder / "a", folder / "no"); });
}

}  // namespace
}  // namespace sightline::test
