#include "detectors/filterbank/detector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "detection/grouping.hpp"

namespace sightline::filterbank {
namespace {

// Names by ResourceIndex.
constexpr std::string_view kResources[] = {"frame",    "octaves",    "images",   "responses",
                                           "features", "candidates", "verified", "detections"};
constexpr StageInfo kFilterStage{"filter", {kImages}, {kResponses}, true};
constexpr StageInfo kHistogramStage{"histogram", {kResponses}, {kFeatures}, true};
constexpr StageInfo kClassifyStage{"classify", {kFeatures}, {kCandidates}};
constexpr StageInfo kGroupStage{"group", {kVerified}, {kDetections}};
constexpr StageInfo kStages[] = {
    {"pyramid", {kFrameResource}, {kImages}, true}, kFilterStage, kHistogramStage, kClassifyStage,
    {"verify", {kCandidates}, {kVerified}},         kGroupStage,
};
// With a network, which sees pixels of the candidates' levels. On the CPU, making a level again out of the
// frame is done for few rows and seldom; the transfer of all levels would be done for every frame.
constexpr StageInfo kVerifyingStages[] = {
    {"pyramid", {kFrameResource}, {kOctaves, kImages}, true},
    kFilterStage,
    kHistogramStage,
    kClassifyStage,
    {"verify", {kFrameResource, kCandidates}, {kVerified}, false, {kOctaves, kImages}},
    kGroupStage,
};

std::string accuracy_text(const WindowEvaluation& evaluation) {
  char text[80];
  std::snprintf(text, sizeof text, "misses %.1f%% at 1e-4 and %.1f%% at 1e-5 false positives a window",
                100 * evaluation.miss_rate_at_1e4, 100 * evaluation.miss_rate_at_1e5);
  return text;
}

// Windows that the largest logit cannot lift to the threshold need no verification. The bound is slightly
// lower, since the rounded final score may reach the threshold when the difference does not.
double lowest_promising(const Network& network, double threshold) {
  const double lift = network.weight * network.limit;
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * (std::abs(threshold) + lift);
  return threshold - lift - rounding;
}

FilterbankWorkspace& own(Workspace& workspace) {
  return static_cast<FilterbankWorkspace&>(workspace);
}

}  // namespace

FilterbankDetector::FilterbankDetector(Model model, const Options& options)
    : SlidingWindowDetector(options.max_candidates), model_(std::move(model)), options_(options) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (describes_in_float()) options_.computed_scales = 0;
  if (describes_in_float() || model_.classifier != ClassifierKind::linear)
    options_.rejection_margin = kInfinite;
  const double natural = model_.object.height;
  if (options.border < 0 || options.border % kCell != 0) {
    throw Error(ExitCode::usage,
                "a border of " + std::to_string(options.border) + " pixels is not a multiple of a cell",
                "give a multiple of " + std::to_string(kCell));
  }
  pyramid_ = scales_for(natural, options.min_size, options.max_size, options.scale_step, options.border);
  verifies_ = options.verify && !model_.network.empty();
  if (!options.refine) model_.network.box.clear();
  if (verifies_) network_ = PackedNetwork(model_.network);
  std::ranges::copy(verifies_ ? kVerifyingStages : kStages, stages_.begin());
  // The float method fuses multiply and add where the processor can, and so rounds differently elsewhere.
  stages_[kFilter].exact = !describes_in_float();
  first_threshold_ = options.threshold;
  if (verifies_)
    first_threshold_ =
        std::max(model_.network.first_stage_threshold, lowest_promising(model_.network, lowest_verified()));
  info_.family = "filterbank";
  info_.model = model_.label + ", " + std::to_string(model_.dictionary.size()) + " filters";
  const Descriptor& descriptor = model_.descriptor;
  if (!descriptor.standard()) info_.model += ", " + describe(descriptor);
  if (verifies_) info_.model += ", a network";
  const bool float_on_devices =
      options_.arithmetic == Arithmetic::floating_point && descriptor.float_on_devices();
  if (describes_in_float() && !descriptor.standard() && !float_on_devices) {
    const std::string what =
        "a model with another descriptor than the standard one (" + describe(descriptor) + ")";
    info_.cpu_only = descriptor.exact() ? "the float method of " + what + " runs on the CPU only"
                                        : what + " runs by the reference method, on the CPU only";
  }
  info_.labels = {model_.label};
  info_.variant = std::to_string(model_.dictionary.size()) + " filters";
  if (model_.evaluation) {
    info_.accuracy = accuracy_text(*model_.evaluation);
    info_.missed = model_.evaluation->miss_rate_at_1e5;
    if (options_.computed_scales != 0 || options_.rejection_margin < kInfinite)
      info_.accuracy += " (the plain method)";
    if (!verifies_ && !model_.network.empty()) info_.accuracy += " (with its network)";
  }
  info_.smallest_objects = {natural * pyramid_.first_scale};
  info_.scale_step = options.scale_step;
  info_.threshold = options.threshold;

