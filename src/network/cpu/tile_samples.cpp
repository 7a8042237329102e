// Window folds, resampled and padded maps, on tiles of a row.
#include <algorithm>
#include <numeric>

#include "network/cpu/sample.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/cpu/tile_window.hpp"
#include "network/cpu/window.hpp"

namespace sightline::nn {
namespace {

class WindowFoldTile : public TileKernel {
 public:
  WindowFoldTile(KernelContext& context, const GraphNode& node, const WindowFold& fold)
      : fold_(fold),
        x_(context, node.inputs[0]),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    context.linear = std::gcd(context.linear, fold.window.out[1]);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const Window& window = fold_.window;
    const std::int64_t line = tile.first / window.out[1], y = line % window.out[0];
    const auto rows = memory.spare->take<const float*>(static_cast<std::size_t>(window.kernel[0]));
    // Rows of the kernel that lie in the map.
    std::int64_t begin = 0, end = window.kernel[0];
    const auto is_outside = [&](std::int64_t tap) {
      return window.position(0, y, tap) < 0 || window.position(0, y, tap) >= x_.height();
    };
    while (begin < end && is_outside(begin)) ++begin;
    while (end > begin && is_outside(end - 1)) --end;
    const WindowOperand::Rows x = x_.rows(
        {line / window.out[0], window.position(0, y, begin), window.tap_step[0], end - begin, 0, x_.width()},
        true, memory);
    const TileResult::At out = y_.at(tile, memory);
    WindowRow row;
    row.fold = fold_.fold;
    row.rows = rows;
    row.row_count = static_cast<int>(end - begin);
    row.in_width = static_cast<int>(x_.width());
    row.kernel = static_cast<int>(window.kernel[1]);
    row.step = static_cast<int>(window.step[1]);
    row.tap_step = static_cast<int>(window.tap_step[1]);
    row.before = static_cast<int>(window.before[1]);
    row.first = static_cast<int>(tile.first % window.out[1]);
    row.width = tile.count;
    const auto reach = static_cast<std::size_t>(reach_of(row).count * kLanes);
    float* const scratch =
        memory.spare->take<float>(reach * static_cast<std::size_t>(std::max(row.row_count, 1)));
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      for (int r = 0; r < row.row_count; ++r) rows[r] = x.row(r, b * kLanes);
      row.out = out.block(b);
      fold_window(row, scratch);
    }
    out.finish();
  }

 private:
  WindowFold fold_;
  WindowOperand x_;
  TileResult y_;
};

class ResampleTile : public TileKernel {
 public:
  ResampleTile(KernelContext& context, const GraphNode& node, const Resample& resample)
      : resample_(resample),
        height_(context.graph.shape(node.outputs[0])[2]),
        width_(context.graph.shape(node.outputs[0])[3]),
        x_(context, node.inputs[0]),
        y_(context.graph, context.stored, node.outputs[0], context.linear) {
    context.linear = std::gcd(context.linear, width_);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const Taps &rows = resample_.rows, &columns = resample_.columns;
    const std::int64_t line = tile.first / width_, column = tile.first % width_;
    const auto y = static_cast<std::size_t>(line % height_), first = static_cast<std::size_t>(column);
    WindowOperand::Part part{line / height_, rows.first[y], rows.second[y] - rows.first[y], 2, 0, 1};
    std::int32_t least = columns.first[first], most = least;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(tile.count); ++i) {
      least = std::min({least, columns.first[i], columns.second[i]});
      most = std::max({most, columns.first[i], columns.second[i]});
    }
    part.column = least;
    part.columns = most - least + 1;
    const WindowOperand::Rows x = x_.rows(part, true, memory);
    const TileResult::At out = y_.at(tile, memory);
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      const float *const upper = x.row(0, b * kLanes) - least * kLanes, *const lower = x.row(1, b * kLanes) -
                                                                                       least * kLanes;
      resample_row({upper, lower, rows.weight[y], columns.first.data() + first, columns.second.data() + first,
                    columns.weight.data() + first, tile.count, kBlock, out.block(b)});
    }
    out.finish();
  }

 private:
  Resample resample_;
  std::int64_t height_, width_;  ///< of the output
  WindowOperand x_;
  TileResult y_;
};

// The place of an axis that each place of the padded axis shows; -1: none.
std::vector<std::int32_t> padded_places(const Pad& pad, std::size_t axis, std::int64_t side) {
  Tensor places(DataType::i32, {side});
  std::iota(places.as<std::int32_t>().begin(), places.as<std::int32_t>().end(), 0);
  const Tensor* const input = &places;
  const Pad of_axis{{pad.before[axis]}, {pad.behind[axis]}, pad.mode, std::int32_t{-1}};
  const Tensor padded = evaluate(of_axis, {&input, 1}).front();
  return {padded.as<std::int32_t>().begin(), padded.as<std::int32_t>().end()};
}

/// Pads a map [N, C, H, W] along H and W.
class PadTile : public TileKernel {
 public:
  PadTile(KernelContext& context, const GraphNode& node, const Pad& pad)
      : filling_(pad.mode == Padding::constant ? pad.value.as<float>() : 0.0F),
        x_(context, node.inputs[0]),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        rows_(padded_places(pad, 2, x_.height())),
        columns_(padded_places(pad, 3, x_.width())) {
    context.linear = std::gcd(context.linear, static_cast<std::int64_t>(columns_.size()));
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const auto height = static_cast<std::int64_t>(rows_.size()),
               width = static_cast<std::int64_t>(columns_.size()), line = tile.first / width;
    const std::int32_t row = rows_[static_cast<std::size_t>(line % height)];
    const std::span places(columns_.data() + tile.first % width, static_cast<std::size_t>(tile.count));
    const TileResult::At out = y_.at(tile, memory);
    if (row < 0) {
      for (std::int64_t b = 0; b < y_.blocks(); ++b) std::fill_n(out.block(b), tile.count * kLanes, filling_);
    } else {
      const WindowOperand::Rows x = x_.rows({line / height, row, 1, 1, 0, x_.width()}, true, memory);
      for (std::int64_t b = 0; b < y_.blocks(); ++b)
        pick_points(x.row(0, b * kLanes), places, kLanes, filling_, out.block(b));
    }
    out.finish();
  }

 private:
  float filling_;
  WindowOperand x_;
  TileResult y_;
  std::vector<std::int32_t> rows_, columns_;  ///< of x, by row and column of the output; -1: the filling
};

}  // namespace

std::unique_ptr<TileKernel> make_window_fold(KernelContext& context, const GraphNode& node,
                                             const WindowFold& fold) {
  return std::make_unique<WindowFoldTile>(context, node, fold);
}

std::unique_ptr<TileKernel> make_resample(KernelContext& context, const GraphNode& node,
                                          const Resample& resample) {
  return std::make_unique<ResampleTile>(context, node, resample);
}

std::unique_ptr<TileKernel> make_pad(KernelContext& context, const GraphNode& node, const Pad& pad) {
  return std::make_unique<PadTile>(context, node, pad);
}

}  // namespace sightline::nn
