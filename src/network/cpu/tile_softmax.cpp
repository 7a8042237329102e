// Softmax over few channels that lie side by side, on tiles.
#include "network/cpu/softmax.hpp"
#include "network/cpu/tile_kernels.hpp"

namespace sightline::nn {
namespace {

class SoftmaxTile : public TileKernel {
 public:
  SoftmaxTile(KernelContext& context, int x, int y, std::int64_t count)
      : count_(static_cast<int>(count)),
        x_(context.stored,
           context.stored.operand(x, context.graph.shape(y), context.stored.planned(y).layout),
           context.stored.planned(y).layout.points, context.linear),
        y_(context.graph, context.stored, y, context.linear) {}

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const TileOperand::At x = x_.at(tile, memory);
    const TileResult::At y = y_.at(tile, memory);
    for (std::int64_t b = 0; b < y_.blocks(); ++b) {
      float* const to = y.block(b);
      softmax_lanes(count_, x.block(b), x_.is_constant() ? 1 : tile.count, to);
      for (int p = 1; x_.is_constant() && p < tile.count; ++p) std::copy_n(to, kLanes, to + p * kLanes);
    }
    y.finish();
  }

 private:
  int count_;  ///< channels of each softmax
  TileOperand x_;
  TileResult y_;
};

}  // namespace

bool can_normalise_by_tiles(const Layout& layout, const Shape& shape, std::size_t axis) {
  const std::int64_t count = shape[axis];
  const std::vector<std::int64_t> channels = offsets_of(channels_of(layout)[axis]);
  return count > 1 && kLanes % count == 0 && !layout.has_points(axis) && channels.back() == count - 1 &&
         even_steps(channels, 0) == channels.size();
}

std::unique_ptr<TileKernel> make_softmax(KernelContext& context, int x, int y, std::int64_t count) {
  return std::make_unique<SoftmaxTile>(context, x, y, count);
}

}  // namespace sightline::nn
