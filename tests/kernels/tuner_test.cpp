// The tuner on a small model and frame, on every OpenCL device.
#include "detectors/filterbank/opencl/tuning.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.hpp"
#include "kernels/opencl_test.hpp"
#include "support/network.hpp"

namespace sightline::filterbank {
namespace {

using opencl::TuningTrial;
using test::random_dictionary;

class TunerTest : public OpenClStagesTest {
 protected:
  TunerTest()
      : model_(make_model(random_dictionary(9, 1), 1, {2, 3})),
        options_(some_options(model_, frame_.views[0])),
        detector_(model_, options_) {}

  const Frames frame_{{{160, 120}}};
  const Model model_;
  const Options options_;
  const FilterbankDetector detector_;
  opencl::ProgramCache cache_ = test::program_cache();
};

TEST_F(TunerTest, TheWinnerIsTheFastestExactFormOfEveryStage) {
  for (const opencl::DeviceInfo& device : devices_) {
    SCOPED_TRACE(device.name);
    const opencl::OpenedDevice opened(opencl::ChosenDevice{device, 0, ""}, cache_);
    std::map<std::string, std::vector<TuningTrial>> stages;
    const TuningOutcome outcome =
        tune(detector_, opened, frame_.views[0],
             {.report = [&](const TuningTrial& trial) { stages[trial.stage].push_back(trial); }});
    const KernelTuning best = tuning_table().settings(outcome.best);

    ASSERT_EQ(stages.size(), 4u);
    for (const auto& [stage, trials] : stages) {
      SCOPED_TRACE(stage);
      EXPECT_EQ(std::count_if(trials.begin(), trials.end(), [](const auto& t) { return t.best; }), 1);
      const auto winner =
          std::find_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.best; });
      ASSERT_NE(winner, trials.end());
      EXPECT_TRUE(winner->exact) << winner->variant;
      std::set<std::string> variants;
      for (const TuningTrial& trial : trials) {
        EXPECT_TRUE(variants.insert(trial.variant).second) << trial.variant << " was tried twice";
        if (!trial.failure.empty()) continue;
        EXPECT_GT(trial.seconds, 0) << trial.variant;
        EXPECT_EQ(trial.multiply_adds > 0, stage == "filter" || stage == "classify") << trial.variant;
        EXPECT_EQ(trial.exact, trial.variant.find("racy") == std::string::npos) << trial.variant;
        if (trial.exact) {
          EXPECT_LE(winner->seconds, trial.seconds) << trial.variant;
        }
      }
    }

    // What it returns gives the CPU's results, and the database takes it as possible.
    Comparison comparison(device, model_, options_, best);
    EXPECT_EQ(comparison.difference(frame_.views[0]), "") << text_of(best);
    const auto file = std::filesystem::temp_directory_path() /
                      ("sightline-tuner-test-" + std::to_string(getpid()) + ".json");
    const opencl::TuningDatabase database(file);
    EXPECT_EQ(outcome.problem, tuning_problem(9));
    database.store(device, outcome.problem, outcome.best);
    EXPECT_EQ(database.find(device, tuning_problem(9), tuning_table()), outcome.best);
    std::filesystem::remove(file);
  }
}

// The variants that win stand in the trials under the names that the tuning has.
TEST_F(TunerTest, ReturnsTheFormsThatItMarks) {
  for (const opencl::DeviceInfo& device : devices_) {
    SCOPED_TRACE(device.name);
    const opencl::OpenedDevice opened(opencl::ChosenDevice{device, 0, ""}, cache_);
    std::map<std::string, std::string> marked;
    const TuningOutcome outcome =
        tune(detector_, opened, frame_.views[0], {.report = [&](const TuningTrial& trial) {
               if (trial.best) marked[trial.stage] = trial.variant;
             }});
    const KernelTuning best = tuning_table().settings(outcome.best);
    EXPECT_TRUE(marked["filter"].starts_with("filter " + best.filter + ", ")) << marked["filter"];
    EXPECT_TRUE(marked["histogram"].starts_with("histogram " + best.histogram + ", " +
                                                std::to_string(best.histogram_cells)))
        << marked["histogram"];
    EXPECT_TRUE(marked["normalise"].starts_with("normalise by " + best.normalise + ", " +
                                                std::to_string(best.normalise_width)))
        << marked["normalise"];
    EXPECT_TRUE(marked["classify"].starts_with("classify " + best.classify + ", " + best.dot + ", " +
                                               std::to_string(best.classify_width) + "x" +
                                               std::to_string(best.classify_rows)))
        << marked["classify"];
  }
}

