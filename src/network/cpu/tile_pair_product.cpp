// Products of two tensors that the network computes, such as queries and keys: rows of one are points of
// tiles, and the other one is read as weights.
#include <algorithm>

#include "network/cpu/move.hpp"
#include "network/cpu/product.hpp"
#include "network/cpu/tile_kernels.hpp"

namespace sightline::nn {
namespace {

FactoredAxis plain_axis(std::int64_t side, std::int64_t stride) {
  return side == 1 ? FactoredAxis{} : FactoredAxis{{side, stride}};
}

/// The operands of a product [..., M, N], by the points of the output, which are M or N.
struct PairForm {
  std::size_t moving = 0;          ///< the input whose rows (of the first one) or columns are points
  Shape moving_shape, held_shape;  ///< with all axes in front, which may repeat
  Layout moving_layout;            ///< within a point: axes in front, depth
  Layout held_layout;              ///< points: depth; within a point: axes in front, outputs
  std::int64_t depth = 1, outputs = 1;

  PairForm(const Shape& shape, const Layout& layout, std::int64_t k) : depth(k) {
    const std::size_t rows = shape.size() - 2, columns = rows + 1;
    moving = layout.has_points(rows) ? 0 : 1;
    outputs = shape[moving == 0 ? columns : rows];
    moving_shape = held_shape = shape;
    moving_shape[moving == 0 ? columns : rows] = held_shape[moving == 0 ? rows : columns] = depth;
    FactoredAxes moving_axes, held_axes;
    for (std::size_t i = 0; i < rows; ++i) {
      moving_axes.push_back(plain_axis(shape[i], 0));
      held_axes.push_back(plain_axis(shape[i], 0));
    }
    const FactoredAxis within = plain_axis(depth, 0), along = plain_axis(depth, 1),
                       all = plain_axis(outputs, 0);
    moving_axes.push_back(moving == 0 ? layout.axes[rows] : within);
    moving_axes.push_back(moving == 0 ? within : layout.axes[columns]);
    held_axes.push_back(moving == 0 ? along : all);
    held_axes.push_back(moving == 0 ? all : along);
    moving_layout = {layout.points, std::move(moving_axes), false};
    held_layout = {depth, std::move(held_axes), false};
  }
};

// The first channel of each matrix.
std::vector<std::int64_t> first_channels(const Shape& shape, const Layout& layout) {
  const FactoredAxes axes = channels_of(layout);
  std::vector<std::int64_t> first{0};
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    std::vector<std::int64_t> finer;
    for (const std::int64_t outer : first) {
      for (const std::int64_t offset : offsets_of(axes[i])) finer.push_back(outer + offset);
    }
    first = std::move(finer);
  }
  return first;
}

class PairProduct : public TileKernel {
 public:
  PairProduct(KernelContext& context, const GraphNode& node, const SumFinish& finish)
      : form_(context.graph.shape(node.outputs[0]), context.stored.planned(node.outputs[0]).layout,
              context.graph.shape(node.inputs[0]).back()),
        x_(context.stored,
           context.stored.operand(node.inputs[form_.moving], form_.moving_shape, form_.moving_layout),
           form_.moving_layout.points, context.linear),
        held_(context.stored,
              context.stored.operand(node.inputs[1 - form_.moving], form_.held_shape, form_.held_layout),
              form_.depth, held_linear_),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        finish_(context, node, finish),
        x_first_(first_channels(form_.moving_shape, form_.moving_layout)),
        held_first_(first_channels(form_.held_shape, form_.held_layout)),
        y_first_(first_channels(context.graph.shape(node.outputs[0]),
                                context.stored.planned(node.outputs[0]).layout)),
        blocks_((form_.outputs + kLanes - 1) / kLanes) {
    if (held_linear_ == 0) held_linear_ = form_.depth;
    is_direct_ = std::ranges::all_of(y_first_, [](std::int64_t first) { return first % kLanes == 0; });
    is_in_place_ = lies_as_weights(context.stored);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const Channels<const float> x = x_.at(tile, memory).channels();
    const TileResult::At y = y_.at(tile, memory);
    const TileOperand::At held = held_.at({0, static_cast<int>(form_.depth)}, memory);
    const float* const packed = is_in_place_ ? nullptr : packed_weights_of(memory);
    auto* const out = memory.spare->take<float*>(static_cast<std::size_t>(blocks_));
    float* const sums =
        is_direct_ ? nullptr
                   : memory.spare->take<float>(static_cast<std::size_t>(blocks_ * tile.count * kLanes));
    const float* const* const added = is_direct_ ? finish_.added(tile, memory) : nullptr;
    ConvolutionRow row;
    row.inputs = static_cast<int>(form_.depth);
    row.pixel_step = x.step;
    row.blocks = static_cast<int>(blocks_);
    row.width = tile.count;
    row.out = out;
    if (is_direct_) row.finish = finish_.finish();
    for (std::size_t m = 0; m < y_first_.size(); ++m) {
      const std::int64_t first = y_first_[m];
      row.taps = x.first + x_first_[m];
      if (packed) {
        row.weights = packed + static_cast<std::int64_t>(m) * blocks_ * form_.depth * kLanes;
      } else {
        row.weights = held.channel(held_first_[m]);
        if (blocks_ > 1) row.weights_step = held.channel(held_first_[m] + kLanes) - row.weights;
      }
      for (std::int64_t b = 0; b < blocks_; ++b)
        out[b] = is_direct_ ? y.block(first / kLanes + b) : sums + b * tile.count * kLanes;
      row.added = added ? added + first / kLanes : nullptr;
      convolve_row(row);
      if (!is_direct_) scatter(sums, first, tile, y, *memory.spare);
    }
    if (!is_direct_) finish_.apply(y, y_.blocks(), tile, memory);
    y.finish();
  }

