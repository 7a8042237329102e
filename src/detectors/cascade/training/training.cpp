#include "detectors/cascade/training/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "detectors/cascade/training/negatives.hpp"
#include "training/augmented_images.hpp"
#include "training/cached_images.hpp"
#include "training/state.hpp"

namespace sightline::cascade {
namespace {

using training::ProgressClock;

constexpr std::size_t kFewestObjects = 10;  // pictures
constexpr std::size_t kFewestNegatives = 50;
constexpr std::uint64_t kOrderStream = 0xCA5C;

// Objects or windows on their way through the cascade.
class Samples {
 public:
  Samples(const FeaturePool& pool, const training::WindowSamples& pixels)
      : integrals_(pool.kind, pool.window, pool.has_tilted) {
    integrals_.assign(pixels);
    alive_.resize(pixels.size());
    for (std::size_t i = 0; i < alive_.size(); ++i) alive_[i] = integrals_.is_flat(i) ? 0 : 1;
  }

  const SampleIntegrals& integrals() const { return integrals_; }
  std::size_t size() const { return alive_.size(); }
  bool alive(std::size_t i) const { return alive_[i] != 0; }
  std::size_t count_alive() const {
    return static_cast<std::size_t>(std::count(alive_.begin(), alive_.end(), char{1}));
  }

  /// Sums are of the stumps of one stage.
  void begin_stage() { sums_.assign(alive_.size(), 0); }
  void add(const Stump& stump, const std::vector<char>& left) {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i] += static_cast<double>(left[i] != 0 ? stump.left : stump.right);
  }
  double sum(std::size_t i) const { return sums_[i]; }
  /// Number of living samples from `first` on that reach a threshold.
  std::size_t count_passed(float threshold, std::size_t first = 0) const {
    std::size_t count = 0;
    for (std::size_t i = first; i < sums_.size(); ++i) count += alive(i) && passes(i, threshold) ? 1 : 0;
    return count;
  }
  void reject_below(float threshold) {
    for (std::size_t i = 0; i < sums_.size(); ++i) alive_[i] = alive(i) && passes(i, threshold) ? 1 : 0;
  }

 private:
  // Same decision as the detector's.
  bool passes(std::size_t i, float threshold) const { return sums_[i] >= static_cast<double>(threshold); }

  SampleIntegrals integrals_;
  std::vector<char> alive_;
  std::vector<double> sums_;
};

double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// The highest threshold that a share of the objects that are alive reaches.
float threshold_for(const Samples& objects, double hit_rate) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (objects.alive(i)) sums.push_back(objects.sum(i));
  }
  const auto lost = static_cast<std::size_t>((1 - hit_rate) * static_cast<double>(sums.size()) + 1e-9);
  const auto lowest = sums.begin() + static_cast<std::ptrdiff_t>(std::min(lost, sums.size() - 1));
  std::nth_element(sums.begin(), lowest, sums.end());
  auto threshold = static_cast<float>(*lowest);
  if (static_cast<double>(threshold) > *lowest)
    threshold = std::nextafter(threshold, -std::numeric_limits<float>::infinity());
  return threshold - kThresholdEpsilon;
}

// Model of the training time, from face cascades: expected stumps of a stage, and the cost of a search in
// stumps until all remaining windows are kept.
double expected_stumps(const TrainingOptions& options, int stage) {
  const double for_a_half = 6 + 0.17 * stage * stage;
  return std::min(for_a_half * std::log(options.stage.max_false_alarm) / std::log(0.5) + 1,
                  double(options.stage.max_weak_classifiers));
}
double search_cost(const TrainingOptions& options, int stage) {
  constexpr double kSearched = 1e-4;  // share of the windows that is left at the last search
  if (std::pow(options.stage.max_false_alarm, stage) < kSearched) return 0;
  return options.kind == FeatureKind::lbp ? 80 : 5;
}
double expected_cost(const TrainingOptions& options) {
  double cost = 5;
  for (int stage = 0; stage < options.stages; ++stage)
    cost += search_cost(options, stage) + expected_stumps(options, stage);
  return cost;
}

