#include "waldboost/detector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "detection/grouping.hpp"
#include "model/size_limit.hpp"
#include "processing/kernel_variant.hpp"

namespace sightline::waldboost {
namespace {

// By ResourceIndex.
constexpr std::string_view kResources[] = {"frame", "images", "candidates", "detections"};
constexpr StageInfo kStages[] = {
    {"pyramid", {kFrameResource}, {kImages}, true},
    {"scan", {kImages}, {kCandidates}, true},
    {"group", {kCandidates}, {kDetections}},
};

constexpr int kImageRows = 32;  // a band's: enough work to be worth a task

constexpr int kLargestBorder = 64;

WaldboostWorkspace& own(Workspace& workspace) {
  return static_cast<WaldboostWorkspace&>(workspace);
}

}  // namespace

void WaldboostWorkspace::bind_images() {
  auto* const memory = reinterpret_cast<std::uint8_t*>(images.data());
  for (Level& level : levels) level.image.bind(memory + level.image_offset, level.plan.size);
}

WaldboostDetector::WaldboostDetector(Model model, const Options& options)
    : SlidingWindowDetector(options.max_candidates),
      model_(std::move(model)),
      packed_(model_),
      options_(options) {
  const double natural = model_.window.height;
  pyramid_ = scales_for(natural, options.min_size, options.max_size, options.scale_step, options.border);
  check_kernel_variant(options_.kernels, kKernelVariants);
  steps();  // throws where the options contradict each other
  options_.window_threshold = std::min(options_.window_threshold, options_.threshold);
  lowest_sum_ = lowest_reaching(options_.window_threshold, std::ceil(options_.window_threshold / model_.unit),
                                [&](std::int32_t sum) { return score(sum); });

  info_.family = "waldboost";
  info_.model = model_.name + ", " + to_string(model_.kind) + ", " + std::to_string(model_.size()) +
                " weak classifiers";
  info_.labels = {options_.label.empty() ? model_.label : options_.label};
  info_.cost_key = "waldboost, " + model_.name + ", " + std::to_string(model_.size()) +
                   " weak classifiers, step " + std::to_string(options_.scale_step) + ", sizes " +
                   std::to_string(options_.min_size) + " to " + std::to_string(options_.max_size) +
                   ", border " + std::to_string(options_.border);
  info_.smallest_object = natural * pyramid_.first_scale;
  info_.threshold = options_.threshold;
}

std::span<const std::string_view> WaldboostDetector::resources() const {
  return kResources;
}

std::span<const StageInfo> WaldboostDetector::stages() const {
  return kStages;
}

std::unique_ptr<Workspace> WaldboostDetector::make_workspace() const {
  return std::make_unique<WaldboostWorkspace>();
}

bool WaldboostDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  WaldboostWorkspace& w = own(workspace);
  w.images.bind(nullptr);
  w.begin(
      frame, partition, [&] { lay_out(w); }, [&] { plan_partition(w, partition); });
  return !w.levels.empty();
}

// Geometry and memory of all levels, for frames of this size.
void WaldboostDetector::lay_out(WaldboostWorkspace& w) const {
  const Size frame = w.frame.size();
  const std::vector<PyramidLevel> plan = plan_pyramid(frame, model_.window, pyramid_);
  std::int64_t bytes = 0, pixels = 0;
  int octaves = 0;
  for (const PyramidLevel& level : plan) {
    pixels += static_cast<std::int64_t>(level.size.width) * level.size.height;
    octaves = std::max(octaves, level.octave);
  }
  check_pyramid_size(frame, pixels);
  w.plan_octaves(octaves);
  const std::vector<Size> octave_sizes = w.octave_sizes();
  w.levels.resize(plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Level& level = w.levels[i];
    level.plan = plan[i];
    const Size size = plan[i].size;
    level.windows = {size.width - model_.window.width + 1, size.height - model_.window.height + 1};
    level.image_offset = std::exchange(bytes, bytes + PaddedImage::bytes_for(size));
    level.resizer = std::make_unique<Resizer>(level_resizer(plan[i], octave_sizes));
  }
  w.images.plan(bytes);
}

// The work of a frame is its windows. A partition ends inside a level at a row of windows; only there do
// neighbouring partitions make some rows of pixels both.
void WaldboostDetector::plan_partition(WaldboostWorkspace& w, Partition partition) const {
  std::vector<LevelCost> costs;
  for (const Level& level : w.levels)
    costs.push_back({static_cast<double>(level.windows.width) * level.windows.height, level.windows.height});
  const std::vector<Rows> windows = partition_windows(costs, partition);
  w.image_bands.clear();
  w.tiles.clear();
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    Level& level = w.levels[i];
    level.window_rows = windows[i];
    level.image_rows = {};
    if (windows[i].empty()) continue;
    level.image_rows = {windows[i].begin, windows[i].end - 1 + model_.window.height};
    add_bands(w.image_bands, static_cast<int>(i), level.image_rows, kImageRows);
    for (int y = windows[i].begin; y < windows[i].end; y += PackedModel::kTileRows) {
      for (int x = 0; x < level.windows.width; x += PackedModel::kTileColumns) {
        const int columns = std::min(PackedModel::kTileColumns, level.windows.width - x);
        const int rows = std::min(PackedModel::kTileRows, windows[i].end - y);
        w.tiles.push_back({{x, y, columns, rows}, static_cast<int>(i)});
      }
    }
  }
}

void WaldboostDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  WaldboostWorkspace& w = own(workspace);
  switch (stage) {
    case kPyramid:
      build_pyramid(w);
      break;
    case kScan:
      scan(w);
      break;
    case kGroup:
      group(w);
      break;
    default:
      throw Error(ExitCode::failed, "the WaldBoost detector has no stage " + std::to_string(stage));
  }
}

void WaldboostDetector::build_pyramid(WaldboostWorkspace& w) const {
  w.make_octaves();
  w.bind_images();
  for_each_band(w.image_bands, w, [&](const Band& band) {
    Level& level = w.levels[band.level];
    level.resizer->run(w.octave(level.plan.octave), level.image.view(), band.begin, band.end);
  });
}

void WaldboostDetector::scan(WaldboostWorkspace& w) const {
  w.bind_images();
  const auto scan_one = [&](std::size_t i, std::vector<Candidate>& found) {
    const LevelTile& tile = w.tiles[i];
    ScanScratch& scratch = w.scratch.local();
    scratch.accepted.clear();
    scan_tile(packed_, std::as_const(w.levels[tile.level].image).view(), tile, lowest_sum_, scratch,
              scratch.accepted);
    for (const Accepted& a : scratch.accepted) found.push_back({{tile.level, a.x, a.y}, score(a.sum)});
  };
  w.scanned.run(w.tiles.size(), w, w.candidates, scan_one);
  std::sort(w.candidates.begin(), w.candidates.end());  // tiles lie side by side
}

std::int64_t WaldboostDetector::count_left(WaldboostWorkspace& w, std::span<std::int64_t> left) const {
  w.bind_images();
  std::int64_t windows = 0;
  std::vector<Accepted> accepted;
  for (const LevelTile& tile : w.tiles) {
    windows += std::int64_t{tile.columns} * tile.rows;
    scan_tile(packed_, std::as_const(w.levels[tile.level].image).view(), tile, lowest_sum_, w.scratch.local(),
              accepted, left);
  }
  return windows;
}

std::vector<WorkCount> WaldboostDetector::count_work(PictureView frame) const {
  const auto workspace = make_workspace();
  WaldboostWorkspace& w = own(*workspace);
  if (!prepare(w, frame)) return {};
  build_pyramid(w);
  std::vector<std::int64_t> left(model_.features.size());
  std::vector<WorkCount> counts{{"windows", count_left(w, left)}};
  for (const int weak : {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, model_.size()}) {
    if (weak > model_.size() ||
        (weak == model_.size() && counts.back().what.ends_with(' ' + std::to_string(weak))))
      continue;
    counts.push_back(
        {"left after weak classifier " + std::to_string(weak), left[static_cast<std::size_t>(weak) - 1]});
  }
  return counts;
}

Box WaldboostDetector::box(const Level& level, int x, int y) const {
  const double scale = level.plan.scale;
  const double width = model_.window.width * scale, height = model_.window.height * scale;
  const double larger = model_.box_scale - 1;
  return {(x - level.plan.border) * scale - width * larger / 2,
          (y - level.plan.border) * scale - height * larger / 2, width * model_.box_scale,
          height * model_.box_scale};
}

void WaldboostDetector::group(WaldboostWorkspace& w) const {
  keep_best(w);
  std::vector<Detection> windows;
  windows.reserve(w.candidates.size());
  for (const Candidate& c : w.candidates) windows.push_back({box(w.levels[c.level], c.x, c.y), c.score, 0});
  w.detections = merge_boxes(std::move(windows), options_.max_overlap, {0.5, 1e9});
  std::erase_if(w.detections, [&](const Detection& d) { return d.score < options_.threshold; });
  if (!options_.clip) return;
  for (Detection& detection : w.detections) detection.box = clipped(detection.box, w.frame.size());
}

std::unique_ptr<WaldboostDetector> make_waldboost_detector(const Config& config) {
  Options options;
  const std::filesystem::path file = config.path("detector", "model", "models/faces-waldboost.safetensors");
  const int max_mebibytes = config.optional_whole_number("detector", "max_model_size", 1, kLargestModelSize)
                                .value_or(kMaxModelSize);
  Model model = load_model(file, std::uint64_t(max_mebibytes) << 20);
  options.scale_step = config.number("detector", "scale_step", options.scale_step, 1.001, 8);
  options.min_size = config.number("detector", "min_size", 0, 0, 1e6);
  options.max_size = config.number("detector", "max_size", 0, 0, 1e6);
  options.threshold = config.number("detector", "threshold", model.threshold, -1e9, 1e9);
  options.window_threshold = options.threshold;
  options.border = config.optional_whole_number("detector", "border", 0, kLargestBorder).value_or(0);
  options.clip = config.flag("detector", "clip", true);
  options.max_overlap = config.number("detector", "max_overlap", options.max_overlap, 0, 1);
  options.label = config.text("detector", "label", "");
  options.max_candidates = config.optional_whole_number("detector", "max_candidates", 1, kMostCandidates)
                               .value_or(options.max_candidates);
  options.kernels = config.text("detector", "kernels", "");
  options.shares = parse_shares(config.text("detector", "shares", ""), config.name());
  options.phases = parse_phases(config.text("detector", "phases", ""), config.name());
  return std::make_unique<WaldboostDetector>(std::move(model), options);
}

}  // namespace sightline::waldboost
