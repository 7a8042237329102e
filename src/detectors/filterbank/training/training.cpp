#include "detectors/filterbank/training/training.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "detectors/filterbank/centre_window.hpp"
#include "detectors/filterbank/detector.hpp"
#include "detectors/filterbank/training/state.hpp"
#include "detectors/filterbank/training/templates.hpp"
#include "training/augmented_images.hpp"
#include "training/mining.hpp"

namespace sightline::filterbank {

using training::ImageSet;
using training::ProgressClock;
using training::TrainingState;
using training::WindowKey;

namespace {

// Seconds on two cores with the default options on INRIA Person, roughly; see ProgressClock.
constexpr double kPatchCost = 15;
constexpr double kDictionaryCost = 30;
constexpr double kPositiveCost = 5;
constexpr double kExtractCost = 15;
constexpr double kSvmCost = 60;
constexpr double kScanCost = 40;

// The stages before the classifier.
void compute_features(const FilterbankDetector& detector, FilterbankWorkspace& workspace) {
  for (std::size_t stage = 0; detector.stages()[stage].name != "classify"; ++stage)
    detector.run_stage(stage, workspace);
}

// Only what differs from the default, in the state's signature and the model's provenance alike.
template <typename Json>
void add_choices(const TrainingOptions& options, Json& json) {
  if (options.sampling == PatchSampling::uniform) json["sampling"] = "uniform";
  if (options.jittered_copies > 0) json["jittered_copies"] = options.jittered_copies;
  if (options.occluded_copies > 0) json["occluded_copies"] = options.occluded_copies;
  if (options.augmented_negatives > 0) json["augmented_negatives"] = options.augmented_negatives;
}

// Everything that the result depends on but the sizes below the largest and the number of rounds, which name
// the steps.
std::string signature(const ImageSet& positives, const ImageSet& negatives, const TrainingOptions& options) {
  nlohmann::json json = {{"family", "filterbank"},
                         {"options",
                          {options.filters.back(), options.patches, options.dictionary_rounds,
                           options.epsilon, options.cost, options.random_negatives, options.hard_negatives,
                           options.hard_threshold, options.scale_step, options.seed, options.window.cells_x,
                           options.window.cells_y, static_cast<int>(options.classifier), options.templates}},
                         {"dictionary", "ordered"}};
  if (!options.descriptor.standard()) json["descriptor"] = describe(options.descriptor);
  add_choices(options, json);
  if (options.occluded_copies > 0)
    json["object"] = {options.object.x, options.object.y, options.object.width, options.object.height};
  return training::run_signature(json.dump(), {&positives, &negatives});
}

template <typename Patch>
std::vector<Patch> make_filters(const ImageSet& images, const TrainingOptions& options,
                                const TrainingState& state, ProgressClock& clock) {
  if (auto filters = load_dictionary<Patch>(state)) {
    clock.skip(kPatchCost + kDictionaryCost);
    return std::move(*filters);
  }
  clock.enter("sampling patches", kPatchCost);
  const auto tick = [&](double fraction) { return clock.tick(fraction); };
  const auto patches = sample_patches<Patch>(images, options.patches, options.sampling, options.seed, tick);
  clock.enter("dictionary", kDictionaryCost);
  const Similarity kind = options.descriptor.signed_value() ? Similarity::value : Similarity::magnitude;
  auto filters = order_filters(
      learn_dictionary(patches, options.filters.back(), options.dictionary_rounds, options.seed, tick, kind),
      patches, kind);
  save_dictionary(state, filters);
  return filters;
}

// The dictionary of the largest size.
Dictionary make_dictionary(const ImageSet& images, const TrainingOptions& options, const TrainingState& state,
                           ProgressClock& clock) {
  if (options.descriptor.patch == 5)
    return Dictionary(make_filters<LargeFilter>(images, options, state, clock));
  auto filters = make_filters<FloatFilter>(images, options, state, clock);
  std::vector<Filter> exact = quantise(filters);
  return {std::move(exact), std::move(filters)};
}

// Everything after the dictionary, for one size.
class ClassifierTrainer {
 public:
  ClassifierTrainer(const ImageSet& positives, const ImageSet& negatives, const TrainingOptions& options,
                    Dictionary dictionary, const TrainingState& state, ProgressClock& clock)
      : positive_images_(positives),
        negative_images_(negatives),
        options_(options),
        state_(state),
        clock_(clock) {
    model_.label = options.label;
    model_.window = options.window;
    model_.object = options.object;
    model_.descriptor = options.descriptor;
    model_.epsilon = options.epsilon;
    model_.classifier = options.classifier;
    model_.threshold = options.threshold;
    model_.dictionary = std::move(dictionary);
  }

