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

void add_upright(Size window, std::vector<HaarFeature>& features) {
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

// Calls `use` with the first rectangle of a tilted shape: its top corner and the sides of its cells.
template <class Use>
void for_each_tilted(Size window, const Shape& shape, const Use& use) {
  for_each_cell_size(window, shape.columns, shape.rows, [&](Size cell) {
    const int width = shape.columns * cell.width, height = shape.rows * cell.height;
    for (int y = 0; y + width + height <= window.height; ++y) {
      for (int x = height; x + width <= window.width; ++x) use(Rect{x, y, cell.width, cell.height});
    }
  });
}

bool is_striped(const Shape& shape) {
  return shape.columns == 1 || shape.rows == 1;
}

// Sides run down to the right and down to the left.
void add_tilted(Size window, std::vector<HaarFeature>& features) {
  for (const Shape& shape : kShapes) {
    if (!is_striped(shape)) continue;
    for_each_tilted(window, shape, [&](const Rect& cell) {
      const int right = shape.part.x * cell.width, left = shape.part.y * cell.height;
      HaarFeature f;
      f.rects[0] = {cell.x, cell.y, shape.columns * cell.width, shape.rows * cell.height};
      f.rects[1] = {cell.x + right - left, cell.y + right + left, shape.part.width * cell.width,
                    shape.part.height * cell.height};
      f.weights = {-1, shape.weight, 0};
      f.tilted = true;
      features.push_back(f);
    });
  }
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

// The recurrence of image/integral.cpp, in a plane whose row 0 is zero.
void integrate_tilted_block(const training::WindowSamples& samples, std::size_t first, std::size_t count,
                            Size window, std::int32_t* tilted) {
  for (std::size_t s = 0; s < count; ++s) {
    const GrayView pixels = samples.view(first + s);
    const auto at = [&](int x, int y) -> std::int32_t& {
      return tilted[element(window, x, y) + static_cast<std::ptrdiff_t>(s)];
    };
    const auto above = [&](int x, int y) {
      const bool is_inside = x >= 0 && x <= window.width;
      if (!is_inside) --y;
      return y <= 0 ? 0 : at(std::clamp(x, 0, window.width), y);
    };
    const auto pixel = [&](int x, int y) { return x < 0 || y < 0 ? 0 : pixels.at(x, y); };
    for (int y = 1; y <= window.height; ++y) {
      for (int x = 0; x <= window.width; ++x) {
        at(x, y) = above(x - 1, y - 1) + above(x + 1, y - 1) - above(x, y - 2) + pixel(x - 1, y - 1) +
                   pixel(x - 1, y - 2);
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

std::size_t count_features(FeatureKind kind, Size window, bool tilted) {
  if (kind == FeatureKind::lbp) return all_features(kind, window).size();
  std::size_t count = count_grids(window, 2, 2);
  for (const Shape& shape : kShapes) {
    count += count_grids(window, shape.columns, shape.rows);
    if (tilted && is_striped(shape)) for_each_tilted(window, shape, [&](const Rect&) { ++count; });
  }
  return count;
}

FeaturePool all_features(FeatureKind kind, Size window, bool tilted) {
  FeaturePool pool;
  pool.kind = kind;
  pool.window = window;
  if (kind == FeatureKind::haar) {
    add_upright(window, pool.haar);
    pool.has_tilted = tilted;
    if (tilted) add_tilted(window, pool.haar);
  } else {
    for_each_grid(window, 3, 3, [&](const Rect& block) {
      if (block.width * block.height <= kMaxSmallBlock) pool.lbp.push_back(block);
    });
  }
  return pool;
}

void SampleIntegrals::assign(const training::WindowSamples& samples) {
  samples_ = samples.size();
  const std::size_t elements = blocks() * block_elements();
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
  const std::size_t begin = block * block_elements();
  if (kind_ == FeatureKind::lbp) return integrate_block(samples, first, count, window_, &small_sums_[begin]);
  integrate_block(samples, first, count, window_, &sums_[begin]);
  if (planes_ > 1)
    integrate_tilted_block(samples, first, count, window_, &sums_[begin + corners() * kTogether]);
  for (std::size_t i = first; i < first + count; ++i) norms_[i] = norm_of(samples.view(i));
}

void SampleIntegrals::patterns(const Rect& feature, std::size_t block, std::uint8_t* patterns) const {
  PatternCorners corners{};
  for (int i = 0; i < 16; ++i)
    corners.at[i] = element(window_, feature.x + i % 4 * feature.width, feature.y + i / 4 * feature.height);
  take_patterns(corners, small_sums_.data() + block * block_elements(), patterns);
}

void SampleIntegrals::values(const HaarFeature& feature, std::size_t block, float* values) const {
  ValueCorners corners{};
  corners.rects = feature.weights[2] != 0 ? 3 : 2;
  for (int r = 0; r < corners.rects; ++r) {
    const Rect& rect = feature.rects[r];
    for (int c = 0; c < 4; ++c) {
      const int right = c % 2 * rect.width, down = c / 2 * rect.height;
      corners.at[r][c] = feature.tilted ? element(window_, rect.x + right - down, rect.y + right + down)
                                        : element(window_, rect.x + right, rect.y + down);
    }
    corners.weights[r] = feature.weights[r];
  }
  const std::size_t plane = feature.tilted ? this->corners() * kTogether : 0;
  take_values(corners, sums_.data() + block * block_elements() + plane, norms_.data() + block * kTogether,
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
