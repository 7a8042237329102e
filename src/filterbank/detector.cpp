#include "filterbank/detector.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "detection/grouping.hpp"

namespace sightline::filterbank {
namespace {

constexpr StageInfo kStages[] = {
    {"pyramid", "frame", "images", true},     {"filter", "images", "votes", true},
    {"histogram", "votes", "features", true}, {"classify", "features", "candidates"},
    {"group", "candidates", "detections"},
};

constexpr std::int64_t kMaxPyramidPixels = std::int64_t{1} << 28;

// Rows a band: enough work to be worth a task, few enough to spread over the threads.
constexpr int kImageRows = 32;
constexpr int kCellRows = 4;
constexpr int kBlockRows = 12;  // a band computes one row of cells more than it has rows of blocks
constexpr int kWindowRows = 16;

void add_bands(std::vector<Band>& bands, int level, Rows rows, int step) {
  for (int y = rows.begin; y < rows.end; y += step) bands.push_back({level, y, std::min(y + step, rows.end)});
}

template <typename Work>
void for_each(const std::vector<Band>& bands, FilterbankWorkspace& w, const Work& work) {
  parallel_for_isolated(
      bands.size(), [&](std::size_t i) { work(w.levels[bands[i].level], bands[i]); }, &w.work);
}

// Bands of rows [0, height).
template <typename Work>
void for_each_band(int height, FilterbankWorkspace& w, const Work& work) {
  const int bands = (height + kImageRows - 1) / kImageRows;
  parallel_for_isolated(
      bands, [&](int band) { work(band * kImageRows, std::min((band + 1) * kImageRows, height)); }, &w.work);
}

GrayView luma_of_frame(FilterbankWorkspace& w) {
  if (w.frame.is_gray()) return w.frame.gray();
  const PackedView& colour = w.frame.colour();
  w.converted.resize(colour.width, colour.height);
  const ImageView<std::uint8_t> target = w.converted.view();
  for_each_band(colour.height, w, [&](int begin, int end) { to_gray(colour, target, begin, end); });
  return target;
}

std::string accuracy_text(const WindowEvaluation& evaluation) {
  char text[80];
  std::snprintf(text, sizeof text, "misses %.1f%% at 1e-4 and %.1f%% at 1e-5 false positives a window",
                100 * evaluation.miss_rate_at_1e4, 100 * evaluation.miss_rate_at_1e5);
  return text;
}

void include(Rows& rows, Rows more) {
  if (more.empty()) return;
  rows = rows.empty() ? more : Rows{std::min(rows.begin, more.begin), std::max(rows.end, more.end)};
}

// What every stage has to make of each level for the windows of the workspace's share.
void plan_rows(std::vector<Level>& levels, const WindowShape& window, int patch) {
  for (Level& level : levels) level.rows = {};
  for (Level& level : levels) {
    if (level.windows.empty()) continue;
    LevelRows& rows = level.rows;
    rows.blocks = {level.windows.begin, level.windows.end + window.blocks_y() - 1};
    rows.cells = {rows.blocks.begin, rows.blocks.end + 1};
    Level& real = levels[level.real];
    const bool to_the_end = rows.cells.end == level.grid.cells_y;
    include(real.rows.votes, {level.edges.rows[rows.cells.begin],
                              to_the_end ? real.plan.size.height : level.edges.rows[rows.cells.end]});
  }
  for (Level& level : levels) {
    const Rows votes = level.rows.votes;
    const int border = patch / 2;
    if (!votes.empty()) {
      level.rows.image = {std::max(votes.begin - border, 0),
                          std::min(votes.end + border, level.plan.size.height)};
    }
  }
}

FilterbankWorkspace& own(Workspace& workspace) {
  return static_cast<FilterbankWorkspace&>(workspace);
}

}  // namespace

FilterbankDetector::FilterbankDetector(Model model, const Options& options)
    : model_(std::move(model)), options_(options), limit_(options.max_candidates) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (describes_in_float()) options_.real_levels = 0;
  if (describes_in_float() || model_.classifier != ClassifierKind::linear) options_.screen_margin = kInfinite;
  const double natural = model_.object.height;
  pyramid_.step = options.scale_step;
  pyramid_.first_scale = options.min_size > 0 ? options.min_size / natural : 1.0;
  if (options.max_size > 0) pyramid_.last_scale = options.max_size / natural;
  if (options.max_size > 0 && pyramid_.last_scale < pyramid_.first_scale) {
    throw Error(ExitCode::usage, "the largest object size is below the smallest", "give a larger --max-size");
  }
  plan_pyramid({1, 1}, {2, 2}, pyramid_);  // checks the options
  info_.family = "filterbank";
  info_.model = model_.label + ", " + std::to_string(model_.dictionary.size()) + " filters";
  const Descriptor& descriptor = model_.descriptor;
  if (!descriptor.standard()) info_.model += ", " + describe(descriptor);
  if (describes_in_float() && !descriptor.standard()) {
    const std::string what =
        "a model with another descriptor than the standard one (" + describe(descriptor) + ")";
    info_.cpu_only = descriptor.exact() ? "the float method of " + what + " runs on the CPU only"
                                        : what + " runs by the reference method, on the CPU only";
  }
  info_.labels = {model_.label};
  info_.filters = model_.dictionary.size();
  if (model_.evaluation) {
    info_.accuracy = accuracy_text(*model_.evaluation);
    const bool plain = options_.real_levels == 0 && options_.screen_margin == kInfinite;
    if (!plain) info_.accuracy += " (the plain method)";
  }
  info_.cost_key =
      "filterbank, " + std::to_string(model_.dictionary.size()) + " filters, " +
      std::to_string(model_.templates()) + " templates, step " + std::to_string(options.scale_step) +
      ", sizes " + std::to_string(options.min_size) + " to " + std::to_string(options.max_size) +
      (options_.arithmetic == Arithmetic::exact ? ", exact" : ", float") + ", " +
      (model_.descriptor.standard() ? "" : describe(model_.descriptor) + ", ") +
      std::to_string(options_.real_levels) + " real levels, margin " + std::to_string(options_.screen_margin);
  info_.smallest_object = natural * pyramid_.first_scale;
  info_.threshold = options.threshold;

