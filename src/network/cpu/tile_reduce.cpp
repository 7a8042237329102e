// Folds on tiles: within each point, and of whole maps.
#include <algorithm>
#include <array>

#include "network/cpu/reduce.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/plan/within_points.hpp"
#include "network/primitives/fold.hpp"

namespace sightline::nn {
namespace {

constexpr std::size_t kSumLanes = 16;  // of Reduce's tree

class PointReduce : public TileKernel {
 public:
  PointReduce(KernelContext& context, const GraphNode& node, const Reduce& reduce)
      : fold_(reduce.fold),
        x_(context.stored,
           context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  context.stored.planned(node.inputs[0]).layout),
           context.stored.planned(node.outputs[0]).layout.points, context.linear),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    terms_ = folded_channels({context.graph, context.stored.planned(), node});
    find_form();
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const TileResult::At y = y_.at(tile, memory);
    const TileOperand::At x = x_.at(tile, memory);
    form_ == Form::rows     ? fold_rows(x, y, tile, memory)
    : form_ == Form::blocks ? fold_blocks(x, y, tile, memory)
                            : fold_channels_of(x.channels(), y, tile, memory);
    y.finish();
  }

 private:
  enum class Form : std::uint8_t {
    rows,    ///< each result folds channels that begin with a block
    blocks,  ///< 16 results fold the same lanes of blocks
    other,
  };

  void find_form() {
    const auto number = [&](std::size_t c, std::size_t k) { return terms_[c][k]; };
    bool are_rows = true, are_blocks = !x_.is_constant();
    for (std::size_t c = 0; c < terms_.size(); ++c) {
      const std::size_t lane = c % kLanes, first = c - lane;
      are_blocks = are_blocks && terms_[c].size() == terms_[first].size();
      for (std::size_t k = 0; k < terms_[c].size(); ++k) {
        are_rows =
            are_rows && number(c, 0) % kLanes == 0 && number(c, k) == number(c, 0) + static_cast<int>(k);
        are_blocks = are_blocks && number(first, k) % kLanes == 0 &&
                     number(c, k) == number(first, k) + static_cast<int>(lane);
      }
    }
    form_ = are_rows ? Form::rows : are_blocks ? Form::blocks : Form::other;
  }

  void fold_rows(const TileOperand::At& x, const TileResult::At& y, const Tile& tile,
                 const WorkMemory& memory) const {
    auto* const blocks = memory.spare->take<const float*>(static_cast<std::size_t>(x_.blocks()));
    for (std::int64_t b = 0; b < x_.blocks(); ++b) blocks[b] = x.block(b);
    for (std::size_t c = 0; c < terms_.size(); ++c) {
      if (terms_[c].empty()) continue;
      const auto channel = static_cast<std::int64_t>(c);
      const PointElements elements{blocks + terms_[c][0] / kLanes, static_cast<int>(terms_[c].size()),
                                   tile.count, x_.is_constant() ? 0 : kLanes};
      fold_within_points(fold_, elements, y.block(channel / kLanes) + channel % kLanes, kLanes);
    }
  }

  void fold_blocks(const TileOperand::At& x, const TileResult::At& y, const Tile& tile,
                   const WorkMemory& memory) const {
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      const SpareMemory::Mark mark = memory.spare->mark();
      const std::vector<int>& terms = terms_[static_cast<std::size_t>(b * kLanes)];
      auto* const rows = memory.spare->take<const float*>(terms.size());
      for (std::size_t k = 0; k < terms.size(); ++k) rows[k] = x.block(terms[k] / kLanes);
      fold_across_rows(fold_, {rows, static_cast<int>(terms.size()), tile.count * static_cast<int>(kLanes)},
                       y.block(b));
      memory.spare->release(mark);
    }
  }

  void fold_channels_of(const Channels<const float>& x, const TileResult::At& y, const Tile& tile,
                        const WorkMemory& memory) const {
    for (std::size_t c = 0; c < terms_.size(); ++c) {
      const SpareMemory::Mark mark = memory.spare->mark();
      const std::size_t count = terms_[c].size();
      auto* const first = memory.spare->take<const float*>(count);
      for (std::size_t k = 0; k < count; ++k) first[k] = x.first[terms_[c][k]];
      auto* const scratch = memory.spare->take<float>((count + 1) * static_cast<std::size_t>(tile.count));
      const auto channel = static_cast<std::int64_t>(c);
      fold_channels(fold_, {first, x.step}, static_cast<int>(count), tile.count,
                    y.block(channel / kLanes) + channel % kLanes, kLanes, scratch);
      memory.spare->release(mark);
    }
  }

  Fold fold_;
  TileOperand x_;
  TileResult y_;
  std::vector<std::vector<int>> terms_;  ///< channels of the operand, by channel of the output
  Form form_ = Form::other;
};

