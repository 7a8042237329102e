#include "filterbank/training/training.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "filterbank/centre_window.hpp"
#include "filterbank/detector.hpp"
#include "filterbank/training/state.hpp"
#include "filterbank/training/templates.hpp"
#include "training/augmentation.hpp"
#include "training/random.hpp"

namespace sightline::filterbank {

using training::Random;

namespace {

// Turns fractions of phases into an estimate of the whole. The phases' shares of the time were measured on
// INRIA Person with the default options; they matter for the estimate alone.
class Clock {
 public:
  Clock(const std::function<bool(const TrainingProgress&)>& report, double total_cost)
      : report_(report), total_cost_(total_cost) {}

  void enter(std::string phase, double cost) {
    done_cost_ += phase_cost_;
    phase_cost_ = cost;
    phase_ = std::move(phase);
    tick(0);
  }
  // A phase that was found finished on disk took no time: the estimate must not learn from it.
  void skip(double cost) { total_cost_ -= cost; }
  bool tick(double fraction) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const double cost = done_cost_ + fraction * phase_cost_;
    const double left = cost > 0.02 * total_cost_ ? elapsed.count() * (total_cost_ - cost) / cost : -1;
    return report_({phase_, fraction, elapsed.count(), left});
  }
  void check(double fraction) {
    if (!tick(fraction)) throw TrainingStopped();
  }

 private:
  const std::function<bool(const TrainingProgress&)>& report_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string phase_;
  double total_cost_;
  double done_cost_ = 0;
  double phase_cost_ = 0;
};

// Seconds on two cores, roughly; see Clock.
constexpr double kPatchCost = 15;
constexpr double kDictionaryCost = 30;
constexpr double kPositiveCost = 5;
constexpr double kExtractCost = 15;
constexpr double kSvmCost = 60;
constexpr double kScanCost = 40;

// Runs `work(index, workspace)` for all pictures on all threads, in pieces, so that progress is reported and
// stopping works from the calling thread.
template <typename Work>
void for_each_image(std::size_t count, const FilterbankDetector& detector, Clock& clock, const Work& work) {
  constexpr std::size_t kPiece = 32;
  oneapi::tbb::enumerable_thread_specific<std::unique_ptr<Workspace>> workspaces(
      [&] { return detector.make_workspace(); });
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    clock.check(static_cast<double>(begin) / static_cast<double>(count));
    parallel_for_isolated(std::min(count - begin, kPiece), [&](std::size_t i) {
      work(begin + i, static_cast<FilterbankWorkspace&>(*workspaces.local()));
    });
  }
}

// The stages before the classifier.
void compute_features(const FilterbankDetector& detector, FilterbankWorkspace& workspace) {
  for (std::size_t stage = 0; detector.stages()[stage].name != "classify"; ++stage)
    detector.run_stage(stage, workspace);
}

// What is as it was before there was a choice is not said, so that older state folders stay of use.
template <typename Json>
void add_choices(const TrainingOptions& options, Json& json) {
  if (options.sampling == PatchSampling::uniform) json["sampling"] = "uniform";
  if (options.jittered_copies > 0) json["jittered_copies"] = options.jittered_copies;
  if (options.occluded_copies > 0) json["occluded_copies"] = options.occluded_copies;
  if (options.augmented_negatives > 0) json["augmented_negatives"] = options.augmented_negatives;
}

