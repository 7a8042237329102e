#pragma once
/// Memory layout of a frame's texture, on the CPU and on devices.

#include <cstdint>
#include <span>
#include <vector>

#include "image/view.hpp"
#include "texture/settings.hpp"

namespace sightline::texture {

/// Layout of one operator's output. Offsets of counts are in uint32 from the start of all counts, offsets of
/// labels in bytes from the start of all labels.
struct OperatorLayout {
  int bins = 0;
  std::int64_t bins_at = 0;      ///< [bin]
  std::int64_t contrast_at = 0;  ///< [kContrastValues], where contrast is asked for
  std::int64_t cells_at = 0;     ///< [row of cells][column][bin], where there are cells
  int label_bytes = 1;           ///< bytes per label: 1, or 2 for more than 256 bins
  std::int64_t labels_at = 0;    ///< [row][column], without padding; a multiple of 64
};

/// Layout of all operators for frames of one size. Immutable.
struct TextureLayout {
  TextureLayout() = default;
  /// @param bins   of the settings' operators: not made here, since tiles at a picture's edge are of other
  ///               sizes, and their tables take longer to make than a tile to count
  /// @param frame  with its border of settings.reach() pixels
  TextureLayout(const TextureSettings& settings, std::span<const LbpBins> bins, Size frame);

  Size size;   ///< area with codes; {} if the frame is all border
  Size cells;  ///< columns and rows
  std::vector<OperatorLayout> operators;
  std::int64_t counts = 0;       ///< uint32 in all
  std::int64_t label_bytes = 0;  ///< total; 0 without labels
};

}  // namespace sightline::texture
