// The study of the method through the program: models of other descriptors, curves of several models,
// tools/study.

#include <cstdlib>

#include "detectors/filterbank/detector.hpp"
#include "model/safetensors.hpp"
#include "opencl/device.hpp"
#include "processing/device_stages.hpp"
#include "processing/opencl/shared_device.hpp"
#include "support/filterbank.hpp"
#include "support/media.hpp"
#include "support/network.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;

class Study : public testing::Test {
 protected:
  // A picture of the folder, made by one of FFmpeg's generators.
  std::string picture(const std::string& name, const std::string& graph) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    make_clip(folder_ / name, graph + ",trim=end_frame=1");
    return folder_ / name;
  }
  std::string model(const std::string& name, const filterbank::Descriptor& descriptor, int filters = 9) {
    filterbank::save_model(random_model(filters, 1, descriptor), folder_ / name);
    return folder_ / name;
  }
  // Small pictures of two kinds, for training and for evaluation.
  void make_pictures() {
    for (int i = 0; i < 6; ++i) {
      const std::string n = std::to_string(i);
      picture("positives/" + n + ".png", "mandelbrot=size=64x128:start_x=0." + n);
      picture("negatives/" + n + ".png",
              i % 2 ? "testsrc=size=96x" + std::to_string(140 + i) : "testsrc2=size=96x15" + n);
    }
  }
  Words pictures() const {
    return {"--positives", folder_ / "positives", "--negatives", folder_ / "negatives"};
  }
  TempDir folder_;
};

TEST_F(Study, OtherDescriptorsRunOnTheCpuAndSaySo) {
  const std::string clip = moving_clip(96, 96, 3);
  const std::string large = model("large.safetensors", {5, filterbank::Contrast::sensitive, {}});
  const Words command{"detect", clip, "--model", large, "-t", "-1000", "--min-size", "24"};
  const Outcome found = expect_run(0, command + Words{"-f", "jsonl"});
  EXPECT_NE(found.out.find("\"score\""), std::string::npos);
  const std::string said = "5x5 patches, contrast-sensitive";
  const std::size_t first = found.err.find(said);
  ASSERT_NE(first, std::string::npos) << found.err;
  EXPECT_EQ(found.err.find(said, first + 1), std::string::npos) << found.err;
  const auto with = [&](const Words& more) { return command + more; };
  for (const char* schedule : {"gpu", "specialized", "overlap", "split"})
    expect_run(2, with({"--schedule", schedule}));
  expect_run(2, with({"--map", "filter=gpu"}));
  expect_run(2, with({"--device", "0"}));
  for (const Words& ways : {Words{"--schedule", "auto"}, {"--schedule", "cpu"}, {"--device", "none"}}) {
    const Outcome same = expect_run(0, with(ways) + Words{"-f", "jsonl"});
    EXPECT_EQ(same.out, found.out);
  }
}

TEST_F(Study, DevicesRefuseOtherDescriptors) {
  const auto devices = opencl::list_devices();
  if (devices.empty()) GTEST_SKIP() << "no OpenCL device";
  const filterbank::FilterbankDetector detector(random_model(9, 1, {5, filterbank::Contrast::sensitive, {}}),
                                                {});
  EXPECT_NE(error_of(ExitCode::usage,
                     [&] {
                       make_device_stages(detector, {devices[0], 0, "the first"});
                     })
                .find("on the CPU only"),
            std::string::npos);
}

TEST_F(Study, ABadDescriptorIsNamed) {
  Safetensors file = Safetensors::load(model("bad.safetensors", {}));
  file.metadata["patch"] = "4x4";
  file.save(folder_ / "bad.safetensors");
  expect_run(4, "'patch' is '4x4'",
             {"detect", moving_clip(96, 96, 1), "--model", folder_ / "bad.safetensors"});
}

TEST_F(Study, ShowTellsTheDescriptor) {
  const std::string file =
      model("m.safetensors", {5, filterbank::Contrast::sensitive, filterbank::Normalisation::l2});
  const Outcome shown = expect_run(0, {"model", "show", file, "--picture", folder_ / "m.png"});
  for (const char* words :
       {"9 filters of 5x5", "l2, epsilon", "sensitive: two bins", "CPU only", "not drawn"})
    EXPECT_NE(shown.out.find(words), std::string::npos) << words << '\n' << shown.out;
  EXPECT_FALSE(fs::exists(folder_ / "m.png"));
}

