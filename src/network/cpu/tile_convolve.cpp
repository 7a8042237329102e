// Convolutions with windows, on tiles of a row.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "network/cpu/depthwise.hpp"
#include "network/cpu/grouped.hpp"
#include "network/cpu/product.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/cpu/tile_window.hpp"

namespace sightline::nn {
namespace {

/// A window's place in the map for a tile.
struct WindowPlace {
  WindowOperand::Part part;
  std::int64_t tap = 0;  ///< column of the part that is under the first column of the kernel
};
WindowPlace place_of(const Window& window, const Tile& tile) {
  const auto [row, column] = tile.place(window.out[1]);
  const std::int64_t y = row < window.out[0] ? row : row % window.out[0];
  const std::int64_t across = (window.kernel[1] - 1) * window.tap_step[1];
  const std::int64_t left = std::min<std::int64_t>(across, 0);
  WindowPlace place;
  place.part.picture = row < window.out[0] ? 0 : row / window.out[0];
  place.part.row = window.position(0, y, 0);
  place.part.row_step = window.tap_step[0];
  place.part.rows = window.kernel[0];
  place.part.column = window.position(1, column, 0) + left;
  place.part.columns = (tile.count - 1) * window.step[1] + std::abs(across) + 1;
  place.tap = -left;
  return place;
}

// Tiles lie in one row of the output, and zeros stand for rows outside.
void take_window(KernelContext& context, const Window& window) {
  context.linear = std::gcd(context.linear, window.out[1]);
  const std::int64_t reach = kMostPoints * window.step[1] + window.kernel[1] * std::abs(window.tap_step[1]);
  context.zero_floats = std::max(context.zero_floats, 2 * reach * kLanes);
}

class DenseTile : public TileKernel {
 public:
  DenseTile(KernelContext& context, const GraphNode& node, const Convolve& convolve, const SumFinish& finish)
      : window_(convolve.window),
        x_(context, node.inputs[0]),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        finish_(context, node, finish) {
    take_window(context, window_);
    const Tensor& weights = *context.graph.constant(node.inputs[1]);
    const Tensor* const start = node.inputs.size() > 2 ? context.graph.constant(node.inputs[2]) : nullptr;
    inputs_ = weights.dim(1);
    outputs_ = weights.dim(0) / convolve.groups;
    const std::int64_t taps = window_.kernel[0] * window_.kernel[1];
    for (std::int64_t g = 0; g < convolve.groups; ++g) {
      // Depth is kernel row, kernel column, input.
      weights_.push_back(
          packed_weights(weights, outputs_, taps * inputs_, [&](std::int64_t o, std::int64_t k) {
            return ((g * outputs_ + o) * inputs_ + k % inputs_) * taps + k / inputs_;
          }));
      starts_.push_back(packed_start(start, g * outputs_, outputs_));
    }
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const TileResult::At y = y_.at(tile, memory);
    const float* const* const added = is_direct() ? finish_.added(tile, memory) : nullptr;
    x_.prefetch_below(place_of(window_, tile).part, window_.step[0], memory);
    // Windows that reach beyond rows without zeros at their ends are packed, or have an address for each tap;
    // all others read where maps lie.
    const auto [before, after] = x_.outer_points(window_, tile);
    for (const auto& [begin, end] :
         {std::pair(0, before), std::pair(before, after), std::pair(after, tile.count)}) {
      const bool is_outer = x_.is_linear() && (end <= before || begin >= after);
      for (int first = begin, count = 0; first < end; first += count) {
        count = is_outer && end - begin <= kMostApart ? 1 : end - begin;
        run_part(tile, first, count, is_outer && count == 1, y, added, memory);
      }
    }
    if (!is_direct()) finish_.apply(y, y_.blocks(), tile, memory);
    y.finish();
  }

 private:
  // Groups whose outputs fill no blocks are computed beside them.
  bool is_direct() const { return weights_.size() == 1 || outputs_ % kLanes == 0; }

  static constexpr int kMostApart = 4;  ///< points at an end of a row that are computed one by one

