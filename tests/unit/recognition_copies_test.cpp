// Copies of photos of faces: under one lamp, and cut close.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "faces/recognition/crop.hpp"
#include "faces/recognition/training/lamp.hpp"
#include "faces/recognition/training/relighting.hpp"
#include "faces/recognition/training/tight_crop.hpp"
#include "image/view.hpp"

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
  Random random(1);
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
  Random random(5);
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

TEST(Flash, StandsWhereItIsAskedTo) {
  Random random(7);
  double leftmost = 0, lowest = 0, highest = 0;
  for (int i = 0; i < 300; ++i) {
    const auto draw = [&](FlashPlace place) {
      return draw_flash_scene(FlashRig::flash, place, Random(2), random).lamp;
    };
    const LampDirection near = draw(FlashPlace::near_camera), far = draw(FlashPlace::elsewhere);
    EXPECT_LE(std::max(std::abs(near.side), std::abs(near.up)), kNearFlash);
    EXPECT_GT(std::max(std::abs(far.side), std::abs(far.up)), kNearFlash);
    leftmost = std::min(leftmost, far.side);
    lowest = std::min(lowest, far.up);
    highest = std::max(highest, far.up);
  }
  EXPECT_LT(leftmost, -110);
  EXPECT_GE(leftmost, -130);
  EXPECT_LT(lowest, -30);
  EXPECT_GE(lowest, -40);
  EXPECT_GT(highest, 65);
}

TEST(Flash, LeavesThePersonAsItIs) {
  Random random(7);
  const auto draw = [&](std::uint64_t person) {
    return draw_flash_scene(FlashRig::room, FlashPlace::elsewhere, Random(person), random);
  };
  const LampScene a = draw(1), b = draw(1), other = draw(2);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.relief, b.relief);
  EXPECT_EQ(a.gloss, b.gloss);
  EXPECT_EQ(a.bumps, b.bumps);
  EXPECT_NE(a.lamp.side, b.lamp.side);
  EXPECT_NE(a.shape, other.shape);
}

TEST(Flash, BumpsAreSeenInLightFromTheSide) {
  const auto roughness = [](double side, double bumps) {
    LampScene scene;
    scene.lamp.side = side;
    scene.noise = 0;
    scene.bumps = bumps;
    scene.shape = 3;
    Image<std::uint8_t> crop = face();
    Random random(1);
    light_by_lamp(crop.view(), scene, random);
    double sum = 0;
    for (int y = 30; y < 50; ++y) {
      for (int x = 70; x < 90; ++x) sum += std::abs(crop.view().at(x, y) - crop.view().at(x + 1, y));
    }
    return sum / 400;
  };
  EXPECT_GT(roughness(60, 0.1), 3 * roughness(60, 0));
  EXPECT_GT(roughness(60, 0.1), 2 * roughness(0, 0.1));
}

TEST(Relighter, IsTheFaceCutCloseInTheModelsGeometry) {
  // A flash beside the camera in a room: eyes, here two dark spots, are where the geometry has them.
  Image<std::uint8_t> photo = face();
  for (const int x : {39, 91}) {
    for (int i = 0; i < 64; ++i) photo.view().at(x - 4 + i % 8, 56 + i / 8) = 20;
  }
  const CropGeometry geometry{70, 40};
  Relighter copier(geometry);
  Random random(4);
  double darker = 0;
  for (std::uint64_t person = 0; person < 8; ++person) {
    const Image<std::uint8_t>& source = photo;
    const ImageView<std::uint8_t> copy =
        copier.copy(source.view(), kCropPoints, FlashRig::room, FlashPlace::near_camera, person, random);
    ASSERT_EQ(copy.size(), kCropSize);
    darker += copy.at(30, 25) - copy.at(30, 40);
  }
  EXPECT_GT(darker / 8, 40);
}

TEST(TightCrop, RepeatsTheEdgeOfWhatIsLeft) {
  Image<std::uint8_t> crop(kCropSize.width, kCropSize.height);
  const auto pixel = [](int x, int y) { return static_cast<std::uint8_t>(x + 7 * y); };
  for (int y = 0; y < crop.height(); ++y) {
    for (int x = 0; x < crop.width(); ++x) crop.view().at(x, y) = pixel(x, y);
  }
  const TightCrop cut{3, 5, 100, 149};
  crop_tightly(crop.view(), cut);
  for (int y = 0; y < crop.height(); ++y) {
    for (int x = 0; x < crop.width(); ++x) {
      ASSERT_EQ(crop.view().at(x, y),
                pixel(std::clamp(x, cut.left, cut.right - 1), std::clamp(y, cut.top, cut.bottom - 1)))
          << x << ", " << y;
    }
  }
}

TEST(TightCrop, LeavesEyesAndMouth) {
  Random random(3);
  int most = 0;
  for (int i = 0; i < 1000; ++i) {
    const TightCrop cut = draw_tight_crop(random);
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