  const std::size_t size = model_.weights_per_template();
  for (int t = 0; t < model_.templates(); ++t) {
    const std::span<const std::int8_t> weights(model_.weights.data() + t * size, size);
    weights_.emplace_back(weights, model_.window, model_.bins(), model_.descriptor.pattern_bins());
    std::int32_t energy = 0;
    for (const int w : weights) energy += w * w;
    template_energies_.push_back(energy);
  }

  // The smallest raw score whose score reaches the threshold: found by division, then made exact.
  constexpr double kLowest = std::numeric_limits<std::int32_t>::min();
  constexpr double kHighest = std::numeric_limits<std::int32_t>::max();
  const double estimate = std::ceil(options.threshold / model_.scale - static_cast<double>(model_.bias));
  raw_threshold_ = static_cast<std::int32_t>(std::clamp(estimate, kLowest, kHighest));
  while (raw_threshold_ > kLowest && score_of(raw_threshold_ - 1) >= options.threshold) --raw_threshold_;
  while (raw_threshold_ < kHighest && score_of(raw_threshold_) < options.threshold) ++raw_threshold_;

  screens_ = options_.screen_margin < kInfinite;
  if (!screens_) return;
  screen_ = Screen(weights_[0]);
  const double lowest =
      (options.threshold - options_.screen_margin) / model_.scale - static_cast<double>(model_.bias);
  screen_threshold_ =
      static_cast<std::int32_t>(std::clamp(std::ceil(lowest / screen_.unit()), kLowest, kHighest));
}

std::span<const StageInfo> FilterbankDetector::stages() const {
  return kStages;
}

std::unique_ptr<Workspace> FilterbankDetector::make_workspace() const {
  return std::make_unique<FilterbankWorkspace>();
}

bool FilterbankDetector::prepare(Workspace& workspace, PictureView frame, Share share) const {
  FilterbankWorkspace& w = own(workspace);
  w.frame = frame;
  for (ProductMemory* product : {&w.images, &w.votes, &w.features}) product->lend(nullptr);
  w.projected = false;
  w.candidates.clear();
  w.detections.clear();
  if (w.frame_size != frame.size()) {
    w.frame_size = {-1, -1};  // until all is ready: memory may run out on the way
    lay_out(w);
    plan_share(w, share);
    w.frame_size = frame.size();
  } else if (w.share != share) {
    plan_share(w, share);
  }
  return !w.levels.empty();
}

