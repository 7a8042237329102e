#pragma once
/// Tiles: what a group's kernels compute at once, and how they reach operands and results.

#include <optional>

#include "network/cpu/block_packer.hpp"
#include "network/cpu/channels.hpp"
#include "network/cpu/point_offsets.hpp"
#include "network/cpu/work.hpp"
#include "network/plan/finish.hpp"
#include "network/plan/operand.hpp"

namespace sightline::nn {

struct KernelContext;

/// Points of a domain that lie side by side: at most kMostPoints.
struct Tile {
  std::int64_t first = 0;
  int count = 0;
  std::int64_t width = 0, row = 0, column = 0;  ///< where `first` lies in rows of `width`; 0: not known

  struct Place {
    std::int64_t row, column;
  };
  /// Where `first` lies in rows of a width, usually without divisions: a tile asks dozens of times.
  Place place(std::int64_t of) const {
    return of == width ? Place{row, column} : first < of ? Place{0, first} : Place{first / of, first % of};
  }
  /// `points` of it from number `begin` on.
  Tile part(int begin, int points) const { return {first + begin, points, width, row, column + begin}; }
};

/// What a kernel reads of a tensor at the points of tiles.
class TileOperand {
 public:
  /// @param linear  points of rows that tiles must not cross: the common divisor of what was asked for before
  ///                and what this operand needs
  TileOperand(const Stored& stored, Operand operand, std::int64_t points, std::int64_t& linear);

  const Operand& operand() const { return operand_; }
  std::int64_t channels() const { return operand_.count(); }
  std::int64_t blocks() const { return (operand_.count() + kLanes - 1) / kLanes; }
  /// Whether all points have the same values.
  bool is_constant() const { return is_constant_; }
  /// Whether all channels have the same values.
  bool is_single() const { return is_single_; }

  /// The operand at a tile.
  class At {
   public:
    /// The 16 channels of a block: [points][16], as they lie or packed. Of a constant operand: [16].
    const float* block(std::int64_t block) const;
    /// A channel at the tile's first point, of an operand whose addresses have the form of Operand.
    const float* channel(std::int64_t c) const;
    /// All channels, as they lie or packed.
    Channels<const float> channels() const;

   private:
    friend class TileOperand;
    void pack(std::int64_t block, float* to) const;

    const TileOperand* of;
    Tile tile;
    const WorkMemory* memory;
    const float** bases;  ///< by source, at point 0 of the domain, or at the tile's first point of scratch
  };
  At at(const Tile& tile, const WorkMemory& memory) const;

 private:
  // Of a source's point at which a tile begins, if the operand is linear.
  std::int64_t offset(std::size_t source, const Tile& tile) const {
    const auto [row, column] = tile.place(offsets_[source].width());
    return offsets_[source].at(row, column);
  }

  Operand operand_;
  BlockPacker packer_;
  std::vector<PointOffsets> offsets_;  ///< by source, if the operand is linear
  std::vector<std::int64_t> scratch_;  ///< by source: offset in scratch; of stored tensors: unused
  std::vector<bool> is_direct_;        ///< by block: whether it lies as kernels read blocks
  bool is_linear_ = false, is_constant_ = false, is_single_ = false;
  std::int64_t step_ = 0;
  struct SourceChannels {
    std::size_t source, end;  ///< the first channel behind them
  };
  std::vector<SourceChannels> runs_;           ///< channels one after the other that have one source
  std::vector<std::int32_t> channel_offsets_;  ///< by channel
};

/// Where a kernel writes an output at the points of tiles: blocks [points][16].
class TileResult {
 public:
  TileResult(const Graph& graph, const Stored& stored, int tensor, std::int64_t& linear);

  std::int64_t blocks() const { return (places_.count() + kLanes - 1) / kLanes; }

  std::int64_t channels() const { return places_.count(); }
  bool is_plain() const { return storage_.is_plain; }
  /// Writes all channels at once, instead of `at`.
  void store(const Channels<const float>& from, const Tile& tile, const WorkMemory& memory) const;

  /// The output at a tile. `finish` comes behind all blocks' values.
  class At {
   public:
    float* block(std::int64_t block) const { return first + block * step; }
    void finish() const;

   private:
    friend class TileResult;

    const TileResult* of;
    Tile tile;
    const WorkMemory* memory;
    float* first;
    std::int64_t step;  ///< floats from block to block
  };
  At at(const Tile& tile, const WorkMemory& memory) const;

 private:
  void store_plain(const Channels<const float>& from, const Tile& tile, const WorkMemory& memory) const;

  int tensor_;
  Storage storage_;
  Operand places_;
};

/// The finish of a product's sums on tiles.
class TileFinish {
 public:
  TileFinish(KernelContext& context, const GraphNode& node, const SumFinish& finish);

  const Finish& finish() const { return finish_; }
  /// By block, the rows that are added at a tile; null: none.
  const float* const* added(const Tile& tile, const WorkMemory& memory) const;
  /// Finishes sums that an output holds.
  void apply(const TileResult::At& y, std::int64_t blocks, const Tile& tile, const WorkMemory& memory) const;

 private:
  Finish finish_;
  std::optional<TileOperand> added_;
};

/// One node of a group.
class TileKernel {
 public:
  TileKernel() = default;
  TileKernel(const TileKernel&) = delete;
  TileKernel& operator=(const TileKernel&) = delete;
  virtual ~TileKernel() = default;
  virtual void run(const Tile& tile, const WorkMemory& memory) const = 0;
};

/// What kernels are made of.
struct KernelContext {
  const Graph& graph;
  const Stored& stored;
  std::int64_t linear = 0;       ///< points of rows that tiles must not cross; 0: no limit yet
  std::int64_t zero_floats = 0;  ///< that kernels read of WorkMemory::zeros
};

/// Whether a node has a kernel that computes it by tiles. @param tensors  by tensor
bool has_tile_kernel(const Graph& graph, std::span<const PlannedTensor> tensors, int node);
/// The kernel of a node that has one, whose operands and outputs have their storages.
/// @param finish  of convolutions and products, whose result is then what the finish makes
std::unique_ptr<TileKernel> make_tile_kernel(KernelContext& context, const GraphNode& node,
                                             const SumFinish& finish = {});
/// Points of zeros that a node's first operand needs at both ends of its rows to be read where it lies.
std::int64_t zero_ends_of(const Graph& graph, const GraphNode& node);

}  // namespace sightline::nn
