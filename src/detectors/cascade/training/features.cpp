#include "detectors/cascade/training/features.hpp"

#include <cmath>

#include "base/parallel.hpp"
#include "image/integral.hpp"

namespace sightline::cascade {
namespace {

// Calls `use` with the sizes of cells of which `columns` x `rows` lie in the window.
template <class Use>
void for_each_cell_size(Size window, int columns, int rows, const Use& use) {
  for (int height = 1; height * rows <= window.height; ++height) {
    for (int width = 1; width * columns <= window.width; ++width) use(Size{width, height});
  }
}

// Calls `use` with every such rectangle, by its upper left cell.
template <class Use>
void for_each_grid(Size window, int columns, int rows, const Use& use) {
  for_each_cell_size(window, columns, rows, [&](Size cell) {
    for (int y = 0; y + cell.height * rows <= window.height; ++y) {
      for (int x = 0; x + cell.width * columns <= window.width; ++x) use(Rect{x, y, cell.width, cell.height});
    }
  });
}

std::size_t count_grids(Size window, int columns, int rows) {
  std::size_t count = 0;
  for_each_cell_size(window, columns, rows, [&](Size cell) {
    count += static_cast<std::size_t>(window.width - cell.width * columns + 1) *
             static_cast<std::size_t>(window.height - cell.height * rows + 1);
  });
  return count;
}

// The whole counts -1, a part of it so much that both cancel where all is alike.
struct Shape {
  int columns, rows;
  Rect part;  // part in cells
  float weight;
};
constexpr Shape kShapes[] = {
    {2, 1, {1, 0, 1, 1}, 2}, {1, 2, {0, 1, 1, 1}, 2}, {3, 1, {1, 0, 1, 1}, 3}, {1, 3, {0, 1, 1, 1}, 3},
    {4, 1, {1, 0, 2, 1}, 2}, {1, 4, {0, 1, 1, 2}, 2}, {3, 3, {1, 1, 1, 1}, 9},
};

void add_haar(Size window, std::vector<HaarFeature>& features) {
  for (const Shape& shape : kShapes) {
    for_each_grid(window, shape.columns, shape.rows, [&](const Rect& cell) {
      HaarFeature f;
      f.rects[0] = {cell.x, cell.y, shape.columns * cell.width, shape.rows * cell.height};
      f.rects[1] = {cell.x + shape.part.x * cell.width, cell.y + shape.part.y * cell.height,
                    shape.part.width * cell.width, shape.part.height * cell.height};
      f.weights = {-1, shape.weight, 0};
      features.push_back(f);
    });
  }
  for_each_grid(window, 2, 2, [&](const Rect& cell) {
    HaarFeature f;
    f.rects[0] = {cell.x, cell.y, 2 * cell.width, 2 * cell.height};
    f.rects[1] = cell;
    f.rects[2] = {cell.x + cell.width, cell.y + cell.height, cell.width, cell.height};
    f.weights = {-1, 2, 2};
    features.push_back(f);
  });
}

std::int32_t element(Size window, int x, int y) {
  return (y * (window.width + 1) + x) * static_cast<std::int32_t>(kTogether);
}

// Row and column 0 are zero and stay so.
template <typename Sum>
void integrate_block(const training::WindowSamples& samples, std::size_t first, std::size_t count,
                     Size window, Sum* sums) {
  for (std::size_t s = 0; s < count; ++s) {
    const GrayView pixels = samples.view(first + s);
    for (int y = 0; y < window.height; ++y) {
      Sum row = 0;
      for (int x = 0; x < window.width; ++x) {
        row = static_cast<Sum>(row + pixels.at(x, y));
        sums[element(window, x + 1, y + 1) + static_cast<std::ptrdiff_t>(s)] =
            static_cast<Sum>(row + sums[element(window, x + 1, y) + static_cast<std::ptrdiff_t>(s)]);
      }
    }
  }
}

// Same as the detector's; 0 for flat windows.
float norm_of(GrayView pixels) {
  std::int32_t sum = 0;
  std::uint32_t squares = 0;
  for (int y = 1; y + 1 < pixels.height(); ++y) {
    for (int x = 1; x + 1 < pixels.width(); ++x) {
      sum += pixels.at(x, y);
      squares += static_cast<std::uint32_t>(pixels.at(x, y)) * pixels.at(x, y);
    }
  }
  const double area = (pixels.width() - 2) * (pixels.height() - 2);
  const double variance = area * squares - static_cast<double>(sum) * sum;
  if (!(variance > 0)) return 0;
  const auto norm = static_cast<float>(1.0 / std::sqrt(variance));
  return area * static_cast<double>(norm) < 1e-1 ? norm : 0;
}

}  // namespace

std::size_t count_features(FeatureKind kind, Size window) {
  if (kind == FeatureKind::lbp) return all_features(kind, window).size();
  std::size_t count = count_grids(window, 2, 2);
  for (const Shape& shape : kShapes) count += count_grids(window, shape.columns, shape.rows);
  return count;
}

FeaturePool all_features(FeatureKind kind, Size window) {
  FeaturePool pool;
  pool.kind = kind;
  pool.window = window;
  if (kind == FeatureKind::haar) {
    add_haar(window, pool.haar);
  } else {
    for_each_grid(window, 3, 3, [&](const Rect& block) {
      if (block.width * block.height <= kMaxSmallBlock) pool.lbp.push_back(block);
    });
  }
  return pool;
}

void SampleIntegrals::assign(const training::WindowSamples& samples) {
  samples_ = samples.size();
  const std::size_t elements = blocks() * corners() * kTogether;
  if (kind_ == FeatureKind::lbp) {
    small_sums_.assign(elements, 0);
  } else {
    sums_.assign(elements, 0);
    norms_.assign(blocks() * kTogether, 0);
  }
  parallel_for_isolated(blocks(), [&](std::size_t block) { integrate(samples, block); });
}

void SampleIntegrals::integrate(const training::WindowSamples& samples, std::size_t block) {
  const std::size_t first = block * kTogether, count = std::min(kTogether, samples_ - first);
  const std::size_t begin = block * corners() * kTogether;
  if (kind_ == FeatureKind::lbp) return integrate_block(samples, first, count, window_, &small_sums_[begin]);
  integrate_block(samples, first, count, window_, &sums_[begin]);
  for (std::size_t i = first; i < first + count; ++i) norms_[i] = norm_of(samples.view(i));
}

void SampleIntegrals::patterns(const Rect& feature, std::size_t block, std::uint8_t* patterns) const {
  PatternCorners corners{};
  for (int i = 0; i < 16; ++i)
    corners.at[i] = element(window_, feature.x + i % 4 * feature.width, feature.y + i / 4 * feature.height);
  take_patterns(corners, small_sums_.data() + block * this->corners() * kTogether, patterns);
}

void SampleIntegrals::values(const HaarFeature& feature, std::size_t block, float* values) const {
  ValueCorners corners{};
  corners.rects = feature.weights[2] != 0 ? 3 : 2;
  for (int r = 0; r < corners.rects; ++r) {
    const Rect& rect = feature.rects[r];
    for (int c = 0; c < 4; ++c)
      corners.at[r][c] = element(window_, rect.x + c % 2 * rect.width, rect.y + c / 2 * rect.height);
    corners.weights[r] = feature.weights[r];
  }
  take_values(corners, sums_.data() + block * this->corners() * kTogether, norms_.data() + block * kTogether,
              values);
}

namespace reference {

void take_patterns(const PatternCorners& corners, const std::uint16_t* sums, std::uint8_t* patterns) {
  constexpr int kRing[8] = {0, 1, 2, 6, 10, 9, 8, 4};  // clockwise from the upper left block, as corners
  for (std::size_t s = 0; s < kTogether; ++s) {
    const auto block = [&](int c) {
      const auto at = [&](int i) { return sums[corners.at[i] + static_cast<std::ptrdiff_t>(s)]; };
      return static_cast<std::uint16_t>(at(c) - at(c + 1) - at(c + 4) + at(c + 5));
    };
    const std::uint16_t middle = block(5);
    unsigned pattern = 0;
    for (const int c : kRing) pattern = pattern * 2 + (block(c) >= middle ? 1 : 0);
    patterns[s] = static_cast<std::uint8_t>(pattern);
  }
}

void take_values(const ValueCorners& corners, const std::int32_t* sums, const float* norms, float* values) {
  for (std::size_t s = 0; s < kTogether; ++s) {
    float value = 0;
    for (int r = 0; r < corners.rects; ++r) {
      const auto at = [&](int c) { return sums[corners.at[r][c] + static_cast<std::ptrdiff_t>(s)]; };
      value += corners.weights[r] * static_cast<float>(at(0) - at(1) - at(2) + at(3));
    }
    values[s] = value * norms[s];
  }
}

ValueRange range_of(const float* values, std::size_t count) {
  const auto [lowest, highest] = std::minmax_element(values, values + count);
  return {*lowest, *highest, *highest > *lowest ? 256 / (*highest - *lowest) : 0};
}

void take_bins(const float* values, std::size_t count, const ValueRange& range, std::uint8_t* bins) {
  for (std::size_t i = 0; i < count; ++i) bins[i] = static_cast<std::uint8_t>(range.bin(values[i]));
}

}  // namespace reference
}  // namespace sightline::cascade
