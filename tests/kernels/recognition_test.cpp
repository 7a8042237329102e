// Crops and descriptors of faces: the fast forms against the definitions, with every instruction set that the
// machine has, and the definitions against hand-worked values.
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "faces/recognition/crop.hpp"
#include "faces/recognition/descriptor.hpp"
#include "faces/recognition/face_descriptor.hpp"
#include "faces/recognition/normalisation.hpp"
#include "faces/recognition/projection.hpp"
#include "kernels/kernel_test.hpp"
#include "support/recognition.hpp"

namespace sightline::recognition {
namespace {

using test::first_difference;
using test::Guarded;
using test::GuardedImage;
using test::kPatterns;
using test::made_up_projection;
using test::Numbers;
using test::Pattern;
using test::Picture;

KERNEL_TEST_SUITE(RecognitionKernel);

Similarity of_eyes(double left_x, double left_y, double right_x, double right_y) {
  const std::array<Point, 2> eyes{{{left_x, left_y}, {right_x, right_y}}};
  return similarity_of(eyes);
}
// By the middle between the eyes, their distance and an angle.
Similarity of_face(double x, double y, double distance, double angle) {
  const double dx = distance / 2 * std::cos(angle), dy = distance / 2 * std::sin(angle);
  return of_eyes(x - dx, y - dy, x + dx, y + dy);
}

void expect_crop(Cropper& cropper, GrayView frame, const Similarity& from, Size size) {
  GuardedImage<std::uint8_t> got(size), expected(size);
  cropper.crop(frame, from, got.view());
  reference::crop(frame, from, expected.view());
  EXPECT_EQ(first_difference(expected.view(), got.view(), 0, size.height), "");
  EXPECT_TRUE(got.columns_untouched_outside(0, size.height));
}

TEST_P(RecognitionKernel, CropsAreTheDefinition) {
  Cropper cropper;
  for (const Pattern pattern : kPatterns) {
    const Picture frame({211, 197}, pattern);
    for (const double distance : {9.0, 77.0, 150.0})
      expect_crop(cropper, frame.view(), of_face(105, 90, distance, 0.2), kCropSize);
  }
}

TEST_P(RecognitionKernel, CropsInEveryOctaveAndBeyondEveryEdge) {
  Cropper cropper;
  const Picture frame({211, 197}, Pattern::noise);
  for (const double distance : {0.0, 0.5, 52.0, 103.9, 104.0, 209.0, 430.0, 900.0}) {
    for (const double angle : {0.0, -1.3, 3.1}) {
      SCOPED_TRACE(std::to_string(distance) + " pixels, " + std::to_string(angle));
      for (const Point middle : {Point{105, 90}, Point{3, 190}})
        expect_crop(cropper, frame.view(), of_face(middle.x, middle.y, distance, angle), {37, 29});
    }
  }
}

TEST_P(RecognitionKernel, CropsOfAnySizeOfAnyFrame) {
  Cropper cropper;
  for (const Size frame_size : {Size{1, 1}, Size{2, 3}, Size{17, 1}, Size{1, 40}, Size{64, 48}}) {
    const Picture frame(frame_size, Pattern::noise);
    for (const Size size : {Size{1, 1}, Size{3, 2}, Size{8, 5}, Size{15, 4}, Size{17, 3}, Size{33, 2}})
      expect_crop(cropper, frame.view(), of_face(20, 10, 70, 0.3), size);
  }
}

TEST_P(RecognitionKernel, DescriptorsAreTheDefinition) {
  const std::vector<DescriptorSettings> all = {
      {},
      {{{16, 2}}, LbpMapping::uniform, kCropSize, 2, {11, 13}, {11, 13}},
      {{{8, 1}, {8, 2}, {16, 3.5}}, LbpMapping::uniform, kCropSize, 4, {26, 30}, {13, 10}},
      {{{24, 3}}, LbpMapping::rotation_uniform, kCropSize, 5, {18, 21}, {17, 20}},
      {{{8, 1}}, LbpMapping::plain, {23, 9}, 1, {21, 7}, {21, 7}},
      {{{16, 1}, {8, 1}}, LbpMapping::rotation, {5, 4}, 1, {1, 1}, {1, 1}},
  };
  for (const DescriptorSettings& settings : all) {
    const Descriptor descriptor(settings);
    Descriptor::Scratch scratch;
    for (const Pattern pattern : {Pattern::noise, Pattern::flat_areas}) {
      const Picture crop(settings.crop, pattern);
      const auto values = static_cast<std::size_t>(descriptor.values());
      Guarded<std::uint16_t> got(values), expected(values);
      descriptor.count(crop.view(), scratch, got.data());
      reference::count(descriptor, crop.view(), expected.data());
      EXPECT_EQ(first_difference(expected.data(), got.data(), values), "");
      EXPECT_TRUE(got.untouched_outside(0, descriptor.values()));
    }
  }
}

constexpr Normalisation kNormalisations[] = {
    {0, 0}, {1, 0}, {2, 0},       {4, 0},       {0, 1},       {0, 4},       {1, 2}, {2, 4},
    {4, 1}, {2, 2}, {2, 4, true}, {0, 4, true}, {1, 2, true}, {4, 1, true}, {3, 0}, {3, 4, true}};

TEST_P(RecognitionKernel, NormalisedCropsAreTheDefinition) {
  Normaliser normaliser;
  for (const Size size : {Size{1, 1}, Size{2, 5}, Size{16, 3}, Size{33, 9}, Size{65, 31}}) {
    for (const Pattern pattern : kPatterns) {
      const Picture crop(size, pattern);
      for (const Normalisation& normalisation : kNormalisations) {
        SCOPED_TRACE(std::to_string(size.width) + " wide, " + std::to_string(normalisation.inner) + " - " +
                     std::to_string(normalisation.outer) + (normalisation.is_relative ? ", relative" : ""));
        Image<std::uint8_t> expected(size.width, size.height);
        reference::normalise(crop.view(), normalisation, expected.view());
        EXPECT_EQ(first_difference(std::as_const(expected).view(), normaliser.run(crop.view(), normalisation),
                                   0, size.height),
                  "");
      }
    }
  }
}

std::vector<Channel> some_channels() {
  const Size crop{34, 30};
  return {{{1, 0}, {{{8, 2}}, LbpMapping::uniform, crop, 2, {10, 8}, {5, 5}}},
          {{2, 4, true}, {{{8, 3}, {24, 1.5}}, LbpMapping::uniform, crop, 3, {14, 24}, {14, 24}}},
          {{0, 0}, {{{16, 2}}, LbpMapping::rotation_uniform, crop, 2, {30, 5}, {30, 1}}}};
}
// Besides, one whose sides are kept apart, with a clipped last column and a mapping that has no mirror image.
std::vector<Channel> with_sides_apart() {
  std::vector<Channel> channels = some_channels();
  const Size crop{34, 30};
  channels.push_back(
      {{3, 4, true}, {{{8, 2}, {16, 1}}, LbpMapping::rotation, crop, 2, {8, 9}, {8, 7}}, false});
  return channels;
}

TEST_P(RecognitionKernel, FacesAreTheDefinition) {
  const FaceDescriptor descriptor(with_sides_apart());
  FaceDescriptor::Scratch scratch;
  for (const Pattern pattern : kPatterns) {
    const Picture crop(descriptor.crop_size(), pattern);
    const auto values = static_cast<std::size_t>(descriptor.values());
    Guarded<std::uint16_t> got(values), expected(values);
    descriptor.count(crop.view(), scratch, got.data());
    reference::count(descriptor, crop.view(), expected.data());
    EXPECT_EQ(first_difference(expected.data(), got.data(), values), "");
    EXPECT_TRUE(got.untouched_outside(0, descriptor.values()));
  }
}

TEST_P(RecognitionKernel, ProjectionsAreTheDefinition) {
  Projector::Scratch scratch;
  for (const int values : {1, 31, 64, 65, 1000}) {
    for (const int dims : {1, 3, 4, 9}) {
      Numbers numbers(static_cast<unsigned>(values * dims));
      Projection projection = made_up_projection(dims, values, numbers);
      std::vector<std::uint16_t> counts(static_cast<std::size_t>(values));
      // The last time, the largest sums.
      for (int i = 0; i < 5; ++i) {
        for (std::uint16_t& count : counts)
          count = static_cast<std::uint16_t>(i < 4 ? numbers(0, kMostCount) : kMostCount);
        if (i == 4) std::ranges::fill(projection.weights, std::int8_t{-128});
        const Projector projector(projection);
        Guarded<std::int8_t> got(static_cast<std::size_t>(dims));
        std::vector<std::int8_t> expected(static_cast<std::size_t>(dims));
        projector.project(counts.data(), scratch, got.data());
        reference::project(projection, counts.data(), expected.data());
        EXPECT_EQ(first_difference(expected.data(), got.data(), expected.size()), "")
            << values << ", " << dims;
        EXPECT_TRUE(got.untouched_outside(0, dims));
      }
    }
  }
}

TEST(Normalisation, OfAFlatCropIsFlat) {
  const Picture crop({20, 20}, Pattern::white);
  Normaliser normaliser;
  for (const Normalisation& normalisation : kNormalisations) {
    const GrayView result = normaliser.run(crop.view(), normalisation);
    EXPECT_EQ(result.at(7, 9), normalisation.outer == 0 ? 255 : 128);
  }
}

TEST(Normalisation, HandWorked) {
  // A bright pixel, blurred by one: a quarter of it, less a little, is left in its place, 102 * 102 / 65536.
  std::vector<std::uint8_t> pixels(81, 0);
  pixels[40] = 200;
  Image<std::uint8_t> result(9, 9);
  reference::normalise({pixels.data(), 9, 9, 9}, {1, 0}, result.view());
  EXPECT_EQ(result.view().at(4, 4), 32);  // 31.75
  EXPECT_EQ(result.view().at(5, 4), 19);  // 102 * 62 * 200 / 65536 = 19.3
  EXPECT_EQ(result.view().at(5, 5), 12);  // 11.73
  EXPECT_EQ(result.view().at(4, 0), 0);
}

TEST(Normalisation, OnlyBlursThatThereAre) {
  EXPECT_THROW(check(Normalisation{5, 0}), Error);
  EXPECT_THROW(check(Normalisation{0, -1}), Error);
}

TEST(Normalisation, FollowsTheContrastNotTheLight) {
  // Half the contrast on another ground: the same but for what rounding takes.
  Picture crop({40, 40}, Pattern::noise);
  Picture dim = crop;
  for (std::uint8_t& pixel : crop.pixels) pixel = static_cast<std::uint8_t>(pixel / 2 * 2);
  for (std::size_t i = 0; i < dim.pixels.size(); ++i)
    dim.pixels[i] = static_cast<std::uint8_t>(crop.pixels[i] / 2 + 100);
  Normaliser first, second;
  const GrayView a = first.run(crop.view(), {1, 4}), b = second.run(dim.view(), {1, 4});
  for (int y = 0; y < 40; ++y) {
    for (int x = 0; x < 40; ++x) EXPECT_NEAR(a.at(x, y), b.at(x, y), 2);
  }
}

TEST(FaceDescriptor, IsTheSameForAFaceAndItsMirrorImage) {
  const FaceDescriptor descriptor(some_channels());
  const Picture crop(descriptor.crop_size(), Pattern::noise);
  Picture mirrored = crop;
  for (int y = 0; y < crop.size.height; ++y) {
    const auto row = mirrored.pixels.begin() + y * crop.size.width;
    std::reverse(row, row + crop.size.width);
  }
  FaceDescriptor::Scratch scratch;
  std::vector<std::uint16_t> values(static_cast<std::size_t>(descriptor.values())), other = values;
  descriptor.count(crop.view(), scratch, values.data());
  descriptor.count(mirrored.view(), scratch, other.data());
  EXPECT_EQ(values, other);
}

TEST(FaceDescriptor, KeepsSidesApartWhereItIsNotFolded) {
  Channel apart;
  apart.descriptor.region = apart.descriptor.step = {26, 30};  // the last column is clipped
  apart.is_folded = false;
  const FaceDescriptor descriptor({apart});
  const Descriptor own(apart.descriptor);
  EXPECT_EQ(descriptor.values(), own.values());
  EXPECT_EQ(descriptor.columns(0), 5);
  EXPECT_EQ(descriptor.regions(), 25);
  EXPECT_EQ(descriptor.largest_count(), 26 * 30);
  const Picture crop(kCropSize, Pattern::noise);
  FaceDescriptor::Scratch scratch;
  std::vector<std::uint16_t> values(static_cast<std::size_t>(own.values())), counts = values;
  descriptor.count(crop.view(), scratch, values.data());
  Descriptor::Scratch own_scratch;
  own.count(crop.view(), own_scratch, counts.data());
  EXPECT_EQ(values, counts);
}

TEST(FaceDescriptor, HasTheValuesOfTheRecipe) {
  const FaceDescriptor learned({{{1, 0}, {{{8, 2}}, LbpMapping::uniform, kCropSize, 2, {18, 20}, {9, 9}}},
                                {{2, 4}, {{{8, 3}}, LbpMapping::uniform, kCropSize, 3, {16, 18}, {9, 9}}}});
  EXPECT_EQ(learned.first_value(1), 6195);
  EXPECT_EQ(learned.values(), 12390);
  EXPECT_EQ(learned.regions(), 210);
  EXPECT_EQ(learned.largest_count(), 720);
  const FaceDescriptor plain({{{2, 4}, {{{8, 2}}, LbpMapping::uniform, kCropSize, 5, {10, 10}, {10, 10}}}});
  EXPECT_EQ(plain.values(), 4956);
  EXPECT_EQ(plain.largest_count(), 200);
}

TEST(FaceDescriptor, WhatHasNoMirrorImageIsRefused) {
  EXPECT_THROW(FaceDescriptor(std::vector<Channel>{}), Error);
  Channel clipped;
  clipped.descriptor.region = clipped.descriptor.step = {26, 30};
  EXPECT_THROW(FaceDescriptor({clipped}), Error);
  Channel turned;
  turned.descriptor.mapping = LbpMapping::rotation;
  EXPECT_THROW(FaceDescriptor({turned}), Error);
  Channel small = Channel{};
  small.descriptor.crop = {22, 150};
  EXPECT_THROW(FaceDescriptor({Channel{}, small}), Error);
}

TEST(Projection, RootsAreRounded) {
  for (int count = 0; count <= kMostCount; ++count)
    EXPECT_EQ(kRoots[static_cast<std::size_t>(count)], std::lround(kRootScale * std::sqrt(count)));
}

TEST(Projection, HandWorked) {
  Projection projection;
  projection.dims = 3;
  projection.values = 2;
  projection.weights = {1, 0, 0, -2, 5, 5};
  projection.bias = {0, 0, 180};
  projection.scale = {1 << 15, 1 << 15, 1 << 15};
  projection.length = 100;
  // Counts 4 and 16: roots 18 and 36; sums 18, -72, 270 - 180; an eighth of each, down: 2, -9, 11.
  const std::uint16_t counts[] = {4, 16};
  std::vector<std::int8_t> result(3);
  reference::project(projection, counts, result.data());
  // Their length is 14.35: 14.
  EXPECT_EQ(result, (std::vector<std::int8_t>{14, -64, 79}));
  const std::uint16_t none[] = {0, 0};
  projection.bias = {0, 0, 0};
  reference::project(projection, none, result.data());
  EXPECT_EQ(result, (std::vector<std::int8_t>{0, 0, 0}));
  projection.scale.pop_back();
  EXPECT_THROW(Projector{projection}, std::invalid_argument);
}

TEST(Similarity, EyesInTheirPlacesLeaveTheFrameAsItIs) {
  const Similarity same = of_eyes(kCropPoints[0].x, kCropPoints[0].y, kCropPoints[1].x, kCropPoints[1].y);
  EXPECT_EQ(same, (Similarity{0, 256, 256, 1 << 16, 0}));
  const Picture frame(kCropSize, Pattern::noise);
  Image<std::uint8_t> crop(kCropSize.width, kCropSize.height);
  reference::crop(frame.view(), same, crop.view());
  EXPECT_EQ(first_difference(frame.view(), std::as_const(crop).view(), 0, kCropSize.height), "");
}

TEST(Similarity, TwiceAsFarApartIsTheMeanOfFourPixels) {
  const Similarity twice =
      of_eyes(2 * kCropPoints[0].x, 2 * kCropPoints[0].y, 2 * kCropPoints[1].x, 2 * kCropPoints[1].y);
  EXPECT_EQ(twice, (Similarity{1, 256, 256, 1 << 16, 0}));
  const Picture frame({260, 300}, Pattern::noise);
  Image<std::uint8_t> crop(kCropSize.width, kCropSize.height);
  reference::crop(frame.view(), twice, crop.view());
  const GrayView f = frame.view();
  EXPECT_EQ(int{crop.view().at(7, 9)}, (f.at(14, 18) + f.at(15, 18) + f.at(14, 19) + f.at(15, 19) + 2) / 4);
  // A hair less, and it is sampled from the frame itself.
  EXPECT_EQ(of_eyes(0, 0, 103.99, 0).octave, 0);
  EXPECT_EQ(of_eyes(0, 0, 104, 0).octave, 1);
  EXPECT_EQ(of_eyes(0, 0, 0, 208).octave, 2);
  EXPECT_EQ(of_eyes(0, 0, 29000, 0).octave, kMostOctave);
}

TEST(Similarity, AFaceUpsideDownIsTurned) {
  const Picture frame(kCropSize, Pattern::noise);
  // A frame that is turned about its middle.
  const Similarity turned =
      of_eyes(130 - kCropPoints[0].x, 150 - kCropPoints[0].y, 130 - kCropPoints[1].x, 150 - kCropPoints[1].y);
  Image<std::uint8_t> crop(kCropSize.width, kCropSize.height);
  reference::crop(frame.view(), turned, crop.view());
  for (int y = 0; y < kCropSize.height; ++y) {
    for (int x = 0; x < kCropSize.width; ++x)
      ASSERT_EQ(crop.view().at(x, y), frame.view().at(129 - x, 149 - y)) << x << ", " << y;
  }
}

TEST(Similarity, OfFivePointsIsTheOneThatMadeThem) {
  std::array<Point, kCropPoints.size()> found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    // Turned by a quarter and moved.
    found[i] = {200 - kCropPoints[i].y, 10 + kCropPoints[i].x};
  }
  const Similarity from = similarity_of(found);
  EXPECT_EQ(from.octave, 0);
  EXPECT_EQ(from.step_x, 0);
  EXPECT_EQ(from.step_y, 1 << 16);
  // The crop's pixel (0, 0), whose middle is at (0.5, 0.5), is at (199.5, 10.5) of the frame: pixel (199,
  // 10).
  EXPECT_EQ(from.x, (199 << 16) + 256);
  EXPECT_EQ(from.y, (10 << 16) + 256);
}

TEST(Similarity, OfABoxHasTheEyesWhereTheyAreInFaces) {
  // With the eyes further apart, each pixel of the crop is less of the frame.
  const std::array<Point, 5> wide = crop_points({104, 30});
  EXPECT_EQ(wide[0].x, 13);
  EXPECT_EQ(wide[1].y, 30);
  EXPECT_EQ(wide[4].y, 30 + 2 * 57.75);
  const Similarity half = similarity_of(kCropPoints, wide);
  EXPECT_EQ(half.step_x, 1 << 15);
  EXPECT_EQ(half.step_y, 0);
  EXPECT_EQ(crop_points({}), kCropPoints);
  EXPECT_EQ(similarity_of(Box{100, 50, 200, 200}), of_eyes(162, 128, 238, 128));
}

TEST(Similarity, PointsTooFarOutAreRefused) {
  EXPECT_NO_THROW(of_eyes(-30000, 30000, 30000, -30000));
  EXPECT_THROW(of_eyes(0, 0, 30001, 0), Error);
  EXPECT_THROW(of_eyes(0, std::nan(""), 5, 0), Error);
}

TEST(Descriptor, HasTheGridsOfThePaper) {
  const auto descriptor = [](int points, Size region) {
    return Descriptor({{{points, 2}}, LbpMapping::uniform, kCropSize, 2, region, region});
  };
  EXPECT_EQ(descriptor(8, {18, 21}).values(), 2891);
  EXPECT_EQ(descriptor(8, {11, 13}).values(), 8496);
  EXPECT_EQ(descriptor(8, {26, 30}).values(), 1475);
  EXPECT_EQ(descriptor(16, {18, 21}).values(), 11907);
  EXPECT_EQ(descriptor(16, {26, 30}).values(), 6075);
  EXPECT_EQ(descriptor(8, {18, 21}).rows().back().end, 148);
}

TEST(Descriptor, CountsEveryPixelOfARegion) {
  const Descriptor descriptor;
  const Picture crop(kCropSize, Pattern::noise);
  std::vector<std::uint16_t> counts(static_cast<std::size_t>(descriptor.values()));
  Descriptor::Scratch scratch;
  descriptor.count(crop.view(), scratch, counts.data());
  auto histogram = counts.begin();
  for (const Span& row : descriptor.rows()) {
    for (const Span& column : descriptor.columns()) {
      EXPECT_EQ(std::accumulate(histogram, histogram + 59, 0),
                (row.end - row.begin) * (column.end - column.begin));
      histogram += 59;
    }
  }
}

TEST(Descriptor, SettingsOutOfRangeAreRefused) {
  const auto with = [](auto change) {
    DescriptorSettings settings;
    change(settings);
    return Descriptor(settings);
  };
  EXPECT_THROW(with([](auto& s) { s.circles.clear(); }), Error);
  EXPECT_THROW(with([](auto& s) { s.circles = {{8, 3}}; }), Error);
  EXPECT_THROW(with([](auto& s) { s.margin = 65; }), Error);
  EXPECT_THROW(with([](auto& s) { s.margin = -1; }), Error);
  EXPECT_THROW(with([](auto& s) { s.crop = {0, 150}; }), Error);
  EXPECT_THROW(with([](auto& s) { s.region = {127, 21}; }), Error);
  EXPECT_THROW(with([](auto& s) { s.step = {19, 21}; }), Error);
  EXPECT_THROW(with([](auto& s) { s.step = {0, 21}; }), Error);
  EXPECT_THROW(with([](auto& s) {
                 s.circles = {{16, 2}};
                 s.mapping = LbpMapping::rotation;
                 s.region = s.step = {1, 1};
               }),
               Error);
}

}  // namespace
}  // namespace sightline::recognition
