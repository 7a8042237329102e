// Crops and descriptors of faces: the fast forms against the definitions, with every instruction set that the
// machine has, and the definitions against hand-worked values.
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "kernels/kernel_test.hpp"
#include "recognition/crop.hpp"
#include "recognition/descriptor.hpp"

namespace sightline::recognition {
namespace {

using test::first_difference;
using test::Guarded;
using test::GuardedImage;
using test::kPatterns;
using test::Numbers;
using test::Pattern;

class RecognitionKernel : public test::KernelTest {};
INSTANTIATE_TEST_SUITE_P(AllTargets, RecognitionKernel, ::testing::ValuesIn(test::instruction_sets()),
                         test::target_name);

// As many pixels as the picture has: a sanitizer sees every read outside.
struct Picture {
  Picture(Size s, Pattern pattern) : size(s), pixels(static_cast<std::size_t>(s.width * s.height)) {
    Numbers numbers(static_cast<unsigned>(s.width));
    for (int y = 0; y < s.height; ++y) {
      for (int x = 0; x < s.width; ++x)
        pixels[static_cast<std::size_t>(y * s.width + x)] = test::pixel_of(pattern, x, y, numbers);
    }
  }
  GrayView view() const { return {pixels.data(), size.width, size.height, size.width}; }
  Size size;
  std::vector<std::uint8_t> pixels;
};

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
  EXPECT_EQ(similarity_of(Box{100, 50, 200, 200}), of_eyes(158, 122, 242, 122));
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