 private:
  // Whether rows of 16 outputs lie as a convolution reads weights.
  bool lies_as_weights(const Stored& stored) const {
    const Operand& operand = held_.operand();
    if (!operand.elements.empty() || operand.linear != form_.depth ||
        (form_.depth > 1 && operand.common_step() != kLanes))
      return false;
    for (const std::int64_t begin : held_first_) {
      const auto channel = [&](std::int64_t o) -> const Operand::Channel& {
        return operand.channels[static_cast<std::size_t>(begin + o)];
      };
      const Operand::Channel& first = channel(0);
      const std::int64_t block_step = blocks_ > 1 ? channel(kLanes).offset - first.offset : 0;
      for (std::int64_t o = 0; o < form_.outputs; ++o) {
        if (channel(o).source != first.source ||
            channel(o).offset != first.offset + o / kLanes * block_step + o % kLanes)
          return false;
      }
      const int tensor = operand.sources[static_cast<std::size_t>(first.source)].tensor;
      if (form_.outputs % kLanes != 0 && stored[tensor].is_plain) return false;
      if (blocks_ > 1 && block_step <= 0) return false;
    }
    return true;
  }

  // [matrix][block of outputs][depth][16], which a thread packs once a frame.
  const float* packed_weights_of(const WorkMemory& memory) const {
    const std::int64_t matrix = blocks_ * form_.depth * kLanes;
    return memory.kept->get(this, y_first_.size() * static_cast<std::size_t>(matrix), [&](float* packed) {
      auto* const to = memory.spare->take<float*>(static_cast<std::size_t>(form_.outputs));
      for (std::int64_t first = 0; first < form_.depth; first += held_linear_) {
        const SpareMemory::Mark mark = memory.spare->mark();
        const Tile piece{first, static_cast<int>(std::min(held_linear_, form_.depth - first))};
        const Channels<const float> held = held_.at(piece, memory).channels();
        for (std::size_t m = 0; m < held_first_.size(); ++m) {
          for (std::int64_t o = 0; o < form_.outputs; ++o)
            to[o] = packed + static_cast<std::int64_t>(m) * matrix +
                    (o / kLanes * form_.depth + first) * kLanes + o % kLanes;
          copy_channels({held.first + held_first_[m], held.step}, {to, kLanes},
                        static_cast<int>(form_.outputs), piece.count);
        }
        memory.spare->release(mark);
      }
    });
  }

  void scatter(const float* sums, std::int64_t first, const Tile& tile, const TileResult::At& y,
               SpareMemory& spare) const {
    const SpareMemory::Mark mark = spare.mark();
    auto* const from = spare.take<const float*>(static_cast<std::size_t>(form_.outputs));
    auto* const to = spare.take<float*>(static_cast<std::size_t>(form_.outputs));
    for (std::int64_t o = 0; o < form_.outputs; ++o) {
      from[o] = sums + o / kLanes * tile.count * kLanes + o % kLanes;
      to[o] = y.block((first + o) / kLanes) + (first + o) % kLanes;
    }
    copy_channels({from, kLanes}, {to, kLanes}, static_cast<int>(form_.outputs), tile.count);
    spare.release(mark);
  }

  PairForm form_;
  std::int64_t held_linear_ = 0;  ///< rows of depth that can be read at once
  TileOperand x_, held_;
  TileResult y_;
  TileFinish finish_;
  std::vector<std::int64_t> x_first_, held_first_, y_first_;  ///< first channels, by matrix
  std::int64_t blocks_;                                       ///< of a matrix's outputs
  bool is_direct_ = true;                                     ///< whether sums are written where they belong
  bool is_in_place_ = false;  ///< whether the held operand is read where it lies
};

}  // namespace

bool can_multiply_by_tiles(const Layout& output, const Shape& shape) {
  const std::size_t rows = shape.size() - 2;
  for (std::size_t i = 0; i < rows; ++i) {
    if (output.has_points(i)) return false;
  }
  const auto is_all_points = [&](std::size_t axis) {
    return std::ranges::all_of(output.axes[axis], [](const Factor& one) { return one.stride != 0; });
  };
  return output.points > 1 && (output.has_points(rows) ? is_all_points(rows) && !output.has_points(rows + 1)
                                                       : is_all_points(rows + 1));
}

std::unique_ptr<TileKernel> make_pair_product(KernelContext& context, const GraphNode& node,
                                              const SumFinish& finish) {
  return std::make_unique<PairProduct>(context, node, finish);
}

}  // namespace sightline::nn
