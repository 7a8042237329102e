#include "faces/recognition/training/lamp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "faces/recognition/crop.hpp"

namespace sightline::recognition {
namespace {

constexpr int kWidth = kCropSize.width, kHeight = kCropSize.height;
constexpr float kEyes = 52;  // pixels from eye to eye, the unit of lengths

// A value for each pixel of a crop.
class Plane {
 public:
  Plane() : values_(static_cast<std::size_t>(kWidth * kHeight)) {}
  float& at(int x, int y) { return values_[static_cast<std::size_t>(y * kWidth + x)]; }
  float at(int x, int y) const { return values_[static_cast<std::size_t>(y * kWidth + x)]; }
  // The edge's is repeated.
  float near(int x, int y) const { return at(std::clamp(x, 0, kWidth - 1), std::clamp(y, 0, kHeight - 1)); }

  template <typename Value>
  static Plane of(const Value& value) {
    Plane plane;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) plane.at(x, y) = value(x, y);
    }
    return plane;
  }

 private:
  std::vector<float> values_;
};

Plane blurred_plane(const Plane& plane, float deviation) {
  const int reach = static_cast<int>(std::ceil(3 * deviation));
  std::vector<float> weights;
  float sum = 0;
  for (int i = -reach; i <= reach; ++i) {
    const auto distance = static_cast<float>(i) / deviation;
    weights.push_back(std::exp(-0.5F * distance * distance));
    sum += weights.back();
  }
  for (float& weight : weights) weight /= sum;
  // Weight by weight over a whole row, which compilers make vectors of.
  const auto add = [](float weight, const float* from, float* to) {
    for (int x = 0; x < kWidth; ++x) to[x] += weight * from[x];
  };
  Plane rows, result;
  std::vector<float> line(static_cast<std::size_t>(kWidth + 2 * reach));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = -reach; x < kWidth + reach; ++x)
      line[static_cast<std::size_t>(x + reach)] = plane.near(x, y);
    for (std::size_t i = 0; i < weights.size(); ++i) add(weights[i], line.data() + i, &rows.at(0, y));
  }
  for (int y = 0; y < kHeight; ++y) {
    for (int i = -reach; i <= reach; ++i)
      add(weights[static_cast<std::size_t>(i + reach)], &rows.at(0, std::clamp(y + i, 0, kHeight - 1)),
          &result.at(0, y));
  }
  return result;
}

// Height of a bell of height 1 at a distance from its middle, in widths and heights.
float bell(float across, float down) {
  return std::exp(-0.5F * (across * across + down * down));
}

// A part of a face, on both sides alike: lengths in distances between the eyes, from the point between them.
struct Bell {
  float across, down, width, height, rise;
  float spread;  // relative standard deviation of its rise between faces
};
constexpr Bell kBells[] = {
    {0.47F, -0.01F, 0.22F, 0.13F, -0.17F, 0.25F},  // eye sockets
    {0.50F, 0.01F, 0.13F, 0.075F, 0.07F, 0.25F},   // eyeballs
    {0.45F, -0.29F, 0.30F, 0.075F, 0.10F, 0.25F},  // brows
    {0.00F, -0.22F, 0.15F, 0.09F, 0.05F, 0.25F},   // between the brows
    {0.66F, 0.50F, 0.25F, 0.25F, 0.09F, 0.25F},    // cheeks
    {0.40F, 0.85F, 0.06F, 0.20F, -0.03F, 0.30F},   // folds beside the mouth
    {0.00F, 1.03F, 0.27F, 0.065F, 0.09F, 0.25F},   // lips
    {0.00F, 1.20F, 0.24F, 0.07F, 0.09F, 0.25F},
    {0.00F, 1.115F, 0.35F, 0.02F, -0.03F, 0.25F},  // between them
    {0.00F, 1.36F, 0.28F, 0.07F, -0.08F, 0.25F},   // below the lower one
    {0.00F, 1.60F, 0.25F, 0.14F, 0.13F, 0.25F},    // chin
};

