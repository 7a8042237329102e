// What is kept on disk for OpenCL: built programs, and the winners of tuning.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "detectors/filterbank/opencl/tuning.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"
#include "support/filterbank.hpp"
#include "support/replaced.hpp"
#include "support/variable.hpp"

namespace sightline::opencl {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::files_in;
using test::TempDir;

std::vector<std::byte> binary_of(std::size_t size, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::byte> binary(size);
  for (std::byte& b : binary) b = static_cast<std::byte>(engine());
  return binary;
}

DeviceInfo made_up() {
  DeviceInfo device;
  device.platform = "platform";
  device.name = "device";
  device.version = "OpenCL 1.2";
  device.driver_version = "3.1";
  return device;
}

void write_file(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

// As a process that dies in the middle of `work`.
void die_after(const std::function<void()>& work) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

// --- keys -----------------------------------------------------------------------------------------------

TEST(ProgramCacheKey, DependsOnAllThatTheBinaryDependsOn) {
  const DeviceInfo device = made_up();
  const std::string key = ProgramCache::key(device, "source", "-DA=1");
  EXPECT_EQ(key, ProgramCache::key(device, "source", "-DA=1"));
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos) << key;
  std::vector<std::string> keys{
      key, ProgramCache::key(device, "source ", "-DA=1"), ProgramCache::key(device, "source", "-DA=2"),
      ProgramCache::key(device, "source-DA=1", ""), ProgramCache::key(device, "", "source-DA=1")};
  for (std::string DeviceInfo::*field :
       {&DeviceInfo::platform, &DeviceInfo::name, &DeviceInfo::version, &DeviceInfo::driver_version}) {
    DeviceInfo other = device;
    other.*field += "1";
    keys.push_back(ProgramCache::key(other, "source", "-DA=1"));
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
}

// --- entries --------------------------------------------------------------------------------------------

TEST(ProgramCache, GivesBackWhatWasStored) {
  const TempDir folder;
  const fs::path place = folder / "a/b";  // made when needed
  const ProgramCache cache(place);
  EXPECT_FALSE(cache.load("key"));
  const auto binary = binary_of(10000, 1);
  cache.store("key", binary);
  EXPECT_EQ(cache.load("key"), binary);
  EXPECT_EQ(ProgramCache(place).load("key"), binary);  // another start of the program
  EXPECT_FALSE(cache.load("other"));
  const auto newer = binary_of(300, 2);
  cache.store("key", newer);
  EXPECT_EQ(cache.load("key"), newer);
  EXPECT_EQ(files_in(place), 1u);  // no temporary files are left
  cache.remove("key");
  cache.remove("key");
  EXPECT_FALSE(cache.load("key"));
}

TEST(ProgramCache, EmptyBinariesAreNotStored) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  cache.store("key", {});
  EXPECT_FALSE(cache.load("key"));
}

TEST(ProgramCache, WithoutAFolderDoesNothing) {
  const ProgramCache cache{fs::path()};
  cache.store("key", binary_of(10, 1));
  EXPECT_FALSE(cache.load("key"));
  cache.remove("key");
}

TEST(ProgramCache, DamagedEntriesCountAsAbsentAndAreRemoved) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  const fs::path file = folder / "cache/key";
  cache.store("key", binary_of(1000, 1));
  const std::string good = bytes_of(file);
  ASSERT_GT(good.size(), 1000u);

  std::vector<std::string> damaged{"", good + "x", std::string(good.size(), '\0')};
  for (std::size_t size = 0; size < good.size(); size += size < 30 ? 1 : 97)
    damaged.push_back(good.substr(0, size));
  for (std::size_t at = 0; at < good.size(); at += at < 30 ? 1 : 97) {
    damaged.push_back(good);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x10);
  }
  for (const std::string& bytes : damaged) {
    write_file(file, bytes);
    EXPECT_FALSE(cache.load("key"));
    EXPECT_FALSE(fs::exists(file));
  }
  write_file(file, good);
  EXPECT_TRUE(cache.load("key"));
}

