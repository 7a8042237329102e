// Products within a point: convolutions of 1x1, and products with a constant right side.
#include <map>

#include "network/cpu/product.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/strided.hpp"

namespace sightline::nn {
namespace {

/// Numbers of an element's channel are sums of what its places contribute, by axis.
using Contributions = std::vector<std::vector<std::int64_t>>;
Contributions contributions_of(const FactoredAxes& axes) {
  Contributions all;
  for (const FactoredAxis& axis : axes) all.push_back(offsets_of(axis));
  return all;
}

/// Rows of weights that are applied to some channels of the operand, and give some of the output.
struct PointRows {
  std::int64_t group = 0;
  std::vector<int> inputs, outputs;  ///< channels
  bool reads_all = false;            ///< whether inputs are all channels, in order
};

class PointProduct : public TileKernel {
 public:
  PointProduct(KernelContext& context, const GraphNode& node, std::int64_t groups, const SumFinish& finish)
      : x_(context.stored,
           context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  context.stored.planned(node.inputs[0]).layout),
           context.stored.planned(node.outputs[0]).layout.points, context.linear),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        finish_(context, node, finish) {
    const Tensor& weights = *context.graph.constant(node.inputs[1]);
    const Tensor* const start = node.inputs.size() > 2 ? context.graph.constant(node.inputs[2]) : nullptr;
    const bool is_product = std::holds_alternative<Product>(node.primitive);
    depth_ = is_product ? weights.dim(weights.rank() - 2) : weights.dim(1);
    outputs_ = is_product ? weights.dim(weights.rank() - 1) : weights.dim(0) / groups;
    for (std::int64_t g = 0; g < groups; ++g) {
      weights_.push_back(packed_weights(weights, outputs_, depth_, [&](std::int64_t o, std::int64_t k) {
        return is_product ? k * outputs_ + o : (g * outputs_ + o) * depth_ + k;
      }));
      starts_.push_back(packed_start(start, g * outputs_, outputs_));
    }
    find_rows(context, node, is_product);
    for (PointRows& one : rows_) {
      one.reads_all = true;
      for (std::size_t k = 0; k < one.inputs.size(); ++k)
        one.reads_all = one.reads_all && one.inputs[k] == static_cast<int>(k);
    }
    is_direct_ = rows_.size() == 1;
    for (std::size_t o = 0; o < rows_[0].outputs.size(); ++o)
      is_direct_ = is_direct_ && rows_[0].outputs[o] == static_cast<int>(o);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const Channels<const float> x = x_.at(tile, memory).channels();
    const TileResult::At y = y_.at(tile, memory);
    const auto blocks = static_cast<std::size_t>((outputs_ + kLanes - 1) / kLanes);
    auto* const taps = memory.spare->take<const float*>(static_cast<std::size_t>(depth_));
    auto* const out = memory.spare->take<float*>(blocks);
    float* const sums =
        is_direct_ ? nullptr
                   : memory.spare->take<float>(blocks * static_cast<std::size_t>(tile.count * kLanes));
    for (std::size_t b = 0; b < blocks; ++b)
      out[b] = is_direct_ ? y.block(static_cast<std::int64_t>(b))
                          : sums + static_cast<std::int64_t>(b) * tile.count * kLanes;
    ConvolutionRow row;
    row.inputs = static_cast<int>(depth_);
    row.pixel_step = x.step;
    row.blocks = static_cast<int>(blocks);
    row.width = tile.count;
    row.out = out;
    if (is_direct_) {
      row.finish = finish_.finish();
      row.added = finish_.added(tile, memory);
    }
    for (const PointRows& one : rows_) {
      if (one.reads_all) {
        row.taps = x.first;
      } else {
        for (std::size_t k = 0; k < one.inputs.size(); ++k) taps[k] = x.first[one.inputs[k]];
        row.taps = taps;
      }
      row.weights = weights_[static_cast<std::size_t>(one.group)].data();
      row.bias = starts_[static_cast<std::size_t>(one.group)].data();
      convolve_row(row);
      if (!is_direct_) scatter(one, sums, tile, y);
    }
    if (!is_direct_) finish_.apply(y, y_.blocks(), tile, memory);
    y.finish();
  }

 private:
  // Each output element of the first point belongs to a row of weights, and to the channels that it reads.
  void find_rows(const KernelContext& context, const GraphNode& node, bool is_product) {
    const Layout &from = context.stored.planned(node.inputs[0]).layout,
                 &to = context.stored.planned(node.outputs[0]).layout;
    const Contributions channels = contributions_of(channels_of(to)),
                        inputs = contributions_of(channels_of(from));
    const Shape &shape = context.graph.shape(node.outputs[0]), &of = context.graph.shape(node.inputs[0]);
    const std::size_t added = shape.size() - of.size();
    const std::size_t axis = is_product ? shape.size() - 1 : 1;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> numbers;
    for_each_place_of_first_point(shape, to, [&](const Shape& place) {
      std::int64_t channel = 0, input = 0;
      for (std::size_t i = 0; i < place.size(); ++i) {
        const auto at = static_cast<std::size_t>(place[i]);
        channel += channels[i][at];
        if (i != axis && i >= added && of[i - added] > 1) input += inputs[i - added][at];
      }
      const std::int64_t group = place[axis] / outputs_;
      const auto [found, is_new] = numbers.try_emplace({group, input}, rows_.size());
      if (is_new) {
        PointRows rows{group, {}, std::vector<int>(static_cast<std::size_t>(outputs_))};
        for (std::int64_t k = 0; k < depth_; ++k)
          rows.inputs.push_back(
              static_cast<int>(input + inputs[axis - added][static_cast<std::size_t>(group * depth_ + k)]));
        rows_.push_back(std::move(rows));
      }
      rows_[found->second].outputs[static_cast<std::size_t>(place[axis] % outputs_)] =
          static_cast<int>(channel);
    });
  }

  static void scatter(const PointRows& rows, const float* sums, const Tile& tile, const TileResult::At& y) {
    for (std::size_t o = 0; o < rows.outputs.size(); ++o) {
      const auto lane = static_cast<std::int64_t>(o);
      const float* const from = sums + lane / kLanes * tile.count * kLanes + lane % kLanes;
      float* const to = y.block(rows.outputs[o] / kLanes) + rows.outputs[o] % kLanes;
      for (int i = 0; i < tile.count; ++i) to[i * kLanes] = from[i * kLanes];
    }
  }

  TileOperand x_;
  TileResult y_;
  TileFinish finish_;
  std::int64_t depth_ = 0, outputs_ = 0;                ///< of a group
  std::vector<AlignedBuffer<float>> weights_, starts_;  ///< by group
  std::vector<PointRows> rows_;
  bool is_direct_ = true;  ///< whether outputs are written where they belong
};

}  // namespace

std::unique_ptr<TileKernel> make_point_product(KernelContext& context, const GraphNode& node,
                                               std::int64_t groups, const SumFinish& finish) {
  return std::make_unique<PointProduct>(context, node, groups, finish);
}

}  // namespace sightline::nn
