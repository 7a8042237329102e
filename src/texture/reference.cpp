#include "texture/reference.hpp"

#include "texture/layout.hpp"

namespace sightline::texture {

void count_by_definition(const TextureSettings& settings, GrayView frame, TextureOutput& output) {
  std::vector<LbpBins> all_bins;
  for (const LbpOperator& one : settings.operators) all_bins.emplace_back(one.points(), settings.mapping);
  const TextureLayout layout(settings, all_bins, frame.size());
  const int reach = settings.reach();
  output.size = layout.size;
  output.cells = layout.cells;
  output.operators.clear();
  for (std::size_t i = 0; i < layout.operators.size(); ++i) {
    const LbpOperator& one = settings.operators[i];
    const LbpBins& bins = all_bins[i];
    const auto count = static_cast<std::size_t>(bins.count());
    OperatorCounts& counts = output.operators.emplace_back();
    counts.bins.resize(count);
    counts.cells.resize(static_cast<std::size_t>(layout.cells.width) * layout.cells.height * count);
    if (settings.contrast) counts.contrast.resize(kContrastValues);
    if (settings.labels) {
      layout.operators[i].label_bytes == 1 ? counts.labels8.resize(layout.size.width, layout.size.height)
                                           : counts.labels16.resize(layout.size.width, layout.size.height);
    }
    for (int y = 0; y < layout.size.height; ++y) {
      for (int x = 0; x < layout.size.width; ++x) {
        const int bin = bins.bin(one.code(frame, x + reach, y + reach));
        ++counts.bins[static_cast<std::size_t>(bin)];
        if (settings.cell > 0) {
          const int cell = y / settings.cell * layout.cells.width + x / settings.cell;
          ++counts.cells[static_cast<std::size_t>(cell) * count + static_cast<std::size_t>(bin)];
        }
        if (settings.contrast)
          ++counts.contrast[static_cast<std::size_t>(one.contrast(frame, x + reach, y + reach))];
        if (!settings.labels) continue;
        if (layout.operators[i].label_bytes == 1) {
          counts.labels8.view().at(x, y) = static_cast<std::uint8_t>(bin);
        } else {
          counts.labels16.view().at(x, y) = static_cast<std::uint16_t>(bin);
        }
      }
    }
  }
}

}  // namespace sightline::texture
