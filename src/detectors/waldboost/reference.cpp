// The scan in plain scalar code: what all other forms are checked against.
#include "detectors/waldboost/scan.hpp"

namespace sightline::waldboost::reference {

int code(FeatureKind kind, const Feature& f, GrayView image, int x, int y) {
  const Size grid = grid_of(kind, f);
  std::array<std::uint32_t, kBlocks> sums{};
  for (int row = 0; row < grid.height * f.block_height; ++row) {
    for (int column = 0; column < grid.width * f.block_width; ++column)
      sums[row / f.block_height * grid.width + column / f.block_width] +=
          image.at(x + f.x + column, y + f.y + row);
  }
  return code_of(kind, f, sums);
}

WindowResult run_window(const Model& model, GrayView image, int x, int y) {
  WindowResult result;
  for (; result.passed < model.size(); ++result.passed) {
    const int t = result.passed;
    result.sum += model.table(t)[code(model.kind, model.features[t], image, x, y)];
    if (result.sum < model.thresholds[t]) break;
  }
  return result;
}

void scan_tile(const Model& model, GrayView image, const Tile& tile, std::int32_t lowest,
               std::vector<Accepted>& accepted, std::span<std::int64_t> left) {
  for (int y = tile.y; y < tile.y + tile.rows; ++y) {
    for (int x = tile.x; x < tile.x + tile.columns; ++x) {
      const WindowResult result = run_window(model, image, x, y);
      for (int t = 0; t < result.passed && !left.empty(); ++t) ++left[t];
      if (result.passed == model.size() && result.sum >= lowest) accepted.push_back({x, y, result.sum});
    }
  }
}

}  // namespace sightline::waldboost::reference
