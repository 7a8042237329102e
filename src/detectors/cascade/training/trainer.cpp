// `sightline train cascade`: the trainer's options.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "detectors/cascade/model_xml.hpp"
#include "detectors/cascade/training/training.hpp"
#include "training/cut_options.hpp"
#include "training/trainer.hpp"

namespace sightline::cascade {
namespace {

constexpr int kSmallestTrainedWindow = 8;
constexpr int kLargestTrainedWindow = 100;
// Samples of either class: a table of 160 MiB, and one of 2 GiB.
constexpr int kLbpSamples = 10'000;
constexpr int kHaarSamples = 5'000;

class CascadeTrainer : public Trainer {
 public:
  std::string description() const override {
    return "Train a cascade of boosted Haar or LBP features in OpenCV's XML format, like "
           "opencv_traincascade";
  }
  OptionSet options() override;
  void check() override;
  std::string default_output() const override { return "model.xml"; }
  std::string summary() const override {
    return fmt::format("{} stages of {} features, seed {}", options_.stages, kind_, options_.seed);
  }
  std::optional<double> margin() const override { return options_.margin; }
  std::optional<SweptOption> swept() const override {
    SweptOption all{"--false-alarm", {}};
    for (int percent = 30; percent <= 95; percent += 5) all.values.push_back(percent / 100.0);
    return all;
  }
  void sweep_to(double value) override { options_.stage.max_false_alarm = value; }
  void train(const training::ImageSet& positives, const training::ImageSet& negatives,
             const std::filesystem::path& state, const std::filesystem::path& output,
             const training::ReportProgress& report) override {
    const TrainedCascade cascade = cascade::train(positives, negatives, options_, state, report);
    save_model(cascade.model, options_.stage, provenance_, output);
  }

 private:
  std::string kind_ = "lbp";
  std::vector<int> window_;
  std::optional<int> objects_, windows_;
  int memory_ = 4096;
  std::string provenance_;
  TrainingOptions options_;
};

OptionSet CascadeTrainer::options() {
  TrainingOptions& o = options_;
  OptionSet options;
  options
      .add("--features KIND", &kind_,
           "Features of the weak classifiers: lbp (local binary patterns of 3x3 blocks) trains and runs "
           "faster, haar (upright bright and dark rectangles) is used by most cascades, haar-all adds "
           "rectangles turned by 45 degrees")
      .one_of({"lbp", "haar", "haar-all"})
      .show_default();
  add_window_option(options, window_, o.window);
  options.add("--stages N", &o.stages, "Number of stages").between(1, kMaxStages).show_default();
  options
      .add("--hit-rate SHARE", &o.stage.min_hit_rate,
           "Minimum share of the objects that every stage passes, 0.5 to 1")
      .between(0.5, 1)
      .show_default();
  options
      .add("--false-alarm SHARE", &o.stage.max_false_alarm,
           "Maximum share of its negatives that a stage passes; a lower one needs fewer, longer stages")
      .between(0.01, 0.99)
      .show_default();
  options
      .add("--weak-classifiers N", &o.stage.max_weak_classifiers,
           "Maximum number of weak classifiers in a stage, even if it misses its goal")
      .between(1, 10'000)
      .show_default();
  options
      .add("--trim SHARE", &o.stage.trimmed_weight,
           "Share of the samples' weight used for choosing weak classifiers; samples that are already "
           "classified well are left out")
      .between(0.5, 1)
      .show_default();
  options.add("--objects N", &objects_, "Maximum number of objects to train a stage on")
      .between(2, 10'000'000)
      .show_default(fmt::format("{}, haar {}", kLbpSamples, kHaarSamples));
  options.add("--windows N", &windows_, "Maximum number of negative windows to train a stage on")
      .between(50, 10'000'000)
      .show_default(fmt::format("{}, haar {}", kLbpSamples, kHaarSamples));
  options
      .add("--memory MIB", &memory_,
           "Memory limit of all features of these samples, in MiB; one byte each: 8464 LBP, 210400 Haar or "
           "261600 features of haar-all in 24x24 pixels")
      .between(1, 1'000'000)
      .show_default();
  options.add("--scale-step RATIO", &o.scale_step, "Scale step of the search of negatives")
      .between(1.01, 4.0)
      .show_default();
  options
      .add(
          "--negative-copies N", &o.negative_copies,
          "Number of copies of each negative picture to search: the first mirrored, others enlarged by up to "
          "1.4")
      .between(0, 50)
      .show_default();
  add_cut_options(options, o, 0);
  options.add("--provenance NOTE", &provenance_, "Note on the data, stored in the model").free_text();
  return options;
}

void CascadeTrainer::check() {
  options_.kind = kind_ == "lbp" ? FeatureKind::lbp : FeatureKind::haar;
  options_.tilted = kind_ == "haar-all";
  options_.window =
      given_window(window_, kSmallestTrainedWindow, kLargestTrainedWindow).value_or(options_.window);
  if (!(options_.stage.max_false_alarm > 0 && options_.stage.max_false_alarm < 1))
    throw Error(
        ExitCode::usage,
        option("false_alarm", fmt::format("{:g}", options_.stage.max_false_alarm)) + " is not a share",
        "give values between 0 and 1");
  const int samples = options_.kind == FeatureKind::haar ? kHaarSamples : kLbpSamples;
  options_.objects = objects_.value_or(samples);
  options_.windows = windows_.value_or(samples);
  const std::size_t features = count_features(options_.kind, options_.window, options_.tilted);
  const std::size_t samples_of_both = std::size_t(options_.objects) + std::size_t(options_.windows);
  const std::size_t mebibytes = features * samples_of_both >> 20;
  if (mebibytes > static_cast<std::size_t>(memory_)) {
    throw Error(ExitCode::usage,
                fmt::format("{} features of {} objects and {} windows take {} MiB, more than ", features,
                            options_.objects, options_.windows, mebibytes) +
                    option("memory", memory_),
                "give a smaller --window, fewer --objects and --windows, or more --memory"_message);
  }
}

}  // namespace

std::unique_ptr<Trainer> make_trainer() {
  return std::make_unique<CascadeTrainer>();
}

}  // namespace sightline::cascade
