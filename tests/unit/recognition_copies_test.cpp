// Copies of photos of faces: under one lamp, and cut close.
#include <gtest/gtest.h>

#include <algorithm>

#include "image/view.hpp"
#include "recognition/crop.hpp"
#include "recognition/training/close_cut.hpp"
#include "recognition/training/lamp.hpp"

namespace sightline::recognition {
namespace {

// Even but for a dark mouth.
Image<std::uint8_t> face() {
  Image<std::uint8_t> crop(kCropSize.width, kCropSize.height);
  for (int y = 0; y < crop.height(); ++y) {
    for (int x = 0; x < crop.width(); ++x)
      crop.view().at(x, y) = y >= 112 && y < 120 && x >= 45 && x < 85 ? 60 : 150;
  }
  return crop;
}

Image<std::uint8_t> lit(LampDirection lamp) {
  LampScene scene;
  scene.lamp = lamp;
  scene.noise = 0;
  scene.shape = 3;
  Image<std::uint8_t> crop = face();
  training::Random random(1);
  light_by_lamp(crop.view(), scene, random);
  return crop;
}

double mean(const Image<std::uint8_t>& crop, int left, int top, int width, int height) {
  double sum = 0;
  for (int y = top; y < top + height; ++y) {
    for (int x = left; x < left + width; ++x) sum += crop.view().at(x, y);
  }
  return sum / (width * height);
}

TEST(Lamp, LightsTheSideThatItStandsAt) {
  const Image<std::uint8_t> right = lit({80, 0}), left = lit({-80, 0});
  EXPECT_GT(mean(right, 85, 70, 20, 20), 10 * mean(right, 25, 70, 20, 20));
  // A face is its own mirror image, and so is its light.
  for (int y = 0; y < kCropSize.height; ++y) {
    for (int x = 0; x < kCropSize.width; ++x)
      ASSERT_NEAR(right.view().at(x, y), left.view().at(kCropSize.width - 1 - x, y), 1) << x << ", " << y;
  }
}

TEST(Lamp, CastsTheShadowOfTheNose) {
  // Of a cheek that faces even a lamp on the other side of the nose, but for the nose.
  const Image<std::uint8_t> beyond = lit({55, 0}), front = lit({0, 0});
  EXPECT_LT(mean(beyond, 38, 86, 5, 5), 0.2 * mean(beyond, 87, 86, 5, 5));
  EXPECT_GT(mean(front, 38, 86, 5, 5), 0.8 * mean(front, 87, 86, 5, 5));
}

TEST(Lamp, LeavesWhatTheRoomReflects) {
  const Image<std::uint8_t> behind = lit({130, 0});
  const double dark = mean(behind, 25, 40, 30, 30);
  EXPECT_GT(dark, 1);
  EXPECT_LT(dark, 10);
}

TEST(Lamp, KeepsWhatIsPaint) {
  const Image<std::uint8_t> front = lit({0, 0});
  EXPECT_LT(mean(front, 60, 114, 10, 4), 0.7 * mean(front, 60, 130, 10, 4));
}

TEST(Lamp, DrawsScenesOfAllSides) {
  training::Random random(5);
  double leftmost = 0, rightmost = 0, highest = 0;
  for (int i = 0; i < 200; ++i) {
    const LampScene scene = draw_lamp_scene(random);
    leftmost = std::min(leftmost, scene.lamp.side);
    rightmost = std::max(rightmost, scene.lamp.side);
    highest = std::max(highest, scene.lamp.up);
  }
  EXPECT_LT(leftmost, -110);
  EXPECT_GE(leftmost, -130);
  EXPECT_GT(rightmost, 110);
  EXPECT_GT(highest, 60);
}

TEST(CloseCut, RepeatsTheEdgeOfWhatIsLeft) {
  Image<std::uint8_t> crop(kCropSize.width, kCropSize.height);
  const auto pixel = [](int x, int y) { return static_cast<std::uint8_t>(x + 7 * y); };
  for (int y = 0; y < crop.height(); ++y) {
    for (int x = 0; x < crop.width(); ++x) crop.view().at(x, y) = pixel(x, y);
  }
  const CloseCut cut{3, 5, 100, 149};
  cut_closely(crop.view(), cut);
  for (int y = 0; y < crop.height(); ++y) {
    for (int x = 0; x < crop.width(); ++x) {
      ASSERT_EQ(crop.view().at(x, y),
                pixel(std::clamp(x, cut.left, cut.right - 1), std::clamp(y, cut.top, cut.bottom - 1)))
          << x << ", " << y;
    }
  }
}

TEST(CloseCut, LeavesEyesAndMouth) {
  training::Random random(3);
  int most = 0;
  for (int i = 0; i < 1000; ++i) {
    const CloseCut cut = draw_close_cut(random);
    ASSERT_GE(std::min(cut.left, cut.top), 0);
    for (const Point& point : kCropPoints) {
      ASSERT_LT(cut.left, point.x);
      ASSERT_GT(cut.right, point.x);
      ASSERT_LT(cut.top, point.y);
      ASSERT_GT(cut.bottom, point.y);
    }
    most = std::max(most, cut.left);
  }
  EXPECT_GT(most, 20);
}

}  // namespace
}  // namespace sightline::recognition
