// Reference implementation of every stage in plain scalar code; optimised forms are checked against it.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "detectors/filterbank/kernels.hpp"
#include "image/lbp.hpp"

namespace sightline::filterbank::reference {

void filter_rows(GrayView image, const Dictionary& dictionary, ContrastMode contrast, int y_begin, int y_end,
                 ImageView<std::uint32_t> response_map) {
  const int below_zero = contrast == ContrastMode::sensitive ? dictionary.size() : 0;
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < image.width(); ++x) {
      int best = -1;
      int best_index = 0;
      for (int k = 0; k < dictionary.size(); ++k) {
        const Filter& filter = dictionary.filters()[k];
        int response = 0;
        for (int i = 0; i < kTaps; ++i) response += filter[i] * image.at(x + i % 3 - 1, y + i / 3 - 1);
        if (std::abs(response) > best) {
          best = std::abs(response);
          best_index = response < 0 ? k + below_zero : k;
        }
      }
      response_map.at(x, y) =
          pack_response(static_cast<std::uint32_t>(best), static_cast<std::uint32_t>(best_index));
    }
  }
}

void add_patterns(GrayView image, int y_begin, int y_end, ImageView<std::uint32_t> response_map) {
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < image.width(); ++x)
      response_map.at(x, y) |= std::uint32_t{uniform_lbp(image, x, y)} << 24;
  }
}

void filter_rows_float(GrayView image, const Dictionary& dictionary, ResponseMode mode, int y_begin,
                       int y_end, ImageView<float> responses, ImageView<std::uint8_t> indices) {
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < image.width(); ++x) {
      float best = mode == ResponseMode::magnitude ? -1.0F : 0.0F;
      int best_index = 0;
      for (int k = 0; k < dictionary.size(); ++k) {
        const FloatFilter& filter = dictionary.reference()[k];
        float response = 0;
        for (int i = 0; i < kTaps; ++i) {
          response =
              std::fma(filter[i], static_cast<float>(image.at(x + i % 3 - 1, y + i / 3 - 1)), response);
        }
        if (mode == ResponseMode::magnitude) response = std::fabs(response);
        if (response > best) {
          best = response;
          best_index = k;
        }
      }
      responses.at(x, y) = mode == ResponseMode::value && best < kLeastResponse ? 0.0F : best;
      indices.at(x, y) = static_cast<std::uint8_t>(best_index);
    }
  }
}

void histogram_row(ImageView<const std::uint32_t> response_map, const CellEdges& edges, const Grid& grid,
                   int cell_y, const CellRow& cells) {
  const int top = edges.rows[cell_y];
  const int bottom = edges.rows[cell_y + 1];
  std::fill_n(cells.totals, grid.columns(), 0);
  std::vector<std::int32_t> sums(grid.bins);
  std::vector<std::int32_t> counts(grid.patterns);
  for (int cx = 0; cx < grid.cells_x; ++cx) {
    std::fill(sums.begin(), sums.end(), 0);
    std::fill(counts.begin(), counts.end(), 0);
    std::int32_t total = 0;
    for (int y = top; y < bottom; ++y) {
      for (int x = edges.columns[cx]; x < edges.columns[cx + 1]; ++x) {
        const std::uint32_t packed_response = response_map.at(x, y);
        sums[response_bin(packed_response)] += static_cast<std::int32_t>(response_magnitude(packed_response));
        total += static_cast<std::int32_t>(response_magnitude(packed_response));
        if (grid.patterns > 0) ++counts[response_pattern(packed_response)];
      }
    }
    const int pixels = (edges.columns[cx + 1] - edges.columns[cx]) * (bottom - top);
    const float scale = 64.0F / static_cast<float>(pixels);
    for (int bin = 0; bin < grid.bins; ++bin) {
      cells.roots[cx * grid.bins + bin] = std::sqrt(static_cast<float>(sums[bin]) * scale);
    }
    for (int pattern = 0; pattern < grid.patterns; ++pattern) {
      const float root = std::sqrt(static_cast<float>(counts[pattern]) * scale);
      cells.patterns[cx * grid.patterns + pattern] =
          static_cast<std::uint8_t>(std::min(std::lrint(root * kPatternFactor), 255L));
    }
    cells.totals[cx] = static_cast<std::int32_t>(std::ceil(static_cast<float>(total) * scale));
  }
}

