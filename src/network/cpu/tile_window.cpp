#include "network/cpu/tile_window.hpp"

#include <hwy/cache_control.h>

#include <algorithm>

#include "network/primitives/window.hpp"

namespace sightline::nn {
namespace {

constexpr std::int64_t kFewChannels = 8;  // which are packed as planes

// Offsets of channels, without those that lie between the points of another one.
std::vector<std::int32_t> planes_of(const Operand& operand, std::int64_t step) {
  std::vector<std::int32_t> all, planes;
  for (const Operand::Channel& channel : operand.channels) all.push_back(channel.offset);
  std::ranges::sort(all);
  for (const std::int32_t offset : all) {
    if (planes.empty() || offset - planes.back() >= step) planes.push_back(offset);
  }
  return planes;
}

// Points of zeros at the ends of a source's rows, if it is read whole.
std::int64_t zero_ends(const Storage& storage, std::int64_t width) {
  return !storage.is_plain && storage.width == width ? storage.pad : 0;
}

}  // namespace

WindowOperand::WindowOperand(KernelContext& context, int tensor)
    : operand_(context.stored.operand(tensor, context.graph.shape(tensor),
                                      Layout::of(context.graph.shape(tensor)))),
      packer_(context.stored, operand_),
      height_(context.graph.shape(tensor)[2]),
      width_(context.graph.shape(tensor)[3]),
      step_(operand_.common_step()) {
  is_linear_ = operand_.elements.empty() && operand_.linear % width_ == 0 && step_ > 0 && step_ <= 2 * kLanes;
  ends_ = kMostPoints;
  for (const OperandSource& source : operand_.sources) {
    if (is_linear_) offsets_.emplace_back(source.points, width_);
    const bool is_dense = source.step == kLanes;
    ends_ = std::min(ends_, is_dense ? zero_ends(context.stored[source.tensor], width_) : 0);
  }
  is_input_ =
      operand_.sources.size() == 1 && context.stored[operand_.sources[0].tensor].memory == Memory::caller;
  if (is_input_) planes_ = planes_of(operand_, step_);
  has_blocks_ = true;
  for (std::int64_t b = 0; b * kLanes < channels(); ++b) has_blocks_ = has_blocks_ && packer_.has_lanes(b);
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
    for (std::size_t s = 0; s < sources; ++s)
      rows.starts[static_cast<std::size_t>(r) * sources + s] = memory.reals(operand_.sources[s].tensor) +
                                                               offsets_[s].at(part.picture * height_ + y, 0) +
                                                               part.column * step_;
  }
  return rows;
}

void WindowOperand::find_taps(const Window& window, const Tile& tile, std::int64_t first, std::int64_t count,
                              const WorkMemory& memory, const float** taps) const {
  const auto [row, column] = tile.place(window.out[1]);
  const std::int64_t picture = row / window.out[0];
  auto* const starts = memory.spare->take<const float*>(operand_.sources.size());
  for_each_pair(window.kernel, [&](std::int64_t ky, std::int64_t kx) {
    const std::int64_t y = window.position(0, row % window.out[0], ky), x = window.position(1, column, kx);
    const bool is_inside = y >= 0 && y < height_ && x >= 0 && x < width_;
    for (std::size_t s = 0; is_inside && s < operand_.sources.size(); ++s)
      starts[s] = memory.reals(operand_.sources[s].tensor) + offsets_[s].at(picture * height_ + y, x);
    const Operand::Channel* const channels = operand_.channels.data() + first;
    for (std::int64_t c = 0; c < count; ++c)
      *taps++ = is_inside ? starts[channels[c].source] + channels[c].offset : memory.zeros;
  });
}

void WindowOperand::prefetch_below(const Part& part, std::int64_t rows, const WorkMemory& memory) const {
  if (!is_input_ || !is_linear_) return;
  constexpr std::int64_t kLine = 16;  // floats of a line of the cache
  const float* const base = memory.reals(operand_.sources[0].tensor);
#if defined(__GNUC__)
  // GCC takes prefetches for no effect and drops calls of a function that has no other.
  __asm__ volatile("" : : "r"(base));
#endif
  const std::int64_t first = part.row + part.rows, column = std::max<std::int64_t>(part.column, 0),
                     floats = std::min(part.columns, width_ - column) * step_;
  for (std::int64_t y = std::max<std::int64_t>(first, 0); y < std::min(first + rows, height_); ++y) {
    const float* const row = base + offsets_[0].at(part.picture * height_ + y, column);
    for (const std::int32_t plane : planes_) {
      for (std::int64_t i = 0; i < floats; i += kLine) hwy::Prefetch(row + plane + i);
    }
  }
}

std::pair<int, int> WindowOperand::outer_points(const Window& window, const Tile& tile) const {
  if (!is_linear_) return {0, 0};
  const std::int64_t first = tile.place(window.out[1]).column;
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
  const float** const bases = memory.spare->take<const float*>(operand_.sources.size());
  for (std::size_t s = 0; s < operand_.sources.size(); ++s)
    bases[s] = memory.reals(operand_.sources[s].tensor);
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
      float* const to = row + begin * lanes;
      if (lanes == kLanes) {
        packer_.pack(operand_, b, bases, point + begin, static_cast<int>(end - begin), to);
      } else {
        pack_plane(b, bases, point + begin, end - begin, to);
      }
    }
  }
  return packed;
}

void WindowOperand::pack_plane(std::int64_t channel, const float* const* bases, std::int64_t point,
                               std::int64_t count, float* to) const {
  if (!operand_.elements.empty()) {
    for (std::int64_t x = 0; x < count; ++x) {
      const Operand::Channel& at =
          operand_.elements[static_cast<std::size_t>((point + x) * channels() + channel)];
      to[x] = bases[at.source][at.offset];
    }
    return;
  }
  const Operand::Channel& at = operand_.channels[static_cast<std::size_t>(channel)];
  const float* const from = bases[at.source] + at.offset;
  const std::int32_t* const points =
      operand_.sources[static_cast<std::size_t>(at.source)].points.data() + point;
  for (std::int64_t x = 0; x < count; ++x) to[x] = from[points[x]];
}

}  // namespace sightline::nn