TEST(ProgramCache, AFolderThatCannotBeWrittenOnlyWarns) {
  const TempDir folder;
  write_file(folder / "file", "not a folder");
  const ProgramCache under_a_file(folder / "file");
  EXPECT_NO_THROW(under_a_file.store("key", binary_of(10, 1)));
  EXPECT_FALSE(under_a_file.load("key"));
  const ProgramCache deeper(folder / "file/cache");
  EXPECT_NO_THROW(deeper.store("key", binary_of(10, 1)));
  EXPECT_FALSE(deeper.load("key"));
  EXPECT_NO_THROW(deeper.remove("key"));
  EXPECT_EQ(bytes_of(folder / "file"), "not a folder");

  // Root may write anywhere; others get no further than this.
  fs::create_directory(folder / "locked");
  const ProgramCache filled(folder / "locked");
  filled.store("old", binary_of(10, 1));
  fs::permissions(folder / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NO_THROW(filled.store("new", binary_of(10, 2)));
  EXPECT_EQ(filled.load("old"), binary_of(10, 1));
  fs::permissions(folder / "locked", fs::perms::owner_all);
}

TEST(ProgramCache, AnEntryThatIsAFolderIsAbsent) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  fs::create_directories(folder / "cache/key/inside");
  EXPECT_NO_THROW({
    EXPECT_FALSE(cache.load("key"));
    cache.store("key", binary_of(10, 1));
    EXPECT_FALSE(cache.load("key"));
  });
}

TEST(ProgramCache, ForgetsWhatWasUnusedLongest) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache", 3500);
  const auto age = [&](const std::string& key, int hours) {
    fs::last_write_time(fs::path(folder / "cache") / key,
                        fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (const char* key : {"a", "b", "c"}) cache.store(key, binary_of(1000, 1));
  age("a", 3);
  age("b", 2);
  age("c", 1);
  EXPECT_TRUE(cache.load("a"));  // used: now the youngest
  cache.store("d", binary_of(1000, 1));
  EXPECT_FALSE(cache.load("b"));
  EXPECT_TRUE(cache.load("a"));
  EXPECT_TRUE(cache.load("c"));
  EXPECT_TRUE(cache.load("d"));
}

// --- who may have written it ------------------------------------------------------------------------------

TEST(ProgramCache, OnlyItsUserReadsAndWritesIt) {
  const TempDir folder;
  const ProgramCache cache(folder / "sightline/kernels");
  const mode_t before = umask(0);
  cache.store("key", binary_of(100, 1));
  umask(before);
  constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
  EXPECT_EQ(fs::status(folder / "sightline/kernels").permissions() & kOthers, fs::perms::none);
  EXPECT_EQ(fs::status(folder / "sightline/kernels/key").permissions() & kOthers, fs::perms::none);
  EXPECT_TRUE(cache.load("key"));
}

TEST(ProgramCache, EntriesThatOthersMayHaveWrittenAreRemoved) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  const fs::path file = folder / "cache/key";
  std::vector<std::function<void()>> spoil;
  for (const fs::perms who : {fs::perms::group_write, fs::perms::others_write})
    spoil.emplace_back([=] { fs::permissions(file, who, fs::perm_options::add); });
  if (geteuid() == 0) spoil.emplace_back([=] { ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0); });
  for (const auto& change : spoil) {
    cache.store("key", binary_of(100, 1));
    ASSERT_TRUE(cache.load("key"));
    change();
    EXPECT_FALSE(cache.load("key"));
    EXPECT_FALSE(fs::exists(file));
  }
}

TEST(ProgramCache, AFolderThatOthersMayWriteToIsEmptied) {
  for (const fs::perms who : {fs::perms::group_write, fs::perms::others_write}) {
    const TempDir folder;
    const ProgramCache cache(folder / "cache");
    cache.store("key", binary_of(100, 1));
    fs::permissions(folder / "cache", who, fs::perm_options::add);
    EXPECT_FALSE(cache.load("key"));
    EXPECT_EQ(files_in(folder / "cache"), 0u);
    EXPECT_EQ(fs::status(folder / "cache").permissions() & who, fs::perms::none);
    cache.store("key", binary_of(100, 1));
    EXPECT_TRUE(cache.load("key"));
  }
}

