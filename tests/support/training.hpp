#pragma once
/// Pictures in memory to train on.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/filterbank.hpp"
#include "training/image_set.hpp"

namespace sightline::test {

class Pictures : public training::ImageSet {
 public:
  std::size_t size() const override { return pictures_.size(); }
  std::string name(std::size_t index) const override { return "picture-" + std::to_string(index); }
  Image<std::uint8_t> load(std::size_t index) const override {
    const Image<std::uint8_t>& from = pictures_.at(index);
    Image<std::uint8_t> copy(from.width(), from.height());
    for (int y = 0; y < from.height(); ++y) std::copy_n(from.view().row(y), from.width(), copy.view().row(y));
    return copy;
  }
  void add(Image<std::uint8_t> picture) { pictures_.push_back(std::move(picture)); }

 private:
  std::vector<Image<std::uint8_t>> pictures_;
};

/// A cross that fills the middle of a picture of noise.
inline Image<std::uint8_t> cross_picture(int side, unsigned seed) {
  Image<std::uint8_t> picture = random_picture({side, side}, seed);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      std::uint8_t& pixel = picture.view().at(x, y);
      const bool on_cross = std::abs(x - side / 2) < side / 9 || std::abs(y - side / 2) < side / 9;
      pixel = static_cast<std::uint8_t>(pixel / 4 + (on_cross ? 150 : 0));
    }
  }
  return picture;
}

/// Crosses to be found, and noise.
struct Crosses {
  explicit Crosses(unsigned positive_count = 120, unsigned negative_count = 30) {
    for (unsigned i = 0; i < positive_count; ++i) positives.add(cross_picture(36, i));
    for (unsigned i = 0; i < negative_count; ++i) negatives.add(random_picture({70, 60}, 1000 + i));
  }
  Pictures positives, negatives;
};

/// All pixels of a picture, row by row.
inline std::vector<int> pixels_of(GrayView picture) {
  std::vector<int> pixels;
  for (int y = 0; y < picture.height(); ++y)
    pixels.insert(pixels.end(), picture.row(y), picture.row(y) + picture.width());
  return pixels;
}

}  // namespace sightline::test
