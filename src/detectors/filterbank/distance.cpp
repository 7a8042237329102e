// The second classifier: squared Euclidean distance to the nearest template.
#include <algorithm>

#include "detectors/filterbank/detector.hpp"

namespace sightline::filterbank {

// A small part of the distance classifier's work, and simple enough for the compiler to vectorise.
void block_energies(const std::uint8_t* features, const Grid& grid, std::int32_t* energies) {
  const int pitch = grid.pitch();
  std::fill(energies, energies + pitch, 0);
  for (int quad = 0; quad < grid.quads(); ++quad) {
    for (int x = 0; x < pitch; ++x, features += 4) {
      energies[x] += features[0] * features[0] + features[1] * features[1] + features[2] * features[2] +
                     features[3] * features[3];
    }
  }
}

// -|f - t|^2 = 2 f.t - |t|^2 - |f|^2: one matrix product a template, and the window's energy once.
void FilterbankDetector::classify_band_by_distance(Level& level, int y_begin, int y_end) const {
  const int pitch = level.grid.pitch();
  std::int32_t* const product = level.scratch.data();
  const std::int32_t* const energies = product + static_cast<std::ptrdiff_t>(pitch) * level.windows_y;
  for (int t = 0; t < model_.templates(); ++t) {
    std::fill(product + static_cast<std::ptrdiff_t>(y_begin) * pitch,
              product + static_cast<std::ptrdiff_t>(y_end) * pitch, 0);
    classify_rows(level.features.data(), level.grid, weights_[t], y_begin, y_end, product);
    for (int y = y_begin; y < y_end; ++y) {
      std::int32_t* best = level.scores.data() + static_cast<std::ptrdiff_t>(y) * pitch;
      for (int x = 0; x < level.windows_x; ++x) {
        const std::int32_t value =
            2 * product[static_cast<std::ptrdiff_t>(y) * pitch + x] - template_energies_[t];
        best[x] = t == 0 ? value : std::max(best[x], value);
      }
    }
  }
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = 0; x < level.windows_x; ++x) {
      std::int32_t energy = 0;
      for (int by = 0; by < model_.window.blocks_y(); ++by) {
        const std::int32_t* row = energies + static_cast<std::ptrdiff_t>(y + by) * pitch + x;
        for (int bx = 0; bx < model_.window.blocks_x(); ++bx) energy += row[bx];
      }
      level.scores[static_cast<std::size_t>(y) * pitch + x] -= energy;
    }
  }
}

}  // namespace sightline::filterbank