/// Of a map [1, C, H, W], along H and W: one point, whose channels are the map's.
class MapReduce : public TileKernel {
 public:
  MapReduce(KernelContext& context, const GraphNode& node, const Reduce& reduce)
      : fold_(reduce.fold),
        points_(Layout::of(context.graph.shape(node.inputs[0])).points),
        x_(context.stored,
           context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  Layout::of(context.graph.shape(node.inputs[0]))),
           points_, linear_),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    if (linear_ == 0) linear_ = points_;
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const TileResult::At y = y_.at(tile, memory);
    std::array<float, kSumLanes * kLanes> lanes{};
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      lanes.fill(initial<float>(fold_));
      for (std::int64_t first = 0; first < points_; first += kMostPoints) {
        const SpareMemory::Mark mark = memory.spare->mark();
        fold_block(b, first, memory, lanes);
        memory.spare->release(mark);
      }
      finish(lanes, y.block(b));
    }
    y.finish();
  }

 private:
  // Point i is folded into lane i mod 16 of each channel.
  void fold_block(std::int64_t block, std::int64_t first, const WorkMemory& memory,
                  std::array<float, kSumLanes * kLanes>& lanes) const {
    // Pieces lie in one row, so that a block can be read where it is.
    const std::int64_t end = std::min(first + kMostPoints, points_);
    while (first < end) {
      const std::int64_t last = std::min(end, (first / linear_ + 1) * linear_);
      const Tile piece{first, static_cast<int>(last - first)};
      const float* x = x_.at(piece, memory).block(block);
      for (std::int64_t i = first; i < last; ++i, x += x_.is_constant() ? 0 : kLanes) {
        float* const to = lanes.data() + static_cast<std::size_t>(i) % kSumLanes * kLanes;
        if (fold_ == Fold::sum) {
          for (int c = 0; c < kLanes; ++c) to[c] += x[c];
        } else {
          for (int c = 0; c < kLanes; ++c) to[c] = folded(fold_, to[c], x[c]);
        }
      }
      first = last;
    }
  }
  void finish(std::array<float, kSumLanes * kLanes>& lanes, float* to) const {
    for (std::size_t half = kSumLanes / 2; half > 0; half /= 2) {
      for (std::size_t l = 0; l < half * kLanes; ++l)
        lanes[l] = folded(fold_, lanes[l], lanes[l + half * kLanes]);
    }
    std::copy_n(lanes.begin(), kLanes, to);
  }

  Fold fold_;
  std::int64_t points_;
  std::int64_t linear_ = 0;  ///< points of the map's rows
  TileOperand x_;
  TileResult y_;
};

}  // namespace

std::unique_ptr<TileKernel> make_point_reduce(KernelContext& context, const GraphNode& node,
                                              const Reduce& reduce) {
  return std::make_unique<PointReduce>(context, node, reduce);
}

std::unique_ptr<TileKernel> make_map_reduce(KernelContext& context, const GraphNode& node,
                                            const Reduce& reduce) {
  return std::make_unique<MapReduce>(context, node, reduce);
}

}  // namespace sightline::nn