  // Points of a tile from number `begin` on. @param is_apart  whether each tap of the only point has an
  // address
  void run_part(const Tile& whole, int begin, int count, bool is_apart, const TileResult::At& y,
                const float* const* added, const WorkMemory& memory) const {
    const Tile tile = whole.part(begin, count);
    const WindowPlace place = place_of(window_, tile);
    const WindowOperand::Rows x = is_apart ? WindowOperand::Rows() : x_.rows(place.part, false, memory);
    const std::int64_t columns = is_apart ? window_.kernel[1] : 1;  // that have addresses of their own
    const auto blocks = static_cast<std::size_t>((outputs_ + kLanes - 1) / kLanes);
    const auto groups = static_cast<std::int64_t>(weights_.size());
    auto* const taps =
        memory.spare->take<const float*>(static_cast<std::size_t>(window_.kernel[0] * columns * inputs_));
    auto* const out = memory.spare->take<float*>(blocks);
    auto* const added_rows = memory.spare->take<const float*>(blocks);
    float* const sums =
        is_direct() ? nullptr
                    : memory.spare->take<float>(blocks * static_cast<std::size_t>(tile.count * kLanes));
    ConvolutionRow row;
    row.taps = taps;
    row.inputs = static_cast<int>(inputs_);
    row.kernel_rows = static_cast<int>(window_.kernel[0] * columns);
    row.kernel_columns = static_cast<int>(window_.kernel[1] / columns);
    row.column_step = x.step * window_.tap_step[1];
    row.pixel_step = x.step * window_.step[1];
    row.blocks = static_cast<int>(blocks);
    row.width = tile.count;
    row.out = out;
    if (is_direct()) row.finish = finish_.finish();
    if (added) row.added = added_rows;
    for (std::int64_t g = 0; g < groups; ++g) {
      if (is_apart) x_.find_taps(window_, tile, g * inputs_, inputs_, memory, taps);
      for (std::int64_t ky = 0; !is_apart && ky < window_.kernel[0]; ++ky) {
        for (std::int64_t c = 0; c < inputs_; ++c)
          taps[ky * inputs_ + c] = x.row(ky, g * inputs_ + c) + place.tap * x.step;
      }
      for (std::size_t b = 0; b < blocks; ++b) {
        const auto block = static_cast<std::int64_t>(b);
        const std::int64_t whole_block = g * outputs_ / kLanes + block;
        out[b] = is_direct() ? y.block(whole_block) + begin * kLanes : sums + block * tile.count * kLanes;
        if (added) added_rows[b] = added[whole_block] + begin * kLanes;
      }
      row.weights = weights_[static_cast<std::size_t>(g)].data();
      row.bias = starts_[static_cast<std::size_t>(g)].data();
      convolve_row(row);
      for (std::int64_t o = 0; o < outputs_ && !is_direct(); ++o) {
        const std::int64_t channel = g * outputs_ + o;
        const float* const from = sums + o / kLanes * tile.count * kLanes + o % kLanes;
        float* const to = y.block(channel / kLanes) + begin * kLanes + channel % kLanes;
        for (int i = 0; i < tile.count; ++i) to[i * kLanes] = from[i * kLanes];
      }
    }
  }

  Window window_;
  WindowOperand x_;
  TileResult y_;
  TileFinish finish_;
  std::int64_t inputs_ = 0, outputs_ = 0;               ///< of a group
  std::vector<AlignedBuffer<float>> weights_, starts_;  ///< by group
};

/// One input for each output.
class DepthwiseTile : public TileKernel {
 public:
  DepthwiseTile(KernelContext& context, const GraphNode& node, const Convolve& convolve,
                const SumFinish& finish)
      : window_(convolve.window),
        x_(context, node.inputs[0]),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        finish_(context, node, finish) {
    take_window(context, window_);
    const Tensor& weights = *context.graph.constant(node.inputs[1]);
    const std::int64_t taps = window_.kernel[0] * window_.kernel[1];
    weights_ = packed_weights(weights, weights.dim(0), taps,
                              [&](std::int64_t o, std::int64_t k) { return o * taps + k; });
    start_ = packed_start(node.inputs.size() > 2 ? context.graph.constant(node.inputs[2]) : nullptr, 0,
                          weights.dim(0));
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const WindowPlace place = place_of(window_, tile);
    const WindowOperand::Rows x = x_.rows(place.part, true, memory);
    const TileResult::At y = y_.at(tile, memory);
    auto* const rows = memory.spare->take<const float*>(static_cast<std::size_t>(window_.kernel[0]));
    DepthwiseRow row;
    row.rows = rows;
    row.kernel_rows = static_cast<int>(window_.kernel[0]);
    row.kernel_columns = static_cast<int>(window_.kernel[1]);
    row.column_step = kLanes * window_.tap_step[1];
    row.pixel_step = kLanes * window_.step[1];
    row.width = tile.count;
    row.finish = finish_.finish();
    const float* const* const added = finish_.added(tile, memory);
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      row.added = added ? added[b] : nullptr;
      for (std::int64_t ky = 0; ky < window_.kernel[0]; ++ky)
        rows[ky] = x.row(ky, b * kLanes) + place.tap * kLanes;
      row.weights = weights_.data() + b * window_.kernel[0] * window_.kernel[1] * kLanes;
      row.bias = start_.data() + b * kLanes;
      row.out = y.block(b);
      depthwise_row(row);
    }
    y.finish();
  }

