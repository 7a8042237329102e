#include "faces/gallery/gallery.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "faces/gallery/names.hpp"
#include "faces/gallery/sqlite.hpp"
#include "support/errors.hpp"
#include "support/temp_dir.hpp"

namespace sightline::gallery {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const TemplateKind kKind{"small", "0123", "of tests", 32};

// Exit code of a process of its own that does this, or 99 for what it throws; -1 where it does not exit.
int exit_code_of(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(work());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Whether a file, which may have no name any more, has zeros alone. Closes it.
bool has_zeros_alone(int held) {
  struct stat status {};
  if (held < 0 || fstat(held, &status) != 0 || status.st_size == 0) return false;
  std::string bytes(static_cast<std::size_t>(status.st_size), 'x');
  const bool is_read = pread(held, bytes.data(), bytes.size(), 0) == std::ssize(bytes);
  close(held);
  return is_read && bytes.find_first_not_of('\0') == std::string::npos;
}

class GalleryTest : public testing::Test {
 protected:
  std::string file() const { return folder_ / "faces.gallery"; }
  std::string reserve() const { return file() + "-reserve"; }
  Gallery open() const { return Gallery::open_or_make(file(), kKind); }

  /// One that can be told from all others, also in the bytes of a file.
  static NewTemplate made(const std::string& mark) {
    NewTemplate one;
    const std::string text = "template of " + mark;
    one.bytes.assign(text.begin(), text.end());
    one.bytes.resize(static_cast<std::size_t>(kKind.bytes), '.');
    one.picture = "picture of " + mark + std::string(5000, '#') + " end of " + mark;
    one.source = mark + ".png";
    return one;
  }
  static void add(Gallery& gallery, const std::string& name, int templates = 1) {
    std::vector<NewTemplate> all;
    for (int i = 0; i < templates; ++i) all.push_back(made(name + std::to_string(i)));
    gallery.add(name, all);
  }
  /// Makes the gallery, or adds to it, and closes it.
  void fill(const std::vector<std::string>& names, int templates = 1) const {
    Gallery gallery = open();
    for (const std::string& name : names) add(gallery, name, templates);
  }
  static std::vector<std::string> names(const Gallery& gallery) {
    std::vector<std::string> names;
    for (const Person& one : gallery.people()) names.push_back(one.name);
    return names;
  }
  /// What is in the folder, byte by byte.
  std::string all_bytes() const {
    std::string all;
    for (const auto& entry : fs::directory_iterator(folder_.path())) all += test::bytes_of(entry.path());
    return all;
  }

  test::TempDir folder_;
};

TEST_F(GalleryTest, KeepsWhatItIsGiven) {
  {
    Gallery gallery = open();
    gallery.add("Grace", std::vector{made("a"), made("b")});
    add(gallery, "Ada");
    gallery.add("Grace", std::vector{made("c")});
  }
  const Gallery gallery(file(), Gallery::Access::read);
  EXPECT_THAT(names(gallery), ElementsAre("Ada", "Grace"));
  const Person grace = gallery.person("Grace");
  EXPECT_EQ(grace.templates, 3);
  const std::vector<StoredTemplate> templates = gallery.templates(grace);
  ASSERT_EQ(templates.size(), 3u);
  EXPECT_EQ(templates[1].bytes, made("b").bytes);
  EXPECT_EQ(templates[1].picture, made("b").picture);
  EXPECT_EQ(templates[2].source, "c.png");
  EXPECT_FALSE(gallery.find("Nobody"));
  EXPECT_EQ(gallery.kind().settings, "of tests");
}

TEST_F(GalleryTest, OnlyItsOwnerMayReadIt) {
  Gallery gallery = open();
  add(gallery, "Ada");
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none)
        << entry.path();
}

TEST_F(GalleryTest, SnapshotHasAllTemplatesByPersonAndAge) {
  Gallery gallery = open();
  EXPECT_EQ(gallery.snapshot().size(), 0u) << "an empty gallery";
  add(gallery, "Grace", 2);
  add(gallery, "Ada", 1);
  gallery.add("Grace", std::vector{made("late")});
  const Snapshot all = gallery.snapshot();
  EXPECT_THAT(all.names, ElementsAre("Grace", "Ada"));
  EXPECT_THAT(all.owners, ElementsAre(0, 0, 0, 1));
  const auto row = all.row(2);
  EXPECT_EQ(std::vector(row.begin(), row.end()), made("late").bytes);
  EXPECT_FALSE(all.threshold);
}

TEST_F(GalleryTest, ReaderLearnsOfEveryChange) {
  Gallery writer = open();
  add(writer, "Ada");
  Gallery reader(file(), Gallery::Access::read);
  EXPECT_TRUE(reader.changed()) << "nothing was read yet";
  reader.snapshot();
  EXPECT_FALSE(reader.changed());
  const auto expect_seen = [&](const char* what) {
    EXPECT_TRUE(reader.changed()) << what;
    reader.snapshot();
    EXPECT_FALSE(reader.changed()) << what;
  };
  add(writer, "Grace");
  expect_seen("added");
  writer.rename("Grace", "Hedy");
  EXPECT_THAT(reader.snapshot().names, ElementsAre("Ada", "Hedy"));
  writer.set_threshold({.distance = 7, .rate = 0.01});
  expect_seen("threshold");
  EXPECT_EQ(reader.snapshot().threshold->distance, 7);
  writer.remove({"Ada"});
  expect_seen("removed");
  // Its own changes are no others.
  writer.snapshot();
  add(writer, "Emmy");
  EXPECT_TRUE(writer.changed());
}

TEST_F(GalleryTest, RenamesAndMerges) {
  Gallery gallery = open();
  add(gallery, "Ada", 2);
  add(gallery, "Ada L.", 1);
  add(gallery, "Grace", 1);
  expect_error(ExitCode::usage, "'Ada'", [&] { gallery.rename("Grace", "Ada"); });
  expect_error(ExitCode::usage, [&] { gallery.merge("Ada", {"Grace", "Ada"}); });
  EXPECT_THAT(names(gallery), ElementsAre("Ada", "Ada L.", "Grace")) << "wholly or not at all";
  gallery.merge("Ada", {"Ada L."});
  EXPECT_EQ(gallery.person("Ada").templates, 3);
  gallery.rename("Ada", "Ada");
  gallery.rename("Ada", "Augusta");
  EXPECT_THAT(names(gallery), ElementsAre("Augusta", "Grace"));
  expect_error(ExitCode::usage, "called 'Ada'", [&] { gallery.rename("Ada", "Hedy"); });
}

// Enough people that pages are split and merged, of whom a few go.
TEST_F(GalleryTest, NoByteOfWhoIsDeletedIsLeft) {
  Gallery gallery = open();
  for (int i = 0; i < 60; ++i) add(gallery, "Person" + std::to_string(100 + i), 1 + i % 5);
  Gallery reader(file(), Gallery::Access::read);
  reader.snapshot();
  EXPECT_NE(all_bytes().find("picture of Person117"), std::string::npos)
      << "the test looks in the right place";
  const auto size = fs::file_size(file());
  std::vector<std::string> gone;
  for (int i = 7; i < 60; i += 10) gone.push_back("Person" + std::to_string(100 + i));
  EXPECT_EQ(gallery.remove(gone), "");
  EXPECT_EQ(gallery.remove_templates("Person104", std::vector<std::size_t>{1}), "");
  const std::string bytes = all_bytes();
  gone.push_back("Person1041");
  for (const std::string& name : gone) EXPECT_EQ(bytes.find(name), std::string::npos) << name;
  EXPECT_NE(bytes.find("end of Person1040"), std::string::npos);
  EXPECT_LT(fs::file_size(file()), size) << "what is not used is given back";
  EXPECT_EQ(gallery.people().size(), 54u);
  EXPECT_EQ(reader.people().size(), 54u);
}

// The blocks of a file that is removed keep its bytes.
TEST_F(GalleryTest, JournalsAreOverwritten) {
  Gallery gallery = open();
  add(gallery, "Ada", 3);
  add(gallery, "Grace");
  const int held = ::open(reserve().c_str(), O_RDONLY | O_CLOEXEC);  // it becomes the journal
  EXPECT_EQ(gallery.remove({"Ada"}), "");
  EXPECT_TRUE(has_zeros_alone(held));
  EXPECT_FALSE(fs::exists(file() + "-journal"));
  EXPECT_GT(fs::file_size(reserve()), 0u);
  EXPECT_THAT(names(gallery), ElementsAre("Grace"));
}

TEST_F(GalleryTest, ANameTooLongForItsJournalLeavesNoFile) {
  const std::string long_name = folder_ / std::string(252, 'g');
  expect_error(ExitCode::usage, "too long", [&] { Gallery::open_or_make(long_name, kKind); });
  EXPECT_FALSE(fs::exists(long_name));
  const std::string fits = folder_ / std::string(247, 'g');
  add(*std::make_unique<Gallery>(Gallery::open_or_make(fits, kKind)), "Ada");
  EXPECT_EQ(names(Gallery(fits, Gallery::Access::read)).size(), 1u);
}

TEST_F(GalleryTest, NamesHaveOneNormalForm) {
  const std::string composed = "M\u00fcller", decomposed = "Mu\u0308ller";
  {
    Gallery gallery = open();
    add(gallery, composed);
    add(gallery, decomposed);
    EXPECT_THAT(names(gallery), ElementsAre(composed));
    EXPECT_EQ(gallery.person(decomposed).templates, 2);
    gallery.rename(decomposed, "Ada");
    gallery.rename("Ada", decomposed);
    EXPECT_THAT(names(gallery), ElementsAre(composed));
  }
  // As an earlier version stored it.
  Database(file(), Database::Mode::write, std::chrono::seconds(1))
      .run("INSERT INTO people (name, added) VALUES ('Mu' || char(776) || 'ller', 0)");
  EXPECT_THAT(Gallery(file(), Gallery::Access::read).snapshot().names, ElementsAre(composed, composed));
  EXPECT_THAT(names(Gallery(file(), Gallery::Access::write)), ElementsAre(composed));
}

TEST_F(GalleryTest, DeletionIsRefusedWhileAnotherProgramReads) {
  Gallery gallery = Gallery::open_or_make(file(), kKind, std::chrono::milliseconds(1));
  add(gallery, "Ada");
  {
    Database other(file(), Database::Mode::read, std::chrono::milliseconds(1));
    Transaction reading(other, Transaction::Kind::read);
    EXPECT_EQ(other.integer("SELECT count(*) FROM people"), 1);
    expect_error(ExitCode::failed, [&] { gallery.remove({"Ada"}); });
    EXPECT_GT(fs::file_size(reserve()), 0u) << "kept for the next deletion";
    expect_error(ExitCode::failed, [&] { gallery.remove_templates("Ada", std::array{std::size_t{0}}); });
    EXPECT_GT(fs::file_size(reserve()), 0u);
    EXPECT_THAT(names(gallery), ElementsAre("Ada"));
  }
  EXPECT_EQ(gallery.remove({"Ada"}), "");
  EXPECT_EQ(all_bytes().find("picture of Ada"), std::string::npos);
}

// Whoever may write to the folder may put something in the place of the reserve.
TEST_F(GalleryTest, TheReserveIsAFileOfItsOwn) {
  const std::string victim = folder_ / "victim";
  test::store(victim, std::string("kept"));
  const std::function<void()> plants[] = {
      [&] { ASSERT_EQ(::mkfifo(reserve().c_str(), 0666), 0); },
      [&] { fs::create_hard_link(victim, reserve()); },
      [&] { fs::create_symlink(victim, reserve()); },
      [&] { fs::create_symlink(folder_ / "nothing", reserve()); },
  };
  Gallery gallery = open();
  add(gallery, "Ada", 3);
  for (const auto& plant : plants) {
    SCOPED_TRACE(&plant - plants);
    for (const bool changes : {false, true}) {
      fs::remove(reserve());
      plant();
      // Opened for reading, a FIFO does not keep a writer waiting, who would never come back.
      const int reader = ::open(reserve().c_str(), O_RDONLY | O_NONBLOCK);
      if (changes) {
        gallery.remove_templates("Ada", std::array{std::size_t{0}});
        add(gallery, "Ada");
      } else {
        static_cast<void>(open());
      }
      if (reader >= 0) ::close(reader);
      struct stat there {};
      ASSERT_EQ(::lstat(reserve().c_str(), &there), 0);
      EXPECT_TRUE(S_ISREG(there.st_mode));
      EXPECT_EQ(there.st_nlink, 1u);
      EXPECT_GE(there.st_size, static_cast<off_t>(fs::file_size(file())));
    }
    EXPECT_EQ(test::bytes_of(victim), "kept");
    EXPECT_FALSE(fs::exists(folder_ / "nothing"));
  }
}

TEST_F(GalleryTest, AJournalThatIsNoFileOfItsOwnIsRefused) {
  const std::string victim = folder_ / "victim";
  test::store(victim, std::string(600, '\0'));
  Gallery gallery = open();
  add(gallery, "Ada");
  for (const char* const side : {"-journal", "-wal"}) {
    const std::string name = file() + side;
    const std::function<void()> plants[] = {[&] { ASSERT_EQ(::mkfifo(name.c_str(), 0666), 0); },
                                            [&] { fs::create_hard_link(victim, name); },
                                            [&] { fs::create_symlink(victim, name); }};
    for (const auto& plant : plants) {
      SCOPED_TRACE(name + std::to_string(&plant - plants));
      plant();
      expect_error(ExitCode::input, [&] { static_cast<void>(open()); });
      expect_error(ExitCode::input, [&] { Gallery(file(), Gallery::Access::read).people(); });
      expect_error(ExitCode::input, [&] { static_cast<void>(gallery.changed()); });
      expect_error(ExitCode::input, [&] { gallery.remove({"Ada"}); });
      fs::remove(name);
      EXPECT_EQ(test::bytes_of(victim), std::string(600, '\0'));
      EXPECT_THAT(names(gallery), ElementsAre("Ada"));
    }
  }
}

TEST_F(GalleryTest, LastTemplateTakesThePersonAlong) {
  Gallery gallery = open();
  add(gallery, "Ada", 3);
  expect_error(ExitCode::usage, "number 4", [&] {
    gallery.remove_templates("Ada", std::vector<std::size_t>{0, 3});
  });
  gallery.remove_templates("Ada", std::vector<std::size_t>{0, 0});
  EXPECT_EQ(gallery.templates(gallery.person("Ada"))[0].source, "Ada1.png");
  gallery.remove_templates("Ada", std::vector<std::size_t>{0, 1});
  EXPECT_FALSE(gallery.find("Ada"));
}

TEST_F(GalleryTest, ImportAddsWhatIsNew) {
  Gallery gallery = open();
  add(gallery, "Ada", 2);
  Gallery other = Gallery::open_or_make(folder_ / "other.gallery", kKind);
  add(other, "Ada", 3);
  add(other, "Grace", 2);
  add(other, "Hedy", 1);
  const Imported some = gallery.import(other, {"Ada", "Grace"});
  EXPECT_EQ(some.people, 1);
  EXPECT_EQ(some.templates, 3);
  EXPECT_EQ(some.known, 2);
  EXPECT_THAT(names(gallery), ElementsAre("Ada", "Grace"));
  EXPECT_EQ(gallery.person("Ada").templates, 3);
  expect_error(ExitCode::usage, "called 'Emmy'", [&] { gallery.import(other, {"Hedy", "Emmy"}); });
  EXPECT_FALSE(gallery.find("Hedy"));
  EXPECT_EQ(gallery.import(other, {}).templates, 1);
  Gallery foreign = Gallery::open_or_make(folder_ / "foreign.gallery", {"large", "4567", "", 32});
  expect_error(ExitCode::model, "large", [&] { gallery.import(foreign, {}); });
}

TEST_F(GalleryTest, RefusesAnotherModel) {
  open();
  expect_error(ExitCode::model, "'small' (0123)", [&] {
    Gallery::open_or_make(file(), {"large", "4567", "", 32});
  });
  expect_error(ExitCode::model, "compared", [&] {
    Gallery::open_or_make(file(), {"small", "0123", "", 33});
  });
}

TEST_F(GalleryTest, NamesInAnyScript) {
  const std::string longest(3 * kLongestName, 'x');
  std::string wide;
  for (std::size_t i = 0; i < kLongestName; ++i) wide += "世";
  Gallery gallery = open();
  for (const std::string& name : {std::string("Ada O'Hara"), std::string("\"; DROP TABLE people; --"),
                                  std::string("איילת"), std::string("Зоя"), wide, std::string("😀")}) {
    add(gallery, name);
    EXPECT_TRUE(gallery.find(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("  "), std::string("\u3000"), std::string(" Ada"), std::string("A\nda"),
        std::string("A\0da", 4), std::string("A\u202Eda"), std::string("A\xFF"), wide + "世",
        std::string("unknown")})
    expect_error(ExitCode::usage, [&] { add(gallery, name); });
  EXPECT_EQ(gallery.people().size(), 6u);
}

TEST_F(GalleryTest, RefusesWhatIsNone) {
  const auto refused = [&] {
    expect_error(ExitCode::input, file(), [&] { Gallery(file(), Gallery::Access::read); });
    if (Gallery::is_there(file())) expect_error(ExitCode::input, file(), [&] { open(); });
  };
  refused();
  test::store(file(), std::string());
  refused();
  test::store(file(), std::string("this is the text of somebody's letter, and no database at all. ") +
                          std::string(200, '.'));
  refused();
  const std::string letter = test::bytes_of(file());
  EXPECT_THAT(letter, HasSubstr("letter")) << "and it was left alone";
  fs::remove(file());
  Database(file(), Database::Mode::create, {}).run("CREATE TABLE letters(text TEXT)");
  refused();
  fs::remove(file());
  fs::create_directory(file());
  refused();
  expect_error(ExitCode::input, [&] { open(); });
}

TEST_F(GalleryTest, RefusesANewerOne) {
  open();
  Database(file(), Database::Mode::write, {}).run("PRAGMA user_version = 2");
  expect_error(ExitCode::input, "format 2", [&] { Gallery(file(), Gallery::Access::read); });
  expect_error(ExitCode::input, "format 2", [&] { open(); });
}

TEST_F(GalleryTest, RefusesWhatAStrangerHasPutIn) {
  fill({"Ada"});
  const auto refused = [&](const char* sql) {
    SCOPED_TRACE(sql);
    fs::copy_file(file(), folder_ / "bad.gallery", fs::copy_options::overwrite_existing);
    Database(folder_ / "bad.gallery", Database::Mode::write, {}).run(sql);
    expect_error(ExitCode::input, folder_ / "bad.gallery", [&] {
      Gallery bad(folder_ / "bad.gallery", Gallery::Access::write);
      bad.snapshot();
    });
  };
  refused("CREATE TRIGGER t AFTER INSERT ON people BEGIN DELETE FROM templates; END");
  refused("CREATE VIEW v AS SELECT name FROM people");
  refused("DROP TABLE threshold");
  refused("UPDATE templates SET bytes = zeroblob(31)");
  refused("UPDATE model SET bytes = 1073741824");
  refused("DELETE FROM model");
  refused("UPDATE people SET name = char(27) || '[2J'");
}

// Whatever byte is another, the gallery is refused or read; nothing crashes.
TEST_F(GalleryTest, DamagedFiles) {
  fill({"Ada"}, 3);
  fill({"Grace"}, 2);
  const std::string whole = test::bytes_of(file());
  int tried = 0, refused = 0;
  const auto try_it = [&](const std::string& bytes) {
    test::store(file(), bytes);
    try {
      const bool writes = ++tried % 16 == 0;  // each waits for the disk
      Gallery gallery(file(), writes ? Gallery::Access::write : Gallery::Access::read);
      gallery.snapshot();
      for (const Person& one : gallery.people()) gallery.templates(one);
      if (writes) add(gallery, "Hedy");
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ExitCode::input || error.code() == ExitCode::failed) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("faces.gallery"));
      ++refused;
    }
    fs::remove(file() + "-journal");
  };
  for (std::size_t i = 0; i < whole.size(); i += i < 110 ? 1 : 797) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x5A);
    try_it(bytes);
  }
  for (std::size_t size = 1; size < whole.size(); size += 2039) try_it(whole.substr(0, size));
  EXPECT_GT(refused, 50);
}