// Geometry and memory of all levels, for frames of this size.
void FilterbankDetector::lay_out(FilterbankWorkspace& w) const {
  const Size frame = w.frame.size();
  const std::vector<PyramidLevel> plan = plan_pyramid(frame, model_.window.pixels(), pyramid_);
  // About 11 bytes a pixel for votes and features: a frame must not eat the machine's memory unasked.
  std::int64_t pixels = 0;
  for (const PyramidLevel& level : plan)
    pixels += static_cast<std::int64_t>(level.size.width) * level.size.height;
  if (pixels > kMaxPyramidPixels) {
    throw Error(ExitCode::usage,
                "the pyramid of a " + std::to_string(frame.width) + "x" + std::to_string(frame.height) +
                    " frame would have " + std::to_string(pixels / 1'000'000) + " million pixels",
                "give a larger --min-size or a larger --scale-step");
  }
  const bool exact = options_.arithmetic == Arithmetic::exact;
  const std::vector<int> real = real_levels(plan, pyramid_.step, options_.real_levels);
  int octaves = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (real[i] == static_cast<int>(i)) octaves = std::max(octaves, plan[i].octave);
  }
  w.octaves.resize(octaves);
  for (int i = 0; i < octaves; ++i) w.octaves[i].resize(frame.width >> (i + 1), frame.height >> (i + 1));
  w.levels.resize(plan.size());

  LevelLayout next;
  next.features = kFirstElement;
  const auto take = [](std::int64_t& end, std::int64_t count) {
    return std::exchange(end, end + (count + 63) / 64 * 64);
  };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Level& level = w.levels[i];
    level.plan = plan[i];
    const Size size = plan[i].size;
    const Grid grid(size, model_.bins(), model_.descriptor.pattern_bins());
    level.grid = grid;
    level.real = real[i];
    level.is_real = real[i] == static_cast<int>(i);
    level.layout = {};
    if (level.is_real) {
      const Size source = plan[i].octave == 0 ? frame
                                              : Size{w.octaves[plan[i].octave - 1].width(),
                                                     w.octaves[plan[i].octave - 1].height()};
      level.resizer =
          std::make_unique<Resizer>(source, size, plan[i].scale / std::ldexp(1.0, plan[i].octave));
      level.edges = CellEdges(grid);
      level.layout.images = take(next.images, PaddedImage::bytes_for(size));
      level.layout.votes =
          take(next.votes, static_cast<std::int64_t>(votes_stride(size.width)) * size.height);
    } else {
      level.resizer = nullptr;
      level.edges = CellEdges(grid, plan[real[i]].size, plan[i].scale / plan[real[i]].scale);
    }
    level.windows_x = grid.cells_x - model_.window.cells_x + 1;
    level.windows_y = grid.cells_y - model_.window.cells_y + 1;
    const auto pitch = static_cast<std::size_t>(grid.pitch());
    const auto scores = pitch * level.windows_y;
    if (exact) {
      level.layout.features =
          take(next.features, static_cast<std::int64_t>(grid.features_row() / 4) * grid.blocks_y());
      level.scores.resize(scores);
      if (screens_) level.components.resize(Screen::kPairs * pitch * grid.blocks_y());
      if (model_.classifier == ClassifierKind::distance)
        level.scratch.resize(scores + pitch * grid.blocks_y());
    }
    if (describes_in_float()) {
      const auto cells = static_cast<std::size_t>(grid.cells_x) * grid.cells_y;
      level.responses.resize(size.width, size.height);
      level.indices.resize(size.width, size.height);
      level.float_histograms.resize(cells * (model_.bins() + model_.descriptor.pattern_bins()));
      if (!exact)
        level.float_features.resize(cells * model_.descriptor.block_features(model_.dictionary.size()));
      if (!exact) level.float_scores.resize(scores);
    }
  }
  w.images.plan(next.images);
  w.votes.plan(next.votes * 4);
  w.features.plan(next.features * 4);
}

