// Patches and the trees of landmarks against what defines them.
#include "faces/landmarks/finder.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/landmarks_model.hpp"

namespace sightline::landmarks {
namespace {

using test::Pattern;

TEST(LandmarkPatch, EqualsReference) {
  PatchSampler sampler;
  for (const Size size : {Size{150, 110}, {1, 1}, {17, 3}, {64, 64}}) {
    for (const Pattern pattern : {Pattern::noise, Pattern::white, Pattern::checkerboard}) {
      const PaddedImage frame = test::padded_image(size, pattern, 5);
      for (const Square& square : kSquares) {
        Patch found, expected;
        sampler.sample(frame.view(), square, found);
        reference::sample(frame.view(), square, expected);
        ASSERT_EQ(found, expected) << size.width << "x" << size.height << ", box " << square.x << ", "
                                   << square.y << ", " << square.side;
      }
    }
  }
}

TEST(LandmarkPatch, OfABoxOfItsOwnSizeIsTheFrame) {
  const PaddedImage frame = test::padded_image({150, 110}, Pattern::noise, 1);
  Patch patch;
  PatchSampler().sample(frame.view(), {30, 20, kBoxPixels}, patch);
  for (int y = 0; y < kPatchSide; ++y) {
    for (int x = 0; x < kPatchSide; ++x)
      ASSERT_EQ(patch[y * kPatchSide + x], frame.view().at(30 - kPatchMargin + x, 20 - kPatchMargin + y));
  }
}

// Three times reduced, a pixel is the mean of nine; enlarged twice, samples lie a quarter of a pixel from the
// middles.
TEST(LandmarkPatch, AveragesAndInterpolates) {
  const PaddedImage frame = test::padded_image({400, 400}, Pattern::noise, 2);
  Patch patch;
  PatchSampler sampler;
  sampler.sample(frame.view(), {50, 60, 3 * kBoxPixels}, patch);
  int sum = 0;
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 3; ++x) sum += frame.view().at(50 + 3 * 7 + x, 60 + 3 * 9 + y);
  }
  EXPECT_NEAR(patch[(kPatchMargin + 9) * kPatchSide + kPatchMargin + 7], sum / 9.0,
              1.5);  // weights are of 256

  sampler.sample(frame.view(), {50, 60, kBoxPixels / 2}, patch);
  const auto at = [&](int x, int y) { return double{1} * frame.view().at(50 + x, 60 + y); };
  const double expected =
      0.75 * (0.75 * at(3, 4) + 0.25 * at(2, 4)) + 0.25 * (0.75 * at(3, 5) + 0.25 * at(2, 5));
  EXPECT_NEAR(patch[(kPatchMargin + 9) * kPatchSide + kPatchMargin + 6], expected, 0.51);
}

TEST(LandmarkPatch, BoxesAreWholeSquares) {
  EXPECT_EQ(square_of({10, 20, 30, 30}), (Square{10, 20, 30}));
  EXPECT_EQ(square_of({10.4, 19.6, 31, 29}), (Square{11, 19, 30}));
  EXPECT_EQ(square_of({5, 5, 0, 0}).side, 1);
  EXPECT_EQ(square_of({-1e300, 1e300, 1e300, 1e300}).side, kLargestSide);
}

TEST(LandmarkTrees, EqualReference) {
  for (int depth = 1; depth <= kMaxDepth; ++depth) {
    const Model model =
        random_model(depth, 3, 7 + depth, depth == 2 ? 1 : kMaxPixels - depth, static_cast<unsigned>(depth));
    const Finder finder(model);
    PatchSampler sampler;
    for (const Pattern pattern : {Pattern::noise, Pattern::flat_areas, Pattern::black}) {
      const PaddedImage frame = test::padded_image({150, 110}, pattern, 8);
      for (const Square& square : kSquares) {
        Patch patch;
        sampler.sample(frame.view(), square, patch);
        ASSERT_EQ(finder.find(patch), reference::find(model, patch, model.mean)) << "depth " << depth;
      }
    }
  }
}