  static double cost(int rounds) {
    return kPositiveCost + kExtractCost + kSvmCost + rounds * (kScanCost + kExtractCost + kSvmCost);
  }

  Model run() {
    if (const auto finished = load_classifier(state_, size(), options_.rounds)) {
      clock_.skip(cost(options_.rounds));
      take(*finished);
      return model_;
    }
    const std::size_t features = model_.weights_per_template();
    model_.weights.assign(features, 0);
    positives_.features = negatives_.features = features;
    enter("positives", kPositiveCost);
    extract_positives();
    add_negatives(0, [&] { return random_windows(); });
    fit(0);
    for (int round = 1; round <= options_.rounds; ++round) {
      add_negatives(round, [&] { return hard_windows(round); });
      fit(round);
    }
    return model_;
  }

 private:
  int size() const { return model_.dictionary.size(); }

  void enter(const std::string& phase, double cost) {
    clock_.enter(options_.filters.size() > 1 ? std::to_string(size()) + " filters: " + phase : phase, cost);
  }

  void take(const TrainedClassifier& classifier) {
    model_.weights = classifier.weights;
    model_.bias = classifier.bias;
    model_.scale = classifier.scale;
    model_.provenance = provenance(classifier.negatives);
  }

  // Work on every picture of a set with the detector's workspaces.
  template <typename Work>
  void for_each_image(std::size_t count, const FilterbankDetector& detector, const Work& work) {
    training::for_each_image(
        count, clock_, [&] { return detector.make_workspace(); },
        [&](std::size_t i, Workspace& workspace) { work(i, static_cast<FilterbankWorkspace&>(workspace)); });
  }

  // The window in the middle of the picture, as it is: pictures larger than the window give it its real
  // surroundings.
  void extract_positives() {
    const Size window = options_.window.pixels();
    const training::AugmentedPositives images(
        positive_images_,
        {options_.jittered_copies, options_.occluded_copies, window, model_.object, options_.seed});
    Options single;
    single.max_size = model_.object.height;
    const FilterbankDetector detector(model_, single);
    positives_.resize(images.size());
    for_each_image(images.size(), detector, [&](std::size_t i, FilterbankWorkspace& workspace) {
      const Image<std::uint8_t> image = images.load(i);
      const auto centred = centre_window(image.view(), options_.window);
      if (!centred) {
        throw Error(ExitCode::input,
                    "'" + images.name(i) + "' is " + std::to_string(image.width()) + "x" +
                        std::to_string(image.height()) + ", smaller than the window",
                    "positives must be at least " + std::to_string(window.width) + "x" +
                        std::to_string(window.height));
      }
      detector.prepare(workspace, centred->view);
      compute_features(detector, workspace);
      detector.copy_features(workspace.levels[0], centred->x, centred->y, positives_[i]);
    });
  }

  Options scan_options() const {
    Options options;
    options.scale_step = options_.scale_step;
    return options;
  }

  template <typename Find>
  void add_negatives(int step, const Find& find) {
    const std::string name = step_name("negatives", size(), step);
    auto keys = training::load_windows(state_, name);
    if (!keys) {
      keys = find();
      training::save_windows(state_, name, *keys);
    } else if (step > 0) {
      clock_.skip(kScanCost);
    }
    enter("features of negatives", kExtractCost);
    const std::size_t first = negatives_.size();
    negatives_.resize(first + keys->size());
    const auto by_image = training::windows_by_image(*keys, negative_images_.size());
    const FilterbankDetector detector(model_, scan_options());
    for_each_image(negative_images_.size(), detector, [&](std::size_t i, FilterbankWorkspace& workspace) {
      if (by_image[i].empty()) return;
      const Image<std::uint8_t> image = negative_images_.load(i);
      detector.prepare(workspace, image.view());
      compute_features(detector, workspace);
      std::size_t sample = first + static_cast<std::size_t>(by_image[i].data() - keys->data());
      for (const WindowKey& key : by_image[i])
        detector.copy_features(workspace.levels.at(key.level), key.x, key.y, negatives_[sample++]);
    });
    used_.insert(keys->begin(), keys->end());
    logger().info("{} filters, step {}: {} negatives added, {} in all", size(), step, keys->size(),
                  negatives_.size());
  }

