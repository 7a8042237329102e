#pragma once
/// Result of a frame's texture.

#include <cstdint>
#include <string>
#include <vector>

#include "frame/frame_output.hpp"
#include "image/view.hpp"

namespace sightline::texture {

/// Counts of one operator. A frame has fewer than 2^32 pixels, so 32 bits suffice.
struct OperatorCounts {
  std::vector<std::uint32_t> bins;      ///< counts by the mapping; their sum is the number of pixels
  std::vector<std::uint32_t> contrast;  ///< [kContrastValues], where contrast is asked for
  std::vector<std::uint32_t> cells;     ///< [row of cells][column][bin], where there are cells
  /// Each pixel's bin, if labels are requested: `labels8` for at most 256 bins, else `labels16`. The other is
  /// empty.
  Image<std::uint8_t> labels8;
  Image<std::uint16_t> labels16;
};

/// Immutable once it is made.
class TextureOutput : public FrameOutput {
 public:
  Size size;   ///< area with codes: the frame without a border of the settings' reach
  Size cells;  ///< columns and rows of cells, the last of which are clipped where the frame ends
  std::vector<OperatorCounts> operators;  ///< counts in the order of the settings

  std::string difference(const FrameOutput& other) const override;
  /// Pixels that have codes.
  std::int64_t count() const override { return std::int64_t{size.width} * size.height; }
};

}  // namespace sightline::texture
