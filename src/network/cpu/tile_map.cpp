// Maps on tiles.
#include "network/cpu/map.hpp"
#include "network/cpu/tile_kernels.hpp"

namespace sightline::nn {
namespace {

class MapTile : public TileKernel {
 public:
  MapTile(KernelContext& context, const GraphNode& node, const Map& map)
      : operands_(operands_of(context, node)), kernel_(map.expression, accesses_of(operands_)) {
    for (const int output : node.outputs)
      results_.emplace_back(context.graph, context.stored, output, context.linear);
  }

  void run(const Tile& tile, const WorkMemory& memory) const override {
    auto* const operands = memory.spare->take<TileOperand::At>(operands_.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) operands[i] = operands_[i].at(tile, memory);
    auto* const results = memory.spare->take<TileResult::At>(results_.size());
    for (std::size_t i = 0; i < results_.size(); ++i) results[i] = results_[i].at(tile, memory);
    auto* const from = memory.spare->take<const std::byte*>(operands_.size());
    auto* const to = memory.spare->take<std::byte*>(results_.size());
    auto* const scratch = memory.spare->take<std::byte>(kernel_.scratch_bytes());
    for (std::int64_t b = 0; b < results_[0].blocks(); ++b) {
      const SpareMemory::Mark mark = memory.spare->mark();
      for (std::size_t i = 0; i < operands_.size(); ++i)
        from[i] = reinterpret_cast<const std::byte*>(operands[i].block(b));
      for (std::size_t i = 0; i < results_.size(); ++i)
        to[i] = reinterpret_cast<std::byte*>(results[i].block(b));
      kernel_.run(from, to, static_cast<std::size_t>(tile.count * kLanes), scratch);
      memory.spare->release(mark);
    }
    for (std::size_t i = 0; i < results_.size(); ++i) results[i].finish();
  }

 private:
  static std::vector<TileOperand> operands_of(KernelContext& context, const GraphNode& node) {
    const Shape& shape = context.graph.shape(node.outputs[0]);
    const Layout& layout = context.stored.planned(node.outputs[0]).layout;
    std::vector<TileOperand> operands;
    for (const int input : node.inputs)
      operands.emplace_back(context.stored, context.stored.operand(input, shape, layout), layout.points,
                            context.linear);
    return operands;
  }
  static std::vector<MapAccess> accesses_of(const std::vector<TileOperand>& operands) {
    std::vector<MapAccess> accesses;
    for (const TileOperand& one : operands)
      accesses.push_back(!one.is_constant() ? MapAccess::row
                         : one.is_single()  ? MapAccess::single
                                            : MapAccess::channels);
    return accesses;
  }

  std::vector<TileOperand> operands_;
  std::vector<TileResult> results_;
  MapKernel kernel_;
};

}  // namespace

std::unique_ptr<TileKernel> make_map_tile(KernelContext& context, const GraphNode& node, const Map& map) {
  return std::make_unique<MapTile>(context, node, map);
}

}  // namespace sightline::nn
