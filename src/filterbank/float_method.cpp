// The method as published, in floating point. Sums run in a fixed order, so results do not depend on threads;
// they do depend on the instruction set in the last bits, where the filter stage fuses multiply and add.
#include <algorithm>
#include <cmath>

#include "filterbank/detector.hpp"

namespace sightline::filterbank::float_method {

void histogram_row(Level& level, int filters, int cell_y) {
  for (int cell_x = 0; cell_x < level.grid.cells_x; ++cell_x) {
    float* histogram = level.float_histograms.data() +
                       (static_cast<std::size_t>(cell_y) * level.grid.cells_x + cell_x) * filters;
    std::fill(histogram, histogram + filters, 0.0F);
    for (int y = cell_y * kCell; y < (cell_y + 1) * kCell; ++y) {
      for (int x = cell_x * kCell; x < (cell_x + 1) * kCell; ++x) {
        histogram[level.indices.view().at(x, y)] += level.responses.view().at(x, y);
      }
    }
  }
}

// The exact form's epsilon is in units of the 8-bit dictionary, whose filters are about 135 times unit
// length.
float normalisation_epsilon(int epsilon) {
  return static_cast<float>(epsilon) / 135.0F + 1e-6F;
}

void normalise_row(Level& level, int filters, int epsilon, int block_y) {
  const Grid& grid = level.grid;
  for (int x = 0; x < grid.blocks_x(); ++x) {
    const float* cells[kBlockCells];
    float sum = normalisation_epsilon(epsilon);
    for (int cell = 0; cell < kBlockCells; ++cell) {
      cells[cell] = level.float_histograms.data() +
                    (static_cast<std::size_t>(block_y + cell / 2) * grid.cells_x + x + cell % 2) * filters;
      for (int bin = 0; bin < filters; ++bin) sum += cells[cell][bin];
    }
    float* out = level.float_features.data() +
                 (static_cast<std::size_t>(block_y) * grid.cells_x + x) * kBlockCells * filters;
    for (const float* cell : cells) {
      for (int bin = 0; bin < filters; ++bin) *out++ = std::sqrt(cell[bin] / sum);
    }
  }
}

void classify_row(Level& level, const Model& model, int window_y) {
  const int block_size = kBlockCells * model.dictionary.size();
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