  const std::size_t size = model_.weights_per_template();
  for (int t = 0; t < model_.templates(); ++t) {
    const std::span<const std::int8_t> weights(model_.weights.data() + t * size, size);
    weights_.emplace_back(weights, model_.window, model_.bins(), model_.descriptor.pattern_bins());
    std::int32_t energy = 0;
    for (const int w : weights) energy += w * w;
    template_energies_.push_back(energy);
  }

  raw_threshold_ = lowest_reaching(
      first_threshold_, std::ceil(first_threshold_ / model_.scale - static_cast<double>(model_.bias)),
      [&](std::int32_t raw) { return score_of(raw); });

  pre_rejects_ = options_.rejection_margin < kInfinite;
  if (!pre_rejects_) return;
  pre_rejection_ = PreRejection(weights_[0]);
  constexpr double kLowest = std::numeric_limits<std::int32_t>::min();
  constexpr double kHighest = std::numeric_limits<std::int32_t>::max();
  const double lowest =
      (first_threshold_ - options_.rejection_margin) / model_.scale - static_cast<double>(model_.bias);
  rejection_threshold_ =
      static_cast<std::int32_t>(std::clamp(std::ceil(lowest / pre_rejection_.unit()), kLowest, kHighest));
}

std::span<const std::string_view> FilterbankDetector::resources() const {
  return kResources;
}

std::unique_ptr<Workspace> FilterbankDetector::make_workspace() const {
  return std::make_unique<FilterbankWorkspace>();
}

bool FilterbankDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  FilterbankWorkspace& w = own(workspace);
  for (InterStageBuffer* buffer : {&w.images, &w.response_map, &w.features}) buffer->bind(nullptr);
  w.projected = w.has_images = false;
  w.begin(
      frame, partition, [&] { lay_out(w); }, [&] { plan_partition(w, partition); });
  return !w.levels.empty();
}

double FilterbankDetector::score(const Level& level, int x, int y) const {
  const std::size_t at = static_cast<std::size_t>(y) * level.grid.pitch() + x;
  if (options_.arithmetic == Arithmetic::floating_point) return level.float_scores[at];
  return score_of(level.scores[at]);
}

// A box is as wide as its height says; without a shift, nothing is rounded that would not be otherwise.
Box FilterbankDetector::box(const Level& level, int x, int y, const BoxOffset& shift) const {
  const double scale = level.plan.scale;
  const Box& object = model_.object;
  const double height = object.height + (shift.bottom - shift.top);
  const double width = object.width * (height / object.height);
  const double left = object.x + (shift.middle - (width - object.width) / 2);
  return {(x * kCell - options_.border + left) * scale,
          (y * kCell - options_.border + (object.y + shift.top)) * scale, width * scale, height * scale};
}

// Windows below the threshold may still contribute to a reported box, so the threshold does not move boxes
// (except above about 2, where pre-rejection rises with it and drops contributing windows).
double FilterbankDetector::lowest_verified() const {
  return refines() ? options_.threshold - MergeLimits{}.max_behind : options_.threshold;
}

void FilterbankDetector::take_verdict(const NetworkSums& sums, Candidate& candidate) const {
  const Network& network = model_.network;
  candidate.score = network.final_score(candidate.score, sums.logit);
  if (network.box.empty()) return;
  const double most = model_.object.height / 3;
  const auto shift = [&](std::size_t head) {
    return std::clamp(network.box[head].value(sums.box[head]), -most, most);
  };
  candidate.shift = {shift(0), shift(1), shift(2)};
}

std::size_t FilterbankDetector::partitionable_stages() const {
  return kVerify;
}

