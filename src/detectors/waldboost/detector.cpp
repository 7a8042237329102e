#include "detectors/waldboost/detector.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "processing/opencl/kernel_variant.hpp"

namespace sightline::waldboost {
namespace {

WaldboostWorkspace& own(Workspace& workspace) {
  return static_cast<WaldboostWorkspace&>(workspace);
}

PixelWindowModel describe(const Model& model) {
  PixelWindowModel described;
  described.family = "waldboost";
  described.name = model.name;
  described.contents =
      std::string(to_string(model.kind)) + ", " + std::to_string(model.size()) + " weak classifiers";
  described.label = model.label;
  described.window = model.window;
  described.box_scale = model.box_scale;
  return described;
}

}  // namespace

WaldboostDetector::WaldboostDetector(Model model, const Options& options)
    : PixelWindowDetector(describe(model), options, {PackedModel::kTileColumns, PackedModel::kTileRows}),
      model_(std::move(model)),
      packed_(model_),
      own_options_(options) {
  check_kernel_variant(options.kernels, kKernelVariants);
  steps();  // throws where the options contradict each other
  lowest_sum_ = lowest_reaching(window_threshold(), std::ceil(window_threshold() / model_.unit),
                                [&](std::int32_t sum) { return score(sum); });
}

std::unique_ptr<Workspace> WaldboostDetector::make_workspace() const {
  return std::make_unique<WaldboostWorkspace>();
}

void WaldboostDetector::scan(PixelWindowWorkspace& workspace) const {
  WaldboostWorkspace& w = own(workspace);
  scan_tiles(w, [&](const LevelTile& tile, auto image, std::vector<Candidate>& found) {
    ScanScratch& scratch = w.scratch.local();
    scratch.accepted.clear();
    scan_tile(packed_, image, tile, lowest_sum_, scratch, scratch.accepted);
    for (const Accepted& a : scratch.accepted) found.push_back({{tile.level, a.x, a.y}, score(a.sum)});
  });
}

std::int64_t WaldboostDetector::count_left(PixelWindowWorkspace& workspace,
                                           std::span<std::int64_t> left) const {
  WaldboostWorkspace& w = own(workspace);
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

namespace {

class ReferenceDetector : public WaldboostDetector {
 public:
  using WaldboostDetector::WaldboostDetector;

 private:
  void scan(PixelWindowWorkspace& workspace) const override {
    scan_tiles(workspace, [&](const LevelTile& tile, auto image, std::vector<Candidate>& found) {
      std::vector<Accepted> accepted;
      reference::scan_tile(model(), image, tile, lowest_sum(), accepted);
      for (const Accepted& a : accepted) found.push_back({{tile.level, a.x, a.y}, score(a.sum)});
    });
  }
};

template <typename Made>
std::unique_ptr<Made> make_of(const Config& config) {
  const std::filesystem::path file =
      config.model_path("detector", "model", "models/faces-waldboost.safetensors");
  config.note_file("detector", "model", file);
  Model model = load_model(file, std::uint64_t(keys::kMaxModelSize.read(config, kMaxModelSize)) << 20);
  Options options{
      read_pixel_window_options(config, model.threshold, model.calibration, Options{}.scale_step)};
  options.shares = parse_shares(kShares.read(config, ""), config.name());
  options.phases = parse_phases(kPhases.read(config, ""), config.name());
  return std::make_unique<Made>(std::move(model), options);
}

}  // namespace

std::unique_ptr<WaldboostDetector> make_waldboost_detector(const Config& config) {
  return make_of<WaldboostDetector>(config);
}

std::unique_ptr<Detector> make_reference(const Config& config) {
  return make_of<ReferenceDetector>(config);
}

}  // namespace sightline::waldboost
