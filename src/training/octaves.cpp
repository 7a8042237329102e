#include "training/octaves.hpp"

#include <algorithm>

#include "image/pyramid.hpp"

namespace sightline::training {

double bilinear(GrayView picture, double x, double y) {
  x = std::clamp(x, 0.0, picture.width() - 1.0);
  y = std::clamp(y, 0.0, picture.height() - 1.0);
  const int left = static_cast<int>(x), top = static_cast<int>(y);
  const int right = std::min(left + 1, picture.width() - 1), bottom = std::min(top + 1, picture.height() - 1);
  const double fx = x - left, fy = y - top;
  return (picture.at(left, top) * (1 - fx) + picture.at(right, top) * fx) * (1 - fy) +
         (picture.at(left, bottom) * (1 - fx) + picture.at(right, bottom) * fx) * fy;
}

Octaves::Octaves(GrayView picture) : levels_{picture} {
  while (std::min(picture.width(), picture.height()) >= 2) {
    Image<std::uint8_t> half(picture.width() / 2, picture.height() / 2);
    halve(picture, half.view(), 0, half.height());
    halves_.push_back(std::move(half));
    picture = halves_.back().view();
    levels_.push_back(picture);
  }
}

double Octaves::sample(double x, double y, double side) const {
  std::size_t level = 0;
  double scale = 1;
  for (; side >= 2 && level + 1 < levels_.size(); side /= 2, ++level) scale *= 2;
  return bilinear(levels_[level], x / scale - 0.5, y / scale - 0.5);
}

}  // namespace sightline::training