TEST_F(GalleryTest, LockedByAnotherProgram) {
  Gallery gallery = Gallery::open_or_make(file(), kKind, std::chrono::milliseconds(1));
  add(gallery, "Ada");
  Database other(file(), Database::Mode::write, {});
  Transaction writing(other, Transaction::Kind::write);
  expect_error(ExitCode::failed, [&] { add(gallery, "Grace"); });
  EXPECT_THAT(names(gallery), ElementsAre("Ada")) << "reading goes on";
  writing.commit();
  add(gallery, "Grace");
}

TEST_F(GalleryTest, TwoWritersAndAReader) {
  open();
  const auto write = [&](const std::string& name) {
    Gallery gallery = Gallery::open_or_make(file(), kKind);
    for (int i = 0; i < 20; ++i) gallery.add(name, std::vector{made(name + std::to_string(i)), made(name)});
  };
  std::thread one(write, "Ada"), two(write, "Grace");
  Gallery reader(file(), Gallery::Access::read);
  for (std::size_t seen = 0; seen < 80;) {
    const Snapshot snapshot = reader.snapshot();
    EXPECT_EQ(snapshot.size() % 2, 0u) << "half an addition";
    EXPECT_GE(snapshot.size(), seen);
    seen = snapshot.size();
    std::this_thread::yield();
  }
  one.join();
  two.join();
}