TEST_F(TunerTest, AQuickOneTriesLessAndMarksItsFastest) {
  const opencl::DeviceInfo& device = devices_[0];
  const opencl::OpenedDevice opened(opencl::ChosenDevice{device, 0, ""}, cache_);
  std::size_t all = 0;
  for (const opencl::TunedStage& stage : tuning_table().stages)
    all += variants_of(stage, default_values(tuning_table(), device), device).size();
  std::map<std::string, std::vector<TuningTrial>> stages;
  const auto report = [&](const TuningTrial& trial) { stages[trial.stage].push_back(trial); };
  const TuningOutcome outcome = tune(detector_, opened, frame_.views[0],
                                     {.report = report, .quick = true, .hints = {.work_group = 64}});
  EXPECT_TRUE(is_possible(tuning_table(), outcome.best));
  std::size_t tried = 0;
  for (const auto& [stage, trials] : stages) {
    tried += trials.size();
    double fastest = 1e9;
    for (const TuningTrial& trial : trials) fastest = std::min(fastest, trial.seconds);
    const auto winner = std::find_if(trials.begin(), trials.end(), [](const auto& t) { return t.best; });
    ASSERT_NE(winner, trials.end()) << stage;
    EXPECT_EQ(winner->seconds, fastest) << stage;
  }
  EXPECT_LT(tried, all);
}

// A model's network is tuned as well: on the CPU's devices, with one work-item a window.
TEST_F(TunerTest, NetworksAreTuned) {
  Model model = model_;
  model.network = test::random_network(model.window.pixels(), 3);
  model.network.convolutions.resize(1);
  const Size size = model.network.output_size();
  model.network.head.weights.resize(static_cast<std::size_t>(size.width) * size.height * 16);
  model.network.first_stage_threshold = options_.threshold;
  Options options = options_;
  options.threshold = -1e9;
  options.verify_all = false;
  const FilterbankDetector detector(model, options);
  ASSERT_TRUE(detector.verifies());
  const opencl::DeviceInfo& device = devices_[0];
  const opencl::OpenedDevice opened(opencl::ChosenDevice{device, 0, ""}, cache_);
  std::vector<TuningTrial> trials;
  const TuningOutcome outcome =
      tune(detector, opened, frame_.views[0], {.report = [&](const TuningTrial& trial) {
             if (trial.stage == "verify") trials.push_back(trial);
           }});
  EXPECT_GT(trials.size(), 1u);
  EXPECT_EQ(std::count_if(trials.begin(), trials.end(), [](const auto& t) { return t.best; }), 1);
  for (const TuningTrial& trial : trials) {
    EXPECT_EQ(trial.failure, "") << trial.variant;
    EXPECT_GT(trial.seconds, 0) << trial.variant;
    EXPECT_LT(trial.seconds, 100) << trial.variant;
    EXPECT_GT(trial.multiply_adds, model.network.multiply_adds()) << trial.variant;
  }
  EXPECT_TRUE(is_possible(tuning_table(), outcome.best));
}

TEST_F(TunerTest, FrameTimesNameTheStagesAndAddUp) {
  for (const opencl::DeviceInfo& device : devices_) {
    SCOPED_TRACE(device.name);
    const opencl::Context& context = test::shared_context(device);
    const OpenClStages device_stages(detector_, context, &cache_, tuning_table().defaults(device));
    const DeviceFrameTimes times = time_frame(device_stages, frame_.views[0], 3);
    std::vector<std::string> names;
    double sum = 0;
    for (const DeviceFrameTimes::Stage& stage : times.stages) {
      names.push_back(stage.name);
      EXPECT_GE(stage.seconds, 0) << stage.name;
      sum += stage.seconds;
    }
    const std::vector<std::string> expected{"upload",    "pyramid",  "filter",     "histogram",
                                            "normalise", "classify", "candidates", "download"};
    EXPECT_EQ(names, expected);
    EXPECT_GT(times.device, 0);
    EXPECT_LE(sum, times.device * (1 + 1e-9));  // an in-order queue: stages do not overlap
    EXPECT_GT(times.host, 0);
    const std::vector<opencl::KernelResources> kernels = context.kernel_resources();
    EXPECT_GE(kernels.size(), 6u) << "a kernel or more of each stage but the transfers";
    for (const opencl::KernelResources& kernel : kernels) {
      EXPECT_TRUE(kernel.local_bytes && kernel.multiple) << kernel.kernel;
      EXPECT_EQ(kernel.registers.has_value(), device.is_nvidia()) << kernel.kernel;
    }
    context.forget_launches();
    EXPECT_TRUE(context.kernel_resources().empty());
  }
}

TEST_F(TunerTest, AFrameWithoutAWindowIsRefused) {
  const Image<std::uint8_t> tiny = picture({8, 8}, test::Pattern::noise);
  const opencl::OpenedDevice opened(opencl::ChosenDevice{devices_[0], 0, ""}, cache_);
  const auto code_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code_of([&] { tune(detector_, opened, tiny.view(), {}); }), ExitCode::input);
  const OpenClStages stages(detector_, opened, &cache_, KernelTuning{});
  EXPECT_EQ(code_of([&] { time_frame(stages, tiny.view(), 1); }), ExitCode::input);
}

}  // namespace
}  // namespace sightline::filterbank
