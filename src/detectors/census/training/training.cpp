#include "detectors/census/training/training.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/parallel.hpp"
#include "detectors/census/scan.hpp"
#include "detectors/census/training/boosting.hpp"
#include "detectors/census/training/negatives.hpp"
#include "training/augmented_images.hpp"
#include "training/cached_images.hpp"
#include "training/state.hpp"

namespace sightline::census {
namespace {

using training::ProgressClock;

constexpr std::size_t kFewestNegatives = 200;
constexpr double kSearchCost = 50;  // cost of a search in weak classifiers

double expected_cost(const TrainingOptions& options) {
  double cost = 0;
  for (const int places : options.places)
    cost += std::min(1.5 * places, double(options.weak_classifiers)) + 2 * kSearchCost;
  return cost + 2 * kSearchCost;
}

// Samples that pass all stages.
std::vector<char> alive_after(const Model& model, const CodeTable& samples) {
  std::vector<char> alive(samples.samples(), 1);
  if (model.stages.empty()) return alive;
  const std::int32_t lowest[] = {0};
  const std::vector<std::int32_t> limits = reference::limits_of(model, lowest);
  parallel_for_isolated(alive.size(), [&](std::size_t i) {
    const auto result = reference::run_stages(
        model, limits, 0, [&](int x, int y, int cell) { return samples.code(i, x, y, cell); });
    alive[i] = result.passed == static_cast<int>(model.stages.size()) ? 1 : 0;
  });
  return alive;
}

double share_of(const std::vector<char>& alive) {
  return static_cast<double>(std::ranges::count(alive, char{1})) / static_cast<double>(alive.size());
}

class Training {
 public:
  Training(const training::ImageSet& positives, const training::ImageSet& negatives,
           const TrainingOptions& options, const std::filesystem::path& state,
           const training::ReportProgress& report)
      : negatives_(negatives),
        options_(options),
        state_(state, training::run_signature(signature(options), {&positives, &negatives})),
        clock_(report, expected_cost(options)),
        seen_(options.window, options.cells),
        held_out_(options.window, options.cells) {
    clock_.enter("cutting out the objects", kSearchCost);
    const training::PositiveSamples samples = training::cut_positives(positives, options, clock_);
    training::require_both_sides(samples);
    seen_.assign(samples.seen);
    held_out_.assign(samples.held_out);
  }

  Model run_all() {
    Model model;
    model.window = options_.window;
    model.label = options_.label;
    model.box_scale = options_.box_scale;
    model.provenance = options_.provenance;
    model.views = {{options_.view, 0, 1}};
    bool ended = false;
    for (std::size_t stage = 0; !ended && stage < options_.places.size(); ++stage) {
      const std::string step = "stage-" + std::to_string(stage + 1);
      if (auto found = load(step, model)) {
        clock_.skip(1.5 * options_.places[stage] + 2 * kSearchCost);
        model = *found;
        continue;
      }
      ended = !add_stage(stage, model);
      if (!ended) save(step, model);
    }
    if (model.stages.empty())
      throw Error(ExitCode::input, "the negative pictures have no windows", "give larger pictures");
    finish(model);
    return model;
  }

 private:
  static std::string signature(const TrainingOptions& o) {
    return fmt::format("census 2, cells {}, places {}, {} weak classifiers, loss {}, {}",
                       fmt::join(o.cells, "-"), fmt::join(o.places, "-"), o.weak_classifiers, o.stage_loss,
                       training::signature(o));
  }

  NegativeSearch search(const Model& model, int round, double share) {
    clock_.enter(fmt::format("searching negatives after stage {}", model.stages.size()), kSearchCost);
    return search_negatives(negatives_, model, options_, round, share, clock_);
  }

  // False where too few negatives are left.
  bool add_stage(std::size_t stage, Model& model) {
    const int round = static_cast<int>(stage);
    const NegativeSearch counted = search(model, round, 0);
    const double share = counted.passed > 0 ? options_.negatives / static_cast<double>(counted.passed) : 0;
    const NegativeSearch found = search(model, round, std::min(share, 1.0));
    logger().info("stage {}: {} of {} windows are left ({:.4g}%), {} drawn", stage + 1, counted.passed,
                  counted.windows,
                  100.0 * static_cast<double>(counted.passed) /
                      static_cast<double>(std::max<std::int64_t>(counted.windows, 1)),
                  found.drawn.size());
    if (found.drawn.size() < kFewestNegatives) {
      logger().warn("{} windows of the negative pictures are left after {} stages: training ends here",
                    found.drawn.size(), stage);
      return false;
    }
    CodeTable negatives(options_.window, options_.cells);
    negatives.assign(found.drawn);
    const std::vector<char> alive = alive_after(model, seen_);
    const StageBudget budget{options_.places[stage], options_.weak_classifiers};
    clock_.enter(fmt::format("stage {} of {}", stage + 1, options_.places.size()), 1.5 * budget.places);
    const std::vector<BoostedWeak> boosted = boost_stage(seen_, alive, negatives, budget, [&](int weak) {
      clock_.check(std::min(weak / (1.5 * budget.places), 1.0));
    });
    model.views.front().unit =
        append_stage(model, boosted, held_out_, alive_after(model, held_out_), options_.stage_loss);
    model.views.front().end = static_cast<int>(model.stages.size());
    logger().info("stage {}: {} weak classifiers; {:.2f}% of held-out objects left", stage + 1,
                  boosted.size(), 100 * share_of(alive_after(model, held_out_)));
    return true;
  }