// One tree of one node, by hand: the frame is bright on the right.
TEST(LandmarkTrees, HandWorked) {
  Model model = random_model(1, 1, 1, 2, 1);
  model.mean = {20 * kUnit, 30 * kUnit, 60 * kUnit, 30 * kUnit, 40 * kUnit,
                40 * kUnit, 25 * kUnit, 60 * kUnit, 55 * kUnit, 60 * kUnit};
  model.places = {{1, 0, 0}, {0, 2 * kUnit, 0}};  // of the right eye, and beside the left one
  model.shifts = {2};
  model.splits = {{0, 1, 100}};
  model.leaves = {Leaf{-1, -2, -3}, Leaf{1, 2, 3, 4}};
  Patch patch;
  for (int i = 0; i < kPatchSide * kPatchSide; ++i) patch[i] = i % kPatchSide < 40 ? 50 : 151;
  Shape expected = model.mean;
  for (std::size_t i = 0; i < 4; ++i) expected[i] += 4 * (static_cast<int>(i) + 1);
  EXPECT_EQ(Finder(model).find(patch), expected);
  model.splits[0].threshold = 101;  // is not above
  expected = model.mean;
  for (std::size_t i = 0; i < 3; ++i) expected[i] -= 4 * (static_cast<int>(i) + 1);
  EXPECT_EQ(Finder(model).find(patch), expected);
}

// Pixels are sought where the points have gone: turned by 90 degrees and twice as large.
TEST(LandmarkTrees, PixelsTurnWithThePoints) {
  const Model model = random_model(1, 1, 1, 2, 3);
  Shape middle{}, turned;
  for (std::size_t i = 0; i < kCoordinates; ++i) middle[i] = 40 * kUnit;
  for (std::size_t i = 0; i < kCoordinates; i += 2) {
    turned[i] = middle[i] - 2 * (model.mean[i + 1] - middle[i + 1]);
    turned[i + 1] = middle[i + 1] + 2 * (model.mean[i] - middle[i]);
  }
  const SimilarityTransform transform = MeanShape(model.mean).transform_to(turned);
  EXPECT_EQ(transform, (SimilarityTransform{0, 2 << SimilarityTransform::kBits}));
  EXPECT_EQ(MeanShape(model.mean).transform_to(model.mean), SimilarityTransform{});
  Shape at = middle;
  EXPECT_EQ(patch_index(at, transform, {0, 3 * kUnit, 1 * kUnit}), (40 + 6) * kPatchSide + 40 - 2);
}

// Leaves that nothing decides between move all starts alike: they end as far apart as they began.
TEST(LandmarkPoints, DoubtIsHowFarStartsEndApart) {
  Model model = random_model(1, 1, 1, 2, 3);
  model.leaves.assign(2, Leaf{5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
  const Finder finder(model);
  const PaddedImage frame = test::padded_image({150, 110}, Pattern::noise, 1);
  PatchSampler sampler;
  double apart = 0;
  for (int other = 0; other < 2; ++other) {
    for (std::size_t i = 0; i < kCoordinates; ++i)
      apart += std::abs(finder.other_start(other)[i] - model.mean[i]) / (2.0 * kCoordinates);
  }
  EXPECT_GT(apart, kUnit);
  const FoundPoints found = finder.find_points(frame.view(), {40, 30, 64, 64}, sampler);
  EXPECT_DOUBLE_EQ(found.doubt, apart / (kBoxPixels * kUnit));
  Patch patch;
  sampler.sample(frame.view(), {40, 30, 64}, patch);
  EXPECT_EQ(found.points, frame_points(finder.find(patch), {40, 30, 64}));
}

TEST(LandmarkPoints, AreInFramePixels) {
  Shape shape{};
  shape[0] = kPatchMargin * kUnit;                 // the box's left edge
  shape[1] = (kPatchMargin + kBoxPixels) * kUnit;  // its lower one
  const Points points = frame_points(shape, {30, 40, 100});
  EXPECT_EQ(points[0], (Point{30, 140}));
  EXPECT_EQ(points[1], (Point{30 - 12.5, 40 - 12.5}));
}

}  // namespace
}  // namespace sightline::landmarks
