// `sightline batch submit`: what engines are told. Names with blanks, quotes and worse reach them as they
// are.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "media/gray_png.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Stands in for Slurm: writes each call's words and its script into a folder.
constexpr const char* kSbatch = R"sh(#!/bin/bash
here="$(dirname "$0")"
number="$(($(ls "$here" | grep -c '\.words$') + 101))"
printf '%s\n' "$@" >"$here/$number.words"
cat >"$here/$number.script"
echo "sbatch: Verify job submission ..." >&2
echo "Welcome to the cluster"
echo "$number$SBATCH_CLUSTER"
)sh";

class Engines : public testing::Test {
 protected:
  Engines() {
    fs::create_directory(folder_ / "bin");
    program("sbatch", kSbatch);
    program("scontrol", "#!/bin/sh\necho 'MaxArraySize = 4'\n");
  }
  void program(const std::string& name, const std::string& text) const {
    store(folder_ / ("bin/" + name), text);
    fs::permissions(folder_ / ("bin/" + name), fs::perms(0755));
  }
  // A job of so many tasks.
  std::string plan(const std::string& name, int tasks = 1) const {
    const std::string in = folder_ / "in";
    fs::create_directories(in);
    Image<std::uint8_t> image(32, 32);
    for (int y = 0; y < 32; ++y) std::fill_n(image.view().row(y), 32, std::uint8_t{90});
    for (int i = 0; i < tasks; ++i)
      media::write_gray_png(in + "/" + std::to_string(i) + ".png", image.view());
    const std::string job = folder_ / name;
    expect_run(0, {"-q", "batch", "plan", in, "--config", "faces", "--chunk", "1", "--job", job});
    return job;
  }
  Outcome submit(int code, const std::string& job, const Words& more) const {
    RunSetup setup;
    setup.environment = {"PATH=" + (folder_ / "bin") + ":/usr/bin:/bin", "SBATCH_CLUSTER=" + cluster_};
    return expect_run(code, "", Words{"batch", "submit", job} + more, setup);
  }
  Words words(int call) const {
    return split(bytes_of(folder_ / ("bin/" + std::to_string(call) + ".words")), '\n');
  }
  std::string script(int call) const {
    return bytes_of(folder_ / ("bin/" + std::to_string(call) + ".script"));
  }
  Outcome shell(const std::string& text, const Words& environment = {}) const {
    store(folder_ / "script", text);
    RunSetup setup;
    setup.program = "/bin/sh";
    setup.environment = environment;
    return run({folder_ / "script"}, setup);
  }

  TempDir folder_;
  std::string cluster_;
};

TEST_F(Engines, SlurmIsToldNamesAndOptionsAsTheyAre) {
  const std::string job = plan("50% of #1's \"job\"");
  submit(0, job,
         {"--engine", "slurm", "--output", folder_ / "o ut.jsonl", "--option=--comment=a test",
          "--option=-A p1", "--option", "--time=2:00:00", "--option=--partition short",
          "--option=--constraint=\"a b\"", "--option=-Mfar", "--option=--cpus-per-task=4"});
  const std::string doubled = folder_ / "50%% of #1's \"job\"";
  EXPECT_THAT(words(101), Contains("--output=" + doubled + "/log/%A_%a.txt"));
  for (const char* const word : {"--parsable", "--array=0", "--comment=a test", "-A", "p1", "--time=2:00:00",
                                 "--partition", "short", "--constraint=a b", "--cpus-per-task=4"})
    EXPECT_THAT(words(101), Contains(word));
  for (const std::string& word :
       {std::string("--account=p1"), std::string("--partition=short"), std::string("--time=2:00:00"),
        std::string("--clusters=far"), std::string("--dependency=afterany:101"),
        "--output=" + doubled + "/log/merge.txt"})
    EXPECT_THAT(words(102), Contains(word));
  EXPECT_THAT(words(102), Not(Contains("--cpus-per-task=4")));
  EXPECT_FALSE(fs::exists(job + "/slurm.sh"));
  const Outcome task = shell(script(101), {"SLURM_ARRAY_TASK_ID=0"});
  EXPECT_EQ(task.exit_code, 0) << task.err;
  EXPECT_EQ(shell(script(102)).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "o ut.jsonl"));
}

