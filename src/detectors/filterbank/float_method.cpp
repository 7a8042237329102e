// The method as published, in floating point, with any descriptor. Sums run in a fixed order, so results do
// not depend on threads; they do depend on the instruction set in the last bits, where the filter stage fuses
// multiply and add.
#include <algorithm>
#include <cmath>
#include <utility>

#include "detectors/filterbank/float_method.hpp"
#include "image/lbp.hpp"

namespace sightline::filterbank::float_method {
namespace {

// A cell's histogram: the filters' bins, then the patterns'.
int cell_bins(const Model& model) {
  return model.bins() + model.descriptor.pattern_bins();
}
int block_features(const Model& model) {
  return model.descriptor.block_features(model.dictionary.size());
}

// The histograms of a block's cells.
struct BlockCells {
  BlockCells(const Level& level, const Model& model, int x, int y) {
    const int bins = cell_bins(model);
    for (int cell = 0; cell < kBlockCells; ++cell) {
      histograms[cell] = level.float_histograms.data() +
                         (static_cast<std::size_t>(y + cell / 2) * level.grid.cells_x + x + cell % 2) * bins;
    }
  }
  const float* histograms[kBlockCells];
};

void add_patterns(GrayView image, int left, int top, float* counts) {
  for (int y = top; y < top + kCell; ++y) {
    for (int x = left; x < left + kCell; ++x) ++counts[uniform_lbp(image, x, y)];
  }
}

// Divisor of a block's values.
float block_norm(const BlockCells& block, const Model& model) {
  const int bins = model.bins();
  const float epsilon = normalisation_epsilon(model.epsilon);
  if (model.descriptor.normalisation != Normalisation::l2) {
    float sum = epsilon;
    for (const float* cell : block.histograms) {
      for (int bin = 0; bin < bins; ++bin) sum += cell[bin];
    }
    return sum;
  }
  float squares = epsilon * epsilon;
  for (const float* cell : block.histograms) {
    for (int bin = 0; bin < bins; ++bin) squares += cell[bin] * cell[bin];
  }
  return std::sqrt(squares);
}

// The features of one cell of a block with that norm, as shares of full scale.
void normalise_cell(const float* histogram, int bins, float norm, Normalisation normalisation, float* out) {
  switch (normalisation) {
    case Normalisation::l1_sqrt:
      for (int bin = 0; bin < bins; ++bin) out[bin] = std::sqrt(histogram[bin] / norm);
      break;
    case Normalisation::l1:
      for (int bin = 0; bin < bins; ++bin) out[bin] = std::min(kL1Gain * (histogram[bin] / norm), kL1Largest);
      break;
    case Normalisation::l2:
      for (int bin = 0; bin < bins; ++bin) out[bin] = histogram[bin] / norm;
      break;
  }
}

}  // namespace

void histogram_row(Level& level, const Model& model, int cell_y) {
  const int bins = cell_bins(model);
  const GrayView image = std::as_const(level.image).view();
  const int below_zero = model.descriptor.contrast_sensitive() ? model.dictionary.size() : 0;
  for (int cell_x = 0; cell_x < level.grid.cells_x; ++cell_x) {
    float* histogram = level.float_histograms.data() +
                       (static_cast<std::size_t>(cell_y) * level.grid.cells_x + cell_x) * bins;
    std::fill(histogram, histogram + bins, 0.0F);
    for (int y = cell_y * kCell; y < (cell_y + 1) * kCell; ++y) {
      for (int x = cell_x * kCell; x < (cell_x + 1) * kCell; ++x) {
        const float response = level.responses.view().at(x, y);
        histogram[level.indices.view().at(x, y) + (response < 0 ? below_zero : 0)] += std::fabs(response);
      }
    }
    if (model.descriptor.patterns)
      add_patterns(image, cell_x * kCell, cell_y * kCell, histogram + model.bins());
  }
}

// The exact method's epsilon is in units of the 8-bit dictionary, whose filters are about 135 times unit
// length.
float normalisation_epsilon(int epsilon) {
  return static_cast<float>(epsilon) / 135.0F + 1e-6F;
}

void normalise_row(Level& level, const Model& model, int block_y) {
  const Grid& grid = level.grid;
  const int bins = model.bins();
  for (int x = 0; x < grid.blocks_x(); ++x) {
    const BlockCells block(level, model, x, block_y);
    const float norm = block_norm(block, model);
    float* out = level.float_features.data() +
                 (static_cast<std::size_t>(block_y) * grid.cells_x + x) * block_features(model);
    for (const float* cell : block.histograms) {
      normalise_cell(cell, bins, norm, model.descriptor.normalisation, out);
      out += bins;
    }
    for (int pattern = 0; pattern < model.descriptor.pattern_bins(); ++pattern)
      out[pattern] = std::sqrt(block.histograms[0][bins + pattern] / (kCell * kCell));
  }
}

void quantise_row(Level& level, const Model& model, int block_y) {
  const Grid& grid = level.grid;
  const int bins = model.bins();
  const std::ptrdiff_t quad_size = std::ptrdiff_t{4} * grid.pitch();
  std::uint8_t* const row = level.features.data() + block_y * grid.features_row();
  std::fill_n(row, grid.features_row(), std::uint8_t{0});
  float features[2 * kMaxFilters];
  for (int x = 0; x < grid.blocks_x(); ++x) {
    const BlockCells block(level, model, x, block_y);
    const float norm = block_norm(block, model);
    std::uint8_t* out = row + std::ptrdiff_t{4} * x;
    for (const float* cell : block.histograms) {
      normalise_cell(cell, bins, norm, model.descriptor.normalisation, features);
      for (int bin = 0; bin < bins; ++bin)
        out[bin / 4 * quad_size + bin % 4] = static_cast<std::uint8_t>(255.0F * features[bin] + 0.5F);
      out += grid.bins / 4 * quad_size;
    }
  }
}

void classify_row(Level& level, const Model& model, int window_y) {
  const int block_size = block_features(model);
  const std::size_t row = static_cast<std::size_t>(level.grid.cells_x) * block_size;
  const std::size_t weights_row = static_cast<std::size_t>(model.window.blocks_x()) * block_size;
  for (int x = 0; x < level.windows_x; ++x) {
    double best = 0;
    for (int t = 0; t < model.templates(); ++t) {
      const std::int8_t* weight = model.weights.data() + t * model.weights_per_template();
      double raw = 0;
      for (int by = 0; by < model.window.blocks_y(); ++by, weight += weights_row) {
        const float* feature =
            level.float_features.data() + (window_y + by) * row + static_cast<std::size_t>(x) * block_size;
        double sum = 0;
        for (std::size_t i = 0; i < weights_row; ++i) {
          const double value = 255.0 * feature[i];
          sum += model.classifier == ClassifierKind::linear ? weight[i] * value
                                                            : -(value - weight[i]) * (value - weight[i]);
        }
        raw += sum;
      }
      best = t == 0 ? raw : std::max(best, raw);
    }
    level.float_scores[static_cast<std::size_t>(window_y) * level.grid.pitch() + x] =
        (best + static_cast<double>(model.bias)) * model.scale;
  }
}

}  // namespace sightline::filterbank::float_method
