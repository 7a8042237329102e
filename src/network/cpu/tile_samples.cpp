// Window folds and resampled maps, on tiles of a row.
#include <algorithm>
#include <numeric>

#include "network/cpu/sample.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/cpu/tile_window.hpp"
#include "network/primitives/fold.hpp"

namespace sightline::nn {
namespace {

/// Taps of a window in the places [0, side) for one output.
struct TapsInside {
  std::int64_t begin = 0, end = 0;
};
TapsInside taps_inside(const Window& window, std::size_t axis, std::int64_t at, std::int64_t side) {
  TapsInside taps{0, window.kernel[axis]};
  const auto is_inside = [&](std::int64_t tap) {
    const std::int64_t place = window.position(axis, at, tap);
    return place >= 0 && place < side;
  };
  while (taps.begin < taps.end && !is_inside(taps.begin)) ++taps.begin;
  while (taps.end > taps.begin && !is_inside(taps.end - 1)) --taps.end;
  return taps;
}

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
    const std::int64_t line = tile.first / window.out[1], column = tile.first % window.out[1];
    const std::int64_t y = line % window.out[0];
    const TapsInside across = taps_inside(window, 0, y, x_.height());
    const std::int64_t taps = across.end - across.begin;
    const std::int64_t begin = std::clamp<std::int64_t>(reached(column, false), 0, x_.width()),
                       end = std::clamp<std::int64_t>(reached(column + tile.count - 1, true) + 1, begin,
                                                      x_.width());
    WindowOperand::Part part{
        line / window.out[0], window.position(0, y, across.begin), window.tap_step[0], taps, begin,
        end - begin};
    const WindowOperand::Rows x = x_.rows(part, true, memory);
    const TileResult::At out = y_.at(tile, memory);
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      for (int i = 0; i < tile.count; ++i) {
        float* const to = out.block(b) + i * kLanes;
        std::fill_n(to, kLanes, initial<float>(fold_.fold));
        const TapsInside along = taps_inside(window, 1, column + i, x_.width());
        for (std::int64_t r = 0; r < taps; ++r) {
          const float* const row = x.row(r, b * kLanes);
          for (std::int64_t tap = along.begin; tap < along.end; ++tap)
            fold(to, row + (window.position(1, column + i, tap) - begin) * kLanes);
        }
      }
    }
    out.finish();
  }

 private:
  // The first or last column that an output reads.
  std::int64_t reached(std::int64_t column, bool last) const {
    const Window& window = fold_.window;
    const bool is_last_tap = last == (window.tap_step[1] > 0);
    return window.position(1, column, is_last_tap ? window.kernel[1] - 1 : 0);
  }
  void fold(float* to, const float* x) const {
    if (fold_.fold == Fold::sum) {
      for (int c = 0; c < kLanes; ++c) to[c] += x[c];
    } else if (fold_.fold == Fold::maximum) {
      for (int c = 0; c < kLanes; ++c) to[c] = functions::maximum(to[c], x[c]);
    } else {
      for (int c = 0; c < kLanes; ++c) to[c] = folded(fold_.fold, to[c], x[c]);
    }
  }

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

}  // namespace

std::unique_ptr<TileKernel> make_window_fold(KernelContext& context, const GraphNode& node,
                                             const WindowFold& fold) {
  return std::make_unique<WindowFoldTile>(context, node, fold);
}

std::unique_ptr<TileKernel> make_resample(KernelContext& context, const GraphNode& node,
                                          const Resample& resample) {
  return std::make_unique<ResampleTile>(context, node, resample);
}

}  // namespace sightline::nn