TEST(ProgramCache, AFolderOfAnotherUserIsLeftAlone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  cache.store("key", binary_of(100, 1));
  ASSERT_EQ(chown((folder / "cache").c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.load("key"));
  cache.store("other", binary_of(100, 1));
  EXPECT_EQ(files_in(folder / "cache"), 1u);
}

// --- entries that processes die of ------------------------------------------------------------------------

TEST(ProgramCache, WhatAProcessDiedOfIsNotLoadedAgain) {
  using Phase = CacheTrial::Phase;
  for (const Phase phase : {Phase::loading, Phase::running}) {
    const TempDir folder;
    const ProgramCache cache(folder / "cache");
    cache.store("key", binary_of(100, 1));
    cache.store("other", binary_of(100, 2));
    die_after([&] {
      const auto trial = cache.trial("key");
      trial->begin(phase, "kernel");
      _exit(1);  // no destructor
    });
    EXPECT_EQ(files_in(folder / "cache"), 3u) << "no mark is left";
    EXPECT_FALSE(cache.load("key"));
    // While loading, the driver may have stumbled over what is wrong with all of them.
    EXPECT_EQ(cache.load("other").has_value(), phase == Phase::running);
    cache.store("key", binary_of(100, 1));
    EXPECT_TRUE(cache.load("key"));
    EXPECT_EQ(files_in(folder / "cache"), phase == Phase::running ? 2u : 1u);
  }
}

TEST(ProgramCache, TrialsThatEndOrGoOnDoNoHarm) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  cache.store("key", binary_of(100, 1));
  const auto trial = cache.trial("key");
  trial->begin(CacheTrial::Phase::loading);
  trial->end();
  EXPECT_TRUE(trial->begin(CacheTrial::Phase::running, "kernel"));
  trial->end();
  EXPECT_FALSE(trial->begin(CacheTrial::Phase::running, "kernel")) << "it has run";
  EXPECT_EQ(files_in(folder / "cache"), 1u);
  EXPECT_TRUE(cache.load("key"));
  EXPECT_TRUE(trial->begin(CacheTrial::Phase::running, "another kernel"));
  EXPECT_TRUE(cache.load("key")) << "its process lives";
  EXPECT_TRUE(ProgramCache(folder / "cache").load("key"));
}

// --- several at once ------------------------------------------------------------------------------------

TEST(ProgramCache, ThreadsMayStoreAndLoadTheSameKey) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  const std::vector<std::vector<std::byte>> binaries{binary_of(40000, 1), binary_of(70000, 2)};
  cache.store("key", binaries[0]);
  std::atomic<int> absent{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        cache.store("key", binaries[t % 2]);
        const auto loaded = cache.load("key");
        if (!loaded) {
          ++absent;
        } else if (*loaded != binaries[0] && *loaded != binaries[1]) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(absent, 0);  // an entry is replaced in one step: nobody ever sees half of one
  EXPECT_EQ(files_in(folder / "cache"), 1u);
}

TEST(ProgramCache, ProcessesMayStoreAndLoadTheSameKey) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  const auto binary = binary_of(50000, 1);
  cache.store("key", binary);
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int bad = 0;
      for (int i = 0; i < 100; ++i) {
        cache.store("key", binary);
        if (cache.load("key") != binary) bad = 1;
      }
      _exit(bad);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(cache.load("key"), binary);
  EXPECT_EQ(files_in(folder / "cache"), 1u);
}

// --- with programs --------------------------------------------------------------------------------------

class CachedProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    devices_ = list_devices();
    if (devices_.empty()) GTEST_SKIP() << "there is no OpenCL device here";
  }
  // The one entry of the cache.
  static fs::path entry_of(const fs::path& folder) { return fs::directory_iterator(folder)->path(); }
  void build(const ProgramCache& cache) {
    ProgramCache writable = cache;
    const Context context(ChosenDevice{devices_[0], 0, ""});  // a new one has no programs yet
    const Program program(context, "filterbank/candidates.cl", "", &writable);
    EXPECT_GT(Kernel(program, "candidates").largest_work_group(), 0u);
  }

  std::vector<DeviceInfo> devices_;
};

TEST_F(CachedProgram, IsSharedWithinAContext) {
  const Context context(ChosenDevice{devices_[0], 0, ""});
  const auto build = [&](const std::string& options) {
    return Program(context, "filterbank/candidates.cl", options, nullptr);
  };
  const Program first = build("");
  EXPECT_EQ(build("").get(), first.get());
  EXPECT_NE(build("-DOTHER").get(), first.get());
  for (int i = 0; i < 31; ++i) context.keep_program(std::to_string(i), nullptr);
  EXPECT_NE(build("").get(), first.get()) << "the oldest is given up";
}

TEST_F(CachedProgram, IsTakenFromTheCache) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  build(cache);
  ASSERT_EQ(files_in(folder / "cache"), 1u);
  const fs::path entry = entry_of(folder / "cache");
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(5);
  fs::last_write_time(entry, old);
  const std::string bytes = bytes_of(entry);
  build(cache);
  EXPECT_GT(fs::last_write_time(entry), old);  // it was used
  EXPECT_EQ(bytes_of(entry), bytes);
  EXPECT_EQ(files_in(folder / "cache"), 1u);
}

