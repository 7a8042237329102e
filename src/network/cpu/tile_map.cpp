// Maps on tiles.
#include <algorithm>

#include "network/cpu/map.hpp"
#include "network/cpu/move.hpp"
#include "network/cpu/tile_kernels.hpp"

namespace sightline::nn {
namespace {

bool is_costly(const Expression::Node& node) {
  using enum Function;
  constexpr Function kCheap[] = {clip, relu, leaky_relu, thresholded_relu};
  return node.function >= exponential && std::ranges::find(kCheap, node.function) == std::end(kCheap);
}

class MapTile : public TileKernel {
 public:
  MapTile(KernelContext& context, const GraphNode& node, const Map& map)
      : operands_(operands_of(context, node)),
        results_(results_of(context, node)),
        form_(form_of(map.expression)),
        kernel_(map.expression, accesses_of(operands_, form_)) {}

  void run(const Tile& tile, const WorkMemory& memory) const override {
    form_ == Form::copy   ? results_[0].store(operands_[0].at(tile, memory).channels(), tile, memory)
    : form_ == Form::rows ? run_rows(tile, memory)
                          : run_blocks(tile, memory);
  }

 private:
  enum class Form : std::uint8_t {
    blocks,
    copy,  ///< the result is the operand
    rows,  ///< vectors have points of one channel
  };

  // Functions of many operations take longer than to turn a few channels into rows and back.
  Form form_of(const Expression& expression) const {
    constexpr std::int64_t kFewChannels = 4;
    if (results_.size() > 1 || !results_[0].is_plain()) return Form::blocks;
    const std::vector<Expression::Node>& nodes = expression.nodes();
    const auto result = static_cast<std::size_t>(expression.results()[0]);
    if (nodes[result].function == Function::operand && operands_.size() == 1 && !operands_[0].is_constant())
      return Form::copy;
    return results_[0].channels() <= kFewChannels && std::ranges::any_of(nodes, is_costly) ? Form::rows
                                                                                           : Form::blocks;
  }

  void run_rows(const Tile& tile, const WorkMemory& memory) const {
    const std::int64_t width = (tile.count + kLanes - 1) / kLanes * kLanes;
    const auto channels = static_cast<std::size_t>(results_[0].channels());
    auto* const all = memory.spare->take<Channels<const float>>(operands_.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const TileOperand::At at = operands_[i].at(tile, memory);
      all[i] = operands_[i].is_constant() ? Channels<const float>{constants_of(at, channels, memory)}
                                          : at.channels();
    }
    auto* const from = memory.spare->take<const std::byte*>(operands_.size());
    auto* const rows = memory.spare->take<const float*>(channels);
    auto* const scratch = memory.spare->take<std::byte>(kernel_.scratch_bytes());
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        const float* values = all[i].first[c];
        if (!operands_[i].is_constant()) {
          auto* const row = memory.spare->take<float>(static_cast<std::size_t>(width));
          copy_channels({&values, all[i].step}, {&row, 1}, 1, tile.count);
          values = row;
        }
        from[i] = reinterpret_cast<const std::byte*>(values);
      }
      auto* const row = memory.spare->take<float>(static_cast<std::size_t>(width));
      auto* const to = reinterpret_cast<std::byte*>(row);
      kernel_.run(from, &to, static_cast<std::size_t>(width), scratch);
      rows[c] = row;
    }
    results_[0].store({rows, 1}, tile, memory);
  }
  static const float* const* constants_of(const TileOperand::At& at, std::size_t channels,
                                          const WorkMemory& memory) {
    auto* const first = memory.spare->take<const float*>(channels);
    const float* const values = at.block(0);
    for (std::size_t c = 0; c < channels; ++c) first[c] = values + c;
    return first;
  }

  void run_blocks(const Tile& tile, const WorkMemory& memory) const {
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

  static std::vector<TileOperand> operands_of(KernelContext& context, const GraphNode& node) {
    const Shape& shape = context.graph.shape(node.outputs[0]);
    const Layout& layout = context.stored.planned(node.outputs[0]).layout;
    std::vector<TileOperand> operands;
    for (const int input : node.inputs)
      operands.emplace_back(context.stored, context.stored.operand(input, shape, layout), layout.points,
                            context.linear);
    return operands;
  }
  static std::vector<TileResult> results_of(KernelContext& context, const GraphNode& node) {
    std::vector<TileResult> results;
    for (const int output : node.outputs)
      results.emplace_back(context.graph, context.stored, output, context.linear);
    return results;
  }
  static std::vector<MapAccess> accesses_of(const std::vector<TileOperand>& operands, Form form) {
    std::vector<MapAccess> accesses;
    for (const TileOperand& one : operands)
      accesses.push_back(!one.is_constant()                      ? MapAccess::row
                         : one.is_single() || form == Form::rows ? MapAccess::single
                                                                 : MapAccess::channels);
    return accesses;
  }

  std::vector<TileOperand> operands_;
  std::vector<TileResult> results_;
  Form form_;
  MapKernel kernel_;
};

}  // namespace

std::unique_ptr<TileKernel> make_map_tile(KernelContext& context, const GraphNode& node, const Map& map) {
  return std::make_unique<MapTile>(context, node, map);
}

}  // namespace sightline::nn
