#include "faces/landmarks/patch.hpp"

#include <algorithm>
#include <cmath>

namespace sightline::landmarks {
namespace {

constexpr int kPixel = 2 * kBoxPixels;  // units along an axis of a frame pixel

// Weights of the frame's pixels along one axis of patch pixel i.
class Cover {
 public:
  Cover(int i, int first, int side) : length_(2 * std::max(side, kBoxPixels)) {
    begin_ = kPixel * first + (2 * (i - kPatchMargin) + 1) * side - length_ / 2;
    pixel_ = begin_ >= 0 ? begin_ / kPixel : -((kPixel - 1 - begin_) / kPixel);
  }
  bool is_done() const { return taken_ == kWhole; }
  /// The frame's pixel, which may lie beyond its edge.
  int pixel() const { return pixel_; }
  /// Its weight; moves on to the next one.
  int take() {
    ++pixel_;
    const int covered = std::min(pixel_ * kPixel - begin_, length_);
    const int taken = (covered * kWhole + length_ / 2) / length_;
    const int weight = taken - taken_;
    taken_ = taken;
    return weight;
  }

 private:
  static constexpr int kWhole = 256;
  int length_, begin_, pixel_;
  int taken_ = 0;
};

}  // namespace

Square square_of(const Box& box) {
  // Far beyond any frame, only the edge pixel is visible, for any position of the box.
  const auto whole = [](double value) {
    return static_cast<int>(std::lround(std::clamp(value, -0.5 * kLargestSide, 1.5 * kLargestSide)));
  };
  const int side = std::clamp(whole((box.width + box.height) / 2), 1, kLargestSide);
  return {whole(box.x + (box.width - side) / 2), whole(box.y + (box.height - side) / 2), side};
}

void PatchSampler::make_columns(int width, const Square& square) {
  weights_.clear();
  for (int i = 0; i < kPatchSide; ++i) {
    Column& column = columns_[static_cast<std::size_t>(i)];
    Cover cover(i, square.x, square.side);
    column = {std::clamp(cover.pixel(), 0, width - 1), static_cast<int>(weights_.size()), 0};
    // Pixels beyond an edge add to that of the edge.
    int last = -1;
    while (!cover.is_done()) {
      const int pixel = std::clamp(cover.pixel(), 0, width - 1);
      const auto weight = static_cast<std::uint16_t>(cover.take());
      if (pixel == last) {
        weights_.back() = static_cast<std::uint16_t>(weights_.back() + weight);
      } else {
        weights_.push_back(weight);
      }
      last = pixel;
    }
    column.count = static_cast<int>(weights_.size()) - column.weights;
  }
}

void PatchSampler::sample(GrayView frame, const Square& square, Patch& patch) {
  make_columns(frame.width(), square);
  // Rows first, as vectors: of the columns that any pixel of the patch reads.
  const int begin = columns_.front().first;
  const auto columns = static_cast<std::size_t>(columns_.back().first + columns_.back().count - begin);
  mixed_.resize(columns);
  for (int j = 0; j < kPatchSide; ++j) {
    std::fill(mixed_.begin(), mixed_.end(), std::uint16_t{0});
    for (Cover cover(j, square.y, square.side); !cover.is_done();) {
      const std::uint8_t* const row = frame.row(std::clamp(cover.pixel(), 0, frame.height() - 1)) + begin;
      const auto weight = static_cast<std::uint16_t>(cover.take());
      std::uint16_t* const mixed = mixed_.data();
      for (std::size_t x = 0; x < columns; ++x)
        mixed[x] = static_cast<std::uint16_t>(mixed[x] + weight * row[x]);  // at most 255 * 256
    }
    std::uint8_t* const pixels = patch.data() + j * kPatchSide;
    for (std::size_t i = 0; i < kPatchSide; ++i) {
      const Column& column = columns_[i];
      const std::uint16_t* const values = mixed_.data() + (column.first - begin);
      const std::uint16_t* const weights = weights_.data() + column.weights;
      std::uint32_t sum = 32768;
      for (int k = 0; k < column.count; ++k) sum += std::uint32_t{weights[k]} * values[k];
      pixels[i] = static_cast<std::uint8_t>(sum >> 16);
    }
  }
}

namespace reference {

void sample(GrayView frame, const Square& square, Patch& patch) {
  for (int j = 0; j < kPatchSide; ++j) {
    for (int i = 0; i < kPatchSide; ++i) {
      std::uint32_t sum = 32768;
      for (Cover down(j, square.y, square.side); !down.is_done();) {
        const std::uint8_t* const row = frame.row(std::clamp(down.pixel(), 0, frame.height() - 1));
        const auto weight = static_cast<std::uint32_t>(down.take());
        for (Cover across(i, square.x, square.side); !across.is_done();) {
          const int x = std::clamp(across.pixel(), 0, frame.width() - 1);
          sum += weight * static_cast<std::uint32_t>(across.take()) * row[x];
        }
      }
      patch[static_cast<std::size_t>(j * kPatchSide + i)] = static_cast<std::uint8_t>(sum >> 16);
    }
  }
}

}  // namespace reference
}  // namespace sightline::landmarks
