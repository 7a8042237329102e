#include "waldboost/training/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "training/for_each_image.hpp"
#include "training/random.hpp"
#include "waldboost/detector.hpp"

namespace sightline::waldboost {
namespace {

using training::for_each_image;
using training::ProgressClock;

constexpr std::size_t kBlock = 20;  // pictures that are held out together

std::uint64_t mix(std::uint64_t value) {  // S. Vigna's splitmix64
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Of one window in one round: uniform in [0, 1).
double number_of(std::uint64_t seed, int round, std::size_t picture, int level, int x, int y) {
  std::uint64_t hash = mix(seed ^ mix(static_cast<std::uint64_t>(round)));
  hash = mix(hash ^ picture);
  hash = mix(hash ^ (static_cast<std::uint64_t>(level) << 48 | static_cast<std::uint64_t>(x) << 24 |
                     static_cast<std::uint64_t>(y)));
  return static_cast<double>(hash >> 11) * 0x1p-53;
}

// Where a copy looks in a picture.
struct Placement {
  double x = 0, y = 0;  // middle, in pixels of the picture
  double side = 1;      // pixels of the picture that are one of the window
  double turn = 0;      // radians
  bool mirrored = false;
};

Image<std::uint8_t> halved(GrayView picture) {
  Image<std::uint8_t> half(picture.width() / 2, picture.height() / 2);
  halve(picture, half.view(), 0, half.height());
  return half;
}

double sample(GrayView picture, double x, double y) {
  x = std::clamp(x, 0.0, picture.width() - 1.0);
  y = std::clamp(y, 0.0, picture.height() - 1.0);
  const int left = static_cast<int>(x), top = static_cast<int>(y);
  const int right = std::min(left + 1, picture.width() - 1), bottom = std::min(top + 1, picture.height() - 1);
  const double fx = x - left, fy = y - top;
  return (picture.at(left, top) * (1 - fx) + picture.at(right, top) * fx) * (1 - fy) +
         (picture.at(left, bottom) * (1 - fx) + picture.at(right, bottom) * fx) * fy;
}

// As the detector sees it: bilinear from the octave below (image/pyramid.hpp).
Image<std::uint8_t> cut(GrayView picture, Placement at, Size window) {
  std::vector<Image<std::uint8_t>> octaves;
  while (at.side >= 2 && std::min(picture.width(), picture.height()) >= 2) {
    octaves.push_back(halved(picture));
    picture = octaves.back().view();
    at.x /= 2;
    at.y /= 2;
    at.side /= 2;
  }
  Image<std::uint8_t> pixels(window.width, window.height);
  const double c = std::cos(at.turn) * at.side, s = std::sin(at.turn) * at.side;
  for (int y = 0; y < window.height; ++y) {
    for (int x = 0; x < window.width; ++x) {
      const double dx = (x + 0.5 - window.width / 2.0) * (at.mirrored ? -1 : 1);
      const double dy = y + 0.5 - window.height / 2.0;
      const double value = sample(picture, at.x + c * dx - s * dy - 0.5, at.y + s * dx + c * dy - 0.5);
      pixels.view().at(x, y) = static_cast<std::uint8_t>(std::lround(value));
    }
  }
  return pixels;
}

Placement place(GrayView picture, const TrainingOptions& o, int copy, training::Random& random) {
  const double around = 1 + 2 * o.margin;
  const Size window = o.window;
  Placement at;
  at.side = std::min(picture.width() / around / window.width, picture.height() / around / window.height);
  at.x = picture.width() / 2.0;
  at.y = picture.height() / 2.0;
  if (copy == 0) return at;
  const auto within = [&](double limit) { return (2 * random.unit() - 1) * limit; };
  at.x += within(o.shift) * at.side * window.width;
  at.y += within(o.shift) * at.side * window.height;
  at.side *= std::exp(within(o.zoom));
  at.turn = within(o.turn) * std::numbers::pi / 180;
  at.mirrored = random.below(2) != 0;
  return at;
}

}  // namespace

bool is_held_out(std::size_t picture, std::size_t pictures, const TrainingOptions& options) {
  const std::size_t block = std::clamp<std::size_t>(pictures / kBlock, 1, kBlock);
  const std::uint64_t hash = mix(options.seed ^ mix(picture / block + 1));
  return static_cast<double>(hash >> 11) * 0x1p-53 < options.held_out;
}

PositiveSamples cut_positives(const training::ImageSet& pictures, const TrainingOptions& options,
                              ProgressClock& clock) {
  std::vector<Samples> cuts(pictures.size(), Samples(options.window));
  for_each_image(
      pictures.size(), clock, [] { return std::make_unique<int>(); },
      [&](std::size_t i, int& /*workspace*/) {
        const Image<std::uint8_t> picture = pictures.load(i);
        if (std::min(picture.width(), picture.height()) < 8)
          throw Error(ExitCode::input, "'" + pictures.name(i) + "' is too small to show the object");
        training::Random random(options.seed, i);
        for (int copy = 0; copy <= options.copies; ++copy) {
          const GrayView view = picture.view();
          cuts[i].add(cut(view, place(view, options, copy, random), options.window).view());
        }
      });
  PositiveSamples samples(options.window);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    Samples& to = is_held_out(i, cuts.size(), options) ? samples.held_out : samples.seen;
    for (std::size_t copy = 0; copy < cuts[i].size(); ++copy) to.add(cuts[i].view(copy));
  }
  return samples;
}

namespace {

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
    if (number_of(options_.seed, round_, picture_, number, x, y) >= probability) return;
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

// The detector takes no model without weak classifiers: one that passes everything stands for it.
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