class Training {
 public:
  Training(const training::ImageSet& positives, const training::ImageSet& negatives,
           const TrainingOptions& options, const std::filesystem::path& state,
           const training::ReportProgress& report)
      : options_(options),
        state_(state, training::run_signature(signature(options), {&positives, &negatives})),
        clock_(report, expected_cost(options)),
        pool_(all_features(options.kind, options.window, options.tilted)),
        table_(pool_),
        all_negatives_(negatives, pool_, options),
        object_pixels_(options.window) {
    clock_.enter("cutting out the objects", 5);
    training::PositiveSamples cut = training::cut_positives(positives, options, clock_);
    if (positives.size() < kFewestObjects || cut.seen.size() == 0)
      throw Error(ExitCode::input,
                  fmt::format("too few positive pictures to train on ({})", positives.size()),
                  "give at least some tens, better hundreds");
    objects_.emplace(pool_, cut.seen);
    if (cut.held_out.size() > 0) held_out_.emplace(pool_, cut.held_out);
    if (objects_->count_alive() == 0 || measured().count_alive() == 0)
      throw Error(ExitCode::input, "the positive pictures show nothing: all pixels of an object are equal",
                  "check --boxes and --margin"_message);
    object_pixels_ = std::move(cut.seen);
    // Objects take part in a random order, which stays the same while the first of them drop out.
    order_.resize(objects_->size());
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    Random random(options.seed, kOrderStream);
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }

  TrainedCascade run_all() {
    TrainedCascade cascade;
    while (cascade.complete && std::cmp_less(cascade.stages.size(), options_.stages)) {
      const int number = static_cast<int>(cascade.stages.size());
      const std::string step = fmt::format("stage-{}", number + 1);
      if (const auto found = load(step)) {
        clock_.skip(search_cost(options_, number) + expected_stumps(options_, number));
        reject(*found);
        all_negatives_.add(*found);
        cascade.stages.push_back(*found);
        continue;
      }
      const std::optional<TrainedStage> stage = train_stage(make_model(pool_, cascade.stages), number);
      cascade.complete = stage.has_value();
      if (!stage) break;
      save(step, *stage);
      all_negatives_.add(*stage);
      cascade.stages.push_back(*stage);
    }
    if (cascade.stages.empty())
      throw Error(ExitCode::input, "no stage could be trained", "give more and larger --negatives"_message);
    cascade.model = make_model(pool_, cascade.stages);
    return cascade;
  }

 private:
  static std::string signature(const TrainingOptions& o) {
    return fmt::format(
        "cascade 1, {}, hit rate {}, false alarm {}, trimmed {}, {} stumps, {} objects, {} windows, "
        "step {}, {} negative copies, {}",
        o.kind == FeatureKind::lbp ? "lbp"
        : o.tilted                 ? "haar-all"
                                   : "haar",
        o.stage.min_hit_rate, o.stage.max_false_alarm, o.stage.trimmed_weight, o.stage.max_weak_classifiers,
        o.objects, o.windows, o.scale_step, o.negative_copies, training::signature(o));
  }

  // Objects that determine thresholds.
  Samples& measured() { return held_out_ ? *held_out_ : *objects_; }

  // Objects go through a stage that is done.
  void reject(const TrainedStage& stage) {
    for (Samples* samples : {&*objects_, held_out_ ? &*held_out_ : nullptr}) {
      if (!samples) continue;
      samples->begin_stage();
      for (const Stump& stump : stage.stumps)
        samples->add(stump, goes_left(stump, pool_, samples->integrals()));
      samples->reject_below(stage.threshold);
    }
  }

  // No value if no negatives are left.
  std::optional<TrainedStage> train_stage(const Model& model, int number) {
    clock_.enter(fmt::format("stage {} of {}: searching negatives", number + 1, options_.stages),
                 search_cost(options_, number));
    const FoundNegatives found = all_negatives_.draw(model, number, clock_);
    const NegativeCounts& counts = found.counts;
    logger().info("stage {}: the stages before pass {} of {} windows ({:.3g}%) of {} pictures; {} drawn",
                  number + 1, counts.passed, counts.windows,
                  100 * static_cast<double>(counts.passed) /
                      static_cast<double>(std::max<std::int64_t>(counts.windows, 1)),
                  counts.pictures, found.samples.size());
    if (found.samples.size() < kFewestNegatives) {
      if (counts.windows == 0)
        throw Error(ExitCode::input,
                    fmt::format("the negative pictures have no window of {}x{} pixels", options_.window.width,
                                options_.window.height),
                    "give larger pictures, or a smaller --window"_message);
      if (number > 0)
        logger().warn(
            "negatives ran out: {} stages of {} pass only {} of {} windows of the negative pictures, too few "
            "to train another; give more --negatives for more stages",
            number, options_.stages, counts.passed, counts.windows);
      return std::nullopt;
    }
    std::optional<TrainedStage> stage = boost(found.samples, number);
    if (stage) stage->negatives = counts;
    return stage;
  }

