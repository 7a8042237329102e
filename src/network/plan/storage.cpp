#include "network/plan/storage.hpp"

namespace sightline::nn {

Storage plain_storage(const TensorType& type, Memory memory) {
  Storage storage;
  storage.memory = memory;
  storage.bytes = bytes_of(type);
  return storage;
}

Storage block_storage(const Layout& layout, std::int64_t width, std::int64_t pad) {
  Storage storage;
  storage.is_plain = false;
  storage.channels = channel_count(layout);
  storage.width = width;
  storage.pad = pad;
  storage.row_step = (width + 2 * pad) * kLanes;
  storage.block_step = layout.points / width * storage.row_step;
  storage.bytes = storage.blocks() * storage.block_step * static_cast<std::int64_t>(sizeof(float));
  return storage;
}

Storage scratch_storage(const Layout& layout) {
  Storage storage;
  storage.memory = Memory::scratch;
  storage.is_plain = false;
  storage.channels = channel_count(layout);
  storage.width = layout.points;
  // One more point keeps blocks from falling on the same lines of a cache.
  storage.block_step = (kMostPoints + 1) * kLanes;
  storage.bytes = storage.blocks() * storage.block_step * static_cast<std::int64_t>(sizeof(float));
  return storage;
}

std::vector<std::int64_t> offsets_of(const FactoredAxis& axis) {
  std::vector<std::int64_t> offsets{0};
  for (const Factor& factor : axis) {
    std::vector<std::int64_t> finer;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < factor.size; ++i) finer.push_back(offset + i * factor.stride);
    }
    offsets = std::move(finer);
  }
  return offsets;
}

std::vector<std::vector<std::int64_t>> offsets_of(const FactoredAxes& axes) {
  std::vector<std::vector<std::int64_t>> all;
  for (const FactoredAxis& axis : axes) all.push_back(offsets_of(axis));
  return all;
}

std::size_t even_steps(const std::vector<std::int64_t>& offsets, std::size_t first) {
  std::size_t end = first + 1;
  while (end < offsets.size() && offsets[end] - offsets[end - 1] == offsets[first + 1] - offsets[first])
    ++end;
  return end - first;
}

FactoredAxes channels_of(const Layout& layout) {
  FactoredAxes axes = layout.axes;
  std::int64_t stride = 1;
  const auto number = [&](FactoredAxis& axis) {
    const bool is_innermost = stride == 1;
    for (auto factor = axis.rbegin(); factor != axis.rend(); ++factor) {
      const bool is_point = factor->stride != 0;
      factor->stride = is_point ? 0 : stride;
      stride *= is_point ? 1 : factor->size;
    }
    if (is_innermost && stride > kLanes) stride = (stride + kLanes - 1) / kLanes * kLanes;
  };
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (i != layout.outermost) number(axes[i]);
  }
  if (layout.outermost) number(axes[*layout.outermost]);
  return axes;
}

std::int64_t channel_count(const Layout& layout) {
  std::int64_t last = 0;
  for (const FactoredAxis& axis : channels_of(layout)) {
    for (const Factor& factor : axis) last += (factor.size - 1) * factor.stride;
  }
  return last + 1;
}

}  // namespace sightline::nn
