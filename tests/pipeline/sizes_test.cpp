// A model in several sizes, from training to detection: `--filters` chooses among those there are.

#include "base/text.hpp"
#include "detectors/filterbank/model.hpp"
#include "evaluation/report.hpp"
#include "support/media.hpp"
#include "support/program.hpp"

namespace sightline::test {
namespace {

namespace fs = std::filesystem;
using media::test::make_clip;
using media::test::store;

class Sizes : public testing::Test {
 protected:
  // A small model with 4 and 8 filters.
  std::string train() {
    fs::create_directories(folder_ / "positives");
    fs::create_directories(folder_ / "negatives");
    const Words graphs{"testsrc", "testsrc2", "mandelbrot"};
    for (const std::string& graph : graphs) {
      make_clip(folder_ / ("positives/" + graph + ".png"), graph + "=size=64x128,trim=end_frame=1");
      make_clip(folder_ / ("negatives/" + graph + ".png"), graph + "=size=320x240,trim=end_frame=1");
    }
    const std::string file = folder_ / "sizes.safetensors";
    expect_run(
        0, {"train", "filterbank", "--positives", folder_ / "positives", "--negatives", folder_ / "negatives",
            "--patches", "2000", "--filters", "8,4", "--rounds", "1", "-o", file});
    return file;
  }
  TempDir folder_;
};

TEST_F(Sizes, TrainedShownAndChosen) {
  const std::string file = train();
  const std::vector<filterbank::Model> models = filterbank::load_models(file);
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].dictionary.size(), 4);
  EXPECT_EQ(models[1].dictionary.size(), 8);

  const Outcome shown = expect_run(0, {"model", "show", file});
  EXPECT_NE(shown.out.find("8 filters of 3x3"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("\n  4 filters          not evaluated"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("\n  8 filters          not evaluated"), std::string::npos) << shown.out;
  const Outcome small = expect_run(0, {"model", "show", file, "--filters", "4"});
  EXPECT_NE(small.out.find("4 filters of 3x3"), std::string::npos) << small.out;

  const Words detect{"-q", "detect", moving_clip(200, 240, 3), "-t", "-9", "-m"};
  const auto found = [&](const Words& options) { return expect_run(0, detect + options).out; };
  const std::string largest = found({file});
  const std::string smallest = found({file, "--filters", "4"});
  EXPECT_NE(largest.find("\"score\""), std::string::npos);
  EXPECT_EQ(found({file, "--filters", "8"}), largest);
  EXPECT_NE(smallest, largest);

  // The size alone in a file finds the same.
  filterbank::save_model(models[0], folder_ / "four.safetensors");
  EXPECT_EQ(found({folder_ / "four.safetensors"}), smallest);

  // The configuration chooses too, and the command line before it.
  store(folder_ / "four.toml",
        "[detector]\nfamily = \"filterbank\"\nmodel = \"sizes.safetensors\"\nfilters = 4\n"
        "scale_step = 1.1\nmin_size = 96\nmax_overlap = 0.65\n");
  const Words configured{"-q", "detect", moving_clip(200, 240, 3), "-t", "-9", "-c", folder_ / "four.toml"};
  EXPECT_EQ(expect_run(0, configured).out, smallest);
  EXPECT_EQ(expect_run(0, configured + Words{"--filters", "8"}).out, largest);
}

TEST_F(Sizes, ASizeThatIsNotThereListsThoseThatAre) {
  const std::string file = train();
  const std::string clip = moving_clip(200, 240, 1);
  for (const char* filters : {"5", "16", "256"}) {
    expect_run(2, {"detect", clip, "-m", file, "--filters", filters});
  }
  expect_run(2, {"model", "show", file, "--filters", "5"});
  expect_run(2, {"evaluate", "windows", "--positives", folder_ / "positives", "--negatives",
                 folder_ / "negatives", "-m", file, "--filters", "5"});
  expect_run(2, "256", {"detect", clip, "-m", file, "--filters", "0"});
  expect_run(2, "--filters", {"detect", clip, "-m", file, "--filters", "4.5"});
  expect_run(2, "--filters", {"detect", clip, "-m", file, "--filters", "many"});
  store(folder_ / "five.toml",
        "[detector]\nfamily = \"filterbank\"\nmodel = \"sizes.safetensors\"\nfilters = 4.5\n");
  expect_run(2, "five.toml:4:", {"detect", clip, "-c", folder_ / "five.toml"});
}

TEST_F(Sizes, EvaluationIsStoredWithItsSize) {
  const std::string file = train();
  const Words evaluate{"evaluate", "windows", "-m", file, "--positives", folder_ / "positives"};
  const auto negatives = [&](const std::string& name) {
    return Words{"--negatives", folder_ / name, "--store"};
  };
  expect_run(3, "100000", evaluate + negatives("negatives"));
  EXPECT_FALSE(filterbank::load_model(file).evaluation);
  expect_run(2, "--store", evaluate + negatives("negatives") + Words{"--arithmetic", "float"});

  fs::create_directories(folder_ / "many");
  for (const char* graph : {"testsrc2", "mandelbrot"})
    make_clip(folder_ / (std::string("many/") + graph + ".png"),
              std::string(graph) + "=size=1920x1080,trim=end_frame=1");
  const Outcome outcome = expect_run(0, evaluate + negatives("many") + Words{"--filters", "4"});
  EXPECT_FALSE(filterbank::load_model(file).evaluation);
  const auto stored = filterbank::load_model(file, 4).evaluation;
  ASSERT_TRUE(stored);
  EXPECT_NE(stored->data.find("positives and many: 3 windows with the object, 1"), std::string::npos)
      << stored->data;
  EXPECT_NE(outcome.out.find("\n1e-05                        " + percent(stored->miss_rate_at_1e5) + ' '),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("\n0.0001                       " + percent(stored->miss_rate_at_1e4) + ' '),
            std::string::npos)
      << outcome.out;

  expect_run(0, evaluate + negatives("many") + Words{"--data", "made-up pictures"});
  EXPECT_EQ(filterbank::load_model(file).evaluation->data.find("made-up pictures: 3 windows"), 0u);
  const Outcome shown = expect_run(0, {"model", "show", file});
  EXPECT_NE(shown.out.find("\n  8 filters          misses "), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("made-up pictures: 3 windows"), std::string::npos) << shown.out;
}

TEST(ShippedModel, HasItsSizes) {
  for (const filterbank::Model& model :
       filterbank::load_models(fs::path(SIGHTLINE_SOURCE_DIR) / "configs/models/people.safetensors")) {
    ASSERT_TRUE(model.evaluation) << model.dictionary.size();
    expect_run(
        0, {"-q", "detect", moving_clip(200, 240, 1), "--filters", std::to_string(model.dictionary.size())});
  }
  expect_run(2, "12", {"-q", "detect", moving_clip(200, 240, 1), "--filters", "60"});
}

}  // namespace
}  // namespace sightline::test