// The work of a frame is the pixels of its levels, the largest level first. A share ends inside a level at a
// row of windows; only there do neighbouring shares compute some rows both, those that windows of either side
// see.
void FilterbankDetector::plan_share(FilterbankWorkspace& w, Share share) const {
  double pixels = 0;
  for (const Level& level : w.levels)
    pixels += static_cast<double>(level.plan.size.width) * level.plan.size.height;
  double done = 0;
  for (auto* bands : {&w.image_bands, &w.filter_bands, &w.cell_bands, &w.block_bands, &w.window_bands})
    bands->clear();
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    Level& level = w.levels[i];
    const double own = static_cast<double>(level.plan.size.width) * level.plan.size.height;
    const auto row_at = [&](double part) {
      return static_cast<int>(
          std::lround(std::clamp((part * pixels - done) / own, 0.0, 1.0) * level.windows_y));
    };
    level.windows = {row_at(share.begin), row_at(share.end)};
    done += own;
  }
  plan_rows(w.levels, model_.window, model_.descriptor.patch);
  for (std::size_t i = 0; i < w.levels.size(); ++i) {
    const LevelRows& rows = w.levels[i].rows;
    const int index = static_cast<int>(i);
    add_bands(w.image_bands, index, rows.image, kImageRows);
    add_bands(w.filter_bands, index, rows.votes, kImageRows);
    add_bands(w.cell_bands, index, rows.cells, kCellRows);
    add_bands(w.block_bands, index, rows.blocks, kBlockRows);
    add_bands(w.window_bands, index, w.levels[i].windows, kWindowRows);
  }
  w.band_candidates.resize(w.window_bands.size());
  w.share = share;
}

void FilterbankWorkspace::bind_images() {
  auto* const memory = reinterpret_cast<std::uint8_t*>(images.data());
  for (Level& level : levels) {
    if (level.is_real) level.image.bind(memory + level.layout.images, level.plan.size);
  }
}

void FilterbankWorkspace::bind_votes() {
  auto* const memory = reinterpret_cast<std::uint32_t*>(votes.data());
  for (Level& level : levels) {
    if (!level.is_real) continue;
    level.votes.bind(memory + level.layout.votes, level.plan.size, votes_stride(level.plan.size.width));
  }
}

void FilterbankWorkspace::bind_features() {
  auto* const memory = reinterpret_cast<std::uint8_t*>(features.data());
  for (Level& level : levels) {
    level.features.bind(memory + 4 * level.layout.features,
                        level.grid.features_row() * level.grid.blocks_y());
  }
}

void FilterbankDetector::build_pyramid(FilterbankWorkspace& w) const {
  const GrayView frame = luma_of_frame(w);
  GrayView source = frame;
  for (Image<std::uint8_t>& octave : w.octaves) {
    const ImageView<std::uint8_t> target = octave.view();
    for_each_band(target.height(), w, [&](int begin, int end) { halve(source, target, begin, end); });
    source = target;
  }
  w.bind_images();
  for_each(w.image_bands, w, [&](Level& level, const Band& band) {
    const GrayView from =
        level.plan.octave == 0 ? frame : std::as_const(w.octaves[level.plan.octave - 1]).view();
    level.resizer->run(from, level.image.view(), band.begin, band.end);
    level.image.fill_border(band.begin, band.end);
  });
}

void FilterbankDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  FilterbankWorkspace& w = own(workspace);
  switch (stage) {
    case kPyramid:
      build_pyramid(w);
      break;
    case kFilter:
      w.bind_images();
      if (describes_in_float()) {
        for_each(w.filter_bands, w, [&](Level& level, const Band& band) { filter_in_float(level, band); });
        break;
      }
      w.bind_votes();
      for_each(w.filter_bands, w, [&](Level& level, const Band& band) { filter_band(level, band); });
      break;
    case kHistogram:
      if (describes_in_float()) {
        describe_in_float(w);
        break;
      }
      w.bind_votes();
      w.bind_features();
      for_each(w.block_bands, w, [&](Level& level, const Band& band) { describe_band(w, level, band); });
      w.projected = screens_;
      break;
    case kClassify:
      if (options_.arithmetic == Arithmetic::exact) w.bind_features();
      if (screens_ && !w.projected) project(w);
      classify(w);
      break;
    case kGroup:
      group(w);
      break;
    default:
      throw Error(ExitCode::failed, "the filter-bank detector has no stage " + std::to_string(stage));
  }
}

