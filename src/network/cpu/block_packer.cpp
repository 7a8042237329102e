#include "network/cpu/block_packer.hpp"

#include <algorithm>

#include "network/cpu/move.hpp"

namespace sightline::nn {
namespace {

const std::int32_t* points_of(const Operand& operand, const Operand::Channel& at, std::int64_t first) {
  return operand.sources[static_cast<std::size_t>(at.source)].points.data() + first;
}

}  // namespace

BlockPacker::BlockPacker(const Stored& stored, const Operand& operand) {
  for (std::int64_t b = 0; b * kLanes < operand.count(); ++b) mixes_.push_back(mix_of(stored, operand, b));
}

BlockPacker::Mix BlockPacker::mix_of(const Stored& stored, const Operand& operand, std::int64_t block) {
  Mix mix;
  if (!operand.elements.empty()) return mix;
  const std::int64_t begin = block * kLanes, end = std::min(begin + kLanes, operand.count());
  const auto is_plain = [&](const Operand::Channel& at) {
    return stored[operand.sources[static_cast<std::size_t>(at.source)].tensor].is_plain;
  };
  const auto channel = [&](std::int64_t c) { return operand.channels[static_cast<std::size_t>(c)]; };
  // Lanes behind the last channel are there to be read in blocks alone.
  mix.is_whole =
      operand.has_block(block) && (operand.channels_in(block) == kLanes || !is_plain(channel(begin)));
  if (mix.is_whole) {
    mix.vectors.push_back(channel(begin));
    return mix;
  }
  const std::span channels =
      std::span(operand.channels)
          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  if (std::ranges::all_of(channels, is_plain)) return plain_mix(channels);
  for (std::int64_t c = begin; c < end; ++c) {
    Operand::Channel vector = channel(c);
    if (is_plain(vector)) return {};
    const auto lane = static_cast<std::size_t>(c - begin);
    mix.lane[lane] = vector.offset & (kLanes - 1);
    vector.offset -= mix.lane[lane];
    vector.is_none = false;
    const auto found = std::ranges::find(mix.vectors, vector);
    mix.vector[lane] = static_cast<std::int32_t>(found - mix.vectors.begin());
    if (found == mix.vectors.end()) mix.vectors.push_back(vector);
  }
  return mix;
}

// Channels of a plain tensor may lie in one vector's reach, anywhere in a row.
BlockPacker::Mix BlockPacker::plain_mix(std::span<const Operand::Channel> channels) {
  const auto [first, last] = std::ranges::minmax_element(channels, {}, &Operand::Channel::offset);
  const bool is_one = last->offset - first->offset < kLanes &&
                      std::ranges::all_of(channels, [&](auto& one) { return one.source == first->source; });
  Mix mix;
  if (!is_one) return mix;
  mix.vectors.push_back(*first);
  mix.reach = last->offset - first->offset + 1;
  for (std::size_t c = 0; c < channels.size(); ++c) mix.lane[c] = channels[c].offset - first->offset;
  return mix;
}

void BlockPacker::pack(const Operand& operand, std::int64_t block, const float* const* bases,
                       std::int64_t first, int count, float* to) const {
  const Mix& mix = mixes_[static_cast<std::size_t>(block)];
  for (std::size_t v = 0; v < mix.vectors.size(); ++v) {
    const Operand::Channel& at = mix.vectors[v];
    const float* const from = bases[at.source] + at.offset;
    const std::int32_t* const points = points_of(operand, at, first);
    if (mix.is_whole) return pick_points(from, points, count, to);
    pick_lanes({from, points, count, mix.reach}, mix.lane.data(), mix.vector.data(),
               static_cast<std::int32_t>(v), to);
  }
  if (!mix.vectors.empty()) return;
  const std::int64_t begin = block * kLanes, end = std::min(begin + kLanes, operand.count());
  for (std::int64_t c = begin; c < end; ++c) {
    float* const lane = to + (c - begin);
    if (!operand.elements.empty()) {
      for (int i = 0; i < count; ++i) {
        const Operand::Channel& at =
            operand.elements[static_cast<std::size_t>((first + i) * operand.count() + c)];
        lane[i * kLanes] = bases[at.source][at.offset];
      }
      continue;
    }
    const Operand::Channel& at = operand.channels[static_cast<std::size_t>(c)];
    const float* const from = bases[at.source] + at.offset;
    const std::int32_t* const points = points_of(operand, at, first);
    for (int i = 0; i < count; ++i) lane[i * kLanes] = from[points[i]];
  }
}

}  // namespace sightline::nn