Plane heights_of_face(std::uint64_t shape) {
  Random random(shape);
  const auto about_one = [&](float spread) {
    return std::clamp(1 + spread * static_cast<float>(normal(random)), 0.4F, 1.8F);
  };
  const float half_width = 1.22F * about_one(0.05F), half_height = 1.75F * about_one(0.05F);
  const float depth = 1.15F * about_one(0.12F);
  const float tip = 0.66F * about_one(0.05F), nose = 0.34F * about_one(0.2F), nose_width = about_one(0.15F);
  std::vector<float> rises;
  for (const Bell& part : kBells) rises.push_back(part.rise * about_one(part.spread));
  return Plane::of([&](int x, int y) {
    const float across = std::abs(static_cast<float>(x) + 0.5F - 65) / kEyes;
    const float down = (static_cast<float>(y) + 0.5F - 60) / kEyes;
    // The head: an ellipsoid that is flatter in front.
    const float out = std::pow(
        std::pow(across / half_width, 2.4F) + std::pow(std::abs(down - 0.42F) / half_height, 2.4F), 1 / 2.4F);
    float height = out < 1 ? depth * std::sqrt(1 - std::pow(out, 2.2F)) : std::max(-2.4F * (out - 1), -1.5F);
    // The nose: a ridge that rises from between the eyes and falls steeply below its tip.
    const float along = (down + 0.12F) / (tip + 0.12F), below = (down - tip) / 0.085F;
    const float ridge = along < 0   ? 0.08F * std::exp(-14 * along * along)
                        : along < 1 ? 0.08F + nose * std::pow(along, 1.3F)
                                    : (0.08F + nose) * bell(0, below);
    height += ridge * bell(across / ((0.10F + 0.05F * std::clamp(along, 0.0F, 1.0F)) * nose_width), 0);
    height += 0.41F * nose * bell((across - 0.19F * nose_width) / 0.075F, (down - tip + 0.04F) / 0.085F);
    std::size_t i = 0;
    for (const Bell& part : kBells)
      height += rises[i++] * bell((across - part.across) / part.width, (down - part.down) / part.height);
    return height;
  });
}

// Depth of a point in the shadow of another, in widths of a shadow's edge: dark above 0.5, light below -0.5.
float shadow_at(const Plane& heights, const std::array<float, 3>& lamp, int x, int y) {
  constexpr float kStep = 1.5F;  // pixels
  constexpr float kHighest = 2;  // nothing of a face is higher
  const float flat = std::hypot(lamp[0], lamp[1]);
  float deepest = -1;
  if (flat < 0.02F) return deepest;
  for (int step = 1;; ++step) {
    const float way = static_cast<float>(step) * kStep / flat;
    const float rx = static_cast<float>(x) + lamp[0] * way, ry = static_cast<float>(y) + lamp[1] * way;
    const float rz = heights.at(x, y) + lamp[2] * way / kEyes;
    if (rx < 0 || ry < 0 || rx >= kWidth - 1 || ry >= kHeight - 1 || rz > kHighest) return deepest;
    const int left = static_cast<int>(rx), top = static_cast<int>(ry);
    const float fx = rx - static_cast<float>(left), fy = ry - static_cast<float>(top);
    const float upper = heights.at(left, top) * (1 - fx) + heights.at(left + 1, top) * fx;
    const float lower = heights.at(left, top + 1) * (1 - fx) + heights.at(left + 1, top + 1) * fx;
    const float above = upper * (1 - fy) + lower * fy - rz;
    deepest = std::max(deepest, above / (0.012F + 0.006F * way / kEyes));
  }
}

// Unevenness of two sizes, pores and folds.
void add_bumps(std::uint64_t shape, float slope, Plane& heights) {
  Random random(shape, 1);
  for (const float size : {0.9F, 2.0F}) {
    const Plane bumps =
        blurred_plane(Plane::of([&](int, int) { return static_cast<float>(normal(random)); }), size);
    // White noise blurred by s has a deviation of 1 / (2 sqrt(pi) s), and slopes of that / (sqrt(2) s) a
    // pixel.
    const float height = slope * size * size * 2 * std::sqrt(2 * std::numbers::pi_v<float>) / kEyes;
    heights = Plane::of([&](int x, int y) { return heights.at(x, y) + height * bumps.at(x, y); });
  }
}

Plane shading_of(const Plane& heights, LampDirection direction, float gloss) {
  constexpr double kDegree = std::numbers::pi / 180;
  constexpr float kGlossiness = 14;
  const double side = direction.side * kDegree, up = direction.up * kDegree;
  const std::array<float, 3> lamp{static_cast<float>(std::sin(side) * std::cos(up)),
                                  static_cast<float>(-std::sin(up)),
                                  static_cast<float>(std::cos(side) * std::cos(up))};
  // Half way between lamp and camera, where gloss is brightest.
  const float half = std::sqrt(lamp[0] * lamp[0] + lamp[1] * lamp[1] + (lamp[2] + 1) * (lamp[2] + 1));
  const Plane sharp = Plane::of([&](int x, int y) {
    const float slope_x = (heights.near(x + 1, y) - heights.near(x - 1, y)) * kEyes / 2;
    const float slope_y = (heights.near(x, y + 1) - heights.near(x, y - 1)) * kEyes / 2;
    const float normal = std::sqrt(slope_x * slope_x + slope_y * slope_y + 1);
    const float facing = (lamp[2] - slope_x * lamp[0] - slope_y * lamp[1]) / normal;
    if (facing <= 0) return 0.0F;
    const float mirroring =
        std::max(0.0F, lamp[2] + 1 - slope_x * lamp[0] - slope_y * lamp[1]) / (normal * half);
    const float lit = std::clamp(0.5F - shadow_at(heights, lamp, x, y), 0.0F, 1.0F);
    return lit * (facing + gloss * std::pow(mirroring, kGlossiness));
  });
  return blurred_plane(sharp, 0.7F);
}