// Everything that the result depends on but the sizes below the largest and the number of rounds, which name
// the steps; so that a state folder is never used for another run.
std::string signature(const ImageSet& positives, const ImageSet& negatives, const TrainingOptions& options) {
  nlohmann::json json = {{"options",
                          {options.filters.back(), options.patches, options.dictionary_rounds,
                           options.epsilon, options.cost, options.random_negatives, options.hard_negatives,
                           options.hard_threshold, options.scale_step, options.seed, options.window.cells_x,
                           options.window.cells_y, static_cast<int>(options.classifier), options.templates}},
                         {"dictionary", "ordered"},
                         {"positives", positives.size()},
                         {"negatives", negatives.size()}};
  std::string names;
  for (const ImageSet* set : {&positives, &negatives}) {
    for (std::size_t i = 0; i < set->size(); ++i) names += set->name(i) + '\n';
  }
  json["names"] = std::hash<std::string>()(names);
  if (!options.descriptor.standard()) json["descriptor"] = describe(options.descriptor);
  add_choices(options, json);
  if (options.occluded_copies > 0)
    json["object"] = {options.object.x, options.object.y, options.object.width, options.object.height};
  return json.dump();
}

template <typename Patch>
std::vector<Patch> make_filters(const ImageSet& positives, const ImageSet& negatives,
                                const TrainingOptions& options, const TrainingState& state, Clock& clock) {
  if (auto filters = state.dictionary<Patch>()) {
    clock.skip(kPatchCost + kDictionaryCost);
    return std::move(*filters);
  }
  clock.enter("sampling patches", kPatchCost);
  const auto tick = [&](double fraction) { return clock.tick(fraction); };
  const auto patches =
      sample_patches<Patch>({&positives, &negatives}, options.patches, options.sampling, options.seed, tick);
  clock.enter("dictionary", kDictionaryCost);
  auto filters = order_filters(
      learn_dictionary(patches, options.filters.back(), options.dictionary_rounds, options.seed, tick),
      patches);
  state.save_dictionary(filters);
  return filters;
}

// The dictionary of the largest size.
Dictionary make_dictionary(const ImageSet& positives, const ImageSet& negatives,
                           const TrainingOptions& options, const TrainingState& state, Clock& clock) {
  if (options.descriptor.patch == 5)
    return Dictionary(make_filters<LargeFilter>(positives, negatives, options, state, clock));
  auto filters = make_filters<FloatFilter>(positives, negatives, options, state, clock);
  std::vector<Filter> exact = quantise(filters);
  return {std::move(exact), std::move(filters)};
}

// The negative pictures, and copies of all of them: mirrored the first time, enlarged from then on.
class NegativesAndCopies : public ImageSet {
 public:
  NegativesAndCopies(const ImageSet& pictures, const TrainingOptions& options)
      : pictures_(pictures), options_(options) {}
  std::size_t size() const override { return pictures_.size() * (1 + options_.augmented_negatives); }
  std::string name(std::size_t index) const override { return pictures_.name(index % pictures_.size()); }
  Image<std::uint8_t> load(std::size_t index) const override {
    Image<std::uint8_t> picture = pictures_.load(index % pictures_.size());
    if (index < pictures_.size()) return picture;
    if (index < 2 * pictures_.size()) {
      for (int y = 0; y < picture.height(); ++y)
        std::reverse(picture.view().row(y), picture.view().row(y) + picture.width());
      return picture;
    }
    Random random(options_.seed, 0x4D000000ULL + index);
    return training::enlarge(std::as_const(picture).view(), random);
  }

 private:
  const ImageSet& pictures_;
  const TrainingOptions& options_;
};