TEST_F(Engines, WorkersAreForAllArraysTogether) {
  const std::string job = plan("job", 7);  // three tasks an array
  cluster_ = ";far";
  submit(0, job, {"--engine", "slurm", "--workers", "2", "--option=-d after:7"});
  EXPECT_THAT(words(101), Contains("--array=0-2%2"));
  EXPECT_THAT(words(102), Contains("--dependency=after:7,afterany:101"));
  EXPECT_THAT(words(103), Contains("--dependency=after:7,afterany:102"));
  EXPECT_THAT(words(103), Contains("--clusters=far"));
  EXPECT_EQ(shell(script(103), {"SLURM_ARRAY_TASK_ID=0"}).exit_code, 0);
  EXPECT_EQ(Json::parse(run({"batch", "status", job, "--json"}).out).at("done"), 1);
}

TEST_F(Engines, WhatSlurmSaysInPlaceOfANumberIsAnError) {
  const std::string job = plan("job");
  program("sbatch", "#!/bin/sh\necho 'invalid account' >&2\nexit 1\n");
  EXPECT_THAT(submit(1, job, {"--engine", "slurm"}).err, HasSubstr("invalid account"));
  program("sbatch", "#!/bin/sh\necho Submitted\n");
  EXPECT_THAT(submit(1, job, {"--engine", "slurm"}).err, HasSubstr("Submitted"));
}

TEST_F(Engines, PrintedScriptsQuoteNames) {
  const std::string job = plan("it's {#} $(touch PWNED) \"a\" #b");
  const Words print{"--engine", "print", "--output", folder_ / "it's $(touch PWNED).jsonl"};
  const std::string slurm = submit(0, job, print + Words{"--option=--comment=a 'b' #c"}).out;
  EXPECT_THAT(slurm, HasSubstr("#SBATCH --comment=a\\ \\'b\\'\\ \\#c\n"));
  const Outcome task = shell(slurm, {"SLURM_ARRAY_TASK_ID=0"});
  EXPECT_EQ(task.exit_code, 0) << task.err;
  const std::string pods =
      submit(0, job, print + Words{"--script", "kubernetes", "--image", "x\"\\ y: #z"}).out;
  EXPECT_THAT(pods, HasSubstr("image: \"x\\\"\\\\ y: #z\"\n"));
  EXPECT_THAT(pods, HasSubstr("$$(touch PWNED)"));
  EXPECT_THAT(pods, HasSubstr("mountPath: " + Json(job).dump() + "\n"));
  // Stands in for GNU parallel: replaces {} and {#}, and has a shell run the words.
  program("parallel", R"sh(#!/bin/bash
shift 2
read -r number
words="$*"
words="${words//\{#\}/1}"
exec sh -c "${words//\{\}/$number}"
)sh");
  for (const auto& part : fs::directory_iterator(job + "/parts")) fs::remove(part);
  const Outcome parallel = shell("export PATH=\"" + (folder_ / "bin") + ":/usr/bin:/bin\"\n" +
                                 submit(0, job, print + Words{"--script", "parallel"}).out);
  EXPECT_EQ(parallel.exit_code, 0) << parallel.err;
  EXPECT_EQ(Json::parse(run({"batch", "status", job, "--json"}).out).at("done"), 1);
  EXPECT_FALSE(fs::exists("PWNED"));
}

TEST_F(Engines, NamesThatAScriptCannotHoldAreRefused) {
  const std::string job = plan("a\ntouch PWNED\n#");
  for (const char* const kind : {"slurm", "kubernetes", "parallel"})
    EXPECT_EQ(submit(2, job, {"--engine", "print", "--script", kind}).out, "");
  submit(2, job, {"--engine", "slurm"});
  submit(0, job, {"--engine", "local", "--device", "none"});
  const std::string plain = plan("plain");
  const Words print{"--engine", "print", "--script", "parallel"};
  submit(2, plain, print + Words{"--output", "o\ntouch PWNED\n.jsonl"});
  submit(2, plain, {"--engine", "print", "--option=--comment=a\ntouch PWNED"});
  submit(2, plan("back\\slash"), {"--engine", "print"});
  submit(2, plan("a:b"), {"--engine", "print", "--script", "kubernetes"});
}

}  // namespace
}  // namespace sightline::test
