// Results kept from run to run: what is written comes back, and what is damaged does no harm.

#include "base/json_store.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "support/filterbank.hpp"

namespace sightline {
namespace {

using Json = nlohmann::json;
using test::TempDir;

TEST(JsonStore, RoundTrip) {
  const TempDir folder;
  const JsonStore store(folder / "new/folder/store.json");
  EXPECT_TRUE(store.find("a").is_null()) << "nothing there yet";
  store.store("a", {{"number", 0.1}, {"list", {1, 2, 3}}});
  store.store("a \"b\" \xc3\xa4 | c\n", "text");
  store.store("b", nullptr);
  const JsonStore again(store.file());
  EXPECT_EQ(again.find("a"), (Json{{"number", 0.1}, {"list", {1, 2, 3}}}));
  EXPECT_EQ(again.find("a \"b\" \xc3\xa4 | c\n"), Json("text"));
  EXPECT_TRUE(again.find("b").is_null());
  EXPECT_TRUE(again.find("c").is_null());
  again.store("a", 7);
  EXPECT_EQ(store.find("a"), Json(7));
  EXPECT_EQ(store.find("a \"b\" \xc3\xa4 | c\n"), Json("text")) << "the others stay";
  EXPECT_EQ(test::files_in(folder / "new/folder"), 1u) << "no temporary files";
}

// Tuning, plans and tested drivers decide what runs: nobody else may.
TEST(JsonStore, AFileThatOthersMayHaveWrittenCountsAsEmpty) {
  const TempDir folder;
  const JsonStore store(folder / "store.json");
  namespace fs = std::filesystem;
  for (const fs::perms who : {fs::perms::group_write, fs::perms::others_write}) {
    store.store("a", 1);
    EXPECT_EQ(store.find("a"), Json(1));
    fs::permissions(store.file(), who, fs::perm_options::add);
    EXPECT_TRUE(store.find("a").is_null());
    EXPECT_TRUE(store.find_all("").empty());
  }
  store.store("b", 2);
  EXPECT_EQ(store.find("b"), Json(2)) << "it is the user's own again";
  EXPECT_TRUE(store.find("a").is_null());
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(store.file().c_str(), 65534, 65534), 0);
  EXPECT_TRUE(store.find("b").is_null());
}

TEST(JsonStore, NoFileRemembersNothing) {
  const JsonStore store("");
  store.store("a", 1);
  EXPECT_TRUE(store.find("a").is_null());
}

TEST(JsonStore, FileWithoutFolder) {
  const TempDir folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  const JsonStore store("store.json");
  EXPECT_NO_THROW(store.store("a", 1));
  EXPECT_EQ(store.find("a"), Json(1));
  std::filesystem::current_path(before);
}

TEST(JsonStore, DamagedFileCountsAsEmpty) {
  const TempDir folder;
  for (const char* text : {"", "{", "{\"a\": 1", "[1, 2]", "null", "7", "{\"a\": 1} more", "\xff\xfe\x00",
                           "{\"a\": \"\xff\"}", "\"a\""}) {
    SCOPED_TRACE(text);
    const JsonStore store(folder / "store.json");
    test::store(store.file(), text);
    EXPECT_TRUE(store.find("a").is_null());
    store.store("b", 2);
    EXPECT_EQ(store.find("b"), Json(2));
    EXPECT_TRUE(store.find("a").is_null());
  }
}

// A driver may give any bytes as its name.
TEST(JsonStore, BytesThatAreNoTextDoNoHarm) {
  const TempDir folder;
  const JsonStore store(folder / "store.json");
  store.store("good", 1);
  EXPECT_NO_THROW(store.store("bad \xff\xfe", 2));
  EXPECT_NO_THROW(store.store("value", "bad \xff\xfe"));
  EXPECT_EQ(store.find("good"), Json(1));
}

TEST(JsonStore, CannotBeWritten) {
  const TempDir folder;
  test::store(folder / "file", "{}");
  const auto fails = [&](const std::filesystem::path& path) {
    const JsonStore store(path);
    EXPECT_TRUE(store.find("a").is_null());
    const std::string message = test::error_of(ExitCode::failed, [&] { store.store("a", 1); });
    EXPECT_NE(message.find(path.string()), std::string::npos) << message;
  };
  fails(folder / "file/store.json");  // the folder is a file
  std::filesystem::create_directories(folder / "store.json/inside");
  fails(folder / "store.json");  // the file is a folder
  if (geteuid() != 0) {
    std::filesystem::create_directory(folder / "closed");
    std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_read);
    fails(folder / "closed/store.json");
  }
  fails("/proc/sightline/store.json");  // root cannot write there either
  EXPECT_EQ(test::files_in(folder / ""), geteuid() != 0 ? 3u : 2u) << "no temporary files";
}

// The last of several wins, but what is read is always whole.
TEST(JsonStore, WritersAtOnce) {
  const TempDir folder;
  const std::string long_text(20'000, 'x');
  const auto store_many = [&](int writer) {
    const JsonStore store(folder / "store.json");
    for (int i = 0; i < 40; ++i)
      store.store("writer " + std::to_string(writer), long_text + std::to_string(i));
  };
  store_many(0);
  std::vector<pid_t> children;
  for (int writer = 1; writer <= 3; ++writer) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      try {
        store_many(writer);
        std::thread other([&] { store_many(10 + writer); });  // one process is no different
        store_many(20 + writer);
        other.join();
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  int reads = 0;
  while (!children.empty()) {
    const Json whole = Json::parse(test::bytes_of(folder / "store.json"), nullptr, false);
    ASSERT_TRUE(whole.is_object()) << "half a file";
    ++reads;
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended <= 0) continue;
    EXPECT_EQ(status, 0) << "a writer failed";
    std::erase(children, ended);
  }
  EXPECT_GT(reads, 3);
  EXPECT_EQ(test::files_in(folder / ""), 1u);
}

// nlohmann's library copies and writes a tree recursively.
TEST(JsonStore, DeepNestingCountsAsDamage) {
  const TempDir folder;
  const JsonStore store(folder / "store.json");
  for (const std::size_t levels : {62, 200'000}) {
    const std::string deep = std::string(levels, '[') + std::string(levels, ']');
    test::store(store.file(), "{\"a\": \"[{\\\"[{\", \"b\": " + deep + "}");
    EXPECT_EQ(store.find("b").is_null(), levels > 62);
    EXPECT_NO_THROW(store.store("c", 1));
    EXPECT_EQ(store.find("c"), Json(1));
  }
}

}  // namespace
}  // namespace sightline