  // The survivors and the threshold, on held-out negatives.
  void finish(Model& model) {
    const NegativeSearch last = search(model, -1, 0);
    const auto windows = static_cast<double>(std::max<std::int64_t>(last.held_out_windows, 1));
    std::string text;
    for (const std::int64_t left : last.held_out_left) {
      model.survivors.push_back(static_cast<float>(static_cast<double>(left) / windows));
      text += fmt::format("{}{:.4g}%", text.empty() ? "" : ", ", 100.0 * static_cast<double>(left) / windows);
    }
    logger().info("held-out windows left after each stage: {}", text);
    const auto allowed =
        static_cast<std::size_t>(options_.false_positives * static_cast<double>(last.held_out_pictures));
    if (allowed < last.best_held_out.size())
      model.threshold = (last.best_held_out[allowed] + 1) * model.views.front().unit;
  }

  std::optional<Model> load(const std::string& step, const Model& before) {
    return state_.load(step, [&](const Safetensors& arrays) {
      Model model = before;
      const auto places = arrays.array<std::uint8_t>("places", {Safetensors::kAny, 3});
      const auto count = static_cast<std::int64_t>(places.size() / 3);
      const auto codes = arrays.array<std::uint8_t>("codes", {count, kSetBytes});
      const auto weights = arrays.array<std::int32_t>("weights", {count});
      const auto stages = arrays.array<std::int32_t>("stages", {Safetensors::kAny, 2});
      model.weak.clear();
      model.stages.clear();
      for (std::size_t i = 0; i < weights.size(); ++i) {
        model.weak.push_back({places[3 * i],
                              places[3 * i + 1],
                              static_cast<std::uint16_t>(weights[i]),
                              {},
                              places[3 * i + 2]});
        std::ranges::copy(codes.subspan(i * kSetBytes, kSetBytes), model.weak.back().codes.begin());
      }
      for (std::size_t i = 0; i < stages.size(); i += 2) model.stages.push_back({stages[i], stages[i + 1]});
      model.views = {
          {options_.view, static_cast<int>(model.stages.size()), arrays.array<double>("unit", {1})[0]}};
      return model;
    });
  }

  void save(const std::string& step, const Model& model) const {
    std::vector<std::uint8_t> places, codes;
    std::vector<std::int32_t> weights, stages;
    for (const WeakClassifier& weak : model.weak) {
      places.insert(places.end(), {weak.x, weak.y, weak.cell});
      codes.insert(codes.end(), weak.codes.begin(), weak.codes.end());
      weights.push_back(weak.weight);
    }
    for (const Stage& stage : model.stages) stages.insert(stages.end(), {stage.end, stage.threshold});
    const auto count = static_cast<std::int64_t>(model.weak.size());
    const double unit[] = {model.views.front().unit};
    Safetensors arrays;
    arrays.set<std::uint8_t>("places", {count, 3}, places);
    arrays.set<std::uint8_t>("codes", {count, kSetBytes}, codes);
    arrays.set<std::int32_t>("weights", {count}, weights);
    arrays.set<std::int32_t>("stages", {static_cast<std::int64_t>(model.stages.size()), 2}, stages);
    arrays.set<double>("unit", {1}, unit);
    state_.save(step, std::move(arrays));
  }

  const training::ImageSet& negatives_;
  const TrainingOptions& options_;
  training::TrainingState state_;
  ProgressClock clock_;
  CodeTable seen_, held_out_;
};

}  // namespace

Model train(const training::ImageSet& positives, const training::ImageSet& negatives,
            const TrainingOptions& options, const std::filesystem::path& state,
            const training::ReportProgress& report) {
  const training::CachedImages cached(negatives, training::kTrainingCacheBytes);
  const training::AugmentedNegatives all(cached, options.mirrored_negatives, options.seed, options.roughness);
  return Training(positives, all, options, state, report).run_all();
}

}  // namespace sightline::census
