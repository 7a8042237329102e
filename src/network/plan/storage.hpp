#pragma once
/// Storage: where the elements of a stored tensor lie in memory while a plan runs.

#include <cstdint>
#include <vector>

#include "network/plan/domain.hpp"

namespace sightline::nn {

inline constexpr std::int64_t kLanes = 16;  ///< elements of a point in a block

/// Whose memory a stored tensor has.
enum class Memory : std::uint8_t {
  caller,   ///< an input or an output of the network
  plan,     ///< a constant
  arena,    ///< a part of the runner's arena, for some waves
  scratch,  ///< a part of a thread's scratch, for one tile
};

/// A tensor is plain, in row-major order without gaps, or f32 in blocks: `[ceil(channels / 16)][rows][pad +
/// width + pad][16]`, where a point is 16 floats, one a channel. `pad` points of zeros lie at both ends of a
/// row. Lanes behind the last channel have any values.
struct Storage {
  Memory memory = Memory::arena;
  bool is_plain = true;
  std::int64_t bytes = 0;
  std::int64_t offset = 0;            ///< in the arena or scratch, in bytes; aligned to 64
  int first_wave = 0, last_wave = 0;  ///< that write or read it; of the arena
  // Of blocks:
  std::int64_t channels = 0, width = 0, pad = 0;
  std::int64_t row_step = 0, block_step = 0;  ///< in floats

  std::int64_t blocks() const { return (channels + kLanes - 1) / kLanes; }
  /// The float of a channel at a point, in blocks.
  std::int64_t address(std::int64_t point, std::int64_t channel) const {
    return channel / kLanes * block_step + point / width * row_step + (pad + point % width) * kLanes +
           channel % kLanes;
  }
};

/// A plain tensor.
Storage plain_storage(const TensorType& type, Memory memory);
/// Blocks of a tensor with a layout. @param width  points of a row, which divides all points
Storage block_storage(const Layout& layout, std::int64_t width, std::int64_t pad);

/// Blocks of one tile of at most kMostPoints points. Point p of the domain is point p - first of the tile
/// that begins at `first`; `address` counts from point 0 on.
inline constexpr std::int64_t kMostPoints = 208;
Storage scratch_storage(const Layout& layout);

/// The offset of each place of an axis.
std::vector<std::int64_t> offsets_of(const FactoredAxis& axis);
/// The same by axis.
std::vector<std::vector<std::int64_t>> offsets_of(const FactoredAxes& axes);
/// Offsets from number `first` on that lie one step apart: how many.
std::size_t even_steps(const std::vector<std::int64_t>& offsets, std::size_t first);
/// The axes of a layout whose strides count what lies within a point, in row-major order but for `outermost`;
/// points have 0. Rows of more than 16 elements begin at multiples of 16, so that each has blocks of its own.
FactoredAxes channels_of(const Layout& layout);
/// One more than the largest of these numbers.
std::int64_t channel_count(const Layout& layout);

}  // namespace sightline::nn