void FilterbankDetector::filter_band(Level& level, const Band& band) const {
  const GrayView image = std::as_const(level.image).view();
  const Signs signs = model_.descriptor.contrast_sensitive ? Signs::apart : Signs::together;
  filter_rows(image, model_.dictionary, signs, band.begin, band.end, level.votes.view());
  if (model_.descriptor.patterns) add_patterns(image, band.begin, band.end, level.votes.view());
}

void FilterbankDetector::filter_in_float(Level& level, const Band& band) const {
  const GrayView image = std::as_const(level.image).view();
  const auto filter = model_.descriptor.standard() ? filter_rows_float : filter_rows_signed;
  filter(image, model_.dictionary, band.begin, band.end, level.responses.view(), level.indices.view());
}

void FilterbankDetector::describe_in_float(FilterbankWorkspace& w) const {
  const bool rounded = options_.arithmetic == Arithmetic::exact;
  if (rounded) w.bind_features();
  for_each(w.cell_bands, w, [&](Level& level, const Band& band) {
    for (int y = band.begin; y < band.end; ++y) float_method::histogram_row(level, model_, y);
  });
  for_each(w.block_bands, w, [&](Level& level, const Band& band) {
    for (int y = band.begin; y < band.end; ++y)
      (rounded ? float_method::quantise_row : float_method::normalise_row)(level, model_, y);
  });
}

// Cell histograms go straight into block features while they are in the cache: written out, a frame's
// histograms would be as large as its features, and memory the limit.
void FilterbankDetector::describe_band(FilterbankWorkspace& w, Level& level, const Band& band) const {
  const Grid& grid = level.grid;
  const auto pitch = static_cast<std::size_t>(grid.pitch());
  const auto rows = static_cast<std::size_t>(band.end - band.begin) + 1;
  CellScratch& scratch = w.scratch.local();
  const std::size_t roots = grid.roots_row() * rows + kLanePad;
  if (roots > scratch.roots.size()) {  // normalise_row reads a little more than has been written
    scratch.roots.resize(roots);
    std::fill_n(scratch.roots.data(), roots, 0.0F);
  }
  scratch.totals.resize(pitch * rows + kLanePad);
  const auto make_cells = [&](std::size_t i) {
    histogram_row(std::as_const(w.levels[level.real].votes).view(), level.edges, grid,
                  band.begin + static_cast<int>(i), scratch.roots.data() + i * grid.roots_row(),
                  scratch.totals.data() + i * pitch);
  };
  make_cells(0);
  for (std::size_t i = 0; i + 1 < rows; ++i) {
    make_cells(i + 1);
    const auto y = static_cast<std::size_t>(band.begin) + i;
    std::uint8_t* const features = level.features.data() + y * grid.features_row();
    const float* const roots_above = scratch.roots.data() + i * grid.roots_row();
    const std::int32_t* const totals_above = scratch.totals.data() + i * pitch;
    if (screens_) {
      normalise_and_project_row(roots_above, totals_above, grid, model_.epsilon, screen_, features,
                                level.components.data() + y * Screen::kPairs * pitch);
    } else {
      normalise_row(roots_above, totals_above, grid, model_.epsilon, features);
    }
  }
}

// Where the features come from elsewhere.
void FilterbankDetector::project(FilterbankWorkspace& w) const {
  for_each(w.block_bands, w, [&](Level& level, const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      project_row(
          level.features.data() + y * level.grid.features_row(), level.grid, screen_,
          level.components.data() + static_cast<std::ptrdiff_t>(y) * Screen::kPairs * level.grid.pitch());
    }
  });
  w.projected = true;
}

