#include "detectors/census/training/negatives.hpp"

#include <algorithm>
#include <limits>

#include "detectors/census/detector.hpp"
#include "training/for_each_image.hpp"

namespace sightline::census {
namespace {

constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::min();

// One picture's share of a search.
struct PictureFindings {
  explicit PictureFindings(Size window) : drawn(window) {}
  std::int64_t windows = 0, passed = 0;
  std::vector<std::int64_t> left;
  training::WindowSamples drawn;
  std::int32_t best = kNone;  // margin of a window
};

// The detector refuses a model without stages, so it is replaced by one that passes everything.
Model without_end(const Model& model) {
  Model result = model;
  if (!model.stages.empty()) return result;
  result.weak = {WeakClassifier{.weight = 1}};
  result.stages = {{1, 0}};
  result.views.front().end = 1;
  return result;
}

}  // namespace

NegativeSearch search_negatives(const training::ImageSet& pictures, const Model& model,
                                const TrainingOptions& options, int round, double share,
                                training::ProgressClock& clock) {
  Options search;
  search.scale_step = options.scale_step;
  const CensusDetector detector(without_end(model), search);
  const std::size_t stages = detector.model().stages.size();
  const Size window = options.window;
  // Mirrored copies come behind all pictures.
  const std::size_t originals = pictures.size() / (1 + static_cast<std::size_t>(options.mirrored_negatives));
  const auto is_out = [&](std::size_t i) { return training::is_held_out(i % originals, originals, options); };
  std::vector<PictureFindings> all(pictures.size(), PictureFindings(window));
  training::for_each_image(
      pictures.size(), clock, [&] { return detector.make_workspace(); },
      [&](std::size_t i, Workspace& workspace) {
        auto& w = static_cast<CensusWorkspace&>(workspace);
        const Image<std::uint8_t> picture = pictures.load(i);
        if (!detector.prepare(w, PictureView(picture.view()))) return;
        detector.run_stage(kPyramid, w);
        PictureFindings& found = all[i];
        found.left.resize(stages);
        std::vector<Accepted> accepted;
        for (const LevelTile& tile : w.tiles) {
          accepted.clear();
          found.windows += std::int64_t{tile.columns} * tile.rows;
          const GrayView image = std::as_const(w.levels[static_cast<std::size_t>(tile.level)].image).view();
          scan_tile(detector.packed(), image, tile, PackedModel::kEarlyStages, w.scratch.local(), accepted,
                    found.left);
          found.passed += static_cast<std::int64_t>(accepted.size());
          for (const Accepted& a : accepted) {
            found.best = std::max(found.best, a.margin);
            if (is_out(i) || training::window_number(options.seed, round, i, tile.level, a.x, a.y) >= share)
              continue;
            found.drawn.add({image.row(a.y) + a.x, window.width, window.height, image.stride()});
          }
        }
      });

  NegativeSearch result(window);
  result.held_out_left.resize(stages);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PictureFindings& found = all[i];
    if (!is_out(i)) {
      result.windows += found.windows;
      result.passed += found.passed;
      for (std::size_t s = 0; s < found.drawn.size(); ++s) result.drawn.add(found.drawn.view(s));
    } else if (found.windows > 0) {
      result.held_out_windows += found.windows;
      for (std::size_t s = 0; s < stages; ++s) result.held_out_left[s] += found.left[s];
      ++result.held_out_pictures;
      if (found.best > kNone) result.best_held_out.push_back(found.best);
    }
  }
  std::ranges::sort(result.best_held_out, std::greater<>());
  return result;
}

}  // namespace sightline::census