std::vector<WorkCount> FilterbankDetector::count_work(PictureView frame) const {
  FilterbankWorkspace w;
  std::int64_t windows = 0, classified = 0;
  if (prepare(w, frame)) {
    score_windows(w);
    for (const Level& level : w.levels) {
      windows += static_cast<std::int64_t>(level.windows_x) * level.windows_y;
      if (!pre_rejects()) continue;
      for (int y = 0; y < level.windows_y; ++y) {
        const std::int32_t* const scores =
            level.scores.data() + static_cast<std::ptrdiff_t>(y) * level.grid.pitch();
        classified += level.windows_x - std::count(scores, scores + level.windows_x, kRejected);
      }
    }
  }
  std::vector<WorkCount> counts{{"windows", windows}};
  if (pre_rejects()) counts.push_back({"left after pre-rejection", classified});
  counts.push_back({"left after classify", static_cast<std::int64_t>(w.candidates.size())});
  if (verifies()) {
    verify(w);
    counts.push_back({"left after verify", static_cast<std::int64_t>(w.candidates.size())});
  }
  return counts;
}

void FilterbankDetector::score_windows(FilterbankWorkspace& workspace) const {
  for (std::size_t stage = kPyramid; stage < kVerify; ++stage) run_stage(stage, workspace);
}

void FilterbankDetector::copy_features(const Level& level, int x, int y,
                                       std::span<std::uint8_t> features) const {
  const Grid& grid = level.grid;
  std::uint8_t* next = features.data();
  for (int by = 0; by < model_.window.blocks_y(); ++by) {
    for (int bx = 0; bx < model_.window.blocks_x(); ++bx) {
      const std::uint8_t* block =
          level.features.data() + (y + by) * grid.features_row() + static_cast<std::size_t>(x + bx) * 4;
      const auto copy = [&](int first, int count) {
        for (int feature = first; feature < first + count; ++feature)
          *next++ = block[static_cast<std::size_t>(feature / 4) * grid.pitch() * 4 + feature % 4];
      };
      for (int cell = 0; cell < kBlockCells; ++cell) copy(cell * grid.bins, model_.bins());
      copy(kBlockCells * grid.bins, model_.descriptor.pattern_bins());
    }
  }
}

int default_border(const Model& model) {
  return round_up(static_cast<int>(std::ceil(model.object.y)), kCell) + kCell;
}

namespace {

std::filesystem::path model_file(const Config& config) {
  const std::filesystem::path file = config.model_path("detector", "model", kDefaultModel);
  config.note_file("detector", "model", file);
  return file;
}

std::uint64_t most_bytes(const Config& config) {
  return std::uint64_t(keys::kMaxModelSize.read(config, kMaxModelSize)) << 20;
}

}  // namespace

std::vector<int> model_sizes(const Config& config) {
  std::vector<int> sizes;
  for (const Model& model : load_models(model_file(config), most_bytes(config)))
    sizes.push_back(model.dictionary.size());
  return sizes;
}

std::unique_ptr<FilterbankDetector> make_filterbank_detector(const Config& config) {
  Options options;
  Model model = load_model(model_file(config), keys::kFilters.read(config), most_bytes(config));
  options.scale_step = keys::kScaleStep.read(config, options.scale_step);
  options.min_size = keys::kMinSize.read(config, 0);
  options.max_size = keys::kMaxSize.read(config, 0);
  options.border = keys::kBorder.read(config, default_border(model));
  options.clip = keys::kClip.read(config, true);
  options.max_candidates = keys::kMaxCandidates.read(config, options.max_candidates);
  options.max_overlap = keys::kMaxOverlap.read(config, options.max_overlap);
  options.verify = keys::kVerify.read(config, true);
  // Without the network, a model that has one gives scores that its calibration knows nothing of.
  if (options.verify || model.network.empty()) options.calibration = model.calibration;
  options.threshold = read_threshold(config, options.calibration, model.threshold);
  const bool verify_all = keys::kVerifyAll.read(config, false);
  options.refine = keys::kRefine.read(config, true);
  const int computed = keys::kComputedScales.read(config, kComputedScales);
  const std::optional<double> margin = keys::kRejectionMargin.read(config);
  if (!keys::kExact.read(config, false)) {
    options.computed_scales = computed;
    const bool verified = options.verify && !model.network.empty();
    options.rejection_margin = margin.value_or(verified ? kVerifiedRejectionMargin : kRejectionMargin);
    options.verify_all = verify_all;
  }
  const std::string arithmetic = keys::kArithmetic.read(config, "exact");
  if (arithmetic == "float") {
    options.arithmetic = Arithmetic::floating_point;
  } else if (arithmetic != "exact") {
    throw Error(ExitCode::usage, config.name() + ": arithmetic '" + arithmetic + "' is not known",
                "use 'exact' or 'float'");
  }
  return std::make_unique<FilterbankDetector>(std::move(model), options);
}

}  // namespace sightline::filterbank
