#include "network/cpu/tile_window.hpp"

#include <algorithm>
#include <cstring>

namespace sightline::nn {
namespace {

constexpr std::int64_t kFewChannels = 8;  // which are packed as planes

// Points of zeros at the ends of a source's rows, if it is read whole.
std::int64_t zero_ends(const Storage& storage, std::int64_t width) {
  return !storage.is_plain && storage.width == width ? storage.pad : 0;
}

}  // namespace

WindowOperand::WindowOperand(KernelContext& context, int tensor)
    : operand_(context.stored.operand(tensor, context.graph.shape(tensor),
                                      Layout::of(context.graph.shape(tensor)))),
      height_(context.graph.shape(tensor)[2]),
      width_(context.graph.shape(tensor)[3]),
      step_(operand_.common_step()) {
  is_linear_ = operand_.elements.empty() && operand_.linear % width_ == 0 && step_ > 0 && step_ <= 2 * kLanes;
  ends_ = kMostPoints;
  for (const OperandSource& source : operand_.sources) {
    const bool is_dense = source.step == kLanes;
    ends_ = std::min(ends_, is_dense ? zero_ends(context.stored[source.tensor], width_) : 0);
  }
  has_blocks_ = operand_.elements.empty();
  for (std::int64_t b = 0; b * kLanes < channels(); ++b) {
    const Operand::Channel& lane = operand_.channels[static_cast<std::size_t>(b * kLanes)];
    const Storage& storage = context.stored[operand_.sources[static_cast<std::size_t>(lane.source)].tensor];
    has_blocks_ =
        has_blocks_ && operand_.has_block(b) && ((b + 1) * kLanes <= channels() || !storage.is_plain);
  }
}

bool WindowOperand::can_read(const Part& part, bool as_blocks) const {
  return is_linear_ && (!as_blocks || (has_blocks_ && step_ == kLanes)) && part.column >= -ends_ &&
         part.column + part.columns <= width_ + ends_;
}

WindowOperand::Rows WindowOperand::rows(const Part& part, bool as_blocks, const WorkMemory& memory) const {
  Rows rows;
  rows.operand = &operand_;
  rows.rows = part.rows;
  rows.columns = part.columns;
  if (!can_read(part, as_blocks)) {
    rows.lanes = as_blocks || channels() >= kFewChannels ? kLanes : 1;
    rows.step = rows.lanes;
    rows.packed = pack(part, rows.lanes, memory);
    return rows;
  }
  const std::size_t sources = operand_.sources.size();
  rows.step = step_;
  rows.zeros = memory.zeros;
  rows.starts = memory.spare->take<const float*>(static_cast<std::size_t>(part.rows) * sources);
  bool* const is_outside = memory.spare->take<bool>(static_cast<std::size_t>(part.rows));
  rows.is_outside = is_outside;
  for (std::int64_t r = 0; r < part.rows; ++r) {
    const std::int64_t y = part.row + r * part.row_step;
    is_outside[r] = y < 0 || y >= height_;
    if (is_outside[r]) continue;
    const auto point = static_cast<std::size_t>((part.picture * height_ + y) * width_);
    for (std::size_t s = 0; s < sources; ++s)
      rows.starts[static_cast<std::size_t>(r) * sources + s] =
          memory.reals(operand_.sources[s].tensor) + operand_.sources[s].points[point] + part.column * step_;
  }
  return rows;
}

std::pair<int, int> WindowOperand::outer_points(const Window& window, const Tile& tile) const {
  if (!is_linear_) return {0, 0};
  const std::int64_t first = tile.first % window.out[1];
  const auto is_inside = [&](std::int64_t point) {
    const auto column = [&](std::int64_t tap) { return window.position(1, first + point, tap); };
    const auto [low, high] = std::minmax({column(0), column(window.kernel[1] - 1)});
    return low >= -ends_ && high < width_ + ends_;
  };
  int begin = 0, end = tile.count;
  while (begin < end && !is_inside(begin)) ++begin;
  while (end > begin && !is_inside(end - 1)) --end;
  return {begin, end};
}

const float* WindowOperand::pack(const Part& part, std::int64_t lanes, const WorkMemory& memory) const {
  const std::int64_t blocks = (channels() + lanes - 1) / lanes, row_floats = part.columns * lanes;
  auto* const packed = memory.spare->take<float>(static_cast<std::size_t>(blocks * part.rows * row_floats));
  const std::int64_t begin = std::clamp<std::int64_t>(-part.column, 0, part.columns),
                     end = std::clamp<std::int64_t>(width_ - part.column, begin, part.columns);
  for (std::int64_t r = 0; r < part.rows; ++r) {
    const std::int64_t y = part.row + r * part.row_step;
    const bool is_outside = y < 0 || y >= height_;
    const std::int64_t point = (part.picture * height_ + y) * width_ + part.column;
    for (std::int64_t b = 0; b < blocks; ++b) {
      float* const row = packed + (b * part.rows + r) * row_floats;
      if (is_outside) {
        std::fill_n(row, row_floats, 0.0F);
        continue;
      }
      std::fill_n(row, begin * lanes, 0.0F);
      std::fill_n(row + end * lanes, (part.columns - end) * lanes, 0.0F);
      if (lanes == kLanes && has_blocks_) {
        pack_block(b, point + begin, end - begin, row + begin * lanes, memory);
        continue;
      }
      for (std::int64_t c = b * lanes; c < std::min((b + 1) * lanes, channels()); ++c) {
        float* const to = row + c % lanes;
        if (!operand_.elements.empty()) {
          for (std::int64_t x = begin; x < end; ++x) {
            const Operand::Channel& at =
                operand_.elements[static_cast<std::size_t>((point + x) * channels() + c)];
            to[x * lanes] =
                memory.reals(operand_.sources[static_cast<std::size_t>(at.source)].tensor)[at.offset];
          }
          continue;
        }
        const Operand::Channel& at = operand_.channels[static_cast<std::size_t>(c)];
        const OperandSource& source = operand_.sources[static_cast<std::size_t>(at.source)];
        const float* const from = memory.reals(source.tensor) + at.offset;
        const std::int32_t* const points = source.points.data() + point;
        for (std::int64_t x = begin; x < end; ++x) to[x * lanes] = from[points[x]];
      }
    }
  }
  return packed;
}

// A block that lies as it is read.
void WindowOperand::pack_block(std::int64_t block, std::int64_t point, std::int64_t count, float* to,
                               const WorkMemory& memory) const {
  const Operand::Channel& lane = operand_.channels[static_cast<std::size_t>(block * kLanes)];
  const OperandSource& source = operand_.sources[static_cast<std::size_t>(lane.source)];
  const float* const from = memory.reals(source.tensor) + lane.offset;
  for (std::int64_t x = 0; x < count; ++x)
    std::memcpy(to + x * kLanes, from + source.points[static_cast<std::size_t>(point + x)],
                kLanes * sizeof(float));
}

}  // namespace sightline::nn