 private:
  Window window_;
  WindowOperand x_;
  TileResult y_;
  TileFinish finish_;
  AlignedBuffer<float> weights_, start_;
};

/// Small groups. Larger ones run as dense convolutions, which are faster from 9 outputs a group on.
class GroupedTile : public TileKernel {
 public:
  static constexpr std::int64_t kMostOutputs = 8;  ///< of a group

  GroupedTile(KernelContext& context, const GraphNode& node, const Convolve& convolve,
              const SumFinish& finish)
      : window_(convolve.window),
        x_(context, node.inputs[0]),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        finish_(context, node, finish) {
    take_window(context, window_);
    const Tensor& weights = *context.graph.constant(node.inputs[1]);
    const std::int64_t outputs = weights.dim(0), inputs = weights.dim(1);
    const std::int64_t taps = window_.kernel[0] * window_.kernel[1];
    // Depth is kernel row, kernel column, input.
    weights_ = packed_weights(weights, outputs, taps * inputs, [&](std::int64_t o, std::int64_t k) {
      return (o * inputs + k % inputs) * taps + k / inputs;
    });
    start_ =
        packed_start(node.inputs.size() > 2 ? context.graph.constant(node.inputs[2]) : nullptr, 0, outputs);
    row_.groups = static_cast<int>(convolve.groups);
    row_.group_inputs = static_cast<int>(inputs);
    row_.group_outputs = static_cast<int>(outputs / convolve.groups);
    row_.kernel_rows = static_cast<int>(window_.kernel[0]);
    row_.kernel_columns = static_cast<int>(window_.kernel[1]);
    row_.column_step = kLanes * window_.tap_step[1];
    row_.pixel_step = kLanes * window_.step[1];
    row_.weights = weights_.data();
    row_.bias = start_.data();
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const WindowPlace place = place_of(window_, tile);
    const WindowOperand::Rows x = x_.rows(place.part, true, memory);
    const TileResult::At y = y_.at(tile, memory);
    const std::int64_t blocks = (x_.channels() + kLanes - 1) / kLanes;
    auto* const rows = memory.spare->take<const float*>(static_cast<std::size_t>(window_.kernel[0] * blocks));
    auto* const out = memory.spare->take<float*>(static_cast<std::size_t>(y_.blocks()));
    for (std::int64_t ky = 0; ky < window_.kernel[0]; ++ky) {
      for (std::int64_t b = 0; b < blocks; ++b)
        rows[ky * blocks + b] = x.row(ky, b * kLanes) + place.tap * kLanes;
    }
    for (std::int64_t b = 0; b < y_.blocks(); ++b) out[b] = y.block(b);
    GroupedRow row = row_;
    row.rows = rows;
    row.width = tile.count;
    row.out = out;
    grouped_row(row);
    finish_.apply(y, y_.blocks(), tile, memory);
    y.finish();
  }

 private:
  Window window_;
  WindowOperand x_;
  TileResult y_;
  TileFinish finish_;
  AlignedBuffer<float> weights_, start_;
  GroupedRow row_;  ///< without what a tile adds
};

}  // namespace

std::unique_ptr<TileKernel> make_window_convolve(KernelContext& context, const GraphNode& node,
                                                 const Convolve& convolve, const SumFinish& finish) {
  const Shape& weights = context.graph.shape(node.inputs[1]);
  if (weights[0] == convolve.groups && weights[1] == 1 && convolve.groups > 1)
    return std::make_unique<DepthwiseTile>(context, node, convolve, finish);
  if (convolve.groups > 1 && weights[0] / convolve.groups <= GroupedTile::kMostOutputs)
    return std::make_unique<GroupedTile>(context, node, convolve, finish);
  return std::make_unique<DenseTile>(context, node, convolve, finish);
}

}  // namespace sightline::nn
