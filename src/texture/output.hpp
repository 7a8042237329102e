#pragma once
/// What the texture of a frame comes to.

#include <cstdint>
#include <string>
#include <vector>

#include "image/view.hpp"
#include "processing/frame_output.hpp"

namespace sightline::texture {

/// Of one operator. A frame has fewer than 2^32 pixels, so counts have 32 bits.
struct OperatorCounts {
  std::vector<std::uint32_t> bins;      ///< by the mapping; they add up to the pixels
  std::vector<std::uint32_t> contrast;  ///< [kContrastValues], where contrast is asked for
  std::vector<std::uint32_t> cells;     ///< [row of cells][column][bin], where there are cells
  /// Each pixel's bin, where labels are asked for: bytes of the first where there are at most 256 bins, else
  /// words of the second. The other is empty.
  Image<std::uint8_t> labels8;
  Image<std::uint16_t> labels16;
};

/// Immutable once it is made.
class TextureOutput : public FrameOutput {
 public:
  Size size;   ///< of what has codes: the frame without a border of the settings' reach
  Size cells;  ///< columns and rows of cells, the last of which are clipped where the frame ends
  std::vector<OperatorCounts> operators;  ///< in the order of the settings

  std::string difference(const FrameOutput& other) const override;
  /// Pixels that have codes.
  std::int64_t count() const override { return std::int64_t{size.width} * size.height; }
};

}  // namespace sightline::texture
