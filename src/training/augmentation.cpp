#include "training/augmentation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>
#include <vector>

namespace sightline::training {
namespace {

double pixel(GrayView picture, int x, int y) {
  return picture.at(std::clamp(x, 0, picture.width() - 1), std::clamp(y, 0, picture.height() - 1));
}

// Bilinear, between pixels' centres; (0, 0) is the centre of the first pixel.
double sample(GrayView picture, double x, double y) {
  const int left = static_cast<int>(std::floor(x));
  const int top = static_cast<int>(std::floor(y));
  const double u = x - left;
  const double v = y - top;
  return (1 - v) * ((1 - u) * pixel(picture, left, top) + u * pixel(picture, left + 1, top)) +
         v * ((1 - u) * pixel(picture, left, top + 1) + u * pixel(picture, left + 1, top + 1));
}

// A picture of that size, whose pixel (x, y) is what `value` says.
Image<std::uint8_t> make(Size size, const auto& value) {
  Image<std::uint8_t> result(size.width, size.height);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x)
      result.view().at(x, y) = static_cast<std::uint8_t>(std::lround(value(x, y)));
  }
  return result;
}

Image<std::uint8_t> resize(GrayView picture, Size size) {
  const double across = static_cast<double>(picture.width()) / size.width;
  const double down = static_cast<double>(picture.height()) / size.height;
  return make(
      size, [&](int x, int y) { return sample(picture, (x + 0.5) * across - 0.5, (y + 0.5) * down - 0.5); });
}

double between(Random& random, double low, double high) {
  return low + random.unit() * (high - low);
}

bool one_in(Random& random, int count) {
  return random.below(static_cast<std::uint64_t>(count)) == 0;
}

}  // namespace

Image<std::uint8_t> jitter(GrayView picture, Random& random) {
  const bool mirrored = one_in(random, 2);
  const bool sharp = one_in(random, 2);
  double zoom = between(random, 1 - kJitterZoom, 1 + kJitterZoom);
  double shift_x = between(random, -kJitterShift, kJitterShift);
  double shift_y = between(random, -kJitterShift, kJitterShift);
  Image<std::uint8_t> blurred;
  if (sharp) {
    zoom = 1;
    shift_x = std::nearbyint(shift_x);
    shift_y = std::nearbyint(shift_y);
  } else {
    const double reduction = kJitterReductions[random.below(std::size(kJitterReductions))];
    const Size small{std::max(1, static_cast<int>(picture.width() * reduction)),
                     std::max(1, static_cast<int>(picture.height() * reduction))};
    const Image<std::uint8_t> less = resize(picture, small);
    blurred = resize(less.view(), picture.size());
    picture = std::as_const(blurred).view();
  }
  const double centre_x = (picture.width() - 1) / 2.0;
  const double centre_y = (picture.height() - 1) / 2.0;
  return make(picture.size(), [&](int x, int y) {
    const double across = mirrored ? centre_x - x : x - centre_x;
    return sample(picture, centre_x + shift_x + across * zoom, centre_y + shift_y + (y - centre_y) * zoom);
  });
}

void roughen(ImageView<std::uint8_t> picture, const Roughness& most, Random& random) {
  const double blur = random.unit() * most.blur, share = random.unit() * most.grain;
  const GrayView view(picture.row(0), picture.width(), picture.height(), picture.stride());
  double sum = 0, squares = 0;
  for (int y = 0; y < view.height(); ++y) {
    for (int x = 0; x < view.width(); ++x) {
      sum += view.at(x, y);
      squares += double{1} * view.at(x, y) * view.at(x, y);
    }
  }
  const double pixels = double{1} * view.width() * view.height(), mean = sum / pixels;
  const double grain = share * std::sqrt(std::max(squares / pixels - mean * mean, 0.0));
  const double beside = blur > 0 ? std::exp(-0.5 / (blur * blur)) : 0;
  const double weight[] = {1 / (1 + 2 * beside), beside / (1 + 2 * beside)};
  std::vector<double> row(static_cast<std::size_t>(view.width()));
  std::vector<std::vector<double>> rows(3, row);
  const auto blurred_row = [&](int y, std::vector<double>& to) {
    for (int x = 0; x < view.width(); ++x)
      to[static_cast<std::size_t>(x)] =
          weight[0] * view.at(x, y) + weight[1] * (pixel(view, x - 1, y) + pixel(view, x + 1, y));
  };
  blurred_row(0, rows[0]);
  rows[1] = rows[0];
  for (int y = 0; y < view.height(); ++y) {
    // Reads this row and its neighbours before it is overwritten.
    if (y + 1 < view.height())
      blurred_row(y + 1, rows[2]);
    else
      rows[2] = rows[1];
    for (int x = 0; x < view.width(); ++x) {
      const auto at = static_cast<std::size_t>(x);
      // Four uniform numbers of 16 bits add up to nearly a Gaussian, of variance 4/12.
      const std::uint64_t bits = random.bits();
      const auto four =
          static_cast<double>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
      const double noise = (four / 65535 - 2) * std::numbers::sqrt3;
      const double value = weight[0] * rows[1][at] + weight[1] * (rows[0][at] + rows[2][at]) + grain * noise;
      picture.at(x, y) = static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
    }
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
}

void mirror(ImageView<std::uint8_t> picture) {
  for (int y = 0; y < picture.height(); ++y) std::reverse(picture.row(y), picture.row(y) + picture.width());
}

Image<std::uint8_t> enlarge(GrayView picture, Random& random) {
  const bool mirrored = one_in(random, 2);
  const double factor = between(random, 1, kEnlargement);
  const Size size{static_cast<int>(picture.width() * factor), static_cast<int>(picture.height() * factor)};
  return make(size, [&](int x, int y) {
    const int column = mirrored ? size.width - 1 - x : x;
    return sample(picture, (column + 0.5) / factor - 0.5, (y + 0.5) / factor - 0.5);
  });
}

void occlude(ImageView<std::uint8_t> picture, GrayView other, const Box& object, Random& random) {
  int shift_x = 0;
  int shift_y = 0;
  int left = 0;
  int top = 0;
  int right = picture.width();
  if (one_in(random, 4)) {
    top = shift_y = static_cast<int>(object.y + between(random, 0.6, 1.1) * object.height);
  } else {
    const double side = one_in(random, 2) ? -1 : 1;
    shift_x = static_cast<int>(side * between(random, 0.55, 1) * object.width);
    shift_y = static_cast<int>(between(random, 0, 1.0 / 6) * object.height);
    left = std::max(0, static_cast<int>(object.x) + shift_x);
    right = std::min(right, static_cast<int>(object.x + object.width) + shift_x);
    top = static_cast<int>(object.y) + shift_y;
  }
  for (int y = std::max(0, top); y < picture.height(); ++y) {
    for (int x = left; x < right; ++x)
      picture.at(x, y) = static_cast<std::uint8_t>(pixel(other, x - shift_x, y - shift_y));
  }
}

}  // namespace sightline::training
