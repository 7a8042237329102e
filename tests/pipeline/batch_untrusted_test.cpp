// `sightline batch` in a folder that other users can write to: they can make a run fail, but not make it
// write elsewhere, wait, take all memory, or read for them.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/fnv.hpp"
#include "media/gray_png.hpp"
#include "support/program.hpp"
#include "support/variable.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class UntrustedJob : public testing::Test {
 protected:
  UntrustedJob() {
    fs::permissions(folder_.path(), fs::perms(0755));
    Image<std::uint8_t> image(64, 64);
    for (int y = 0; y < 64; ++y) std::fill_n(image.view().row(y), 64, std::uint8_t{90});
    media::write_gray_png(input(), image.view());
    fs::permissions(input(), fs::perms(0644));
  }
  std::string input() const { return folder_ / "a.png"; }
  std::string job() const { return folder_ / "job"; }
  std::string output() const { return folder_ / "out.jsonl"; }
  void plan() const { expect_run(0, {"-q", "batch", "plan", input(), "--config", "faces", "--job", job()}); }
  Outcome work(int code, const std::string& fact = {}, const Words& more = {}) const {
    return expect_run(code, fact, Words{"batch", "work", job(), "--device", "none"} + more);
  }
  Outcome submit(int code, const std::string& fact = {}) const {
    return expect_run(code, fact,
                      {"batch", "submit", job(), "--engine", "local", "--retries", "0", "--device", "none"});
  }
  Outcome merge(int code, const std::string& fact = {}) const {
    return expect_run(code, fact, {"batch", "merge", job(), "--overwrite", "--output", output()});
  }
  std::string part() const { return fs::directory_iterator(job() + "/parts")->path(); }
  // A part with this text behind its body.
  static void store_part(const std::string& file, const std::string& body, const std::string& text) {
    const std::uint64_t trailer[] = {body.size(), fnv1a(body.data(), body.size()), text.size(),
                                     fnv1a(text.data(), text.size()), 0x314c455452415053};
    store(file, body + text + std::string(reinterpret_cast<const char*>(trailer), sizeof trailer));
  }

  TempDir folder_;
};

TEST_F(UntrustedJob, MessagesGoIntoNoOtherFile) {
  plan();
  const std::string other = folder_ / "other", log = job() + "/log/0.txt";
  store(other, "before");
  fs::create_symlink(other, log);
  submit(1, "0.txt");
  fs::remove(log);
  fs::create_hard_link(other, log);
  submit(1, "0.txt");
  fs::remove(log);
  ASSERT_EQ(mkfifo(log.c_str(), 0666), 0);
  submit(1, "0.txt");
  fs::remove_all(job() + "/log");
  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", job() + "/log");
  submit(1, "/log");
  EXPECT_EQ(bytes_of(other), "before");
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
  fs::remove(job() + "/log");
  fs::create_directory(job() + "/log");
  submit(0);
}

TEST_F(UntrustedJob, LinksAndSpecialFilesAreNotOpened) {
  plan();
  work(0);
  const std::string file = part(), whole = folder_ / "whole";
  fs::rename(file, whole);
  for (const bool is_link : {false, true}) {
    if (is_link) {
      fs::create_symlink(whole, file);
    } else {
      ASSERT_EQ(mkfifo(file.c_str(), 0666), 0);
    }
    merge(1, file);
    work(1, file);
    work(1, file, {"--verify"});
    fs::remove(file);
  }
  const std::string record = job() + "/failed/" + fs::path(file).filename().string() + ".x.json";
  ASSERT_EQ(mkfifo(record.c_str(), 0666), 0);
  expect_run(0, {"batch", "status", job()});
  fs::rename(job() + "/plan.json", folder_ / "plan");
  fs::create_symlink(folder_ / "plan", job() + "/plan.json");
  work(1, "plan.json");
  fs::remove(job() + "/plan.json");
  ASSERT_EQ(mkfifo((job() + "/plan.json").c_str(), 0666), 0);
  work(1, "plan.json");
}

