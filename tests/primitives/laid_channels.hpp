#pragma once
/// Channels of a tile in guarded memory, in one of several layouts.

#include "blocks.hpp"
#include "kernels/kernel_test.hpp"
#include "network/cpu/channels.hpp"

namespace sightline::nn {

enum class Lay {
  blocks,
  planes,
  rows,      ///< [points, channels], with gaps
  shuffled,  ///< blocks, whose channels are of two halves in turn
  mixed,     ///< five of a block, five planes
  tensors,   ///< a block, 16 of rows
};
inline constexpr Lay kLays[] = {Lay::blocks, Lay::planes, Lay::rows, Lay::shuffled, Lay::mixed, Lay::tensors};

struct LaidChannels {
  LaidChannels(Lay lay, int channels, int points)
      : memory(static_cast<std::size_t>((channels + 40) * 2 * (points + 2))) {
    const std::ptrdiff_t half = static_cast<std::ptrdiff_t>(memory.size()) / 2;
    for (int c = 0; c < channels; ++c) {
      const bool is_plane = lay == Lay::planes || (lay == Lay::mixed && c / 5 % 2 == 1);
      const bool is_row = lay == Lay::rows || (lay == Lay::tensors && c / 16 % 2 == 1);
      const int place = lay == Lay::shuffled ? c / 2 + c % 2 * ((channels + 31) / 16 * 8) : c;
      const std::ptrdiff_t in_block = place / 16 * 16 * points + place % 16;
      first.push_back(memory.data() + (is_plane ? half + c * points : is_row ? half + c : in_block));
      steps.push_back(is_plane ? 1 : is_row ? channels + 3 : 16);
    }
    readable.assign(first.begin(), first.end());
  }
  /// @param x  [channels, points]
  void fill(const Tensor& x) {
    for (std::size_t c = 0; c < first.size(); ++c) {
      for (int p = 0; p < x.dim(1); ++p)
        first[c][p * steps[c]] = at<float>(x, {static_cast<std::int64_t>(c), p});
    }
  }
  Channels<float> writable_channels() const { return {first.data(), 0, steps.data()}; }
  Channels<const float> channels() const { return {readable.data(), 0, steps.data()}; }

  test::Guarded<float> memory;
  std::vector<float*> first;
  std::vector<const float*> readable;
  std::vector<std::ptrdiff_t> steps;
};

}  // namespace sightline::nn