void FilterbankDetector::classify(FilterbankWorkspace& w) const {
  const bool exact = options_.arithmetic == Arithmetic::exact;
  if (exact && model_.classifier == ClassifierKind::distance) {
    for_each(w.block_bands, w, [&](Level& level, const Band& band) {
      const std::size_t offset = static_cast<std::size_t>(level.grid.pitch()) * level.windows_y;
      for (int y = band.begin; y < band.end; ++y) {
        block_energies(level.features.data() + y * level.grid.features_row(), level.grid,
                       level.scratch.data() + offset + static_cast<std::ptrdiff_t>(y) * level.grid.pitch());
      }
    });
  }
  parallel_for_isolated(
      w.window_bands.size(),
      [&](std::size_t i) {
        const Band& band = w.window_bands[i];
        Level& level = w.levels[band.level];
        if (exact) {
          classify_band(level, band.begin, band.end);
        } else {
          for (int y = band.begin; y < band.end; ++y) float_method::classify_row(level, model_, y);
        }
        w.band_candidates[i].clear();
        collect_candidates(level, band, w.band_candidates[i]);
      },
      &w.work);
  w.candidates.clear();
  for (const std::vector<Candidate>& found : w.band_candidates)
    w.candidates.insert(w.candidates.end(), found.begin(), found.end());
}

void FilterbankDetector::collect_candidates(const Level& level, const Band& band,
                                            std::vector<Candidate>& found) const {
  const bool exact = options_.arithmetic == Arithmetic::exact;
  for (int y = band.begin; y < band.end; ++y) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * level.grid.pitch();
    for (int x = 0; x < level.windows_x; ++x) {
      if (exact ? level.scores[row + x] >= raw_threshold_
                : level.float_scores[row + x] >= options_.threshold) {
        found.push_back({band.level, x, y, score(level, x, y)});
      }
    }
  }
}

void FilterbankDetector::classify_band(Level& level, int y_begin, int y_end) const {
  if (model_.classifier == ClassifierKind::distance) {
    classify_band_by_distance(level, y_begin, y_end);
    return;
  }
  const int pitch = level.grid.pitch();
  std::fill(level.scores.data() + static_cast<std::ptrdiff_t>(y_begin) * pitch,
            level.scores.data() + static_cast<std::ptrdiff_t>(y_end) * pitch, 0);
  if (!screens_) {
    classify_rows(level.features.data(), level.grid, weights_[0], y_begin, y_end, level.scores.data());
    return;
  }
  screen_rows(level.components.data(), level.grid, screen_, y_begin, y_end, level.scores.data());
  for (int y = y_begin; y < y_end; ++y) classify_row(level, y);
}

// A row of windows that have been screened: what is not rejected, a few neighbours at a time.
void FilterbankDetector::classify_row(Level& level, int y) const {
  std::int32_t* const scores = level.scores.data() + static_cast<std::ptrdiff_t>(y) * level.grid.pitch();
  int columns[kWindowsAtOnce];
  std::size_t count = 0;
  const auto finish = [&] {
    std::int32_t sums[kWindowsAtOnce];
    classify_windows(level.features.data(), level.grid, weights_[0], {columns, count}, y, sums);
    for (std::size_t i = 0; i < count; ++i) scores[columns[i]] = sums[i];
    count = 0;
  };
  for (int x = 0; x < level.windows_x; ++x) {
    if (scores[x] < screen_threshold_) {
      scores[x] = kRejected;
      continue;
    }
    if (count == kWindowsAtOnce || (count > 0 && x - columns[0] >= kLanePad)) finish();
    columns[count++] = x;
  }
  if (count > 0) finish();
}

double FilterbankDetector::score(const Level& level, int x, int y) const {
  const std::size_t at = static_cast<std::size_t>(y) * level.grid.pitch() + x;
  if (options_.arithmetic == Arithmetic::floating_point) return level.float_scores[at];
  return score_of(level.scores[at]);
}

Box FilterbankDetector::box(const Level& level, int x, int y) const {
  const double scale = level.plan.scale;
  return {(x * kCell + model_.object.x) * scale, (y * kCell + model_.object.y) * scale,
          model_.object.width * scale, model_.object.height * scale};
}

void FilterbankDetector::group(FilterbankWorkspace& w) const {
  limit_.keep_best(w.candidates, [](const Candidate& a, const Candidate& b) {
    return std::tie(b.score, a.level, a.y, a.x) < std::tie(a.score, b.level, b.y, b.x);
  });
  std::vector<Detection> candidates;
  candidates.reserve(w.candidates.size());
  for (const Candidate& c : w.candidates)
    candidates.push_back({box(w.levels[c.level], c.x, c.y), c.score, 0});
  w.detections = suppress_non_maxima(std::move(candidates), options_.max_overlap);
}

