// `sightline train waldboost`: the trainer's options.
#include <fmt/format.h>

#include <algorithm>

#include "detectors/waldboost/training/training.hpp"
#include "training/cut_options.hpp"
#include "training/trainer.hpp"

namespace sightline::waldboost {
namespace {

class WaldboostTrainer : public Trainer {
 public:
  std::string description() const override {
    return "Train a WaldBoost detector: weak classifiers that reject most windows after the first few";
  }
  OptionSet options() override;
  void check() override;
  std::string summary() const override {
    return fmt::format("alpha {}, seed {}", options_.alpha, options_.seed);
  }
  std::optional<double> margin() const override { return options_.margin; }
  void train(const training::ImageSet& positives, const training::ImageSet& negatives,
             const std::filesystem::path& state, const std::filesystem::path& output,
             const training::ReportProgress& report) override {
    save_model(waldboost::train(positives, negatives, options_, state, report), output);
  }

 private:
  std::string kind_ = "lbp";
  std::vector<int> window_;
  TrainingOptions options_;
};

OptionSet WaldboostTrainer::options() {
  TrainingOptions& o = options_;
  OptionSet options;
  options.add("--label LABEL", &o.label, "Name of the object").free_text().show_default();
  add_window_option(options, window_, o.window);
  options
      .add("--alpha SHARE", &o.alpha,
           "Maximum share of the objects that may be rejected early: 0.01 for accuracy, 0.2 for speed")
      .between(0.0001, 0.9)
      .show_default();
  options.add("--weak-classifiers N", &o.weak_classifiers, "Number of weak classifiers of the model")
      .between(1, kMaxWeakClassifiers)
      .show_default();
  options
      .add(
          "--features KIND", &kind_,
          "Features of the weak classifiers: lbp (local binary patterns of 3x3 blocks), lrp (ranks of two of "
          "3x3 blocks), lrd (difference of these ranks) or haar (two to four bright and dark cells)")
      .one_of({"lbp", "lrp", "lrd", "haar"})
      .show_default();
  options.add("--feature-pool N", &o.features, "Number of random features to choose from (lrp, lrd, haar)")
      .between(10, 100'000)
      .show_default();
  add_cut_options(options, o);
  add_search_options(options, o, "Number of negative windows to train on at a time");
  return options;
}

void WaldboostTrainer::check() {
  options_.window = given_window(window_, kMinWindow, kMaxWindow).value_or(options_.window);
  options_.kind = *std::ranges::find(kFeatureKinds, kind_, to_string);
}

}  // namespace

std::unique_ptr<Trainer> make_trainer() {
  return std::make_unique<WaldboostTrainer>();
}

}  // namespace sightline::waldboost
