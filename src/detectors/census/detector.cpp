#include "detectors/census/detector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "detectors/census/views.hpp"
#include "processing/opencl/kernel_variant.hpp"

namespace sightline::census {
namespace {

constexpr int kMostChoices = 4;  // choices of early stages worth trying

CensusWorkspace& own(Workspace& workspace) {
  return static_cast<CensusWorkspace&>(workspace);
}

// A single view needs no name.
std::vector<std::string> view_names(const Model& model) {
  std::vector<std::string> names;
  for (const View& view : model.views) names.push_back(view.name);
  return names.size() > 1 ? names : std::vector<std::string>(1);
}

PixelWindowModel describe(const Model& model) {
  return {"census",
          model.name,
          std::to_string(model.views.size()) + (model.views.size() == 1 ? " view, " : " views, ") +
              std::to_string(model.stages.size()) + " stages, " + std::to_string(model.weak.size()) +
              " weak classifiers",
          model.label,
          model.window,
          model.box_scale,
          view_names(model)};
}

}  // namespace

CensusDetector::CensusDetector(Model model, const Options& options)
    : PixelWindowDetector(describe(model), options, {PackedModel::kTileColumns, PackedModel::kTileRows}),
      model_(std::move(model)) {
  check_kernel_variant(options.kernels, kKernelVariants);
  const int stages = model_.most_stages();
  if (options.early_stages < 0)
    throw Error(ExitCode::usage, "early_stages must not be negative", "give 0 for the best value");
  early_stages_ = std::min(options.early_stages, stages);
  tunable_ = {"early_stages", stages, {}};
  for (int choice = 1; choice <= std::min(kMostChoices, stages - 1); ++choice)
    tunable_.choices.push_back(choice);
  std::vector<std::int32_t> lowest;
  for (int view = 0; view < static_cast<int>(model_.views.size()); ++view) {
    const double estimate = std::ceil(window_threshold() / model_.views[static_cast<std::size_t>(view)].unit);
    lowest.push_back(lowest_reaching(window_threshold(), estimate,
                                     [&](std::int32_t margin) { return score(view, margin); }));
  }
  packed_ = PackedModel(model_, lowest);
}

std::unique_ptr<Workspace> CensusDetector::make_workspace() const {
  return std::make_unique<CensusWorkspace>();
}

bool CensusDetector::prepare(Workspace& workspace, PictureView frame, Partition partition) const {
  CensusWorkspace& w = own(workspace);
  w.early_stages = w.tuned > 0 ? std::min(w.tuned, tunable_.largest) : early_stages_;
  return PixelWindowDetector::prepare(workspace, frame, partition);
}

void CensusDetector::scan(PixelWindowWorkspace& workspace) const {
  CensusWorkspace& w = own(workspace);
  const int levels = static_cast<int>(w.levels.size());
  const int early_stages = w.early_stages > 0 ? w.early_stages : PackedModel::kEarlyStages;
  scan_tiles(w, [&](const LevelTile& tile, auto image, std::vector<Candidate>& found) {
    ScanScratch& scratch = w.scratch.local();
    scratch.accepted.clear();
    scan_tile(packed_, image, tile, early_stages, scratch, scratch.accepted);
    for (const Accepted& a : scratch.accepted)
      found.push_back({{a.view * levels + tile.level, a.x, a.y}, score(a.view, a.margin)});
  });
}

std::int64_t CensusDetector::count_left(PixelWindowWorkspace& workspace, std::span<std::int64_t> left) const {
  CensusWorkspace& w = own(workspace);
  w.bind_images();
  std::int64_t windows = 0;
  std::vector<Accepted> accepted;
  for (const LevelTile& tile : w.tiles) {
    windows += std::int64_t{tile.columns} * tile.rows;
    accepted.clear();
    scan_tile(packed_, std::as_const(w.levels[tile.level].image).view(), tile, PackedModel::kEarlyStages,
              w.scratch.local(), accepted, left);
  }
  return windows;
}

std::vector<WorkCount> CensusDetector::count_work(PictureView frame) const {
  const auto workspace = make_workspace();
  CensusWorkspace& w = own(*workspace);
  if (!prepare(w, frame)) return {};
  build_pyramid(w);
  std::vector<std::int64_t> left(model_.stages.size());
  std::vector<WorkCount> counts{{"windows of each view", count_left(w, left)}};
  for (int stage = 0; stage < model_.most_stages(); ++stage) {
    std::int64_t count = 0;
    for (int view = 0; view < static_cast<int>(model_.views.size()); ++view) {
      const int s = model_.first_stage(view) + stage;
      if (s < model_.views[static_cast<std::size_t>(view)].end) count += left[static_cast<std::size_t>(s)];
    }
    counts.push_back({"left after stage " + std::to_string(stage + 1), count});
  }
  return counts;
}

std::unique_ptr<CensusDetector> make_census_detector(const Config& config) {
  const std::filesystem::path file = config.model_path("detector", "model", "models/faces.safetensors");
  config.note_file("detector", "model", file);
  Model model = load_model(file, std::uint64_t(keys::kMaxModelSize.read(config, kMaxModelSize)) << 20);
  Options options;
  static_cast<PixelWindowOptions&>(options) =
      read_pixel_window_options(config, model.threshold, model.calibration, options.scale_step);
  options.early_stages = kEarlyStages.read(config, 0);
  if (kTurned.read(config, false)) model = with_turned_views(model);
  return std::make_unique<CensusDetector>(std::move(model), options);
}

}  // namespace sightline::census