// In a process of its own, since its files may not grow any more from then on.
TEST_F(GalleryTest, FullDiskLeavesWhatWasThere) {
  fill({"Ada"}, 2);
  const auto size = fs::file_size(file());
  const auto fill_disk = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{size + 20'000, size + 20'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      fill({"Grace"}, 100);
    } catch (const Error& error) {
      const bool good = error.code() == ExitCode::failed &&
                        std::string(error.what()).find("disk space") != std::string::npos;
      return good ? 0 : 2;
    }
    return 1;
  };
  EXPECT_EQ(exit_code_of(fill_disk), 0);
  Gallery gallery(file(), Gallery::Access::write);
  EXPECT_THAT(names(gallery), ElementsAre("Ada"));
  EXPECT_EQ(gallery.person("Ada").templates, 2);
  add(gallery, "Grace");
}

// Root may do everything, and has to be somebody else for this.
TEST_F(GalleryTest, FolderThatMayNotBeWrittenTo) {
  fill({"Ada"});
  fs::permissions(file(), fs::perms(0644));
  fs::permissions(folder_.path(), fs::perms(0555));
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  {
    Gallery reader(file(), Gallery::Access::read);
    EXPECT_THAT(reader.snapshot().names, ElementsAre("Ada"));
    EXPECT_FALSE(reader.changed());
  }
  if (is_root) {
    expect_error(ExitCode::failed, "ermission", [&] { open(); });
    expect_error(ExitCode::failed, "write", [&] {
      Gallery gallery(file(), Gallery::Access::write);
      add(gallery, "Grace");
    });
    ASSERT_EQ(seteuid(0), 0);
  }
  fs::permissions(folder_.path(), fs::perms(0755));
  expect_error(ExitCode::failed, [&] { Gallery::open_or_make("/proc/none/faces.gallery", kKind); });
}

