#include "training/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "support/filterbank.hpp"
#include "support/training.hpp"

namespace sightline::training {
namespace {

using test::flat_picture;
using test::Pictures;
using test::pixels_of;

constexpr double kRight = std::numbers::pi / 2;

double mean_of(GrayView picture, const Box& box) {
  double sum = 0;
  int count = 0;
  for (int y = std::max(0, static_cast<int>(box.y));
       y < std::min<double>(box.y + box.height, picture.height()); ++y) {
    for (int x = std::max(0, static_cast<int>(box.x));
         x < std::min<double>(box.x + box.width, picture.width()); ++x) {
      sum += picture.at(x, y);
      ++count;
    }
  }
  return sum / count;
}

void expect_point(Point point, double x, double y) {
  EXPECT_NEAR(point.x, x, 1e-12);
  EXPECT_NEAR(point.y, y, 1e-12);
}

TEST(SampleView, LeavesAnObjectAsItIsUnlessItIsVaried) {
  expect_point(ObjectView({})({0.3, -0.4}), 0.3, -0.4);
}

TEST(SampleView, MovesZoomsAndMirrors) {
  Variation moved;
  moved.shift_x = 0.1;
  moved.zoom = 2;
  expect_point(ObjectView(moved)({0.5, 0.2}), 0.2, 0.1);
  Variation mirrored;
  mirrored.mirrored = true;
  expect_point(ObjectView(mirrored)({0.3, 0.1}), -0.3, 0.1);
}

TEST(SampleView, TurnsAboutThreeAxes) {
  Variation in_picture;
  in_picture.turn_z = kRight;  // what was on the right is now below
  expect_point(ObjectView(in_picture)({0, 0.5}), 0.5, 0);
  for (const bool is_across : {false, true}) {
    Variation turned;
    (is_across ? turned.turn_x : turned.turn_y) = 0.5;
    const ObjectView view(turned);
    const auto along = [&](double at) { return is_across ? view({0, at}).y : view({at, 0}).x; };
    EXPECT_NEAR(along(0), 0, 1e-12);
    // Foreshortened: at the same place, more of the object is seen; and more so on the side that is farther
    // away.
    EXPECT_GT(std::abs(along(0.4)), 0.4);
    EXPECT_GT(std::abs(along(-0.4)), 0.4);
    EXPECT_GT(std::abs(std::abs(along(0.4)) - std::abs(along(-0.4))), 0.02);
    // Across the axis's direction nothing is turned, only nearer or farther.
    expect_point(is_across ? view({0.3, 0}) : view({0, 0.3}), is_across ? 0.3 : 0, is_across ? 0 : 0.3);
  }
}

// Where a point of the object is seen: turned about one axis after the other, then looked at from in front.
Point seen_at(Point object, const Variation& v) {
  double x = object.x, y = object.y, z = 0;
  const auto turn = [](double& a, double& b, double angle) {
    const double before = a;
    a = std::cos(angle) * a - std::sin(angle) * b;
    b = std::sin(angle) * before + std::cos(angle) * b;
  };
  turn(z, x, v.turn_y);
  turn(y, z, v.turn_x);
  turn(x, y, v.turn_z);
  const double nearness = ObjectView::kDistance / (ObjectView::kDistance + z);
  return {x * nearness, y * nearness};
}

TEST(SampleView, UndoesWhatTurningAndLookingDo) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    Variation turned;
    turned.turn_x = random.unit() - 0.5;
    turned.turn_y = random.unit() - 0.5;
    turned.turn_z = 3 * random.unit();
    const Point object{random.unit() - 0.5, random.unit() - 0.5};
    const Point back = ObjectView(turned)(seen_at(object, turned));
    EXPECT_NEAR(back.x, object.x, 1e-9);
    EXPECT_NEAR(back.y, object.y, 1e-9);
  }
}

TEST(SampleView, SeenOnEdgeItStaysFinite) {
  Variation turned;
  turned.turn_x = turned.turn_y = kRight;
  for (double at = -3; at <= 3; at += 0.25) {
    const Point point = ObjectView(turned)({at, -at});
    EXPECT_TRUE(std::isfinite(point.x) && std::isfinite(point.y));
  }
}