TEST_F(Study, ShowTellsTheNetwork) {
  filterbank::Model model = random_model(9, 1);
  const std::string file = folder_ / "m.safetensors";
  const Words show{"model", "show", file};
  filterbank::save_model(model, file);
  EXPECT_EQ(expect_run(0, show).out.find("\nnetwork "), std::string::npos);
  model.network = random_network(model.window.pixels(), 1);
  filterbank::save_model(model, file);
  const Outcome shown = expect_run(0, show);
  // 12 x 16 outputs of 144 weights and as many of 512, 6 x 8 of 12,800, and a head of 768.
  for (const char* words : {"filterbank, version 2\n",
                            "\nnetwork        3 convolutions, 0.741 million multiply-adds a window; "
                            "first-stage threshold -1.1, weight 0.3, limit 7.7\n",
                            "\nits provenance \n  network            made up\n"})
    EXPECT_NE(shown.out.find(words), std::string::npos) << words << '\n' << shown.out;
}

TEST_F(Study, TrainingTakesEveryOption) {
  make_pictures();
  const auto train = [&](const std::string& name, const Words& options) {
    expect_run(0, Words{"-q", "train", "filterbank", "--filters", "5", "--patches", "2000", "--rounds", "1",
                        "--output", folder_ / name} +
                      pictures() + options);
    return filterbank::load_model(folder_ / name);
  };
  using filterbank::Contrast;
  using filterbank::Descriptor;
  using filterbank::Normalisation;
  EXPECT_EQ(train("a", {}).descriptor, Descriptor());
  EXPECT_EQ(train("b", {"--normalisation", "l1"}).descriptor,
            (Descriptor{3, Contrast::insensitive, Normalisation::l1}));
  EXPECT_EQ(train("c", {"--normalisation", "l2"}).descriptor,
            (Descriptor{3, Contrast::insensitive, Normalisation::l2}));
  EXPECT_EQ(train("d", {"--patch", "5", "--contrast-sensitive"}).descriptor,
            (Descriptor{5, Contrast::sensitive, {}}));
  EXPECT_EQ(train("f", {"--signed"}).descriptor, (Descriptor{3, Contrast::signed_value, {}}));
  const filterbank::Model uniform = train("e", {"--sampling", "uniform"});
  EXPECT_EQ(uniform.descriptor, Descriptor());
  EXPECT_NE(uniform.provenance.find("\"sampling\":\"uniform\""), std::string::npos);
  const auto filters_of = [](const filterbank::Model& m) {
    return std::vector(m.dictionary.reference().begin(), m.dictionary.reference().end());
  };
  EXPECT_NE(filters_of(uniform), filters_of(filterbank::load_model(folder_ / "a")));
  for (const Words& wrong : {Words{"--normalisation", "l3"},
                             {"--patch", "7"},
                             {"--sampling", "some"},
                             {"--signed", "--patch", "5"},
                             {"--signed", "--patterns"},
                             {"--signed", "--contrast-sensitive"}}) {
    expect_run(2, wrong[0], Words{"train", "filterbank"} + pictures() + wrong);
  }
}

TEST_F(Study, CurvesOfSeveralModelsInOnePicture) {
  make_pictures();
  const std::string one = model("one.safetensors", {});
  const std::string two = model("two.safetensors", {5, filterbank::Contrast::insensitive, {}});
  const Words command = Words{"evaluate", "windows", "--scale-step", "2"} + pictures();
  const Words both{"--model", one, "-m", two};
  const Outcome outcome =
      expect_run(0, command + both + Words{"--csv", folder_ / "c.csv", "--svg", folder_ / "c.svg"});
  const std::string table = bytes_of(folder_ / "c.csv");
  const std::string svg = bytes_of(folder_ / "c.svg");
  for (const char* name : {"one", "two"}) {
    EXPECT_NE(outcome.out.find(name + std::string("\n6 positive windows")), std::string::npos) << outcome.out;
    EXPECT_NE(table.find(std::string("\n") + name + ","), std::string::npos);
    EXPECT_NE(svg.find(std::string(">") + name), std::string::npos);
  }
  // Each curve is what the model has by itself.
  expect_run(0, command + Words{"-m", two, "--csv", folder_ / "two.csv"});
  const std::string own = bytes_of(folder_ / "two.csv");
  EXPECT_TRUE(table.ends_with(own.substr(own.find('\n')))) << own;

  expect_run(0,
             command + both + Words{"--name", "A", "--name", "B", "--csv", folder_ / "c.csv", "--overwrite"});
  EXPECT_NE(bytes_of(folder_ / "c.csv").find("\nB,"), std::string::npos);
  expect_run(2, "1 name for 2 curves", command + both + Words{"--name", "A"});
}

