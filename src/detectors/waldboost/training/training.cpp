#include "detectors/waldboost/training/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "detectors/waldboost/scan.hpp"
#include "detectors/waldboost/training/boosting.hpp"
#include "detectors/waldboost/training/likelihood_ratio.hpp"
#include "detectors/waldboost/training/samples.hpp"
#include "training/augmented_images.hpp"
#include "training/cached_images.hpp"
#include "training/state.hpp"

namespace sightline::waldboost {
namespace {

using training::ProgressClock;
using training::TrainingState;

constexpr double kUnit = 0x1p-10;      // unit of responses: half of it is an error of 0.05% in a likelihood
constexpr double kFewLeft = 0.5;       // share of the negatives below which they are redrawn
constexpr double kFewEffective = 0.1;  // likewise, for the effective number by weight
constexpr int kLongestRound = 100;     // weak classifiers
constexpr int kShortestRound = 8;
constexpr std::size_t kFewestNegatives = 20;

// Samples on their way through the classifier.
struct Sums {
  std::vector<std::int32_t> sums;
  std::vector<char> alive;

  explicit Sums(std::size_t count) : sums(count), alive(count, 1) {}

  std::size_t count_alive() const {
    return static_cast<std::size_t>(std::count(alive.begin(), alive.end(), 1));
  }
  std::vector<std::int32_t> of_alive() const {
    std::vector<std::int32_t> result;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (alive[i]) result.push_back(sums[i]);
    }
    return result;
  }
  void reject_below(std::int32_t threshold) {
    for (std::size_t i = 0; i < sums.size(); ++i) alive[i] = alive[i] && sums[i] >= threshold;
  }
};

Sums run(const Model& model, const Samples& samples) {
  Sums result(samples.size());
  parallel_for_isolated(samples.size(), [&](std::size_t i) {
    const reference::WindowResult r = reference::run_window(model, samples.view(i), 0, 0);
    result.sums[i] = r.sum;
    result.alive[i] = r.passed == model.size();
  });
  return result;
}

void add_weak(const Model& model, const Samples& samples, Sums& sums) {
  const int weak = model.size() - 1;
  parallel_for_isolated(samples.size(), [&](std::size_t i) {
    if (!sums.alive[i]) return;
    sums.sums[i] +=
        model.table(weak)[reference::code(model.kind, model.features.back(), samples.view(i), 0, 0)];
  });
}

// exp(sign * sum) of living samples, relative to the largest, which is stored in `scale`.
std::vector<float> weights_of(const Sums& s, double sign, std::span<const float> inverse_probability,
                              double& total) {
  std::vector<double> logs(s.sums.size());
  double largest = -1e300;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!s.alive[i]) continue;
    logs[i] = sign * s.sums[i] * kUnit;
    if (!inverse_probability.empty()) logs[i] += std::log(double{inverse_probability[i]});
    largest = std::max(largest, logs[i]);
  }
  std::vector<float> weights(logs.size());
  double sum = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!s.alive[i]) continue;
    const double weight = std::exp(logs[i] - largest);
    weights[i] = static_cast<float>(weight);
    sum += weight;
  }
  total = sum * std::exp(largest);
  return weights;
}

double effective_number(std::span<const float> weights) {
  double sum = 0, squares = 0;
  for (const float w : weights) {
    sum += double{w};
    squares += double{w} * double{w};
  }
  return squares > 0 ? sum * sum / squares : 0;
}

// State that a finished round passes to the next one.
struct Progress {
  Model model;
  double negative_total = 0;  // estimated sum of exp(sum) over all remaining windows
  double negatives_left = 1;  // share of all windows, likewise
  bool ended = false;         // there are no more negatives
};