TEST(SampleVariation, StaysWithinItsBounds) {
  VariationBounds bounds;
  bounds.mirror = true;
  Random random(1);
  int mirrored = 0;
  double widest = 0;
  for (int i = 0; i < 2000; ++i) {
    const Variation v = draw_variation(bounds, random);
    EXPECT_LE(std::abs(v.turn_y), bounds.turn_y * std::numbers::pi / 180);
    EXPECT_LE(v.contrast, 1 + bounds.contrast);
    EXPECT_GE(v.contrast, 1 / (1 + bounds.contrast) - 1e-12);
    EXPECT_LE(std::hypot(v.gradient_x, v.gradient_y), bounds.gradient);
    EXPECT_GE(v.blur, 0);
    EXPECT_LE(v.noise, bounds.noise);
    widest = std::max(widest, std::abs(v.turn_y));
    mirrored += v.mirrored;
  }
  EXPECT_GT(widest, 0.95 * bounds.turn_y * std::numbers::pi / 180);
  EXPECT_NEAR(mirrored, 1000, 120);
}

TEST(SampleVariation, WithoutBoundsNothingVaries) {
  Random random(1);
  const Variation v = draw_variation({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false}, random);
  expect_point(ObjectView(v)({0.3, -0.2}), 0.3, -0.2);
  Image<std::uint8_t> picture = test::random_picture({17, 13}, 1);
  const std::vector<int> before = pixels_of(picture.view());
  relight(picture.view(), v, {8, 6}, 13);
  add_noise(picture.view(), v.noise, random);
  EXPECT_EQ(pixels_of(picture.view()), before);
  EXPECT_EQ(pixels_of(blurred(std::as_const(picture).view(), v.blur).view()), before);
}

TEST(SampleVariation, LightFallsOffToOneSide) {
  Image<std::uint8_t> picture = flat_picture({41, 41}, 100);
  Variation v;
  v.gradient_x = 0.3;
  relight(picture.view(), v, {20.5, 20.5}, 41);
  EXPECT_EQ(picture.view().at(20, 3), 100);
  EXPECT_NEAR(picture.view().at(40, 3), 130, 1);
  EXPECT_NEAR(picture.view().at(0, 3), 70, 1);
}

TEST(SampleVariation, BlurKeepsTheMeanAndNoiseHasItsDeviation) {
  Image<std::uint8_t> dot = flat_picture({31, 31}, 20);
  dot.view().at(15, 15) = 220;
  const Image<std::uint8_t> soft = blurred(std::as_const(dot).view(), 1.5);
  EXPECT_NEAR(soft.view().at(15, 15), 20 + 200 / (2 * std::numbers::pi * 2.25), 2);
  EXPECT_EQ(soft.view().at(12, 15), soft.view().at(15, 18));
  Image<std::uint8_t> noisy = flat_picture({200, 200}, 128);
  Random random(3);
  add_noise(noisy.view(), 6, random);
  double sum = 0, squares = 0;
  for (const int pixel : pixels_of(noisy.view())) {
    sum += pixel - 128;
    squares += (pixel - 128) * (pixel - 128);
  }
  EXPECT_NEAR(sum / 40000, 0, 0.1);
  EXPECT_NEAR(std::sqrt(squares / 40000), 6, 0.1);
}

// A bright object of 40x40 pixels in a picture of medium gray, and dark backgrounds.
class Samples : public ::testing::Test {
 protected:
  Samples() : picture_(flat_picture({120, 100}, 120)) {
    for (int y = 30; y < 70; ++y)
      std::fill_n(picture_.view().row(y) + 50, 40, static_cast<std::uint8_t>(220));
    octaves_ = std::make_unique<Octaves>(std::as_const(picture_).view());
    object_ = {octaves_.get(), {50, 30, 40, 40}, 7};
    for (std::uint8_t value = 20; value < 23; ++value) dark_.add(flat_picture({200, 150}, value));
    still_.bounds = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false};
    crop_.object = {40, 40};
  }
  Image<std::uint8_t> picture_;
  std::unique_ptr<Octaves> octaves_;
  SourceObject object_;
  Pictures dark_;
  SampleOptions still_;
  CropOptions crop_;
};

TEST_F(Samples, TheFirstCropIsTheObjectAsItIs) {
  const Image<std::uint8_t> crop = make_crop(object_, 0, &dark_, {}, crop_);
  ASSERT_EQ(crop.view().size(), (Size{60, 60}));
  for (int y = 0; y < 60; ++y) {
    for (int x = 0; x < 60; ++x) ASSERT_EQ(crop.view().at(x, y), picture_.view().at(40 + x, 20 + y));
  }
}