// Everything after the dictionary, for one size.
class ClassifierTrainer {
 public:
  ClassifierTrainer(const ImageSet& positives, const ImageSet& negatives, const TrainingOptions& options,
                    Dictionary dictionary, const TrainingState& state, Clock& clock)
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
    if (const auto finished = state_.classifier(size(), options_.rounds)) {
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

  // The window in the middle of the picture, as it is: pictures larger than the window give it its real
  // surroundings.
  void extract_positives() {
    const Size window = options_.window.pixels();
    Options single;
    single.max_size = model_.object.height;
    const FilterbankDetector detector(model_, single);
    const std::size_t copies = 1 + options_.jittered_copies + options_.occluded_copies;
    const std::size_t count = positive_images_.size() * copies;
    positives_.resize(count);
    for_each_image(count, detector, clock_, [&](std::size_t sample, FilterbankWorkspace& workspace) {
      const std::size_t i = sample % positive_images_.size();
      const Image<std::uint8_t> image = positive(i, sample / positive_images_.size());
      const auto centred = centre_window(image.view(), options_.window);
      if (!centred) {
        throw Error(ExitCode::input,
                    "'" + positive_images_.name(i) + "' is " + std::to_string(image.width()) + "x" +
                        std::to_string(image.height()) + ", smaller than the window",
                    "positives must be at least " + std::to_string(window.width) + "x" +
                        std::to_string(window.height));
      }
      detector.prepare(workspace, centred->view);
      compute_features(detector, workspace);
      detector.copy_features(workspace.levels[0], centred->x, centred->y, positives_[sample]);
    });
  }

  // A positive picture: as it is, or one of its copies.
  Image<std::uint8_t> positive(std::size_t index, std::size_t copy) {
    Image<std::uint8_t> image = positive_images_.load(index);
    if (copy == 0) return image;
    Random random(options_.seed, 0x56000000ULL + copy * positive_images_.size() + index);
    if (copy > static_cast<std::size_t>(options_.jittered_copies)) {
      const auto other = static_cast<std::size_t>(random.below(positive_images_.size()));
      Box object = model_.object;
      object.x += (image.width() - options_.window.pixels().width) / 2;
      object.y += (image.height() - options_.window.pixels().height) / 2;
      const Image<std::uint8_t> before = positive_images_.load(other);
      occlude(image.view(), before.view(), object, random);
    }
    return jitter(std::as_const(image).view(), random);
  }

  Options scan_options() const {
    Options options;
    options.scale_step = options_.scale_step;
    return options;
  }

  template <typename Find>
  void add_negatives(int step, const Find& find) {
    auto keys = state_.negatives(size(), step);
    if (!keys) {
      keys = find();
      state_.save_negatives(size(), step, *keys);
    } else if (step > 0) {
      clock_.skip(kScanCost);
    }
    enter("features of negatives", kExtractCost);
    const std::size_t first = negatives_.size();
    negatives_.resize(first + keys->size());
    std::vector<std::size_t> starts(negative_images_.size() + 1, 0);  // keys are ordered by picture
    for (const WindowKey& key : *keys) ++starts[key.image + 1];
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) starts[i + 1] += starts[i];
    const FilterbankDetector detector(model_, scan_options());
    for_each_image(
        negative_images_.size(), detector, clock_, [&](std::size_t i, FilterbankWorkspace& workspace) {
          if (starts[i] == starts[i + 1]) return;
          const Image<std::uint8_t> image = negative_images_.load(i);
          detector.prepare(workspace, image.view());
          compute_features(detector, workspace);
          for (std::size_t k = starts[i]; k < starts[i + 1]; ++k) {
            const WindowKey& key = (*keys)[k];
            detector.copy_features(workspace.levels.at(key.level), key.x, key.y, negatives_[first + k]);
          }
        });
    used_.insert(keys->begin(), keys->end());
    spdlog::info("{} filters, step {}: {} negatives added, {} in all", size(), step, keys->size(),
                 negatives_.size());
  }

  std::vector<WindowKey> random_windows() {
    const FilterbankDetector detector(model_, scan_options());
    const std::unique_ptr<Workspace> workspace = detector.make_workspace();
    auto& w = static_cast<FilterbankWorkspace&>(*workspace);
    std::vector<WindowKey> keys;
    for (std::uint32_t i = 0; i < negative_images_.size(); ++i) {
      const Image<std::uint8_t> image = negative_images_.load(i);
      if (!detector.prepare(w, image.view())) continue;
      Random random(options_.seed, 0x4E000000ULL + i);
      std::set<WindowKey> chosen;
      for (int n = 0; n < options_.random_negatives; ++n) {
        const auto index = static_cast<std::uint16_t>(random.below(w.levels.size()));
        const Level& level = w.levels[index];
        chosen.insert({i, index, static_cast<std::uint16_t>(random.below(level.windows_x)),
                       static_cast<std::uint16_t>(random.below(level.windows_y))});
      }
      keys.insert(keys.end(), chosen.begin(), chosen.end());
    }
    return keys;
  }