// As `live` of another user does. In a process of its own, since locks are between processes.
TEST_F(GalleryTest, DeletionIsSeenByAReaderThatMayNotWriteTheFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "needs a second user";
  fill({"Ada", "Grace"});
  fs::permissions(file(), fs::perms(0644));
  fs::permissions(folder_.path(), fs::perms(0755));
  int to_reader[2], from_reader[2];
  ASSERT_EQ(pipe(to_reader), 0);
  ASSERT_EQ(pipe(from_reader), 0);
  const pid_t child = fork();
  if (child == 0) {
    int result = 1;
    char go = 0;
    try {
      if (setuid(65534) != 0) _exit(9);
      Gallery reader(file(), Gallery::Access::read);
      if (reader.snapshot().names != std::vector<std::string>{"Ada", "Grace"} || reader.changed()) _exit(2);
      if (write(from_reader[1], &go, 1) != 1 || read(to_reader[0], &go, 1) != 1) _exit(3);
      if (!reader.changed()) _exit(4);
      result = reader.snapshot().names == std::vector<std::string>{"Grace"} ? 0 : 5;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    _exit(result);
  }
  char byte = 0;
  close(from_reader[1]);
  if (read(from_reader[0], &byte, 1) == 1) {
    Gallery(file(), Gallery::Access::write).remove({"Ada"});
    EXPECT_EQ(write(to_reader[1], &byte, 1), 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int end : {to_reader[0], to_reader[1], from_reader[0]}) close(end);
}

// A process that was killed while it wrote leaves a journal, which only somebody who may write can play back.
TEST_F(GalleryTest, AnInterruptedChangeIsUndoneByItsOwner) {
  fill({"Ada"}, 20);
  const auto interrupt = [&]() -> int {
    Database database(file(), Database::Mode::write, {});
    database.run("PRAGMA cache_size = 1");  // pages are written before the end
    database.run("BEGIN IMMEDIATE");
    database.run("UPDATE templates SET picture = zeroblob(5000)");
    _exit(0);
  };
  ASSERT_EQ(exit_code_of(interrupt), 0);
  ASSERT_TRUE(fs::exists(file() + "-journal"));
  if (geteuid() == 0) {
    fs::permissions(file(), fs::perms(0644));
    fs::permissions(folder_.path(), fs::perms(0755));
    ASSERT_EQ(seteuid(65534), 0);
    expect_error(ExitCode::failed, "interrupted", [&] { Gallery(file(), Gallery::Access::read); });
    ASSERT_EQ(seteuid(0), 0);
  }
  const int journal = ::open((file() + "-journal").c_str(), O_RDONLY | O_CLOEXEC);
  const Gallery gallery(file(), Gallery::Access::read);
  for (const StoredTemplate& one : gallery.templates(gallery.person("Ada")))
    EXPECT_THAT(one.picture, testing::StartsWith("picture of Ada"));
  EXPECT_TRUE(has_zeros_alone(journal));
}

// In a process of its own, which may have a file system of its own.
TEST_F(GalleryTest, FullDiskAllowsListingAndDeleting) {
  constexpr int kNoDisk = 77;
  const auto list_and_delete = [&] {
    const fs::path disk = folder_.path();
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2m") != 0)
      return kNoDisk;
    for (int i = 0; i < 30; ++i) fill({"Person" + std::to_string(100 + i)}, 3);
    const int other = ::open((disk / "other").c_str(), O_WRONLY | O_CREAT, 0600);
    const std::string block(4096, 'x');
    while (::write(other, block.data(), block.size()) > 0) {
    }
    close(other);
    if (Gallery(file(), Gallery::Access::read).people().size() != 30) return 2;
    for (int i = 0; i < 30; i += 3) {
      Gallery gallery(file(), Gallery::Access::write);
      if (!gallery.remove({"Person" + std::to_string(100 + i)}).empty()) return 3;
    }
    if (Gallery(file(), Gallery::Access::read).people().size() != 20) return 4;
    const std::string bytes = all_bytes();
    for (int i = 0; i < 30; ++i) {
      const bool is_there = bytes.find("Person" + std::to_string(100 + i)) != std::string::npos;
      if (is_there != (i % 3 != 0)) return 5;
    }
    return 0;
  };
  const int code = exit_code_of(list_and_delete);
  if (code == kNoDisk) GTEST_SKIP() << "no file system can be mounted";
  EXPECT_EQ(code, 0);
}

TEST_F(GalleryTest, AnEmptyFileMadeBeforehandIsMadePrivate) {
  test::store(file(), std::string());
  fs::permissions(file(), fs::perms(0644));
  Gallery gallery = open();
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0600));
  fs::permissions(file(), fs::perms(0640));
  open();
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms(0640)) << "as its owner has set it";
}