TEST_F(Samples, BoxesAreEnlargedToTheShapeOfTheCrop) {
  crop_.object = {20, 40};
  crop_.margin = 0;
  const Image<std::uint8_t> crop =
      make_crop(object_, 0, nullptr, {}, crop_);  // 40 pixels of the picture across are 20
  ASSERT_EQ(crop.view().size(), (Size{20, 40}));
  EXPECT_EQ(crop.view().at(10, 20), 220);
  EXPECT_EQ(crop.view().at(10, 8), 120);  // above the object
  EXPECT_EQ(crop.view().at(10, 31), 120);
}

TEST_F(Samples, PastedCropsHaveTheBackgroundAroundTheObject) {
  crop_.pasted = 1;
  for (const Mask mask : {Mask::ellipse, Mask::box}) {
    still_.mask = mask;
    const Image<std::uint8_t> crop = make_crop(object_, 1, &dark_, still_, crop_);
    EXPECT_EQ(crop.view().at(30, 30), 220);
    EXPECT_NEAR(crop.view().at(0, 0), 21, 1);
    EXPECT_NEAR(crop.view().at(59, 30), 21, 1);
    const int corner = crop.view().at(12, 12);
    if (mask == Mask::box) {
      EXPECT_EQ(corner, 220);
    } else {
      EXPECT_LT(corner, 60);
    }
  }
  crop_.pasted = 0;
  EXPECT_EQ(make_crop(object_, 1, &dark_, still_, crop_).view().at(0, 0), 120);
}

TEST_F(Samples, TheSeamIsSoft) {
  crop_.pasted = 1;
  still_.mask = Mask::box;
  still_.mask_edge = 0.25;
  Image<std::uint8_t> bright = flat_picture({120, 100}, 220);
  const Octaves octaves(std::as_const(bright).view());
  const Image<std::uint8_t> crop = make_crop({&octaves, {50, 30, 40, 40}, 7}, 1, &dark_, still_, crop_);
  for (int x = 50; x < 59; ++x) {  // from the mask's edge on: 10 pixels
    EXPECT_GT(crop.view().at(x, 30), crop.view().at(x + 1, 30));
    EXPECT_LT(crop.view().at(x, 30) - crop.view().at(x + 1, 30), 35);
  }
}

TEST_F(Samples, CropsDependOnSeedObjectAndCopyAlone) {
  const SampleOptions options;
  const std::vector<int> one = pixels_of(make_crop(object_, 3, &dark_, options, crop_).view());
  EXPECT_EQ(pixels_of(make_crop(object_, 3, &dark_, options, crop_).view()), one);
  EXPECT_NE(pixels_of(make_crop(object_, 4, &dark_, options, crop_).view()), one);
  SourceObject other = object_;
  other.number = 8;
  EXPECT_NE(pixels_of(make_crop(other, 3, &dark_, options, crop_).view()), one);
  SampleOptions seeded;
  seeded.seed = 2;
  EXPECT_NE(pixels_of(make_crop(object_, 3, &dark_, seeded, crop_).view()), one);
}

TEST_F(Samples, ObjectsAtThePicturesEdgeAreThere) {
  object_.box = {-10, -10, 50, 50};
  EXPECT_EQ(make_crop(object_, 5, nullptr, {}, crop_).view().size(), (Size{60, 60}));
}

class OneObject : public ObjectSource {
 public:
  explicit OneObject(SourceObject object) : object_(object) {}
  std::size_t size() const override { return 1; }
  LentObject lend(std::size_t /*index*/) const override { return {object_, nullptr}; }

 private:
  SourceObject object_;
};

