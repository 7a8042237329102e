#pragma once
/// Settings of the texture computation.

#include <vector>

#include "image/lbp_operator.hpp"

namespace sightline::texture {

struct TextureSettings {
  std::vector<LbpOperator> operators{LbpOperator(8, 1)};  ///< 1 to kMostOperators
  LbpMapping mapping = LbpMapping::uniform;               ///< mapping of all operators
  bool contrast = false;                                  ///< histograms of the contrast, too
  int cell = 0;         ///< side in pixels of the cells that have histograms of their own; 0: none
  bool labels = false;  ///< label images, too: each pixel's bin

  /// Pixels around a picture that its operators look at.
  int reach() const;
};
inline constexpr int kMostOperators = 8;

/// Throws Error (usage) where operators and mapping do not fit or there are too many.
void check(const TextureSettings& settings);

}  // namespace sightline::texture