// The median of a face's middle is 0.35.
Plane albedo_of(GrayView crop) {
  constexpr float kMedian = 0.35F;
  const Plane light = Plane::of(
      [&](int x, int y) { return std::pow(static_cast<float>(crop.at(x, y)) / 255, 2.2F) + 0.002F; });
  const Plane broad = blurred_plane(light, 20);
  Plane albedo = Plane::of([&](int x, int y) { return light.at(x, y) / std::pow(broad.at(x, y), 0.85F); });
  std::vector<float> middle;
  for (int y = 30; y < 130; ++y) {
    for (int x = 25; x < 105; ++x) middle.push_back(albedo.at(x, y));
  }
  const auto median = middle.begin() + static_cast<std::ptrdiff_t>(middle.size() / 2);
  std::ranges::nth_element(middle, median);
  return Plane::of(
      [&](int x, int y) { return std::clamp(albedo.at(x, y) * kMedian / *median, 0.01F, 1.2F) / kMedian; });
}

// Darker areas are assumed to be deeper.
void add_relief(GrayView crop, float relief, Plane& heights) {
  const Plane tone =
      Plane::of([&](int x, int y) { return std::log(static_cast<float>(crop.at(x, y)) + 20); });
  const Plane fine = blurred_plane(tone, 1.5F), broad = blurred_plane(tone, 6);
  heights = Plane::of(
      [&](int x, int y) { return heights.at(x, y) + 0.1F * relief * (fine.at(x, y) - broad.at(x, y)); });
}

}  // namespace

LampScene draw_lamp_scene(Random& random) {
  const auto between = [&](double least, double most) { return least + (most - least) * random.unit(); };
  LampScene scene;
  const bool is_near = random.unit() < 0.3;
  scene.lamp.side = is_near ? between(-25, 25) : between(-130, 130);
  scene.lamp.up = is_near ? between(-25, 25) : between(-40, 75);
  scene.room = between(0.004, 0.05);
  scene.exposure = between(1.5, 2.6);
  scene.gamma = between(0.45, 1);
  scene.contrast = between(0.55, 0.9);
  scene.relief = between(0.5, 1.2);
  scene.noise = between(0.5, 1.8);
  scene.shape = random.bits();
  return scene;
}

LampScene draw_flash_scene(FlashRig rig, FlashPlace place, Random person, Random& random) {
  constexpr double kDegree = std::numbers::pi / 180;
  const auto between = [](Random& from, double least, double most) {
    return least + (most - least) * from.unit();
  };
  LampScene scene;
  scene.shape = person.bits();
  scene.contrast = between(person, 0.55, 0.9);
  scene.relief = between(person, 0.5, 1.2);
  scene.gloss = between(person, 0.05, 0.4);
  scene.bumps = between(person, 0.02, 0.1);
  const auto is_near = [](LampDirection at) {
    return std::abs(at.side) <= kNearFlash && std::abs(at.up) <= kNearFlash;
  };
  do {
    if (place == FlashPlace::near_camera) {
      scene.lamp = {between(random, -kNearFlash, kNearFlash), between(random, -kNearFlash, kNearFlash)};
    } else {
      const double height = between(random, std::sin(-40 * kDegree), 1);
      scene.lamp = {between(random, -130, 130), std::asin(height) / kDegree};
    }
  } while (is_near(scene.lamp) != (place == FlashPlace::near_camera));
  const bool is_room = rig == FlashRig::room, is_noisy = rig == FlashRig::noisy;
  scene.room = is_room ? between(random, 0.004, 0.05) : between(random, 0.001, 0.008);
  scene.exposure = is_room    ? between(random, 1.5, 2.6)
                   : is_noisy ? between(random, 0.7, 1.5)
                              : between(random, 1.3, 2.2);
  scene.gamma = is_room ? between(random, 0.45, 1) : 1;
  scene.noise = is_noisy ? between(random, 2, 5) : between(random, 0.6, 1.6);
  return scene;
}

void light_by_lamp(ImageView<std::uint8_t> crop, const LampScene& scene, Random& random) {
  constexpr float kMedian = 0.35F;
  const Plane albedo = albedo_of(crop);
  Plane heights = heights_of_face(scene.shape);
  add_relief(crop, static_cast<float>(scene.relief), heights);
  if (scene.bumps > 0) add_bumps(scene.shape, static_cast<float>(scene.bumps), heights);
  const Plane shading = shading_of(heights, scene.lamp, static_cast<float>(scene.gloss));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double light = scene.room + (1 - scene.room) * shading.at(x, y);
      const double seen = kMedian * std::pow(albedo.at(x, y), scene.contrast) * light * scene.exposure;
      // Noise of the sensor and of the light.
      const double noise = scene.noise * std::sqrt(0.25 + 0.75 * std::min(1.0, seen));
      const double level = 255 * std::pow(seen, scene.gamma) + noise * normal(random);
      crop.at(x, y) = static_cast<std::uint8_t>(std::clamp(std::floor(level + 0.5), 0.0, 255.0));
    }
  }
}

}  // namespace sightline::recognition