TEST_F(Samples, ScenesHaveTheirObjectsWhereTheBoxesAre) {
  const OneObject objects(object_);
  std::set<std::size_t> counts;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const Scene scene = make_scene(i, objects, dark_, still_, {});
    const GrayView pixels = scene.pixels.view();
    ASSERT_EQ(pixels.size(), (Size{200, 150}));
    ASSERT_GE(scene.objects.size(), 1U);
    counts.insert(scene.objects.size());
    for (std::size_t k = 0; k < scene.objects.size(); ++k) {
      const Box& box = scene.objects[k];
      EXPECT_GT(clipped(box, pixels.size()).area(), 0.96 * box.area()) << i;  // placed in whole pixels
      EXPECT_GE(box.height, 32);
      EXPECT_LE(box.height, 0.6 * 150);
      const double quarter = box.width / 4;
      EXPECT_GT(mean_of(pixels, {box.x + quarter, box.y + quarter, 2 * quarter, 2 * quarter}), 215) << i;
      for (std::size_t other = 0; other < k; ++other)
        EXPECT_EQ(intersection_area(box, scene.objects[other]), 0);
    }
    EXPECT_EQ(pixels_of(pixels), pixels_of(make_scene(i, objects, dark_, still_, {}).pixels.view()));
  }
  EXPECT_GT(counts.size(), 1U);
}

TEST_F(Samples, EmptyScenesAreTheBackgrounds) {
  SceneOptions empty;
  empty.most_objects = 0;
  empty.longest_side = 100;
  const Scene scene = make_scene(4, OneObject(object_), dark_, still_, empty);
  EXPECT_EQ(scene.pixels.view().size(), (Size{100, 75}));
  EXPECT_TRUE(scene.objects.empty());
  EXPECT_EQ(mean_of(scene.pixels.view(), {0, 0, 100, 75}), 21);
}

TEST_F(Samples, ObjectsThatAreLargerThanTheSceneAreReduced) {
  Pictures small;
  small.add(flat_picture({24, 20}, 20));
  const Scene scene = make_scene(0, OneObject(object_), small, still_, {});
  ASSERT_EQ(scene.objects.size(), 1U);
  EXPECT_GT(clipped(scene.objects[0], {24, 20}).area(), 0.96 * scene.objects[0].area());
}

TEST(ChooseTested, TakesTheShareAndKeepsEqualsTogether) {
  std::vector<std::uint64_t> contents;
  for (std::uint64_t i = 0; i < 100; ++i) contents.push_back(i / 2);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const std::vector<bool> tested = choose_tested(contents, 0.2, seed);
    EXPECT_EQ(std::ranges::count(tested, true), 20);
    for (std::size_t i = 0; i < 100; i += 2) EXPECT_EQ(tested[i], tested[i + 1]);
  }
  EXPECT_NE(choose_tested(contents, 0.2, 1), choose_tested(contents, 0.2, 2));
}

TEST(ChooseTested, LeavesSomeOnEitherSideUnlessAllOrNothingIsWanted) {
  const std::vector<std::uint64_t> three{1, 2, 3};
  EXPECT_EQ(std::ranges::count(choose_tested(three, 0.01, 1), true), 1);
  EXPECT_EQ(std::ranges::count(choose_tested(three, 0.99, 1), true), 2);
  EXPECT_EQ(std::ranges::count(choose_tested(three, 0, 1), true), 0);
  EXPECT_EQ(std::ranges::count(choose_tested(three, 1, 1), true), 3);
  EXPECT_EQ(choose_tested({5, 5}, 0.9, 1), (std::vector<bool>{false, false}));  // one picture: it trains
  EXPECT_TRUE(choose_tested({}, 0.5, 1).empty());
}

TEST(ChooseTested, AnotherPictureMovesHardlyOneToTheOtherSide) {
  std::vector<std::uint64_t> contents;
  for (std::uint64_t i = 0; i < 100; ++i) contents.push_back(i * i);
  const std::vector<bool> before = choose_tested(contents, 0.2, 1);
  contents.push_back(999'999);
  const std::vector<bool> after = choose_tested(contents, 0.2, 1);
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i] != after[i];
  EXPECT_LE(moved, 1);
}

TEST(ContentHash, TellsSizesAndPixelsApart) {
  const Image<std::uint8_t> a = flat_picture({4, 6}, 1), b = flat_picture({6, 4}, 1);
  Image<std::uint8_t> c = flat_picture({4, 6}, 1);
  EXPECT_EQ(content_hash(a.view()), content_hash(std::as_const(c).view()));
  EXPECT_NE(content_hash(a.view()), content_hash(b.view()));
  c.view().at(3, 5) = 2;
  EXPECT_NE(content_hash(a.view()), content_hash(std::as_const(c).view()));
}

}  // namespace
}  // namespace sightline::training
