#include "detection/pixel_windows.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "detection/grouping.hpp"

namespace sightline {
namespace {

constexpr int kImageRows = 32;  // a band's: enough work to be worth a task

using enum PixelWindowDetector::StageIndex;
using enum PixelWindowDetector::ResourceIndex;

// Names by ResourceIndex.
constexpr std::string_view kResources[] = {"frame", "images", "candidates", "detections"};
constexpr StageInfo kStages[] = {
    {"pyramid", {kFrameResource}, {kImages}, true},
    {"scan", {kImages}, {kCandidates}, true},
    {"group", {kCandidates}, {kDetections}},
};

}  // namespace

PixelWindowOptions read_pixel_window_options(const Config& config, double threshold,
                                             const ScoreCalibration& calibration, double step) {
  PixelWindowOptions options;
  options.scale_step = keys::kScaleStep.read(config, step);
  options.min_size = keys::kMinSize.read(config, 0);
  options.max_size = keys::kMaxSize.read(config, 0);
  options.calibration = calibration;
  options.threshold = read_threshold(config, calibration, threshold);
  options.window_threshold = options.threshold;
  options.border = kPixelWindowBorder.read(config, 0);
  options.clip = keys::kClip.read(config, true);
  options.max_overlap = keys::kMaxOverlap.read(config, options.max_overlap);
  options.label = keys::kLabel.read(config, "");
  options.max_candidates = keys::kMaxCandidates.read(config, options.max_candidates);
  options.kernels = keys::kKernels.read(config, "");
  return options;
}

void PixelWindowWorkspace::bind_images() {
  auto* const memory = reinterpret_cast<std::uint8_t*>(images.data());
  for (PixelLevel& level : levels) level.image.bind(memory + level.image_offset, level.plan.size);
}

PixelWindowDetector::PixelWindowDetector(PixelWindowModel model, const PixelWindowOptions& options, Size tile)
    : SlidingWindowDetector(options.max_candidates),
      options_(options),
      model_(std::move(model)),
      tile_(tile) {
  const double natural = model_.window.height;
  pyramid_ = scales_for(natural, options.min_size, options.max_size, options.scale_step, options.border);
  options_.window_threshold = std::min(options_.window_threshold, options_.threshold);
  for (const std::string& view : model_.views) {
    DetectionAttributes attributes;
    attributes.view = view;
    view_attributes_.push_back(view.empty() ? SharedAttributes() : SharedAttributes(std::move(attributes)));
  }
  info_.family = model_.family;
  info_.model = model_.name + ", " + model_.contents;
  info_.labels = {options_.label.empty() ? model_.label : options_.label};
  info_.smallest_objects = {natural * pyramid_.first_scale};
  info_.scale_step = options_.scale_step;
  info_.threshold = options_.threshold;
}

bool PixelWindowDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  auto& w = static_cast<PixelWindowWorkspace&>(workspace);
  w.images.bind(nullptr);
  w.begin(
      frame, partition, [&] { lay_out(w); }, [&] { plan_partition(w, partition); });
  return !w.levels.empty();
}

// Geometry and memory of all levels, for frames of this size.
void PixelWindowDetector::lay_out(PixelWindowWorkspace& w) const {
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
    PixelLevel& level = w.levels[i];
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
void PixelWindowDetector::plan_partition(PixelWindowWorkspace& w, Partition partition) const {
  std::vector<LevelCost> costs;
  for (const PixelLevel& level : w.levels)
    costs.push_back({static_cast<double>(level.windows.width) * level.windows.height, level.windows.height});
  const std::vector<Rows> windows = partition_windows(costs, partition);
  w.image_bands.clear();
  w.tiles.clear();
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    PixelLevel& level = w.levels[i];
    level.window_rows = windows[i];
    level.image_rows = {};
    if (windows[i].empty()) continue;
    level.image_rows = {windows[i].begin, windows[i].end - 1 + model_.window.height};
    add_bands(w.image_bands, static_cast<int>(i), level.image_rows, kImageRows);
    for (int y = windows[i].begin; y < windows[i].end; y += tile_.height) {
      for (int x = 0; x < level.windows.width; x += tile_.width) {
        const int columns = std::min(tile_.width, level.windows.width - x);
        const int rows = std::min(tile_.height, windows[i].end - y);
        w.tiles.push_back({{x, y, columns, rows}, static_cast<int>(i)});
      }
    }
  }
}

void PixelWindowDetector::build_pyramid(PixelWindowWorkspace& w) const {
  w.make_octaves();
  w.bind_images();
  for_each_band(w.image_bands, w, [&](const Band& band) {
    PixelLevel& level = w.levels[band.level];
    level.resizer->run(w.octave(level.plan.octave), level.image.view(), band.begin, band.end);
  });
}

Box PixelWindowDetector::box(const PixelLevel& level, int x, int y) const {
  const double scale = level.plan.scale;
  const double width = model_.window.width * scale, height = model_.window.height * scale;
  const double larger = model_.box_scale - 1;
  return {(x - level.plan.border) * scale - width * larger / 2,
          (y - level.plan.border) * scale - height * larger / 2, width * model_.box_scale,
          height * model_.box_scale};
}

void PixelWindowDetector::group(PixelWindowWorkspace& w) const {
  keep_top_k(w);
  std::vector<Detection> windows;
  windows.reserve(w.candidates.size());
  const std::size_t levels = w.levels.size();
  for (const Candidate& c : w.candidates) {
    const auto level = static_cast<std::size_t>(c.level);
    windows.push_back({.box = box(w.levels[level % levels], c.x, c.y),
                       .score = c.score,
                       .attributes = view_attributes_[level / levels]});
  }
  w.detections = merge_boxes(std::move(windows), options_.max_overlap, {0.5, 1e9});
  std::erase_if(w.detections, [&](const Detection& d) { return d.score < options_.threshold; });
  options_.calibration.apply_to(w.detections);
  if (!options_.clip) return;
  for (Detection& detection : w.detections) detection.box = clipped(detection.box, w.frame.size());
}

std::span<const std::string_view> PixelWindowDetector::resources() const {
  return kResources;
}

std::span<const StageInfo> PixelWindowDetector::stages() const {
  return kStages;
}

void PixelWindowDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<PixelWindowWorkspace&>(workspace);
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
      throw Error(ExitCode::failed, "the detector has no stage " + std::to_string(stage));
  }
}

}  // namespace sightline