TEST_F(Study, CurvesOfAModelsSizes) {
  make_pictures();
  filterbank::save_models(random_sizes({4, 9}, 1), folder_ / "sizes.safetensors");
  const Outcome outcome =
      run(Words{"evaluate", "windows", "--scale-step", "2", "-m", folder_ / "sizes.safetensors", "--filters",
                "4,9", "--store", "--csv", folder_ / "c.csv"} +
          pictures());
  EXPECT_NE(outcome.exit_code, 0);  // too few windows to store anything
  expect_run(0, Words{"evaluate", "windows", "--scale-step", "2", "-m", folder_ / "sizes.safetensors",
                      "--filters", "4,9", "--csv", folder_ / "c.csv", "--overwrite"} +
                    pictures());
  for (const char* name : {"\"sizes, 4 filters\",", "\"sizes, 9 filters\","})
    EXPECT_NE(bytes_of(folder_ / "c.csv").find(name), std::string::npos);
}

// Two lines, twice: the second time nothing is left to do. One more then makes a picture possible.
TEST_F(Study, TheScriptDoesWhatIsLeftToDo) {
  make_pictures();
  const std::string data = folder_ / "data";
  fs::create_directories(data);
  for (const char* folder : {"neg_train", "neg_test"})
    fs::create_directory_symlink(folder_ / "negatives", data + "/" + folder);
  fs::create_directory_symlink(folder_ / "positives", data + "/inria_train_pos");
  for (const char* list : {"inria_pos_train.txt", "inria_pos_test.txt"})
    media::test::store(data + "/" + list, "0.png\n1.png\n2.png\n");
  const auto study = [&](const std::string& lines) {
    const std::string command = SIGHTLINE_SOURCE_DIR "/tools/study '" + data + "' --program " +
                                SIGHTLINE_PROGRAM + " --output '" + (folder_ / "out") + "' --lines " + lines +
                                " -- --patches 3000 >'" + (folder_ / "log") + "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << bytes_of(folder_ / "log");
    return bytes_of(folder_ / "log");
  };
  const auto trained = [](const std::string& log) {
    return log.find("sightline train") != std::string::npos;
  };
  EXPECT_TRUE(trained(study("d100,l1")));
  const std::string table = bytes_of(folder_ / "out/study.md");
  for (const char* row : {"| d100 | ", "| l1 | "}) EXPECT_NE(table.find(row), std::string::npos) << table;
  EXPECT_NE(table.find("`sightline train filterbank $TRAIN --normalisation l1 --output l1.safetensors`"),
            std::string::npos);
  EXPECT_EQ(table.find(data), std::string::npos);  // $DATA stands for it
  EXPECT_FALSE(fs::exists(folder_ / "out/normalisation.svg"));

  EXPECT_FALSE(trained(study("d100,l1")));
  EXPECT_EQ(bytes_of(folder_ / "out/study.md"), table);

  study("l2");
  EXPECT_NE(bytes_of(folder_ / "out/normalisation.svg").find(">l2"), std::string::npos);
  EXPECT_NE(bytes_of(folder_ / "out/study.md").find("(normalisation.svg)"), std::string::npos);
}

TEST_F(Study, TheScriptRefusesWhatItCannotUse) {
  const auto refused = [&](const std::string& options) {
    const std::string command =
        SIGHTLINE_SOURCE_DIR "/tools/study " + options + " >/dev/null 2>'" + (folder_ / "log") + "'";
    EXPECT_NE(std::system(command.c_str()), 0) << options;
    return bytes_of(folder_ / "log");
  };
  EXPECT_NE(refused("'" + folder_.path() + "'").find("there is no 'inria_pos_train.txt'"), std::string::npos);
  EXPECT_NE(refused("").find("Usage:"), std::string::npos);
}

}  // namespace
}  // namespace sightline::test