void normalise_row(const CellRow& upper, const CellRow& lower, const Grid& grid, int epsilon,
                   std::uint8_t* features) {
  const int pitch = grid.pitch();
  for (int quad = 0; quad < grid.quads(); ++quad) {
    std::fill_n(features + static_cast<std::ptrdiff_t>(quad) * pitch * 4, grid.columns() * 4,
                std::uint8_t{0});
  }
  for (int x = 0; x < grid.blocks_x(); ++x) {
    const std::int32_t sum =
        upper.totals[x] + upper.totals[x + 1] + lower.totals[x] + lower.totals[x + 1] + epsilon;
    const float factor = sum > 0 ? 255.0F / std::sqrt(static_cast<float>(sum)) : 0.0F;
    const auto put = [&](int feature, std::uint8_t value) {
      features[(static_cast<std::ptrdiff_t>(feature / 4) * pitch + x) * 4 + feature % 4] = value;
    };
    for (int cell = 0; cell < kBlockCells; ++cell) {
      const float* const roots = (cell < 2 ? upper : lower).roots + (x + cell % 2) * grid.bins;
      for (int bin = 0; bin < grid.bins; ++bin) {
        const long value = std::lrint(roots[bin] * factor);
        put(cell * grid.bins + bin, static_cast<std::uint8_t>(std::min(value, 255L)));
      }
    }
    for (int pattern = 0; pattern < grid.patterns; ++pattern)
      put(kBlockCells * grid.bins + pattern, upper.patterns[x * grid.patterns + pattern]);
  }
}

void classify_rows(const std::uint8_t* features, const Grid& grid, const PackedWeights& weights, int y_begin,
                   int y_end, std::int32_t* scores) {
  const int pitch = grid.pitch();
  const WindowShape window = weights.window();
  for (int wy = y_begin; wy < y_end; ++wy) {
    for (int wx = 0; wx <= grid.cells_x - window.cells_x; ++wx) {
      std::int32_t sum = 0;
      for (int by = 0; by < window.blocks_y(); ++by) {
        for (int bx = 0; bx < window.blocks_x(); ++bx) {
          const std::uint8_t* block =
              features + (wy + by) * grid.features_row() + static_cast<std::size_t>(wx + bx) * 4;
          const std::int32_t* words = weights.row(by) + bx * grid.quads();
          for (int quad = 0; quad < grid.quads(); ++quad) {
            for (int i = 0; i < 4; ++i) {
              const auto weight = static_cast<std::int8_t>(words[quad] >> (8 * i));
              sum += weight * block[static_cast<std::size_t>(quad) * pitch * 4 + i];
            }
          }
        }
      }
      scores[static_cast<std::size_t>(wy) * pitch + wx] += sum;
    }
  }
}

void project_row(const std::uint8_t* features, const Grid& grid, const PreRejection& pre_rejection,
                 std::int32_t* components) {
  for (int x = 0; x < grid.columns(); ++x) {
    for (int r = 0; r < PreRejection::kRank; ++r) {
      std::int32_t sum = 0;
      for (int quad = 0; quad < grid.quads(); ++quad) {
        const std::int32_t word = pre_rejection.basis()[quad * PreRejection::kRank + r];
        for (int i = 0; i < 4; ++i) {
          sum += static_cast<std::int8_t>(word >> (8 * i)) *
                 features[(static_cast<std::ptrdiff_t>(quad) * grid.pitch() + x) * 4 + i];
        }
      }
      const std::int32_t component = (sum + (1 << (PreRejection::kShift - 1))) >> PreRejection::kShift;
      std::int32_t& word = components[r / 2 * grid.pitch() + x];
      if (r % 2 == 0) {
        word = component & 0xFFFF;
      } else {
        word = static_cast<std::int32_t>(static_cast<std::uint32_t>(word) |
                                         static_cast<std::uint32_t>(component) << 16);
      }
    }
  }
}

void estimate_rows(const std::int32_t* components, const Grid& grid, const PreRejection& pre_rejection,
                   int y_begin, int y_end, std::int32_t* sums) {
  const WindowShape window = pre_rejection.weights().window();
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x <= grid.cells_x - window.cells_x; ++x) {
      for (int i = 0; i < window.blocks() * PreRejection::kPairs; ++i) {
        const int block = i / PreRejection::kPairs;
        const int row = (y + block / window.blocks_x()) * PreRejection::kPairs + i % PreRejection::kPairs;
        const std::int32_t component =
            components[static_cast<std::ptrdiff_t>(row) * grid.pitch() + x + block % window.blocks_x()];
        const std::int32_t weight = pre_rejection.weights().row(0)[i];
        sums[static_cast<std::ptrdiff_t>(y) * grid.pitch() + x] +=
            static_cast<std::int16_t>(component) * static_cast<std::int16_t>(weight) +
            (component >> 16) * (weight >> 16);
      }
    }
  }
}

}  // namespace sightline::filterbank::reference
