// Maps on tiles.
#include <algorithm>

#include "network/cpu/tile_kernels.hpp"

namespace sightline::nn {
namespace {

class MapTile : public TileKernel {
 public:
  MapTile(KernelContext& context, const GraphNode& node, const Map& map) : expression_(map.expression) {
    const Shape& shape = context.graph.shape(node.outputs[0]);
    const Layout& layout = context.stored.planned(node.outputs[0]).layout;
    for (const int input : node.inputs)
      operands_.emplace_back(context.stored, context.stored.operand(input, shape, layout), layout.points,
                             context.linear);
    for (const int output : node.outputs)
      results_.emplace_back(context.graph, context.stored, output, context.linear);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    const auto values = static_cast<std::size_t>(tile.count * kLanes);
    auto* const operands = memory.spare->take<TileOperand::At>(operands_.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) operands[i] = operands_[i].at(tile, memory);
    auto* const results = memory.spare->take<TileResult::At>(results_.size());
    for (std::size_t i = 0; i < results_.size(); ++i) results[i] = results_[i].at(tile, memory);
    auto* const from = memory.spare->take<const std::byte*>(operands_.size());
    auto* const to = memory.spare->take<std::byte*>(results_.size());
    for (std::int64_t b = 0; b < results_[0].blocks(); ++b) {
      const SpareMemory::Mark mark = memory.spare->mark();
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        const float* block = operands[i].block(b);
        if (operands_[i].is_constant()) {
          auto* const repeated = memory.spare->take<float>(values);
          for (int p = 0; p < tile.count; ++p) std::copy_n(block, kLanes, repeated + p * kLanes);
          block = repeated;
        }
        from[i] = reinterpret_cast<const std::byte*>(block);
      }
      for (std::size_t i = 0; i < results_.size(); ++i)
        to[i] = reinterpret_cast<std::byte*>(results[i].block(b));
      expression_.evaluate({from, operands_.size()}, {to, results_.size()}, values);
      memory.spare->release(mark);
    }
    for (std::size_t i = 0; i < results_.size(); ++i) results[i].finish();
  }

 private:
  Expression expression_;
  std::vector<TileOperand> operands_;
  std::vector<TileResult> results_;
};

}  // namespace

std::unique_ptr<TileKernel> make_map_tile(KernelContext& context, const GraphNode& node, const Map& map) {
  return std::make_unique<MapTile>(context, node, map);
}

}  // namespace sightline::nn
