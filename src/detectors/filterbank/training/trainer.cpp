// `sightline train filterbank`: the trainer's options.

#include <algorithm>
#include <cstdio>

#include "base/error.hpp"
#include "base/log.hpp"
#include "detectors/filterbank/training/training.hpp"
#include "training/trainer.hpp"

namespace sightline::filterbank {
namespace {

constexpr char kStudyGroup[] =
    "Descriptor (5x5 patches and the normalisations l1 and l2 use the slower reference method, CPU only)";

class FilterbankTrainer : public Trainer {
 public:
  std::string description() const override {
    return "Train a filter-bank detector (`evaluate` measures its accuracy)";
  }
  OptionSet options() override;
  void check() override;
  std::string summary() const override { return "seed " + std::to_string(options_.seed); }
  void train(const training::ImageSet& positives, const training::ImageSet& negatives,
             const std::filesystem::path& state, const std::filesystem::path& output,
             const training::ReportProgress& report) override;

 private:
  void add_dictionary_options(OptionSet& options);
  void add_classifier_options(OptionSet& options);
  void add_sample_options(OptionSet& options);
  void set_window();

  std::string classifier_ = "linear";
  std::string window_ = "64x128";
  std::string normalisation_ = "l1-sqrt";
  std::string sampling_ = "contrast";
  bool contrast_sensitive_ = false;
  bool signed_ = false;
  TrainingOptions options_;
};

OptionSet FilterbankTrainer::options() {
  OptionSet options;
  options.add("--label LABEL", &options_.label, "Name of the object").free_text().show_default();
  options
      .add("--window WxH", &window_, "Window size in pixels, with a margin of 1/8 above and below the object")
      .free_text()
      .show_default();
  add_dictionary_options(options);
  add_classifier_options(options);
  add_sample_options(options);
  options
      .add("--threshold SCORE", &options_.threshold,
           "Default lowest score of a reported object (see `evaluate`)")
      .show_default();
  options.add("--seed N", &options_.seed, "Seed of all random choices; equal seeds give equal models")
      .show_default();
  options.add("--provenance NOTE", &options_.provenance, "Note on the data, stored in the model").free_text();
  return options;
}

void FilterbankTrainer::add_dictionary_options(OptionSet& options) {
  TrainingOptions& o = options_;
  options
      .add("--filters N", &o.filters,
           "Number of filters; several, such as 25,50,100, give one model with all of these sizes: fewer "
           "filters are faster and miss more")
      .separated_by(',')
      .between(4, 256)
      .show_default();
  options.add("--patches N", &o.patches, "Number of patches to learn the dictionary from")
      .between(1000, 10'000'000)
      .show_default();
  options
      .add("--sampling METHOD", &sampling_,
           "Selection of patches: contrast (probability rises with contrast) or uniform (all except flat "
           "patches)")
      .one_of({"contrast", "uniform"})
      .show_default();
  options.group(kStudyGroup);
  options
      .add(
          "--normalisation METHOD", &normalisation_,
          "Normalisation of a block's histograms: l1-sqrt (square roots of their shares of the sum), l1 (the "
          "shares), l2 (divided by their Euclidean length)")
      .one_of({"l1-sqrt", "l1", "l2"})
      .show_default();
  options.add("--patch PX", &o.descriptor.patch, "Side of the filters in pixels: 3 or 5")
      .one_of({"3", "5"})
      .show_default();
  options.add("--contrast-sensitive", &contrast_sensitive_,
              "Two bins per filter, for responses above and below 0: distinguishes dark on bright from "
              "bright on dark");
  options.add(
      "--signed", &signed_,
      "Use the largest response above 0 instead of the largest magnitude: a filter's negative is another "
      "filter; for comparison with the published algorithm");
  options.add(
      "--patterns", &o.descriptor.patterns,
      "Add uniform local binary patterns to the filters: finds more; 25 filters then match 100 without");
  options.group("Options");
}

void FilterbankTrainer::add_classifier_options(OptionSet& options) {
  TrainingOptions& o = options_;
  options.add("--classifier KIND", &classifier_, "Classifier: linear (SVM) or distance (nearest template)")
      .one_of({"linear", "distance"})
      .show_default();
  options.add("--templates N", &o.templates, "Number of templates of the distance classifier")
      .between(1, 1024)
      .show_default();
  options
      .add("--epsilon N", &o.epsilon,
           "Constant added to a block's sum before normalisation; damps noise in flat areas")
      .between(0, 1 << 20)
      .show_default();
  options.add("--cost C", &o.cost, "C of the support vector machine").between(1e-6, 1e6).show_default();
}

void FilterbankTrainer::add_sample_options(OptionSet& options) {
  TrainingOptions& o = options_;
  options
      .add("--jittered-copies N", &o.jittered_copies,
           "Number of copies of each positive, slightly shifted, zoomed, mirrored or blurred")
      .between(0, 20)
      .show_default()
      .alias("--close-copies");
  options
      .add("--occluded-copies N", &o.occluded_copies,
           "Number of further copies, partly covered by another positive")
      .between(0, 20)
      .show_default()
      .alias("--covered-copies");
  options
      .add("--augmented-negatives N", &o.augmented_negatives,
           "Number of copies of each negative picture to search: its mirror image, then enlarged ones")
      .between(0, 20)
      .show_default()
      .alias("--negative-copies");
  options.add("--random-negatives N", &o.random_negatives, "Number of random windows per negative picture")
      .between(1, 1000)
      .show_default();
  options.add("--rounds N", &o.rounds, "Number of rounds of hard negatives").between(0, 20).show_default();
  options
      .add("--hard-negatives N", &o.hard_negatives, "Number of hard windows per negative picture and round")
      .between(1, 1000)
      .show_default();
  options.add("--hard-threshold SCORE", &o.hard_threshold, "Lowest score of a hard window").show_default();
  options.add("--scale-step RATIO", &o.scale_step, "Scale step of the search of negatives")
      .between(1.01, 4.0)
      .show_default();
}

void FilterbankTrainer::check() {
  TrainingOptions& options = options_;
  options.classifier = classifier_ == "linear" ? ClassifierKind::linear : ClassifierKind::distance;
  options.descriptor.normalisation = parse_normalisation(normalisation_).value();
  if (contrast_sensitive_ && signed_)
    throw Error(ExitCode::usage, "--contrast-sensitive and --signed exclude each other"_message,
                "leave one out");
  if (signed_ && options.descriptor.patch != 3)
    throw Error(ExitCode::usage, "--signed needs 3x3 patches"_message,
                "leave out --patch, or --signed"_message);
  if (contrast_sensitive_) options.descriptor.contrast = Contrast::sensitive;
  if (signed_) options.descriptor.contrast = Contrast::signed_value;
  options.sampling = sampling_ == "uniform" ? PatchSampling::uniform : PatchSampling::contrast;
  if (options.descriptor.patterns && !options.descriptor.exact()) {
    throw Error(ExitCode::usage,
                "--patterns needs 3x3 patches and the normalisation l1-sqrt, and excludes --signed"_message,
                "leave out --patch, --normalisation and --signed, or --patterns"_message);
  }
  if (options.descriptor.exact() &&
      *std::ranges::max_element(options.filters) > options.descriptor.max_filters()) {
    throw Error(ExitCode::usage, "a contrast-sensitive dictionary has at most " +
                                     std::to_string(options.descriptor.max_filters()) + " filters");
  }
  set_window();
  std::sort(options.filters.begin(), options.filters.end());
  // Not std::ranges::unique, since Clang 14, which builds the fuzzers, does not compile GCC 12's.
  const auto repeated = std::unique(options.filters.begin(), options.filters.end());
  options.filters.erase(repeated, options.filters.end());
}

// The window, and the object inside.
void FilterbankTrainer::set_window() {
  int width = 0;
  int height = 0;
  char rest = 0;
  if (std::sscanf(window_.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width % kCell != 0 ||
      height % kCell != 0 || width < 16 || height < 16 || width > 512 || height > 512) {
    throw Error(ExitCode::usage, "window '" + window_ + "' is not usable",
                "give WIDTHxHEIGHT in pixels, multiples of 8 from 16 to 512, for example 64x128");
  }
  options_.window = {width / kCell, height / kCell};
  // A margin of an eighth above and below, as in INRIA Person; width 0.41 x height (Caltech pedestrian
  // protocol).
  const double object_height = 0.75 * height;
  const double object_width = std::min(0.41 * object_height, 1.0 * width);
  options_.object = {(width - object_width) / 2, (height - object_height) / 2, object_width, object_height};
}

void FilterbankTrainer::train(const training::ImageSet& positives, const training::ImageSet& negatives,
                              const std::filesystem::path& state, const std::filesystem::path& output,
                              const training::ReportProgress& report) {
  if (!options_.descriptor.exact()) {
    logger().info("descriptor: {}; such a model uses the reference method, on the CPU only",
                  describe(options_.descriptor));
  }
  save_models(filterbank::train(positives, negatives, options_, state, report), output);
}

}  // namespace

std::unique_ptr<Trainer> make_trainer() {
  return std::make_unique<FilterbankTrainer>();
}

}  // namespace sightline::filterbank