class Training {
 public:
  Training(const training::ImageSet& positives, const training::ImageSet& negatives,
           const TrainingOptions& options, const std::filesystem::path& state,
           const training::ReportProgress& report)
      : negatives_(negatives),
        options_(options),
        state_(state, training::run_signature(signature(options), {&positives, &negatives})),
        clock_(report, options.weak_classifiers + 40.0),
        features_(all_features(
            options.window, options.kind,
            options.kind == FeatureKind::lbp ? SIZE_MAX : static_cast<std::size_t>(options.features),
            options.seed)),
        positives_(cut(positives)),
        positive_codes_(options.kind, features_) {
    training::require_both_sides(positives_);
    positive_codes_.assign(positives_.seen);
  }

  Model run_all() {
    Progress progress;
    progress.model.window = options_.window;
    progress.model.kind = options_.kind;
    progress.model.label = options_.label;
    progress.model.unit = kUnit;
    progress.model.box_scale = options_.box_scale;
    progress.model.provenance = options_.provenance;
    for (int round = 0; !progress.ended && progress.model.size() < options_.weak_classifiers; ++round) {
      const std::string step = "round-" + std::to_string(round);
      if (const auto found = load(step, progress.model)) {
        clock_.skip(found->model.size() - progress.model.size());
        progress = *found;
        continue;
      }
      run_round(round, progress);
      save(step, progress);
    }
    if (progress.model.size() == 0)
      throw Error(ExitCode::input, "the negative pictures have no windows", "give larger pictures");
    finish(progress.model);
    return std::move(progress.model);
  }

 private:
  static std::string signature(const TrainingOptions& o) {
    return fmt::format("waldboost 1, {}, {} weak classifiers, alpha {}, {} features, {}", to_string(o.kind),
                       o.weak_classifiers, o.alpha, o.features, training::signature(o));
  }

  training::PositiveSamples cut(const training::ImageSet& pictures) {
    clock_.enter("cutting out the objects", 10);
    return training::cut_positives(pictures, options_, clock_);
  }

  SearchedNegatives search(const Model& model, int round, const Draw& seen, const Draw& held_out) {
    clock_.enter(model.size() == 0 ? std::string("searching negatives")
                                   : fmt::format("searching negatives after {}", model.size()),
                 1);
    return search_negatives(negatives_, model, options_, round, seen, held_out, clock_);
  }

  void run_round(int round, Progress& p) {
    const double wanted = options_.negatives, wanted_out = wanted / 2;
    if (round == 0) {
      const SearchedNegatives all = search(p.model, -1, {0, false}, {0, false});
      windows_ = all.windows;
      held_out_windows_ = all.held_out_windows;
      p.negative_total = static_cast<double>(windows_);
    } else if (windows_ == 0) {
      const SearchedNegatives all = search(Model(p.model), -1, {0, false}, {0, false});
      windows_ = all.windows;
      held_out_windows_ = all.held_out_windows;
    }
    const double left_out = static_cast<double>(held_out_windows_) * p.negatives_left;
    SearchedNegatives drawn = search(p.model, round, {wanted / p.negative_total, true},
                                     {wanted_out / std::max(left_out, 1.0), false});
    log(p.model, drawn);
    if (drawn.seen.samples.size() < kFewestNegatives || drawn.held_out.samples.size() == 0) {
      logger().warn(
          "{} windows of the negative pictures are left after {} weak classifiers: training ends here",
          drawn.seen.samples.size(), p.model.size());
      p.ended = true;
      return;
    }
    add_weak_classifiers(drawn, p);
  }

