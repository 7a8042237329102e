// A model's verification network from the outside: the same lines under every schedule, switched off, and
// misuse.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "detectors/filterbank/model.hpp"
#include "support/media.hpp"
#include "support/network.hpp"
#include "support/program.hpp"
#include "support/thorough.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;

class VerifyProgram : public testing::Test {
 protected:
  VerifyProgram() {
    filterbank::Model model = random_model(9, 12);
    model.network = random_network(model.window.pixels(), 12);
    centre_logit(model.network, random_picture({200, 160}, 13).view());
    model.network.first_stage_threshold = 0;
    model.network.weight = 0.5;
    model.network.limit = 2;
    model.threshold = 1;
    filterbank::save_model(model, folder_ / "net.safetensors");
    media::test::store(folder_ / "net.toml", "[detector]\nmodel = \"net.safetensors\"\nscale_step = 1.3\n");
  }
  Words detect(const Words& options) const {
    const bool has_config = std::ranges::find(options, "-c") != options.end();
    return Words{"-q", "detect", clip_} + (has_config ? Words{} : Words{"-c", folder_ / "net.toml"}) +
           options;
  }
  std::string lines(const Words& options) const {
    const Outcome outcome = expect_run(0, detect(options));
    return outcome.out;
  }

  TempDir folder_;
  const std::string clip_ = moving_clip(120, 100, 6);
};

std::size_t objects_of(const std::string& lines) {
  std::size_t objects = 0;
  for (const Json& line : parse_lines(lines)) objects += line.at("objects").size();
  return objects;
}

TEST_F(VerifyProgram, NoVerifyIsAnotherResult) {
  const std::string with = lines({"--device", "none"});
  const std::string without = lines({"--device", "none", "--no-verify"});
  EXPECT_GT(objects_of(with), 5u);
  EXPECT_GT(objects_of(without), 5u);
  EXPECT_NE(with, without);
  media::test::store(folder_ / "off.toml",
                     "[detector]\nmodel = \"net.safetensors\"\nscale_step = 1.3\nverify = false\n");
  EXPECT_EQ(lines({"--device", "none", "-c", folder_ / "off.toml"}), without);
}

TEST_F(VerifyProgram, SameUnderEverySchedule) {
  if (!has_cpu_device()) GTEST_SKIP() << "there is no OpenCL device on the CPU here";
  const std::string expected = lines({"--device", "none"});
  EXPECT_GT(objects_of(expected), 5u);
  bool is_many = true;
  for (const char* schedule : {"cpu", "gpu", "specialized", "overlap", "split"}) {
    is_many = !is_many;
    for (const char* in_flight : {"1", "4"}) {
      if (!is_thorough() && is_many != (*in_flight == '4')) continue;
      EXPECT_EQ(lines({"--device", "cpu", "--schedule", schedule, "--in-flight", in_flight}), expected)
          << schedule << ", " << in_flight << " in flight";
    }
  }
  for (const char* map : {"classify=gpu,verify=gpu", "filter=gpu,classify=gpu,verify=gpu"})
    EXPECT_EQ(lines({"--device", "cpu", "--map", map}), expected) << map;
  // More candidates than the limit: which of them stay is the CPU's to say.
  const Words limited{"--max-candidates", "20", "--threshold", "0"};
  EXPECT_EQ(lines(Words{"--device", "cpu", "--schedule", "gpu"} + limited),
            lines(Words{"--device", "none"} + limited));
}

TEST_F(VerifyProgram, Misuse) {
  if (has_cpu_device()) {
    expect_run(2, "'verify'", detect({"--device", "cpu", "--map", "verify=gpu"}));
    expect_run(2, "'verify'", detect({"--device", "cpu", "--no-verify", "--map", "verify=gpu"}));
  }
  media::test::store(folder_ / "three.toml", "[detector]\nmodel = \"net.safetensors\"\nverify = 3\n");
  expect_run(2, "three.toml:3", detect({"-c", folder_ / "three.toml"}));
  expect_run(2, "'verify'", detect({"-c", folder_ / "three.toml"}));
}

TEST_F(VerifyProgram, EvaluateWindowsCountsTheNetwork) {
  fs::create_directories(folder_ / "positives");
  fs::create_directories(folder_ / "negatives");
  make_clip(folder_ / "positives/a.png", "testsrc2=size=64x64,crop=24:32:8:8,trim=end_frame=1");
  make_clip(folder_ / "positives/b.png", "mandelbrot=size=64x64,crop=24:32:8:8,trim=end_frame=1");
  make_clip(folder_ / "negatives/c.png", "mandelbrot=size=120x100,trim=end_frame=1");
  const Words command{"evaluate",    "windows",
                      "-m",          folder_ / "net.safetensors",
                      "--positives", folder_ / "positives",
                      "--negatives", folder_ / "negatives"};
  const Outcome with = run(command);
  const Outcome without = run(command + Words{"--no-verify"});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_NE(with.out, without.out);
  // Every window counts in both, whether the network looks at it or not.
  const std::string counts = with.out.substr(0, with.out.find('\n'));
  EXPECT_NE(counts.find("2 positive windows, "), std::string::npos) << counts;
  EXPECT_EQ(without.out.substr(0, without.out.find('\n')), counts);

  expect_run(2, "--no-verify", command + Words{"--store", "--no-verify"});
}

}  // namespace
}  // namespace sightline::test
