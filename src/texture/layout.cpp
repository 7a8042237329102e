#include "texture/layout.hpp"

namespace sightline::texture {

TextureLayout::TextureLayout(const TextureSettings& settings, std::span<const LbpBins> bins, Size frame) {
  const int border = 2 * settings.reach();
  if (frame.width <= border || frame.height <= border) return;
  size = {frame.width - border, frame.height - border};
  if (settings.cell > 0) {
    const auto count = [&](int length) { return (length + settings.cell - 1) / settings.cell; };
    cells = {count(size.width), count(size.height)};
  }
  const auto take = [](std::int64_t& end, std::int64_t wanted) {
    const std::int64_t at = end;
    end += wanted;
    return at;
  };
  for (const LbpBins& one : bins) {
    OperatorLayout& layout = operators.emplace_back();
    layout.bins = one.count();
    layout.label_bytes = layout.bins <= 256 ? 1 : 2;
    layout.bins_at = take(counts, layout.bins);
    if (settings.contrast) layout.contrast_at = take(counts, kContrastValues);
    layout.cells_at = take(counts, std::int64_t{cells.width} * cells.height * layout.bins);
    if (settings.labels) {
      const std::int64_t bytes = std::int64_t{size.width} * size.height * layout.label_bytes;
      layout.labels_at = take(label_bytes, (bytes + 63) / 64 * 64);
    }
  }
}

}  // namespace sightline::texture