TEST_F(UntrustedJob, PartsAndRecordsHaveLimits) {
  plan();
  work(0);
  const std::string file = part(), name = fs::path(file).filename();
  const std::uint64_t size = std::uint64_t{5} << 30;
  const std::uint64_t trailer[] = {size - 40, 0, 0, kFnvSeed, 0x314c455452415053};
  fs::resize_file(file, size - sizeof trailer);
  std::FILE* const stream = std::fopen(file.c_str(), "ab");
  std::fwrite(trailer, sizeof trailer, 1, stream);
  std::fclose(stream);
  const Outcome outcome = merge(1, name);
  EXPECT_LT(outcome.peak_kilobytes, 400'000);
  for (const char* const text : {"[1]", "{\"errors\": \"many\"}", "\"x\"", "{"}) {
    store_part(file, std::string(1, '\0') + std::string(42, '\0'), text);
    EXPECT_THAT(merge(1, name).err, Not(HasSubstr("unexpected")));
  }
  fs::remove(file);
  store(job() + "/failed/" + name + ".x.json", std::string(1 << 20, ' '));
  const Json status = Json::parse(expect_run(0, {"batch", "status", job(), "--json"}).out);
  EXPECT_EQ(status.at("failures").size(), 1u);
  work(0);
  merge(0);
}

TEST_F(UntrustedJob, APlanOfOthersNamesOnlyWhatTheyCanRead) {
  plan();
  const std::string file = job() + "/plan.json";
  EXPECT_EQ(fs::status(file).permissions() & fs::perms(0022), fs::perms::none);
  fs::permissions(input(), fs::perms(0600));
  fs::permissions(file, fs::perms(0666));
  work(3, input());
  fs::permissions(file, fs::perms(0644));
  work(0);
  fs::remove(part());
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
  work(3, input());
  fs::permissions(input(), fs::perms(0644));
  fs::permissions(folder_.path(), fs::perms(0700));
  work(3, input());
  fs::permissions(folder_.path(), fs::perms(0755));
  work(0);
}

TEST_F(UntrustedJob, APlanOfOthersNamesOnlyFilesOfOptionsThatTheyCanRead) {
  const std::string config = folder_ / "own.toml";
  fs::copy_file(fs::path(SIGHTLINE_SOURCE_DIR) / "configs/faces.toml", config);
  expect_run(0, {"-q", "batch", "plan", input(), "--config", config, "--job", job()});
  fs::permissions(config, fs::perms(0600));
  fs::permissions(job() + "/plan.json", fs::perms(0666));
  work(3, config);
  // Not even where the user keeps own configurations there.
  const Variable configs("SIGHTLINE_CONFIGS", folder_.path());
  work(3, config);
}

TEST_F(UntrustedJob, PartsOfPrivateInputsArePrivate) {
  const auto others = [&] { return fs::status(part()).permissions() & fs::perms(0077); };
  plan();
  work(0);
  EXPECT_NE(others(), fs::perms::none);
  fs::remove(part());
  fs::permissions(input(), fs::perms(0600));
  work(0);
  EXPECT_EQ(others(), fs::perms::none);
}

TEST_F(UntrustedJob, LineEndsInNamesForgeNoLines) {
  const std::string forged = "error: the disk is full";
  const std::string in = folder_ / ("in\n" + forged);
  fs::create_directory(in);
  store(in + "/a.png", "x");
  const Outcome detect = run({"detect", in, "--config", "faces", "--device", "none"});
  EXPECT_EQ(detect.exit_code, 3);
  EXPECT_THAT(detect.err, HasSubstr(forged));
  EXPECT_THAT(detect.err, Not(HasSubstr("\n" + forged)));
  expect_run(0, {"-q", "batch", "plan", in, "--config", "faces", "--job", job()});
  work(3);
  const std::string status = expect_run(0, {"batch", "status", job()}).out;
  EXPECT_THAT(status, HasSubstr(forged));
  EXPECT_THAT(status, Not(HasSubstr("\n" + forged)));
}

}  // namespace
}  // namespace sightline::test