  // Adds weak classifiers until the negatives must be redrawn or the model is complete.
  void add_weak_classifiers(SearchedNegatives& drawn, Progress& p) {
    Model& model = p.model;
    const int begin = model.size();
    const double left_before =
        begin == 0 ? 1.0
                   : static_cast<double>(drawn.held_out_left.back()) / static_cast<double>(held_out_windows_);
    CodeTable codes(options_.kind, features_);
    codes.assign(drawn.seen.samples);
    Sums positives = run(model, positives_.seen), positives_out = run(model, positives_.held_out);
    Sums negatives = run(model, drawn.seen.samples), negatives_out = run(model, drawn.held_out.samples);
    const std::size_t all = negatives.sums.size(), all_out = negatives_out.sums.size();
    const bool has_all = std::ranges::all_of(drawn.seen.inverse_probability, [](float i) { return i <= 1; });
    while (model.size() < options_.weak_classifiers) {
      clock_.enter(fmt::format("weak classifiers {} to {} of {}", model.size() / 10 * 10 + 1,
                               std::min(model.size() / 10 * 10 + 10, options_.weak_classifiers),
                               options_.weak_classifiers),
                   1);
      clock_.check(0);
      double positive_total = 0;
      const std::vector<float> p_weights = weights_of(positives, -1, {}, positive_total);
      std::vector<float> n_weights =
          weights_of(negatives, 1, drawn.seen.inverse_probability, p.negative_total);
      const int added = model.size() - begin;
      const std::size_t alive = negatives.count_alive(), alive_out = negatives_out.count_alive();
      if (alive < kFewestNegatives || alive_out == 0) {
        if (has_all) {
          logger().warn("the negative pictures have no windows left after {} weak classifiers", model.size());
          p.ended = true;
        }
        break;
      }
      if (!has_all && added >= kShortestRound &&
          (static_cast<double>(alive) < kFewLeft * static_cast<double>(all) ||
           static_cast<double>(alive_out) < kFewLeft * static_cast<double>(all_out) ||
           effective_number(n_weights) < kFewEffective * static_cast<double>(all) || added >= kLongestRound))
        break;
      const WeakClassifier weak =
          best_weak_classifier(features_.size(), {&positive_codes_, p_weights}, {&codes, n_weights},
                               {1.0 / static_cast<double>(positives.count_alive() + alive)}, kUnit);
      model.features.push_back(features_[weak.feature]);
      model.responses.insert(model.responses.end(), weak.responses.begin(), weak.responses.end());
      model.thresholds.push_back(kNoThreshold);
      add_weak(model, positives_.seen, positives);
      add_weak(model, positives_.held_out, positives_out);
      add_weak(model, drawn.seen.samples, negatives);
      add_weak(model, drawn.held_out.samples, negatives_out);
      const std::vector<std::int32_t> p_sums = positives_out.of_alive(), n_sums = negatives_out.of_alive();
      const double p_left =
          static_cast<double>(p_sums.size()) / static_cast<double>(positives_out.sums.size());
      p.negatives_left =
          left_before * static_cast<double>(n_sums.size()) / static_cast<double>(negatives_out.sums.size());
      const std::int32_t threshold =
          rejection_threshold({p_sums, p_left}, {n_sums, p.negatives_left}, options_.alpha);
      model.thresholds.back() = threshold;
      for (Sums* sums : {&positives, &positives_out, &negatives, &negatives_out})
        sums->reject_below(threshold);
      p.negatives_left = left_before * static_cast<double>(negatives_out.count_alive()) /
                         static_cast<double>(negatives_out.sums.size());
      logger().debug("weak classifier {}: z {:.4f}, {:.3f}% of windows and {:.2f}% of objects left",
                     model.size(), weak.z, 100 * p.negatives_left,
                     100.0 * static_cast<double>(positives_out.count_alive()) /
                         static_cast<double>(positives_out.sums.size()));
    }
    objects_left_ =
        static_cast<double>(positives_out.count_alive()) / static_cast<double>(positives_out.sums.size());
  }

  void log(const Model& model, const SearchedNegatives& drawn) const {
    if (model.size() == 0) {
      logger().info("{:.1f} million windows of negatives, {:.1f} million held out",
                    1e-6 * static_cast<double>(windows_), 1e-6 * static_cast<double>(held_out_windows_));
      return;
    }
    double looks = 1;
    for (std::size_t t = 0; t + 1 < drawn.left.size(); ++t)
      looks += static_cast<double>(drawn.left[t]) / static_cast<double>(windows_);
    logger().info(
        "{} weak classifiers: {:.4f}% of training windows, {:.4f}% of validation windows and {:.2f}% of "
        "validation objects pass; {:.2f} classifiers evaluated per window; {} windows drawn",
        model.size(), 100.0 * static_cast<double>(drawn.left.back()) / static_cast<double>(windows_),
        100.0 * static_cast<double>(drawn.held_out_left.back()) / static_cast<double>(held_out_windows_),
        100 * objects_left_, looks, drawn.seen.samples.size());
  }

