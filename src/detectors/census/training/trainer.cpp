// `sightline train census`: the trainer's options.
#include <fmt/format.h>

#include <set>

#include "base/error.hpp"
#include "detectors/census/training/training.hpp"
#include "training/cut_options.hpp"
#include "training/trainer.hpp"

namespace sightline::census {
namespace {

class CensusTrainer : public Trainer {
 public:
  std::string description() const override {
    return "Train a census cascade, whose stages use more and more positions in a window, for faces and "
           "other "
           "rigid objects";
  }
  OptionSet options() override;
  void check() override;
  std::string summary() const override {
    return fmt::format("{} stages, seed {}", options_.places.size(), options_.seed);
  }
  std::optional<double> margin() const override { return options_.margin; }
  void train(const training::ImageSet& positives, const training::ImageSet& negatives,
             const std::filesystem::path& state, const std::filesystem::path& output,
             const training::ReportProgress& report) override {
    save_model(census::train(positives, negatives, options_, state, report), output);
  }

 private:
  TrainingOptions options_;
};

OptionSet CensusTrainer::options() {
  TrainingOptions& o = options_;
  OptionSet options;
  options.add("--label LABEL", &o.label, "Name of the object").free_text().show_default();
  options.add("--view SIDE", &o.view, "View of the object").free_text().show_default();
  options.add("--places N", &o.places, "Maximum number of positions per stage")
      .separated_by(',')
      .between(1, kMaxWindow * kMaxWindow)
      .show_default("10,20,40,80,484");
  options.add("--cells PX", &o.cells, "Sides of the compared cells, in pixels: 1, 2 or 1,2")
      .separated_by(',')
      .between(1, kMostCell)
      .show_default("1,2");
  options
      .add("--weak-classifiers N", &o.weak_classifiers,
           "Maximum number of weak classifiers per stage; several may share a position")
      .between(1, kMaxWeakClassifiers)
      .show_default();
  options
      .add("--stage-loss SHARE", &o.stage_loss,
           "Maximum share of the held-out objects that a stage may reject")
      .between(0, 0.5)
      .show_default();
  add_cut_options(options, o);
  add_search_options(options, o, "Number of negative windows to train a stage on");
  return options;
}

void CensusTrainer::check() {
  if (options_.label.empty() || options_.label.size() > kMaxLabel || options_.view.empty() ||
      options_.view.size() > kMaxLabel || options_.view.find(',') != std::string::npos)
    throw Error(ExitCode::usage,
                "--label and --view must have 1 to 64 characters, and --view no comma"_message);
  if (options_.cells.empty() ||
      std::set(options_.cells.begin(), options_.cells.end()).size() != options_.cells.size())
    throw Error(ExitCode::usage, "--cells must name sides of cells, each once"_message, "1, 2 or 1,2");
  if (options_.places.empty() || options_.places.size() > std::size_t{kMaxStages})
    throw Error(ExitCode::usage, "--places must have 1 to 64 numbers"_message, "for example 10,20,40,80,484");
}

}  // namespace

std::unique_ptr<Trainer> make_trainer() {
  return std::make_unique<CensusTrainer>();
}

}  // namespace sightline::census