std::size_t FilterbankDetector::divisible_stages() const {
  return kGroup;
}

void FilterbankDetector::join(Workspace& workspace, Workspace& other) const {
  std::vector<Candidate>& all = own(workspace).candidates;
  const std::vector<Candidate>& more = own(other).candidates;
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
}

std::vector<WorkCount> FilterbankDetector::count_work(PictureView frame) const {
  FilterbankWorkspace w;
  std::int64_t windows = 0, classified = 0;
  if (prepare(w, frame)) {
    score_windows(w);
    for (const Level& level : w.levels) {
      windows += static_cast<std::int64_t>(level.windows_x) * level.windows_y;
      if (!screens()) continue;
      for (int y = 0; y < level.windows_y; ++y) {
        const std::int32_t* const scores =
            level.scores.data() + static_cast<std::ptrdiff_t>(y) * level.grid.pitch();
        classified += level.windows_x - std::count(scores, scores + level.windows_x, kRejected);
      }
    }
  }
  std::vector<WorkCount> counts{{"windows", windows}};
  if (screens()) counts.push_back({"left after the screen", classified});
  counts.push_back({"left after classify", static_cast<std::int64_t>(w.candidates.size())});
  return counts;
}

std::vector<Detection> FilterbankDetector::take_detections(Workspace& workspace) const {
  return std::move(own(workspace).detections);
}

void FilterbankDetector::score_windows(FilterbankWorkspace& workspace) const {
  for (std::size_t stage = kPyramid; stage < kGroup; ++stage) run_stage(stage, workspace);
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

std::optional<CentredWindow> centre_window(GrayView picture, const WindowShape& window) {
  const int left = (picture.width() - window.pixels().width) / 2;
  const int top = (picture.height() - window.pixels().height) / 2;
  if (picture.width() < window.pixels().width || picture.height() < window.pixels().height)
    return std::nullopt;
  const int cut_x = left % kCell;
  const int cut_y = top % kCell;
  const GrayView view(picture.row(cut_y) + cut_x, picture.width() - cut_x, picture.height() - cut_y,
                      picture.stride());
  return CentredWindow{view, left / kCell, top / kCell};
}

std::unique_ptr<FilterbankDetector> make_filterbank_detector(const Config& config) {
  Options options;
  const std::filesystem::path file = config.path("detector", "model", "models/people.safetensors");
  const int max_mebibytes = config.optional_whole_number("detector", "max_model_size", 1, kLargestModelSize)
                                .value_or(kMaxModelSize);
  Model model = load_model(file, config.optional_whole_number("detector", "filters", 1, kMaxFilters),
                           std::uint64_t(max_mebibytes) << 20);
  options.scale_step = config.number("detector", "scale_step", options.scale_step, 1.001, 8);
  options.min_size = config.number("detector", "min_size", 0, 0, 1e6);
  options.max_size = config.number("detector", "max_size", 0, 0, 1e6);
  options.threshold = config.number("detector", "threshold", model.threshold, -1e9, 1e9);
  options.max_candidates = config.optional_whole_number("detector", "max_candidates", 1, kMostCandidates)
                               .value_or(options.max_candidates);
  options.max_overlap = config.number("detector", "max_overlap", options.max_overlap, 0, 1);
  const std::optional<int> real = config.optional_whole_number("detector", "real_levels", 0, 1000);
  const std::optional<double> margin = config.optional_number("detector", "screen_margin", 0, 1e9);
  if (!config.flag("detector", "exact", false)) {
    options.real_levels = real.value_or(kRealLevels);
    options.screen_margin = margin.value_or(kScreenMargin);
  }
  const std::string arithmetic = config.text("detector", "arithmetic", "exact");
  if (arithmetic == "float") {
    options.arithmetic = Arithmetic::floating_point;
  } else if (arithmetic != "exact") {
    throw Error(ExitCode::usage, config.name() + ": arithmetic '" + arithmetic + "' is not known",
                "use 'exact' or 'float'");
  }
  return std::make_unique<FilterbankDetector>(std::move(model), options);
}

}  // namespace sightline::filterbank