  std::vector<WindowKey> random_windows() {
    const FilterbankDetector detector(model_, scan_options());
    const std::unique_ptr<Workspace> workspace = detector.make_workspace();
    return training::random_windows(
        negative_images_, options_.random_negatives, options_.seed, [&](GrayView picture) {
          std::vector<Size> levels;
          if (!detector.prepare(*workspace, picture)) return levels;
          for (const Level& level : static_cast<const FilterbankWorkspace&>(*workspace).levels)
            levels.push_back({level.windows_x, level.windows_y});
          return levels;
        });
  }

  std::vector<WindowKey> hard_windows(int round) {
    enter("hard negatives, round " + std::to_string(round) + " of " + std::to_string(options_.rounds),
          kScanCost);
    const FilterbankDetector detector(model_, scan_options());
    const training::MiningLimits limits{static_cast<std::size_t>(options_.hard_negatives),
                                        options_.hard_threshold};
    training::MinedWindows mined = training::mine_hard_windows(
        negative_images_, limits, used_, clock_, [&] { return detector.make_workspace(); },
        [&](GrayView picture, Workspace& workspace, training::HardWindows& hard) {
          auto& w = static_cast<FilterbankWorkspace&>(workspace);
          if (!detector.prepare(w, picture)) return;
          detector.score_windows(w);
          for (std::size_t l = 0; l < w.levels.size(); ++l) {
            const Level& level = w.levels[l];
            for (int y = 0; y < level.windows_y; ++y) {
              for (int x = 0; x < level.windows_x; ++x)
                hard.offer(detector.score(level, x, y), static_cast<int>(l), x, y);
            }
          }
        });
    logger().info("round {}: {} of {} windows are false positives", round, mined.false_positives,
                  mined.offered);
    return std::move(mined.windows);
  }

  // The classifier of all negatives so far.
  void fit(int step) {
    if (const auto finished = load_classifier(state_, size(), step)) {
      clock_.skip(kSvmCost);
      take(*finished);
      return;
    }
    enter("classifier", kSvmCost);
    if (options_.classifier == ClassifierKind::distance) {
      fit_templates(positives_, negatives_, options_.templates, options_.seed, model_);
    } else {
      quantise_separator(train_svm(positives_, negatives_, options_.cost,
                                   static_cast<unsigned>(options_.seed), [&] { clock_.tick(0.5); }),
                         model_);
    }
    const auto negatives = static_cast<std::int64_t>(negatives_.size());
    save_classifier(state_, size(), step, {model_.weights, model_.bias, model_.scale, negatives});
    model_.provenance = provenance(negatives);
  }

  std::string provenance(std::int64_t negatives) const {
    nlohmann::ordered_json json = {{"data", options_.provenance},
                                   {"positives", positive_images_.size()},
                                   {"negative_images", negative_images_.size()},
                                   {"negatives", negatives},
                                   {"patches", options_.patches},
                                   {"cost", options_.cost},
                                   {"random_negatives", options_.random_negatives},
                                   {"rounds", options_.rounds},
                                   {"hard_negatives", options_.hard_negatives},
                                   {"hard_threshold", options_.hard_threshold},
                                   {"scale_step", options_.scale_step},
                                   {"seed", options_.seed}};
    add_choices(options_, json);
    return json.dump();
  }

  const ImageSet& positive_images_;
  const ImageSet& negative_images_;
  const TrainingOptions& options_;
  const TrainingState& state_;
  ProgressClock& clock_;
  Model model_;
  Samples positives_;
  Samples negatives_;
  std::set<WindowKey> used_;
};

}  // namespace

std::vector<Model> train(const ImageSet& positives, const ImageSet& negatives, const TrainingOptions& options,
                         const std::filesystem::path& folder, const training::ReportProgress& report) {
  if (positives.size() == 0) throw Error(ExitCode::input, "there are no positive pictures");
  if (negatives.size() == 0) throw Error(ExitCode::input, "there are no negative pictures");
  const TrainingState state(folder, signature(positives, negatives, options));
  ProgressClock clock(
      report, kPatchCost + kDictionaryCost +
                  static_cast<double>(options.filters.size()) * ClassifierTrainer::cost(options.rounds));
  const training::ConcatenatedImages all({&positives, &negatives});
  const Dictionary dictionary = make_dictionary(all, options, state, clock);
  const training::AugmentedNegatives all_negatives(negatives, options.augmented_negatives, options.seed);
  std::vector<Model> models;
  for (const int size : options.filters) {
    models.push_back(
        ClassifierTrainer(positives, all_negatives, options, dictionary.first(size), state, clock).run());
  }
  return models;
}

}  // namespace sightline::filterbank
