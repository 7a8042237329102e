// The stages of the filter-bank detector on the CPU.
#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "detection/grouping.hpp"
#include "detectors/filterbank/detector.hpp"
#include "detectors/filterbank/float_method.hpp"

namespace sightline::filterbank {
namespace {

constexpr int kNetworkRows = 32;  ///< rows of a band of the network's input
constexpr int kWindowsATask = 4;  ///< windows per task of `verify`

template <typename Work>
void for_each(const std::vector<Band>& bands, FilterbankWorkspace& w, const Work& work) {
  for_each_band(bands, w, [&](const Band& band) { work(w.levels[band.level], band); });
}

// Whether the candidate's pixels are in the level's image: the CPU made it, in memory that no device has, and
// the window is of this workspace's partition.
bool has_image(const FilterbankWorkspace& w, const Candidate& c) {
  const Level& level = w.levels[c.level];
  return w.has_images && level.is_computed && level.windows.contains(c.y);
}

// First pixel of the level's n-th cell in its image, along either axis.
int first_pixel(const Level& level, int cell) {
  return level.first_cell + cell * kCell;
}

}  // namespace

void FilterbankDetector::build_pyramid(FilterbankWorkspace& w) const {
  w.make_octaves();
  w.bind_images();
  for_each(w.image_bands, w, [&](Level& level, const Band& band) {
    level.resizer->run(w.octave(level.plan.octave), level.image.view(), band.begin, band.end);
    level.image.fill_border(band.begin, band.end);
  });
  w.has_images = !w.images.is_bound();
}

void FilterbankDetector::run_stage(std::size_t stage, Workspace& workspace) const {
  auto& w = static_cast<FilterbankWorkspace&>(workspace);
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
      w.bind_response_maps();
      for_each(w.filter_bands, w, [&](Level& level, const Band& band) { filter_band(level, band); });
      break;
    case kHistogram:
      if (describes_in_float()) {
        describe_in_float(w);
        break;
      }
      w.bind_response_maps();
      w.bind_features();
      for_each(w.block_bands, w, [&](Level& level, const Band& band) { describe_band(w, level, band); });
      w.projected = pre_rejects_;
      break;
    case kClassify:
      if (options_.arithmetic == Arithmetic::exact) w.bind_features();
      if (pre_rejects_ && !w.projected) project(w);
      classify(w);
      break;
    case kVerify:
      if (verifies_) verify(w);
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
  const ContrastMode contrast =
      model_.descriptor.contrast_sensitive() ? ContrastMode::sensitive : ContrastMode::insensitive;
  filter_rows(image, model_.dictionary, contrast, band.begin, band.end, level.response_map.view());
  if (model_.descriptor.patterns) add_patterns(image, band.begin, band.end, level.response_map.view());
}

void FilterbankDetector::filter_in_float(Level& level, const Band& band) const {
  const GrayView image = std::as_const(level.image).view();
  const bool by_value = model_.descriptor.signed_value();
  if (by_value || model_.descriptor.standard()) {
    filter_rows_float(image, model_.dictionary, by_value ? ResponseMode::value : ResponseMode::magnitude,
                      band.begin, band.end, level.responses.view(), level.indices.view());
  } else {
    filter_rows_signed(image, model_.dictionary, band.begin, band.end, level.responses.view(),
                       level.indices.view());
  }
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
  const auto response_map = std::as_const(w.levels[level.source_level].response_map).view();
  CellScratch& cells = w.scratch.local();
  cells.resize(grid);
  histogram_row(response_map, level.edges, grid, band.begin, cells.row(band.begin));
  for (int y = band.begin; y < band.end; ++y) {
    histogram_row(response_map, level.edges, grid, y + 1, cells.row(y + 1));
    std::uint8_t* const features = level.features.data() + y * grid.features_row();
    if (pre_rejects_) {
      normalise_and_project_row(
          cells.row(y), cells.row(y + 1), grid, model_.epsilon, pre_rejection_, features,
          level.components.data() + static_cast<std::ptrdiff_t>(y) * PreRejection::kPairs * grid.pitch());
    } else {
      normalise_row(cells.row(y), cells.row(y + 1), grid, model_.epsilon, features);
    }
  }
}

// Projects features that another processor computed.
void FilterbankDetector::project(FilterbankWorkspace& w) const {
  for_each(w.block_bands, w, [&](Level& level, const Band& band) {
    for (int y = band.begin; y < band.end; ++y) {
      project_row(level.features.data() + y * level.grid.features_row(), level.grid, pre_rejection_,
                  level.components.data() +
                      static_cast<std::ptrdiff_t>(y) * PreRejection::kPairs * level.grid.pitch());
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
  const auto classify_windows_of = [&](std::size_t i, std::vector<Candidate>& found) {
    const Band& band = w.window_bands[i];
    Level& level = w.levels[band.level];
    if (exact) {
      classify_band(level, band.begin, band.end);
    } else {
      for (int y = band.begin; y < band.end; ++y) float_method::classify_row(level, model_, y);
    }
    collect_candidates(level, band, found);
  };
  w.classified.run(w.window_bands.size(), w, w.candidates, classify_windows_of);
}

void FilterbankDetector::collect_candidates(const Level& level, const Band& band,
                                            std::vector<Candidate>& found) const {
  const bool exact = options_.arithmetic == Arithmetic::exact;
  for (int y = band.begin; y < band.end; ++y) {
    const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(y) * level.grid.pitch();
    for (int x = 0; x < level.windows_x; ++x) {
      if (exact ? level.scores[row + x] >= raw_threshold_ : level.float_scores[row + x] >= first_threshold_) {
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
  if (!pre_rejects_) {
    classify_rows(level.features.data(), level.grid, weights_[0], y_begin, y_end, level.scores.data());
    return;
  }
  estimate_rows(level.components.data(), level.grid, pre_rejection_, y_begin, y_end, level.scores.data());
  for (int y = y_begin; y < y_end; ++y) classify_row(level, y);
}

// Classifies a row with pre-rejected windows: the remaining ones, a few neighbours at a time.
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
    if (scores[x] < rejection_threshold_) {
      scores[x] = kRejected;
      continue;
    }
    if (count == kWindowsAtOnce || (count > 0 && x - columns[0] >= kLanePad)) finish();
    columns[count++] = x;
  }
  if (count > 0) finish();
}

// In the order of levels, rows and columns, before and after. Neighbours that are not there have been found
// worse, or were rejected on the pre-rejection's estimate.
void FilterbankDetector::keep_peaks(FilterbankWorkspace& w) {
  const std::vector<Candidate>& candidates = w.candidates;
  w.peaks.clear();
  std::array<std::size_t, 3> next{};  // the rows above, of and below: where neighbours are searched from
  for (const Candidate& c : candidates) {
    bool best = true;
    for (int dy = -1; dy <= 1; ++dy) {
      std::size_t& i = next[dy + 1];
      const Candidate first{c.level, c.x - 1, c.y + dy, 0};
      while (i < candidates.size() && candidates[i] < first) ++i;
      for (std::size_t k = i; k < candidates.size(); ++k) {
        const Candidate& other = candidates[k];
        if (other.level != c.level || other.y != c.y + dy || other.x > c.x + 1) break;
        best &= other.score < c.score || (other.score == c.score && !(other < c));
      }
    }
    if (best) w.peaks.push_back(c);
  }
  std::swap(w.candidates, w.peaks);
}

// Input of the network for levels without an image in this workspace: approximated, or computed on another
// processor. Only bands of rows with candidates.
void FilterbankDetector::make_network_input(FilterbankWorkspace& w) const {
  const int height = model_.window.pixels().height;
  w.network_input_bands.clear();
  for (const Candidate& c : w.candidates) {  // ordered by level and row
    if (has_image(w, c)) continue;
    const Size size = w.levels[c.level].plan.size;
    const int top = first_pixel(w.levels[c.level], c.y);
    const int first = top / kNetworkRows;
    const int last = (top + height - 1) / kNetworkRows;
    for (int band = first; band <= last; ++band) {
      const int begin = band * kNetworkRows;
      if (!w.network_input_bands.empty()) {
        const Band& latest = w.network_input_bands.back();
        if (latest.level == c.level && latest.begin >= begin) continue;
      }
      w.levels[c.level].network_input.resize(size.width, size.height);
      w.network_input_bands.push_back({c.level, begin, std::min(begin + kNetworkRows, size.height)});
    }
  }
  if (w.network_input_bands.empty()) return;
  w.make_octaves();
  for_each(w.network_input_bands, w, [&](Level& level, const Band& band) {
    level.resizer->run(w.octave(level.plan.octave), level.network_input.view(), band.begin, band.end);
  });
}

// @param scratch  network_.scratch_bytes()
NetworkSums FilterbankDetector::network_sums(const FilterbankWorkspace& w, const Candidate& c,
                                             std::uint8_t* scratch) const {
  const Level& level = w.levels[c.level];
  const GrayView image = has_image(w, c) ? level.image.view() : level.network_input.view();
  const Size size = network_.window();
  const GrayView window(image.row(first_pixel(level, c.y)) + first_pixel(level, c.x), size.width, size.height,
                        image.stride());
  return run_network(network_, window, scratch);
}

std::size_t FilterbankDetector::choose_windows(FilterbankWorkspace& w) const {
  keep_top_k(w);
  std::sort(w.candidates.begin(), w.candidates.end());
  if (!options_.verify_all) keep_peaks(w);
  return w.candidates.size();
}

void FilterbankDetector::verify(FilterbankWorkspace& w) const {
  const std::size_t count = choose_windows(w);
  if (count == 0) return;
  make_network_input(w);
  const auto verify_some = [&](std::size_t task) {
    AlignedBuffer<std::uint8_t>& scratch = w.network_scratch.local();
    scratch.resize(network_.scratch_bytes());
    const std::size_t end = std::min(count, (task + 1) * kWindowsATask);
    for (std::size_t i = task * kWindowsATask; i < end; ++i) {
      Candidate& c = w.candidates[i];
      take_verdict(network_sums(w, c, scratch.data()), c);
    }
  };
  parallel_for_isolated((count + kWindowsATask - 1) / kWindowsATask, verify_some, &w.work);
  std::erase_if(w.candidates, [&](const Candidate& c) { return c.score < lowest_verified(); });
}

void FilterbankDetector::group(FilterbankWorkspace& w) const {
  keep_top_k(w);
  std::vector<Detection> candidates;
  candidates.reserve(w.candidates.size());
  for (const Candidate& c : w.candidates)
    candidates.push_back({box(w.levels[c.level], c.x, c.y, c.shift), c.score, 0});
  if (refines()) {
    w.detections = merge_boxes(std::move(candidates), options_.max_overlap, {});
    std::erase_if(w.detections, [&](const Detection& one) { return one.score < options_.threshold; });
  } else {
    w.detections = suppress_non_maxima(std::move(candidates), options_.max_overlap);
  }
  options_.calibration.apply_to(w.detections);
  if (!options_.clip) return;
  for (Detection& detection : w.detections) detection.box = clipped(detection.box, w.frame.size());
}

}  // namespace sightline::filterbank
