#pragma once
/// Maps in blocks of 16 channels, as the row kernels read and write them.

#include <vector>

#include "network/cpu/epilogue.hpp"
#include "primitives/made_tensors.hpp"

namespace sightline::nn {

/// Sizes around those of vectors and blocks.
inline constexpr int kAwkwardChannels[] = {1, 3, 15, 16, 17, 31, 32, 33, 48};
inline constexpr int kAwkwardPoints[] = {1, 2, 3, 7, 16, 37};

/// A map [channels, height, width] in blocks. Rows have `ends` points before and behind them; they and the
/// lanes without a channel are NaN, so that a kernel that reads them is found.
class Blocks {
 public:
  Blocks(int channels, int height, int width, int ends = 0)
      : channels_(channels),
        height_(height),
        width_(width),
        ends_(ends),
        memory_(static_cast<std::size_t>((channels + 15) / 16 * height * (width + 2 * ends)) * kBlock, kNan) {
  }
  /// @param map  [channels, height, width]
  explicit Blocks(const Tensor& map, int ends = 0)
      : Blocks(static_cast<int>(map.dim(0)), static_cast<int>(map.dim(1)), static_cast<int>(map.dim(2)),
               ends) {
    for (int c = 0; c < channels_; ++c) {
      for (int y = 0; y < height_; ++y) {
        for (int x = 0; x < width_; ++x) row(c / 16, y)[x * kBlock + c % 16] = at<float>(map, {c, y, x});
      }
    }
  }
  int count() const { return (channels_ + 15) / 16; }
  std::ptrdiff_t row_step() const { return (width_ + 2 * ends_) * kBlock; }
  float* row(int block, int y) {
    return memory_.data() + (block * height_ + y) * row_step() + ends_ * kBlock;
  }
  Tensor tensor() {
    return tensor_of<float>({channels_, height_, width_}, [&](const Shape& place) {
      const auto c = static_cast<int>(place[0]);
      return row(c / 16, static_cast<int>(place[1]))[place[2] * kBlock + c % 16];
    });
  }

 private:
  int channels_, height_, width_, ends_;
  std::vector<float> memory_;
};

}  // namespace sightline::nn
