#pragma once
/// Pictures in memory to train on.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

/// All its pixels, row by row.
inline std::vector<int> pixels_of(GrayView picture) {
  std::vector<int> pixels;
  for (int y = 0; y < picture.height(); ++y)
    pixels.insert(pixels.end(), picture.row(y), picture.row(y) + picture.width());
  return pixels;
}

}  // namespace sightline::test