TEST_F(CachedProgram, IsRebuiltWhereTheEntryIsDamaged) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  build(cache);
  const fs::path entry = entry_of(folder / "cache");
  const std::string good = bytes_of(entry);
  write_file(entry, good.substr(0, good.size() / 2));
  build(cache);
  EXPECT_EQ(bytes_of(entry).size(), good.size());
}

// Bytes that are as they were stored, but no program: the driver refuses them.
TEST_F(CachedProgram, IsRebuiltWhereTheEntryIsNoProgram) {
  const TempDir folder;
  const ProgramCache cache(folder / "cache");
  build(cache);
  const fs::path entry = entry_of(folder / "cache");
  const std::string good = bytes_of(entry);
  cache.store(entry.filename().string(), binary_of(5000, 3));
  build(cache);
  EXPECT_EQ(bytes_of(entry).size(), good.size());
  build(cache);
}

TEST_F(CachedProgram, IsBuiltWhereTheCacheCannotBeUsed) {
  const TempDir folder;
  write_file(folder / "file", "not a folder");
  build(ProgramCache(folder / "file"));
}

TEST(ProgramCache, DefaultFolderFollowsTheEnvironment) {
  test::Variable cache("XDG_CACHE_HOME", "/x/cache"), home("HOME", "/x/home");
  EXPECT_EQ(ProgramCache::default_folder(), "/x/cache/sightline/kernels");
  EXPECT_EQ(TuningDatabase::default_file(), "/x/cache/sightline/tuning.json");
  cache.set("");
  EXPECT_EQ(ProgramCache::default_folder(), "/x/home/.cache/sightline/kernels");
  cache.set({});
  home.set({});
  EXPECT_EQ(ProgramCache::default_folder(), "");
  EXPECT_EQ(TuningDatabase::default_file(), "");
}

// --- the winners of tuning ------------------------------------------------------------------------------

// The filter bank's entries for a number of filters.
class Database {
 public:
  explicit Database(const fs::path& file) : database_(file) {}
  void store(const DeviceInfo& device, int filters, const filterbank::KernelTuning& tuning) const {
    database_.store(device, filterbank::tuning_problem(filters), filterbank::tuning_table().values(tuning));
  }
  std::optional<filterbank::KernelTuning> find(const DeviceInfo& device, int filters) const {
    const auto values =
        database_.find(device, filterbank::tuning_problem(filters), filterbank::tuning_table());
    if (!values) return std::nullopt;
    return filterbank::tuning_table().settings(*values);
  }
  const fs::path& file() const { return database_.file(); }

 private:
  TuningDatabase database_;
};

filterbank::KernelTuning some_tuning() {
  filterbank::KernelTuning tuning;
  tuning.filter = "local";
  tuning.filter_width = 2;
  tuning.filter_rows = 3;
  tuning.filter_group = 16;
  tuning.filter_group_rows = 8;
  tuning.histogram = "owner";
  tuning.histogram_cells = 32;
  tuning.normalise = "cells";
  tuning.normalise_width = 4;
  tuning.classify = "local";
  tuning.dot = "float";
  tuning.classify_width = 8;
  tuning.classify_rows = 4;
  tuning.classify_group = 64;
  return tuning;
}

TEST(TuningDatabase, GivesBackWhatWasStored) {
  const TempDir folder;
  const Database database(folder / "deeper/tuning.json");
  EXPECT_FALSE(database.find(made_up(), 100));
  database.store(made_up(), 100, some_tuning());
  EXPECT_EQ(database.find(made_up(), 100), some_tuning());
  EXPECT_FALSE(database.find(made_up(), 70));
  database.store(made_up(), 70, filterbank::KernelTuning{});
  EXPECT_EQ(database.find(made_up(), 70), filterbank::KernelTuning{});
  EXPECT_EQ(Database(database.file()).find(made_up(), 100), some_tuning());
  EXPECT_EQ(files_in(folder / "deeper"), 1u);
}

TEST(TuningDatabase, IsOfOneDeviceAndDriver) {
  const TempDir folder;
  const Database database(folder / "tuning.json");
  database.store(made_up(), 100, some_tuning());
  for (std::string DeviceInfo::*field :
       {&DeviceInfo::platform, &DeviceInfo::name, &DeviceInfo::driver_version}) {
    DeviceInfo other = made_up();
    other.*field = "other";
    EXPECT_FALSE(database.find(other, 100));
  }
}