TEST_F(GalleryTest, OneInMemoryIsWrittenAsAFile) {
  const Gallery gallery = open();
  Gallery made = Gallery::make_in_memory(kKind);
  add(made, "Ada");
  test::store(folder_ / "copy", made.bytes());
  EXPECT_THAT(names(Gallery(folder_ / "copy", Gallery::Access::write)), ElementsAre("Ada"));
}

TEST_F(GalleryTest, ImportsAreLimited) {
  Gallery gallery = open();
  Gallery other = Gallery::open_or_make(folder_ / "other.gallery", kKind);
  add(other, "Ada");
  const auto add_people = [&](const char* sql) {
    Database(other.file(), Database::Mode::write, std::chrono::seconds(1)).run(sql);
  };
  add_people(
      "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= 10000) "
      "INSERT INTO people (name, added) SELECT 'p' || i, 0 FROM n");
  expect_error(ExitCode::input, "10001 people", [&] { gallery.import(other, {}); });
  EXPECT_THAT(gallery.people(), IsEmpty());
  gallery.import(other, {"Ada"});
  EXPECT_THAT(names(gallery), ElementsAre("Ada"));
}

// Earlier versions kept galleries with a write-ahead log.
TEST_F(GalleryTest, AGalleryOfAnEarlierVersionIsReadAndChanged) {
  fill({"Ada", "Grace"});
  Database(file(), Database::Mode::write, {}).run("PRAGMA journal_mode = WAL");
  EXPECT_THAT(names(Gallery(file(), Gallery::Access::read)), ElementsAre("Ada", "Grace"));
  EXPECT_EQ(Gallery(file(), Gallery::Access::write).remove({"Ada"}), "");
  EXPECT_FALSE(fs::exists(file() + "-wal"));
  EXPECT_EQ(test::bytes_of(file()).at(18), 1) << "the header's mark of a rollback journal";
  EXPECT_EQ(all_bytes().find("picture of Ada"), std::string::npos);
}

}  // namespace
}  // namespace sightline::gallery
