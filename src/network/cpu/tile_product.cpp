// Products within a point: convolutions of 1x1, and products with a constant right side.
#include "network/cpu/product.hpp"
#include "network/cpu/tile_kernels.hpp"
#include "network/plan/within_points.hpp"

namespace sightline::nn {
namespace {

class PointProductTile : public TileKernel {
 public:
  PointProductTile(KernelContext& context, const GraphNode& node, const SumFinish& finish)
      : product_(point_product({context.graph, context.stored.planned(), node})),
        x_(context.stored,
           context.stored.operand(node.inputs[0], context.graph.shape(node.inputs[0]),
                                  context.stored.planned(node.inputs[0]).layout),
           context.stored.planned(node.outputs[0]).layout.points, context.linear),
        y_(context.graph, context.stored, node.outputs[0], context.linear),
        finish_(context, node, finish) {
    const Tensor& weights = *context.graph.constant(node.inputs[1]);
    const Tensor* const start = node.inputs.size() > 2 ? context.graph.constant(node.inputs[2]) : nullptr;
    const bool is_product = std::holds_alternative<Product>(node.primitive);
    for (std::int64_t g = 0; g < product_.groups; ++g) {
      weights_.push_back(
          packed_weights(weights, product_.outputs, product_.depth, [&](std::int64_t o, std::int64_t k) {
            return is_product ? k * product_.outputs + o : (g * product_.outputs + o) * product_.depth + k;
          }));
      starts_.push_back(packed_start(start, g * product_.outputs, product_.outputs));
    }
    for (const PointRows& one : product_.rows) reads_all_.push_back(are_in_order(one.inputs));
    is_direct_ = product_.rows.size() == 1 && are_in_order(product_.rows[0].outputs);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const Channels<const float> x = x_.at(tile, memory).channels();
    const TileResult::At y = y_.at(tile, memory);
    const auto blocks = static_cast<std::size_t>((product_.outputs + kLanes - 1) / kLanes);
    auto* const taps = memory.spare->take<const float*>(static_cast<std::size_t>(product_.depth));
    auto* const out = memory.spare->take<float*>(blocks);
    float* const sums =
        is_direct_ ? nullptr
                   : memory.spare->take<float>(blocks * static_cast<std::size_t>(tile.count * kLanes));
    for (std::size_t b = 0; b < blocks; ++b)
      out[b] = is_direct_ ? y.block(static_cast<std::int64_t>(b))
                          : sums + static_cast<std::int64_t>(b) * tile.count * kLanes;
    ConvolutionRow row;
    row.inputs = static_cast<int>(product_.depth);
    row.pixel_step = x.step;
    row.blocks = static_cast<int>(blocks);
    row.width = tile.count;
    row.out = out;
    if (is_direct_) {
      row.finish = finish_.finish();
      row.added = finish_.added(tile, memory);
    }
    for (std::size_t r = 0; r < product_.rows.size(); ++r) {
      const PointRows& one = product_.rows[r];
      if (reads_all_[r]) {
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
  static void scatter(const PointRows& rows, const float* sums, const Tile& tile, const TileResult::At& y) {
    for (std::size_t o = 0; o < rows.outputs.size(); ++o) {
      const auto lane = static_cast<std::int64_t>(o);
      const float* const from = sums + lane / kLanes * tile.count * kLanes + lane % kLanes;
      float* const to = y.block(rows.outputs[o] / kLanes) + rows.outputs[o] % kLanes;
      for (int i = 0; i < tile.count; ++i) to[i * kLanes] = from[i * kLanes];
    }
  }

  PointProduct product_;
  TileOperand x_;
  TileResult y_;
  TileFinish finish_;
  std::vector<AlignedBuffer<float>> weights_, starts_;  ///< by group
  std::vector<bool> reads_all_;  ///< by rows: whether inputs are all channels, in order
  bool is_direct_ = true;        ///< whether outputs are written where they belong
};

}  // namespace

std::unique_ptr<TileKernel> make_point_product(KernelContext& context, const GraphNode& node,
                                               const SumFinish& finish) {
  return std::make_unique<PointProductTile>(context, node, finish);
}

}  // namespace sightline::nn
