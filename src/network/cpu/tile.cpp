#include "network/cpu/tile.hpp"

#include <algorithm>
#include <numeric>

#include "network/cpu/move.hpp"

namespace sightline::nn {

// --- operands

TileOperand::TileOperand(const Stored& stored, Operand operand, std::int64_t points, std::int64_t& linear)
    : operand_(std::move(operand)),
      packer_(stored, operand_),
      is_linear_(operand_.is_linear(points)),
      step_(operand_.common_step()) {
  if (is_linear_) linear = std::gcd(linear, operand_.linear);
  is_constant_ =
      is_linear_ && operand_.linear == points &&
      std::ranges::all_of(operand_.sources, [](const OperandSource& one) { return one.step == 0; });
  for (const OperandSource& source : operand_.sources) {
    if (is_linear_) offsets_.emplace_back(source.points, operand_.linear);
    scratch_.push_back(stored[source.tensor].offset / static_cast<std::int64_t>(sizeof(float)));
  }
  for (std::int64_t b = 0; b < blocks(); ++b) {
    const OperandSource& source = operand_.sources[static_cast<std::size_t>(
        operand_.channels[static_cast<std::size_t>(b * kLanes)].source)];
    is_direct_.push_back(is_linear_ && packer_.has_lanes(b) && source.step == (is_constant_ ? 0 : kLanes));
  }
  for (const Operand::Channel& channel : operand_.channels) {
    const auto source = static_cast<std::size_t>(channel.source);
    if (runs_.empty() || runs_.back().source != source) runs_.push_back({source, 0});
    channel_offsets_.push_back(channel.offset);
    runs_.back().end = channel_offsets_.size();
  }
  is_single_ = std::ranges::all_of(operand_.channels, [&](const Operand::Channel& one) {
    return one.source == operand_.channels[0].source && one.offset == operand_.channels[0].offset;
  });
}

TileOperand::At TileOperand::at(const Tile& tile, const WorkMemory& memory) const {
  At at;
  at.of = this;
  at.tile = tile;
  at.memory = &memory;
  at.bases = memory.spare->take<const float*>(operand_.sources.size());
  for (std::size_t i = 0; i < operand_.sources.size(); ++i) {
    const OperandSource& source = operand_.sources[i];
    at.bases[i] = source.is_scratch
                      ? reinterpret_cast<const float*>(memory.scratch) + scratch_[i] - tile.first * kLanes
                      : memory.reals(source.tensor);
  }
  return at;
}

const float* TileOperand::At::channel(std::int64_t c) const {
  const Operand::Channel& lane = of->operand_.channels[static_cast<std::size_t>(c)];
  const auto source = static_cast<std::size_t>(lane.source);
  return bases[source] + lane.offset +
         (of->is_linear_ ? of->offset(source, tile)
                         : of->operand_.sources[source].points[static_cast<std::size_t>(tile.first)]);
}

const float* TileOperand::At::block(std::int64_t block) const {
  if (of->is_direct_[static_cast<std::size_t>(block)]) return channel(block * kLanes);
  auto* const packed = memory->spare->take<float>(static_cast<std::size_t>(tile.count * kLanes));
  pack(block, packed);
  return packed;
}

void TileOperand::At::pack(std::int64_t block, float* to) const {
  of->packer_.pack(of->operand_, block, bases, tile.first, of->is_constant_ ? 1 : tile.count, to);
}

Channels<const float> TileOperand::At::channels() const {
  const Operand& operand = of->operand_;
  const auto count = static_cast<std::size_t>(operand.count());
  const float** const first = memory->spare->take<const float*>(count);
  if (of->is_linear_ && (of->step_ != 0 || tile.count == 1)) {
    std::size_t c = 0;
    for (const SourceChannels& run : of->runs_) {
      const float* const start = bases[run.source] + of->offset(run.source, tile);
      for (; c < run.end; ++c) first[c] = start + of->channel_offsets_[c];
    }
    return {first, of->step_ == 0 ? kLanes : of->step_};
  }
  for (std::int64_t b = 0; b < of->blocks(); ++b) {
    auto* const packed = memory->spare->take<float>(static_cast<std::size_t>(tile.count * kLanes));
    pack(b, packed);
    if (of->is_constant_) {
      for (int i = 1; i < tile.count; ++i) std::copy_n(packed, kLanes, packed + i * kLanes);
    }
    for (std::int64_t c = b * kLanes; c < std::min((b + 1) * kLanes, operand.count()); ++c)
      first[c] = packed + c % kLanes;
  }
  return {first, kLanes};
}

// --- results

TileResult::TileResult(const Graph& graph, const Stored& stored, int tensor, std::int64_t& linear)
    : tensor_(tensor),
      storage_(stored[tensor]),
      places_(stored.operand(tensor, graph.shape(tensor), stored.planned(tensor).layout)) {
  // Plain tensors are written point by point.
  if (!storage_.is_plain) linear = std::gcd(linear, places_.linear);
}

TileResult::At TileResult::at(const Tile& tile, const WorkMemory& memory) const {
  At at;
  at.of = this;
  at.tile = tile;
  at.memory = &memory;
  at.step = storage_.block_step;
  if (storage_.memory == Memory::scratch) {
    at.first =
        reinterpret_cast<float*>(memory.scratch) + storage_.offset / static_cast<std::int64_t>(sizeof(float));
  } else if (!storage_.is_plain) {
    const auto [row, column] = tile.place(storage_.width);
    at.first = memory.reals(tensor_) + row * storage_.row_step + (storage_.pad + column) * kLanes;
  } else {
    at.step = tile.count * kLanes;
    at.first = memory.spare->take<float>(static_cast<std::size_t>(at.step * blocks()));
  }
  return at;
}

void TileResult::At::finish() const {
  const Storage& storage = of->storage_;
  if (storage.is_plain) {
    const std::int64_t count = of->places_.count();
    auto* const from = memory->spare->take<const float*>(static_cast<std::size_t>(count));
    for (std::int64_t c = 0; c < count; ++c) from[c] = block(c / kLanes) + c % kLanes;
    return of->store_plain({from, kLanes}, tile, *memory);
  }
  if (storage.pad == 0) return;
  const std::int64_t column = tile.place(storage.width).column;
  const bool is_first = column == 0, is_last = column + tile.count == storage.width;
  for (std::int64_t b = 0; b < of->blocks(); ++b) {
    // Point by point: their number is constant, so no function is called.
    for (std::int64_t i = 0; i < storage.pad; ++i) {
      if (is_first) std::fill_n(block(b) - (i + 1) * kLanes, kLanes, 0.0F);
      if (is_last) std::fill_n(block(b) + (tile.count + i) * kLanes, kLanes, 0.0F);
    }
  }
}

void TileResult::store(const Channels<const float>& from, const Tile& tile, const WorkMemory& memory) const {
  if (storage_.is_plain) return store_plain(from, tile, memory);
  const At y = at(tile, memory);
  auto* const to = memory.spare->take<float*>(places_.channels.size());
  for (std::int64_t c = 0; c < channels(); ++c) to[c] = y.block(c / kLanes) + c % kLanes;
  copy_channels(from, {to, kLanes}, static_cast<int>(channels()), tile.count);
  y.finish();
}

void TileResult::store_plain(const Channels<const float>& from, const Tile& tile,
                             const WorkMemory& memory) const {
  const OperandSource& place = places_.sources[0];
  const std::int32_t* const points = place.points.data() + tile.first;
  float* const tensor = memory.reals(place.tensor);
  auto* const first = memory.spare->take<const float*>(places_.channels.size());
  auto* const to = memory.spare->take<float*>(places_.channels.size());
  int channels = 0;
  for (std::size_t c = 0; c < places_.channels.size(); ++c) {
    if (places_.channels[c].is_none) continue;
    first[channels] = from.first[c];
    to[channels++] = tensor + places_.channels[c].offset;
  }
  if (tile.first / places_.linear == (tile.first + tile.count - 1) / places_.linear) {
    for (int c = 0; c < channels; ++c) to[c] += points[0];
    return copy_channels({first, from.step}, {to, place.step}, channels, tile.count);
  }
  for (int c = 0; c < channels; ++c) {
    for (int i = 0; i < tile.count; ++i) to[c][points[i]] = first[c][i * from.step];
  }
}

// --- finishes

TileFinish::TileFinish(KernelContext& context, const GraphNode& node, const SumFinish& finish)
    : finish_(finish.finish) {
  if (finish.added == kNone) return;
  const Layout& layout = context.stored.planned(node.outputs[0]).layout;
  added_.emplace(context.stored,
                 context.stored.operand(finish.added, context.graph.shape(node.outputs[0]), layout),
                 layout.points, context.linear);
}

const float* const* TileFinish::added(const Tile& tile, const WorkMemory& memory) const {
  if (!added_) return nullptr;
  const TileOperand::At at = added_->at(tile, memory);
  auto* const rows = memory.spare->take<const float*>(static_cast<std::size_t>(added_->blocks()));
  for (std::int64_t b = 0; b < added_->blocks(); ++b) rows[b] = at.block(b);
  return rows;
}

void TileFinish::apply(const TileResult::At& y, std::int64_t blocks, const Tile& tile,
                       const WorkMemory& memory) const {
  const float* const* const rows = added(tile, memory);
  for (std::int64_t b = 0; b < blocks; ++b)
    finish_row(y.block(b), rows ? rows[b] : nullptr, tile.count, finish_);
}

}  // namespace sightline::nn
