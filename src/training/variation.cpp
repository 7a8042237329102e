#include "training/variation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace sightline::training {
namespace {

double within(Random& random, double limit) {
  return (2 * random.unit() - 1) * limit;
}

// From 1 / (1 + limit) to 1 + limit, as far up as down.
double factor(Random& random, double limit) {
  return std::exp(within(random, std::log1p(limit)));
}

std::uint8_t level(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

Variation draw_variation(const VariationBounds& bounds, Random& random) {
  constexpr double kDegree = std::numbers::pi / 180;
  Variation v;
  v.turn_x = within(random, bounds.turn_x) * kDegree;
  v.turn_y = within(random, bounds.turn_y) * kDegree;
  v.turn_z = within(random, bounds.turn_z) * kDegree;
  v.zoom = factor(random, bounds.zoom);
  v.shift_x = within(random, bounds.shift);
  v.shift_y = within(random, bounds.shift);
  v.contrast = factor(random, bounds.contrast);
  v.brightness = within(random, bounds.brightness);
  v.gamma = factor(random, bounds.gamma);
  const double strength = random.unit() * bounds.gradient;
  const double direction = random.unit() * 2 * std::numbers::pi;
  v.gradient_x = strength * std::cos(direction);
  v.gradient_y = strength * std::sin(direction);
  v.blur = random.unit() * bounds.blur;
  v.noise = random.unit() * bounds.noise;
  v.mirrored = random.below(2) != 0 && bounds.mirror;
  return v;
}

ObjectView::ObjectView(const Variation& variation) : variation_(variation) {
  const double cx = std::cos(variation.turn_x), sx = std::sin(variation.turn_x);
  const double cy = std::cos(variation.turn_y), sy = std::sin(variation.turn_y);
  const double cz = std::cos(variation.turn_z), sz = std::sin(variation.turn_z);
  // About the axis downwards, then the one across, then in the picture: Rz Rx Ry.
  const double rotation[3][3] = {{cz * cy - sz * sx * sy, -sz * cx, cz * sy + sz * sx * cy},
                                 {sz * cy + cz * sx * sy, cz * cx, sz * sy - cz * sx * cy},
                                 {-cx * sy, sx, cx * cy}};
  std::copy(&rotation[0][0], &rotation[0][0] + 9, &rotation_[0][0]);
}

Point ObjectView::operator()(Point seen) const {
  const auto& r = rotation_;
  const double x = (seen.x - variation_.shift_x) / variation_.zoom;
  const double y = (seen.y - variation_.shift_y) / variation_.zoom;
  // The ray from the eye at (0, 0, -kDistance) through (x, y, 0) meets the turned plane, whose normal is the
  // third column. The limit keeps the ray from running along the plane.
  const double towards = std::max(r[0][2] * x + r[1][2] * y + r[2][2] * kDistance, 0.05 * kDistance);
  const double along = r[2][2] * kDistance / towards;
  const double px = along * x, py = along * y, pz = (along - 1) * kDistance;
  const Point object{r[0][0] * px + r[1][0] * py + r[2][0] * pz, r[0][1] * px + r[1][1] * py + r[2][1] * pz};
  return {variation_.mirrored ? -object.x : object.x, object.y};
}

void relight(ImageView<std::uint8_t> pixels, const Variation& variation, Point middle, double height) {
  std::array<double, 256> curve;
  for (int i = 0; i < 256; ++i)
    curve[static_cast<std::size_t>(i)] = 255 * std::pow(i / 255.0, variation.gamma);
  for (int y = 0; y < pixels.height(); ++y) {
    for (int x = 0; x < pixels.width(); ++x) {
      const double right = (x + 0.5 - middle.x) / (height / 2), down = (y + 0.5 - middle.y) / (height / 2);
      const double light = 1 + variation.gradient_x * right + variation.gradient_y * down;
      std::uint8_t& pixel = pixels.at(x, y);
      pixel = level((curve[pixel] * light - 128) * variation.contrast + 128 + variation.brightness);
    }
  }
}

Image<std::uint8_t> blurred(GrayView picture, double deviation) {
  const int reach = static_cast<int>(std::ceil(3 * deviation));
  std::vector<double> weights;
  double sum = 0;
  for (int i = -reach; i <= reach; ++i) {
    weights.push_back(reach == 0 ? 1 : std::exp(-0.5 * i * i / (deviation * deviation)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  const int width = picture.width(), height = picture.height();
  std::vector<double> across(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const auto place = [&](int x, int y) {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  };
  Image<std::uint8_t> result(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double value = 0;
      for (int i = -reach; i <= reach; ++i)
        value +=
            weights[static_cast<std::size_t>(i + reach)] * picture.at(std::clamp(x + i, 0, width - 1), y);
      across[place(x, y)] = value;
    }
  }
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double value = 0;
      for (int i = -reach; i <= reach; ++i)
        value +=
            weights[static_cast<std::size_t>(i + reach)] * across[place(x, std::clamp(y + i, 0, height - 1))];
      result.view().at(x, y) = level(value);
    }
  }
  return result;
}

void add_noise(ImageView<std::uint8_t> pixels, double deviation, Random& random) {
  if (deviation <= 0) return;
  for (int y = 0; y < pixels.height(); ++y) {
    for (int x = 0; x < pixels.width(); ++x)
      pixels.at(x, y) = level(pixels.at(x, y) + deviation * normal(random));
  }
}

}  // namespace sightline::training