  std::optional<TrainedStage> boost(const training::WindowSamples& windows, int number) {
    clock_.enter(fmt::format("stage {} of {}: boosting", number + 1, options_.stages),
                 expected_stumps(options_, number));
    clock_.check(0);
    training::WindowSamples pixels(options_.window);
    for (const std::uint32_t i : order_) {
      if (std::cmp_less(pixels.size(), options_.objects) && objects_->alive(i))
        pixels.add(object_pixels_.view(i));
    }
    const std::size_t positives = pixels.size();
    if (positives == 0) {
      logger().warn("stage {}: no objects are left; training ends here", number + 1);
      return std::nullopt;
    }
    for (std::size_t i = 0; i < windows.size(); ++i) pixels.add(windows.view(i));
    Samples trained(pool_, pixels);
    table_.assign(trained.integrals(), positives);
    const TrainedStage stage = add_stumps(trained, number);
    if (stage.stumps.empty() || stage.false_alarm >= 1) {
      logger().warn(
          "stage {}: no feature separates the remaining negatives from the objects; training ends here",
          number + 1);
      return std::nullopt;
    }
    reject(stage);
    if (stage.false_alarm > options_.stage.max_false_alarm)
      logger().warn("stage {}: {} weak classifiers are not enough, {:.1f}% of the negatives pass", number + 1,
                    stage.stumps.size(), 100 * stage.false_alarm);
    logger().info(
        "stage {}: {} weak classifiers, hit rate {:.2f}%, false alarms {:.1f}%; {:.2f}% of the {}objects "
        "left",
        number + 1, stage.stumps.size(), 100 * stage.hit_rate, 100 * stage.false_alarm,
        100 * share(measured().count_alive(), measured().size()), held_out_ ? "held-out " : "");
    return stage;
  }

