#include "detectors/waldboost/model.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "detectors/waldboost/model_text.hpp"
#include "memory_file.hpp"
#include "targets.hpp"

namespace sightline::fuzz {
namespace {

// Ends the program, as a failed check of memory does, where a feature leaves the window or a code its table.
void look_at_a_window(const waldboost::Model& model) {
  for (int weak = 0; weak < model.size(); ++weak) {
    const waldboost::Feature& feature = model.features[weak];
    const Size grid = waldboost::grid_of(model.kind, feature);
    std::array<std::uint32_t, waldboost::kBlocks> sums{};
    for (int y = feature.y; y < feature.y + grid.height * feature.block_height; ++y) {
      for (int x = feature.x; x < feature.x + grid.width * feature.block_width; ++x) {
        if (x >= model.window.width || y >= model.window.height) std::abort();
        sums[(y - feature.y) / feature.block_height * grid.width + (x - feature.x) / feature.block_width] +=
            texture(x, y);
      }
    }
    const int code = waldboost::code_of(model.kind, feature, sums);
    if (code < 0 || code >= static_cast<int>(model.table(weak).size())) std::abort();
  }
}

}  // namespace

void waldboost(Bytes bytes) {
  if (bytes.size() > kLargestModel) return;
  const MemoryFile file(bytes);
  try {
    waldboost::looks_like_model(file.path());
    const waldboost::Model model = waldboost::load_model(file.path(), kLargestModel);
    look_at_a_window(model);
    waldboost::model_text(file.path(), model);
  } catch (const Error&) {
  }
}

}  // namespace sightline::fuzz