TEST(TuningDatabase, ADamagedFileCountsAsEmpty) {
  const TempDir folder;
  const Database database(folder / "tuning.json");
  database.store(made_up(), 100, some_tuning());
  const std::string good = bytes_of(database.file());
  for (const std::string& text : {std::string(), good.substr(0, good.size() / 2), std::string("[1, 2]"),
                                  std::string("\xFF\xFE nonsense"), std::string("null")}) {
    write_file(database.file(), text);
    EXPECT_FALSE(database.find(made_up(), 100)) << text;
  }
  database.store(made_up(), 100, some_tuning());
  EXPECT_EQ(database.find(made_up(), 100), some_tuning());
}

TEST(TuningDatabase, AnEntryOfAnotherShapeIsNotFound) {
  const TempDir folder;
  const Database database(folder / "tuning.json");
  database.store(made_up(), 100, some_tuning());
  write_file(database.file(),
             test::replaced(bytes_of(database.file()), "\"filter_width\"", "\"filter_witdh\""));
  EXPECT_FALSE(database.find(made_up(), 100));
}

// A launch with a group of no work-items, say, would never end.
TEST(TuningDatabase, AnEntryThatNoKernelCanHaveIsNotFound) {
  const TempDir folder;
  const Database database(folder / "tuning.json");
  using filterbank::KernelTuning;
  for (int KernelTuning::*field :
       {&KernelTuning::filter_width, &KernelTuning::filter_rows, &KernelTuning::filter_group,
        &KernelTuning::filter_group_rows, &KernelTuning::histogram_cells, &KernelTuning::normalise_width,
        &KernelTuning::classify_width, &KernelTuning::classify_rows, &KernelTuning::classify_group}) {
    for (const int value : {0, -1, 1 << 30}) {
      KernelTuning tuning = some_tuning();
      tuning.*field = value;
      database.store(made_up(), 100, tuning);
      EXPECT_FALSE(database.find(made_up(), 100));
    }
  }
  for (std::string KernelTuning::*field :
       {&KernelTuning::filter, &KernelTuning::histogram, &KernelTuning::normalise, &KernelTuning::classify,
        &KernelTuning::dot}) {
    KernelTuning tuning = some_tuning();
    tuning.*field = "none such";
    database.store(made_up(), 100, tuning);
    EXPECT_FALSE(database.find(made_up(), 100));
  }
}

// Valid one by one, but not together: dot products' instructions take one window; and what is inexact.
TEST(TuningDatabase, FormsThatMustNotBeUsedAreNotFound) {
  const TempDir folder;
  const Database database(folder / "tuning.json");
  for (const char* dot : {"ptx", "khr"}) {
    filterbank::KernelTuning tuning = some_tuning();
    tuning.dot = dot;
    database.store(made_up(), 100, tuning);
    EXPECT_FALSE(database.find(made_up(), 100)) << dot;
    tuning.classify_width = 1;
    database.store(made_up(), 100, tuning);
    EXPECT_EQ(database.find(made_up(), 100), tuning) << dot;
  }
  filterbank::KernelTuning tuning = some_tuning();
  tuning.histogram = "racy";
  database.store(made_up(), 100, tuning);
  EXPECT_FALSE(database.find(made_up(), 100));
}

// As written when `classify` named how products are summed.
TEST(TuningDatabase, AnEntryOfAnOlderVersionIsNotFound) {
  const TempDir folder;
  const Database database(folder / "tuning.json");
  database.store(made_up(), 100, some_tuning());
  write_file(database.file(), test::replaced(bytes_of(database.file()), "    \"dot\": \"float\",\n", ""));
  EXPECT_FALSE(database.find(made_up(), 100));
}

TEST(TuningDatabase, WithoutAFileDoesNothing) {
  const Database database{fs::path()};
  EXPECT_NO_THROW(database.store(made_up(), 100, some_tuning()));
  EXPECT_FALSE(database.find(made_up(), 100));
}

TEST(TuningDatabase, AFileThatCannotBeWrittenIsAnError) {
  const TempDir folder;
  write_file(folder / "file", "not a folder");
  const Database database(folder / "file/tuning.json");
  EXPECT_NE(test::error_of(ExitCode::failed, [&] { database.store(made_up(), 100, some_tuning()); }), "");
  EXPECT_FALSE(database.find(made_up(), 100));
}

}  // namespace
}  // namespace sightline::opencl
