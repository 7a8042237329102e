// `sightline train filterbank`: a model from pictures.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/duration_text.hpp"
#include "base/error.hpp"
#include "commands.hpp"
#include "filterbank/training/training.hpp"
#include "stop.hpp"
#include "training/file_image_set.hpp"
#include "writable.hpp"

namespace sightline::apps {

using training::FileImageSet;

namespace {

struct TrainArguments {
  std::vector<std::string> positives;
  std::vector<std::string> negatives;
  std::string folder;
  std::string output = "model.safetensors";
  std::string state;
  std::string classifier = "linear";
  std::string window = "64x128";
  std::string normalisation = "l1-sqrt";
  std::string sampling = "contrast";
  filterbank::TrainingOptions options;
};

FileImageSet collect(const std::vector<std::string>& paths, const std::string& folder) {
  FileImageSet set(paths.front(), folder);
  for (std::size_t i = 1; i < paths.size(); ++i) set.add(FileImageSet(paths[i], folder));
  return set;
}

// One line that is rewritten on a terminal, and a line a phase elsewhere.
class TrainProgressLine {
 public:
  void show(const training::TrainingProgress& progress) {
    if (!terminal_) {
      if (progress.phase != phase_)
        std::fprintf(stderr, "%6s  %s\n", duration_text(progress.elapsed).c_str(), progress.phase.c_str());
      phase_ = progress.phase;
      return;
    }
    const std::string left =
        progress.left < 0 ? "estimating" : "about " + duration_text(progress.left) + " left";
    std::fprintf(stderr, "\r\033[K%6s  %-32s %3.0f%%  %s", duration_text(progress.elapsed).c_str(),
                 progress.phase.c_str(), 100 * progress.fraction, left.c_str());
  }
  void end() const {
    if (terminal_) std::fprintf(stderr, "\n");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::string phase_;
};

int run(TrainArguments arguments, int verbosity) {
  filterbank::TrainingOptions& options = arguments.options;
  options.classifier = arguments.classifier == "linear" ? filterbank::ClassifierKind::linear
                                                        : filterbank::ClassifierKind::distance;
  options.descriptor.normalisation = filterbank::parse_normalisation(arguments.normalisation).value();
  options.sampling = arguments.sampling == "uniform" ? filterbank::PatchSampling::uniform
                                                     : filterbank::PatchSampling::contrast;
  if (options.descriptor.patterns && !options.descriptor.exact()) {
    throw Error(ExitCode::usage, "--patterns goes with 3x3 patches and the normalisation l1-sqrt only",
                "leave out --patch and --normalisation, or --patterns");
  }
  if (options.descriptor.exact() &&
      *std::ranges::max_element(options.filters) > options.descriptor.max_filters()) {
    throw Error(ExitCode::usage, "a contrast-sensitive dictionary has at most " +
                                     std::to_string(options.descriptor.max_filters()) + " filters");
  }
  int width = 0;
  int height = 0;
  char rest = 0;
  if (std::sscanf(arguments.window.c_str(), "%dx%d%c", &width, &height, &rest) != 2 ||
      width % filterbank::kCell != 0 || height % filterbank::kCell != 0 || width < 16 || height < 16 ||
      width > 512 || height > 512) {
    throw Error(ExitCode::usage, "window '" + arguments.window + "' is not usable",
                "give WIDTHxHEIGHT in pixels, multiples of 8 from 16 to 512, for example 64x128");
  }
  std::sort(options.filters.begin(), options.filters.end());
  // Not std::ranges::unique: Clang 14, which builds the fuzzers, cannot take GCC 12's.
  const auto repeated = std::unique(options.filters.begin(), options.filters.end());
  options.filters.erase(repeated, options.filters.end());
  options.window = {width / filterbank::kCell, height / filterbank::kCell};
  // A margin of an eighth above and below, as in INRIA Person; width 0.41 x height (Caltech pedestrian
  // protocol).
  const double object_height = 0.75 * height;
  const double object_width = std::min(0.41 * object_height, 1.0 * width);
  options.object = {(width - object_width) / 2, (height - object_height) / 2, object_width, object_height};
  if (arguments.state.empty()) arguments.state = arguments.output + ".training";

  require_writable(arguments.output);
  const FileImageSet positives = collect(arguments.positives, arguments.folder);
  const FileImageSet negatives = collect(arguments.negatives, "");
  spdlog::info("{} positive and {} negative pictures, seed {}; finished steps are kept in {}",
               positives.size(), negatives.size(), options.seed, arguments.state);
  if (!options.descriptor.exact()) {
    spdlog::info("descriptor: {}; such a model runs by the reference method, on the CPU only",
                 filterbank::describe(options.descriptor));
  }

  const std::atomic<bool>& stop = stop_requested();
  TrainProgressLine line;
  try {
    const auto models = filterbank::train(positives, negatives, options, arguments.state,
                                          [&](const training::TrainingProgress& p) {
                                            if (verbosity >= 0) line.show(p);
                                            return !stop.load();
                                          });
    if (verbosity >= 0) line.end();
    filterbank::save_models(models, arguments.output);
  } catch (const training::TrainingStopped&) {
    line.end();
    spdlog::warn("stopped; run the same command again to go on from the last finished step");
    return stop_exit_code();
  }
  std::printf("%s\n", arguments.output.c_str());
  return 0;
}

}  // namespace

void add_train(CLI::App& app, Common& common) {
  CLI::App* train = app.add_subcommand("train", "Make a model from pictures");
  train->require_subcommand(1);
  CLI::App* command =
      train->add_subcommand("filterbank", "Train a filter-bank detector (see `evaluate` to judge it)");
  auto a = std::make_shared<TrainArguments>();
  filterbank::TrainingOptions& o = a->options;
  command
      ->add_option("--positives", a->positives,
                   "Folders or lists of pictures with one object in the middle each")
      ->required();
  command->add_option("--negatives", a->negatives, "Folders or lists of pictures without the object")
      ->required();
  command->add_option("--folder", a->folder, "Where the pictures of a list are, if not beside it");
  command->add_option("-o,--output", a->output, "Model file to write")->capture_default_str();
  command->add_option("--state", a->state,
                      "Folder for finished steps, to resume from (default: OUTPUT.training)");
  command->add_option("--label", o.label, "What the object is called")->capture_default_str();
  command
      ->add_option("--window", a->window,
                   "Window in pixels, with an eighth of margin above and below the object")
      ->capture_default_str();
  command
      ->add_option("--filters", o.filters,
                   "Size of the dictionary; several, as in 25,50,100, make one model that runs in any of "
                   "these sizes: fewer filters are faster and miss more")
      ->delimiter(',')
      ->check(CLI::Range(4, 256))
      ->capture_default_str();
  command->add_option("--patches", o.patches, "Patches that the dictionary is learned from")
      ->check(CLI::Range(1000, 10'000'000))
      ->capture_default_str();
  command
      ->add_option("--sampling", a->sampling,
                   "Which patches: contrast (the more contrast, the more likely) or uniform (all alike, but "
                   "for flat ones)")
      ->check(CLI::IsMember({"contrast", "uniform"}))
      ->capture_default_str();
  const std::string study =
      "Descriptor (5x5 patches and the normalisations l1 and l2 run by the reference method: slower, CPU "
      "only)";
  command
      ->add_option(
          "--normalisation", a->normalisation,
          "How a block's histograms are made comparable: l1-sqrt (roots of their shares of the sum), "
          "l1 (the shares themselves), l2 (divided by their Euclidean length)")
      ->check(CLI::IsMember({"l1-sqrt", "l1", "l2"}))
      ->capture_default_str()
      ->group(study);
  command->add_option("--patch", o.descriptor.patch, "Pixels a side of the filters: 3 or 5")
      ->check(CLI::IsMember({3, 5}))
      ->capture_default_str()
      ->group(study);
  command
      ->add_flag("--contrast-sensitive", o.descriptor.contrast_sensitive,
                 "Two bins a filter, for responses above and below 0: dark on bright is not bright on dark")
      ->group(study);
  command
      ->add_flag("--patterns", o.descriptor.patterns,
                 "Uniform local binary patterns beside the filters: finds more, and 25 filters then do what "
                 "took 100")
      ->group(study);
  command->add_option("--classifier", a->classifier, "linear (SVM) or distance (nearest template)")
      ->check(CLI::IsMember({"linear", "distance"}))
      ->capture_default_str();
  command->add_option("--templates", o.templates, "Templates of the distance classifier")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--epsilon", o.epsilon,
                   "Added to a block's sum before normalisation: damps noise in flat areas")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command->add_option("--cost", o.cost, "C of the support vector machine")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  command
      ->add_option(
          "--jittered-copies", o.jittered_copies,
          "Copies of each positive to train on as well, a little shifted, zoomed, mirrored or blurred")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  command
      ->add_option("--occluded-copies", o.occluded_copies,
                   "Further copies that are partly covered by another positive, as objects hide each other")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  command
      ->add_option("--augmented-negatives", o.augmented_negatives,
                   "Copies of each negative picture to search as well: its mirror image, then enlarged ones")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  command->add_option("--random-negatives", o.random_negatives, "Windows a negative picture taken at random")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--rounds", o.rounds, "Rounds of hard negatives")
      ->check(CLI::Range(0, 20))
      ->capture_default_str();
  command->add_option("--hard-negatives", o.hard_negatives, "Hard windows a negative picture and round")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--hard-threshold", o.hard_threshold, "Score from which a window is hard")
      ->capture_default_str();
  command->add_option("--scale-step", o.scale_step, "Scale step at which negatives are scanned")
      ->check(CLI::Range(1.01, 4.0))
      ->capture_default_str();
  command
      ->add_option("--threshold", o.threshold,
                   "Score from which the model reports an object unless asked otherwise (see `evaluate`)")
      ->capture_default_str();
  command->add_option("--seed", o.seed, "Same seed, same model")->capture_default_str();
  command->add_option("--provenance", o.provenance, "A note on the data, kept in the model");
  command->callback([a, &common] { common.run = [a, &common] { return run(*a, common.verbosity); }; });
}

}  // namespace sightline::apps