  std::vector<WindowKey> hard_windows(int round) {
    enter("hard negatives, round " + std::to_string(round) + " of " + std::to_string(options_.rounds),
          kScanCost);
    const FilterbankDetector detector(model_, scan_options());
    std::vector<std::vector<WindowKey>> found(negative_images_.size());
    std::atomic<std::int64_t> windows = 0;
    std::atomic<std::int64_t> positive = 0;
    for_each_image(
        negative_images_.size(), detector, clock_, [&](std::size_t i, FilterbankWorkspace& workspace) {
          const Image<std::uint8_t> image = negative_images_.load(i);
          if (!detector.prepare(workspace, image.view())) return;
          detector.score_windows(workspace);
          std::vector<std::pair<double, WindowKey>> hard;
          for (std::size_t l = 0; l < workspace.levels.size(); ++l) {
            const Level& level = workspace.levels[l];
            windows += static_cast<std::int64_t>(level.windows_x) * level.windows_y;
            for (int y = 0; y < level.windows_y; ++y) {
              for (int x = 0; x < level.windows_x; ++x) {
                const double score = detector.score(level, x, y);
                if (score > 0) ++positive;
                const WindowKey key{static_cast<std::uint32_t>(i), static_cast<std::uint16_t>(l),
                                    static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y)};
                if (score > options_.hard_threshold && !used_.contains(key)) hard.emplace_back(-score, key);
              }
            }
          }
          const auto keep = std::min<std::size_t>(hard.size(), options_.hard_negatives);
          std::partial_sort(hard.begin(), hard.begin() + static_cast<std::ptrdiff_t>(keep), hard.end());
          for (std::size_t k = 0; k < keep; ++k) found[i].push_back(hard[k].second);
          std::sort(found[i].begin(), found[i].end());
        });
    spdlog::info("round {}: {} of {} windows are false positives", round, positive.load(), windows.load());
    std::vector<WindowKey> keys;
    for (const auto& one : found) keys.insert(keys.end(), one.begin(), one.end());
    return keys;
  }

  // The classifier of all negatives so far.
  void fit(int step) {
    if (const auto finished = state_.classifier(size(), step)) {
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
    state_.save_classifier(size(), step, {model_.weights, model_.bias, model_.scale, negatives});
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
  Clock& clock_;
  Model model_;
  Samples positives_;
  Samples negatives_;
  std::set<WindowKey> used_;
};

}  // namespace

std::vector<Model> train(const ImageSet& positives, const ImageSet& negatives, const TrainingOptions& options,
                         const std::filesystem::path& folder,
                         const std::function<bool(const TrainingProgress&)>& report) {
  if (positives.size() == 0) throw Error(ExitCode::input, "there are no positive pictures");
  if (negatives.size() == 0) throw Error(ExitCode::input, "there are no negative pictures");
  const TrainingState state(folder, signature(positives, negatives, options));
  Clock clock(report,
              kPatchCost + kDictionaryCost +
                  static_cast<double>(options.filters.size()) * ClassifierTrainer::cost(options.rounds));
  const Dictionary dictionary = make_dictionary(positives, negatives, options, state, clock);
  const NegativesAndCopies all_negatives(negatives, options);
  std::vector<Model> models;
  for (const int size : options.filters) {
    models.push_back(
        ClassifierTrainer(positives, all_negatives, options, dictionary.first(size), state, clock).run());
  }
  return models;
}

}  // namespace sightline::filterbank