  // The survivor curve and the threshold, on held-out negatives.
  void finish(Model& model) {
    const SearchedNegatives last = search(model, -1, {0, false}, {0, false});
    windows_ = last.windows;
    held_out_windows_ = last.held_out_windows;
    log(model, last);
    const auto windows = static_cast<double>(held_out_windows_);
    for (const std::int64_t left : last.held_out_left)
      model.survivors.push_back(static_cast<float>(static_cast<double>(left) / windows));
    const auto allowed =
        static_cast<std::size_t>(options_.false_positives * static_cast<double>(last.held_out_pictures));
    if (allowed < last.best_held_out.size()) model.threshold = (last.best_held_out[allowed] + 1) * model.unit;
  }

  std::optional<Progress> load(const std::string& step, const Model& before) {
    return state_.load(step, [&](const Safetensors& arrays) {
      Progress p;
      p.model = before;
      const auto features = arrays.array<std::uint8_t>("features", {Safetensors::kAny, 6});
      const auto count = static_cast<std::int64_t>(features.size() / 6);
      const auto responses = arrays.array<std::int16_t>("responses", {count, kCodes});
      const auto thresholds = arrays.array<std::int32_t>("thresholds", {count});
      const auto numbers = arrays.array<double>("numbers", {6});
      p.model.features.clear();
      for (std::size_t i = 0; i < features.size(); i += 6)
        p.model.features.push_back({features[i], features[i + 1], features[i + 2], features[i + 3],
                                    features[i + 4], features[i + 5]});
      p.model.responses.assign(responses.begin(), responses.end());
      p.model.thresholds.assign(thresholds.begin(), thresholds.end());
      p.negative_total = numbers[0];
      p.negatives_left = numbers[1];
      p.ended = numbers[2] != 0;
      objects_left_ = numbers[3];
      windows_ = static_cast<std::int64_t>(numbers[4]);
      held_out_windows_ = static_cast<std::int64_t>(numbers[5]);
      return p;
    });
  }

  void save(const std::string& step, const Progress& p) const {
    Safetensors arrays;
    const auto count = static_cast<std::int64_t>(p.model.size());
    std::vector<std::uint8_t> features;
    for (const Feature& f : p.model.features)
      features.insert(features.end(), {f.x, f.y, f.block_width, f.block_height, f.first, f.second});
    arrays.set<std::uint8_t>("features", {count, 6}, features);
    arrays.set<std::int16_t>("responses", {count, kCodes}, p.model.responses);
    arrays.set<std::int32_t>("thresholds", {count}, p.model.thresholds);
    const double numbers[] = {p.negative_total,
                              p.negatives_left,
                              p.ended ? 1.0 : 0.0,
                              objects_left_,
                              static_cast<double>(windows_),
                              static_cast<double>(held_out_windows_)};
    arrays.set<double>("numbers", {6}, numbers);
    state_.save(step, std::move(arrays));
  }

  const training::ImageSet& negatives_;
  const TrainingOptions& options_;
  TrainingState state_;
  ProgressClock clock_;
  std::vector<Feature> features_;
  training::PositiveSamples positives_;
  CodeTable positive_codes_;
  std::int64_t windows_ = 0, held_out_windows_ = 0;  // windows of all negatives
  double objects_left_ = 1;
};

}  // namespace

Model train(const training::ImageSet& positives, const training::ImageSet& negatives,
            const TrainingOptions& options, const std::filesystem::path& state,
            const training::ReportProgress& report) {
  const training::CachedImages cached(negatives, training::kTrainingCacheBytes);
  const training::AugmentedNegatives all(cached, options.mirrored_negatives, options.seed, options.roughness);
  return Training(positives, all, options, state, report).run_all();
}

}  // namespace sightline::waldboost
