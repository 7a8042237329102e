#pragma once
/// Rows of a map under the window of a tile.

#include "network/cpu/tile.hpp"

namespace sightline::nn {

/// A map [N, C, H, W] that a kernel reads at neighbours of its tile's points: where it lies, or packed into
/// spare memory with zeros around it.
class WindowOperand {
 public:
  WindowOperand(KernelContext& context, int tensor);

  std::int64_t channels() const { return operand_.count(); }
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }

  /// Columns of some rows, of which the map may lack some.
  struct Part {
    std::int64_t picture = 0;
    std::int64_t row = 0, row_step = 1, rows = 1;  ///< rows may lie outside
    std::int64_t column = 0, columns = 1;          ///< so may columns
  };
  /// Row r of channel c begins, at the part's first column, at row(r, c); the next point is `step` floats on.
  class Rows {
   public:
    const float* row(std::int64_t r, std::int64_t c) const {
      if (packed) return packed + (c / lanes * rows + r) * columns * lanes + c % lanes;
      const auto at = static_cast<std::size_t>(r);
      const Operand::Channel& channel = operand->channels[static_cast<std::size_t>(c)];
      return is_outside[at]
                 ? zeros
                 : starts[at * operand->sources.size() + static_cast<std::size_t>(channel.source)] +
                       channel.offset;
    }
    std::int64_t step = 0;

   private:
    friend class WindowOperand;
    const Operand* operand = nullptr;
    const float** starts = nullptr;  ///< by row and source
    const bool* is_outside = nullptr;
    const float* zeros = nullptr;
    const float* packed = nullptr;  ///< [channels / lanes][rows][columns][lanes]; null: where they lie
    std::int64_t lanes = 0, rows = 0, columns = 0;
  };
  /// @param as_blocks  whether channels of a block must lie side by side
  Rows rows(const Part& part, bool as_blocks, const WorkMemory& memory) const;

  /// Whether all points have addresses, so that taps() may be asked for.
  bool is_linear() const { return is_linear_; }
  /// The taps of the window of a tile's first point: by kernel row, kernel column and channel, the address of
  /// the value. Zeros stand for what lies outside of the map.
  /// @param first  channel; @param count  of channels
  void find_taps(const Window& window, const Tile& tile, std::int64_t first, std::int64_t count,
                 const WorkMemory& memory, const float** taps) const;

  /// Asks for the rows below a part that the next tile reads, if they are an input's: the processor does not
  /// foresee that, and other memory was written by earlier waves.
  /// @param rows  how many
  void prefetch_below(const Part& part, std::int64_t rows, const WorkMemory& memory) const;

  /// The tile's points whose windows can be read where the map lies: from `first` on, before `second`.
  std::pair<int, int> outer_points(const Window& window, const Tile& tile) const;

 private:
  bool can_read(const Part& part, bool as_blocks) const;
  const float* pack(const Part& part, std::int64_t lanes, const WorkMemory& memory) const;
  void pack_plane(std::int64_t channel, const float* const* bases, std::int64_t point, std::int64_t count,
                  float* to) const;

  Operand operand_;
  BlockPacker packer_;
  std::vector<PointOffsets> offsets_;  ///< by source, if the operand is linear
  std::vector<std::int32_t> planes_;   ///< offsets of channels that share no lines of a cache, of an input
  std::int64_t height_, width_;
  bool is_linear_ = false, has_blocks_ = false, is_input_ = false;
  std::int64_t step_ = 0, ends_ = 0;  ///< points of zeros at the ends of all rows
};

}  // namespace sightline::nn
