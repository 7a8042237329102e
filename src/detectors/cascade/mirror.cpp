#include "detectors/cascade/mirror.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"

namespace sightline::cascade {
namespace {

// Exchanges the neighbours to the left of the middle with those to its right. Bits 7 to 0 of a pattern are
// the blocks around the middle, clockwise from the top left on.
unsigned mirrored_pattern(unsigned pattern) {
  constexpr std::array<unsigned, 8> kPlaces{4, 3, 2, 1, 0, 7, 6, 5};  // by bit
  unsigned result = 0;
  for (unsigned bit = 0; bit < 8; ++bit) result |= (pattern >> bit & 1U) << kPlaces[bit];
  return result;
}

void mirror_subset(std::uint32_t* subset) {
  std::array<std::uint32_t, kSubsetWords> result{};
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    const unsigned from = mirrored_pattern(pattern);
    result[pattern / 32] |= (subset[from / 32] >> (from % 32) & 1U) << (pattern % 32);
  }
  std::ranges::copy(result, subset);
}

}  // namespace

Model mirrored(Model model) {
  if (model.has_tilted)
    throw Error(ExitCode::model, model.name + ": a cascade with tilted features cannot be mirrored",
                "remove mirrored from the configuration, or use another cascade");
  for (HaarFeature& feature : model.haar) {
    for (Rect& rect : feature.rects) {
      if (rect.width > 0) rect.x = model.window.width - rect.x - rect.width;
    }
  }
  for (Rect& block : model.lbp) block.x = model.window.width - block.x - 3 * block.width;
  for (std::size_t i = 0; i < model.subsets.size(); i += kSubsetWords) mirror_subset(&model.subsets[i]);
  model.name += ", mirrored";
  return model;
}

}  // namespace sightline::cascade