  // @param trained  samples in the table
  TrainedStage add_stumps(Samples& trained, int number) {
    const std::size_t positives = table_.positives(), windows = table_.samples() - positives;
    std::vector<double> weights(table_.samples(), 0.5 / static_cast<double>(windows));
    std::fill_n(weights.begin(), positives, 0.5 / static_cast<double>(positives));
    Samples& objects = measured();
    const std::size_t objects_before = objects.count_alive();
    trained.begin_stage();
    objects.begin_stage();
    TrainedStage stage;
    while (std::cmp_less(stage.stumps.size(), options_.stage.max_weak_classifiers)) {
      const std::size_t feature =
          best_feature(table_, weigh(weights, positives, options_.stage.trimmed_weight));
      if (feature == pool_.size()) break;
      // Chosen by the samples that matter most, it answers by all.
      const Stump stump = best_stump(table_, feature, weigh(weights, positives, 1));
      stage.stumps.push_back(stump);
      const std::vector<char> left = goes_left(stump, pool_, trained.integrals());
      trained.add(stump, left);
      objects.add(stump, goes_left(stump, pool_, objects.integrals()));
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const double answer = static_cast<double>(left[i] != 0 ? stump.left : stump.right);
        weights[i] *= std::exp(i < positives ? -answer : answer);
      }
      stage.threshold = threshold_for(objects, options_.stage.min_hit_rate);
      stage.hit_rate = share(objects.count_passed(stage.threshold), objects_before);
      stage.false_alarm = share(trained.count_passed(stage.threshold, positives), windows);
      clock_.check(
          std::min(static_cast<double>(stage.stumps.size()) / expected_stumps(options_, number), 0.99),
          fmt::format("{} weak, hits {:.2f}%, false alarms {:.1f}%", stage.stumps.size(),
                      100 * stage.hit_rate, 100 * stage.false_alarm));
      if (stage.false_alarm <= options_.stage.max_false_alarm) break;
    }
    return stage;
  }

  std::optional<TrainedStage> load(const std::string& step) const {
    return state_.load(step, [&](const Safetensors& arrays) {
      const auto features = arrays.array<std::int32_t>("features", {Safetensors::kAny});
      const auto count = static_cast<std::int64_t>(features.size());
      const auto patterns = arrays.array<std::int32_t>("patterns", {count, kSubsetWords});
      const auto values = arrays.array<float>("values", {count, 3});
      const auto numbers = arrays.array<double>("numbers", {3});
      const auto counts = arrays.array<std::int64_t>("negatives", {3});
      TrainedStage stage;
      for (std::size_t i = 0; i < features.size(); ++i) {
        if (features[i] < 0 || std::cmp_greater_equal(features[i], pool_.size()))
          throw Error(ExitCode::model, fmt::format("{} of the training's state has no such feature", step));
        Stump stump{.feature = static_cast<std::size_t>(features[i]),
                    .patterns = {},
                    .threshold = values[3 * i],
                    .left = values[3 * i + 1],
                    .right = values[3 * i + 2]};
        for (std::size_t word = 0; word < kSubsetWords; ++word)
          stump.patterns[word] = static_cast<std::uint32_t>(patterns[kSubsetWords * i + word]);
        stage.stumps.push_back(stump);
      }
      stage.threshold = static_cast<float>(numbers[0]);
      stage.hit_rate = numbers[1];
      stage.false_alarm = numbers[2];
      stage.negatives = {counts[0], counts[1], counts[2]};
      return stage;
    });
  }

  void save(const std::string& step, const TrainedStage& stage) const {
    std::vector<std::int32_t> features, patterns;
    std::vector<float> values;
    for (const Stump& stump : stage.stumps) {
      features.push_back(static_cast<std::int32_t>(stump.feature));
      for (const std::uint32_t word : stump.patterns) patterns.push_back(static_cast<std::int32_t>(word));
      values.insert(values.end(), {stump.threshold, stump.left, stump.right});
    }
    const auto count = static_cast<std::int64_t>(features.size());
    const double numbers[] = {static_cast<double>(stage.threshold), stage.hit_rate, stage.false_alarm};
    Safetensors arrays;
    arrays.set<std::int32_t>("features", {count}, features);
    arrays.set<std::int32_t>("patterns", {count, kSubsetWords}, patterns);
    arrays.set<float>("values", {count, 3}, values);
    arrays.set<double>("numbers", {3}, numbers);
    const std::int64_t counts[] = {stage.negatives.windows, stage.negatives.passed, stage.negatives.pictures};
    arrays.set<std::int64_t>("negatives", {3}, counts);
    state_.save(step, std::move(arrays));
  }

  const TrainingOptions& options_;
  training::TrainingState state_;
  ProgressClock clock_;
  FeaturePool pool_;
  BinTable table_;
  Negatives all_negatives_;
  training::WindowSamples object_pixels_;
  std::optional<Samples> objects_, held_out_;
  std::vector<std::uint32_t> order_;  // order of objects
};

}  // namespace

Model make_model(const FeaturePool& pool, const std::vector<TrainedStage>& stages) {
  Model model;
  model.kind = pool.kind;
  model.window = pool.window;
  for (const TrainedStage& stage : stages) {
    model.stages.push_back({static_cast<std::int32_t>(model.trees.size()),
                            static_cast<std::int32_t>(stage.stumps.size()), stage.threshold});
    for (const Stump& stump : stage.stumps) {
      const auto number = static_cast<std::int32_t>(model.nodes.size());
      model.trees.push_back({number, 1, static_cast<std::int32_t>(model.leaves.size())});
      model.nodes.push_back({number, stump.threshold, 0, -1});
      model.leaves.insert(model.leaves.end(), {stump.left, stump.right});
      if (pool.kind == FeatureKind::lbp) {
        model.lbp.push_back(pool.lbp[stump.feature]);
        model.subsets.insert(model.subsets.end(), stump.patterns.begin(), stump.patterns.end());
      } else {
        model.haar.push_back(pool.haar[stump.feature]);
        model.has_tilted = model.has_tilted || model.haar.back().tilted;
      }
    }
  }
  return model;
}

TrainedCascade train(const training::ImageSet& positives, const training::ImageSet& negatives,
                     const TrainingOptions& options, const std::filesystem::path& state,
                     const training::ReportProgress& report) {
  const training::CachedImages cached(negatives, training::kTrainingCacheBytes);
  const training::AugmentedNegatives all(cached, options.negative_copies, options.seed, options.roughness);
  return Training(positives, all, options, state, report).run_all();
}

}  // namespace sightline::cascade
