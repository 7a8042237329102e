#include "detectors/waldboost/training/samples.hpp"

#include <algorithm>
#include <cmath>

#include "detectors/waldboost/detector.hpp"
#include "training/for_each_image.hpp"

namespace sightline::waldboost {
namespace {

using training::for_each_image;
using training::is_held_out;
using training::ProgressClock;
using training::window_number;

// One picture's share of a search.
struct PictureFindings {
  std::int64_t windows = 0;
  std::vector<std::int64_t> left;
  std::vector<std::uint8_t> pixels;
  std::vector<float> inverse_probability;
  std::int32_t best = std::numeric_limits<std::int32_t>::min();  // sum of a window
};

class Search {
 public:
  Search(const Model& model, const TrainingOptions& options, int round, std::size_t picture, const Draw& draw)
      : model_(model), options_(options), round_(round), picture_(picture), draw_(draw) {}

  void offer(const Level& level, int number, int x, int y, std::int32_t sum, PictureFindings& found) const {
    found.best = std::max(found.best, sum);
    double probability = draw_.weight;
    if (draw_.by_response) probability *= std::exp(sum * model_.unit);
    if (window_number(options_.seed, round_, picture_, number, x, y) >= probability) return;
    found.inverse_probability.push_back(static_cast<float>(1 / std::min(probability, 1.0)));
    const GrayView image = level.image.view();
    for (int row = 0; row < options_.window.height; ++row) {
      const std::uint8_t* const from = image.row(y + row) + x;
      found.pixels.insert(found.pixels.end(), from, from + options_.window.width);
    }
  }

 private:
  const Model& model_;
  const TrainingOptions& options_;
  int round_;
  std::size_t picture_;
  const Draw& draw_;
};

// The detector refuses a model without weak classifiers, so it is replaced by one that passes everything.
Model without_end(const Model& model) {
  Model result = model;
  if (model.size() > 0) return result;
  result.features = {Feature{}};
  result.responses.assign(kCodes, 0);
  result.thresholds = {kNoThreshold};
  return result;
}

}  // namespace

SearchedNegatives search_negatives(const training::ImageSet& pictures, const Model& model,
                                   const TrainingOptions& options, int round, const Draw& seen,
                                   const Draw& held_out, ProgressClock& clock) {
  Options search;
  search.scale_step = options.scale_step;
  search.threshold = search.window_threshold = -1e9;
  const WaldboostDetector detector(without_end(model), search);
  const PackedModel packed(detector.model());
  // Mirrored copies come behind all pictures.
  const std::size_t originals = pictures.size() / (1 + static_cast<std::size_t>(options.mirrored_negatives));
  std::vector<PictureFindings> all(pictures.size());
  for_each_image(
      pictures.size(), clock, [&] { return detector.make_workspace(); },
      [&](std::size_t i, Workspace& workspace) {
        auto& w = static_cast<WaldboostWorkspace&>(workspace);
        const Image<std::uint8_t> picture = pictures.load(i);
        if (!detector.prepare(w, PictureView(picture.view()))) return;
        detector.run_stage(kPyramid, w);
        PictureFindings& found = all[i];
        found.left.resize(detector.model().features.size());
        const bool is_out = is_held_out(i % originals, originals, options);
        const Search windows(model, options, round, i, is_out ? held_out : seen);
        std::vector<Accepted> accepted;
        for (const LevelTile& tile : w.tiles) {
          accepted.clear();
          found.windows += std::int64_t{tile.columns} * tile.rows;
          const Level& level = w.levels[static_cast<std::size_t>(tile.level)];
          scan_tile(packed, level.image.view(), tile, detector.lowest_sum(), w.scratch.local(), accepted,
                    found.left);
          for (const Accepted& a : accepted) windows.offer(level, tile.level, a.x, a.y, a.sum, found);
        }
      });

  SearchedNegatives result(options.window);
  result.left.resize(detector.model().features.size());
  result.held_out_left.resize(detector.model().features.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    PictureFindings& found = all[i];
    const bool is_out = is_held_out(i % originals, originals, options);
    DrawnWindows& drawn = is_out ? result.held_out : result.seen;
    (is_out ? result.held_out_windows : result.windows) += found.windows;
    std::vector<std::int64_t>& left = is_out ? result.held_out_left : result.left;
    for (std::size_t t = 0; t < found.left.size(); ++t) left[t] += found.left[t];
    const std::size_t bytes = static_cast<std::size_t>(options.window.width) * options.window.height;
    for (std::size_t s = 0; s < found.inverse_probability.size(); ++s) {
      drawn.samples.add({found.pixels.data() + s * bytes, options.window.width, options.window.height,
                         options.window.width});
      drawn.inverse_probability.push_back(found.inverse_probability[s]);
    }
    if (is_out && found.windows > 0) {
      ++result.held_out_pictures;
      if (found.best > std::numeric_limits<std::int32_t>::min()) result.best_held_out.push_back(found.best);
    }
    found = {};
  }
  std::sort(result.best_held_out.begin(), result.best_held_out.end(), std::greater<>());
  if (model.size() == 0) result.left = result.held_out_left = {};
  return result;
}

}  // namespace sightline::waldboost
