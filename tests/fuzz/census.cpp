#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "detectors/census/scan.hpp"
#include "detectors/census/views.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

// Ends the program, as a failed check of memory does, where both forms of the scan do not agree.
void look_at_windows(const census::Model& model) {
  constexpr int kWindows = 3;  // across and down
  const int width = model.window.width + kWindows - 1, height = model.window.height + kWindows - 1;
  PaddedImage image;
  image.resize({width, height});
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) image.view().at(x, y) = static_cast<std::uint8_t>(texture(x, y));
  }
  const WindowTile tile{0, 0, kWindows, kWindows};
  const std::vector<std::int32_t> lowest(model.views.size(), 0);
  std::vector<census::Accepted> expected, got;
  const GrayView pixels = std::as_const(image).view();
  census::reference::scan_tile(model, lowest, pixels, tile, expected);
  census::ScanScratch scratch;
  census::scan_tile(census::PackedModel(model, lowest), pixels, tile, census::PackedModel::kEarlyStages,
                    scratch, got);
  if (got != expected) std::abort();
}

}  // namespace

void census(Bytes bytes) {
  if (bytes.size() > kLargestModel) return;
  const MemoryFile file(bytes);
  try {
    census::looks_like_model(file.path());
    const census::Model model = census::load_model(file.path(), kLargestModel);
    look_at_windows(model);
    look_at_windows(census::with_turned_views(model));
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
