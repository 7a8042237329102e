#include "faces/landmarks/training/samples.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/random.hpp"
#include "training/augmentation.hpp"
#include "training/for_each_image.hpp"

namespace sightline::landmarks {
namespace {

// A point of the frame, as frame_points has it, in units of the patch.
std::int32_t to_patch(double place, int first, int side) {
  const double in_box = (place - first) / side * kBoxPixels + kPatchMargin;
  return static_cast<std::int32_t>(std::lround(in_box * kUnit));
}

Shape to_patch(const Points& points, const Square& square) {
  Shape shape;
  for (std::size_t i = 0; i < kPoints; ++i) {
    shape[2 * i] = to_patch(points[i].x, square.x, square.side);
    shape[2 * i + 1] = to_patch(points[i].y, square.y, square.side);
    for (const std::size_t k : {2 * i, 2 * i + 1}) shape[k] = std::clamp(shape[k], kLeast, kMost);
  }
  return shape;
}

struct Turned {
  Point middle;
  double cosine, sine;
  // Source of a point of the turned picture.
  Point source(double x, double y) const {
    x -= middle.x;
    y -= middle.y;
    return {middle.x + cosine * x - sine * y, middle.y + sine * x + cosine * y};
  }
  // Target of a point of the picture.
  Point target(const Point& point) const { return Turned{middle, cosine, -sine}.source(point.x, point.y); }
};

// Bilinear, the edges repeated.
Image<std::uint8_t> turn(GrayView picture, const Turned& turned) {
  Image<std::uint8_t> result(picture.width(), picture.height());
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      const Point from = turned.source(x + 0.5, y + 0.5);
      const double left = std::floor(from.x - 0.5), top = std::floor(from.y - 0.5);
      const double right = from.x - 0.5 - left, down = from.y - 0.5 - top;
      const auto pixel = [&](int dx, int dy) {
        return double{1} * picture.at(std::clamp(static_cast<int>(left) + dx, 0, picture.width() - 1),
                                      std::clamp(static_cast<int>(top) + dy, 0, picture.height() - 1));
      };
      const double value = (1 - down) * ((1 - right) * pixel(0, 0) + right * pixel(1, 0)) +
                           down * ((1 - right) * pixel(0, 1) + right * pixel(1, 1));
      result.view().at(x, y) = static_cast<std::uint8_t>(std::lround(value));
    }
  }
  return result;
}

void mirror_sample(Sample& sample) {
  training::mirror({sample.patch.data(), kPatchSide, kPatchSide, kPatchSide});
  const Shape points = sample.points;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const auto from = static_cast<std::size_t>(kMirrored[i]);
    sample.points[2 * i] = kPatchSide * kUnit - points[2 * from];
    sample.points[2 * i + 1] = points[2 * from + 1];
  }
}

}  // namespace

Sample make_sample(GrayView picture, const MarkedFace& face, PatchSampler& sampler) {
  const Square square = square_of(face.box);
  Sample sample;
  sampler.sample(picture, square, sample.patch);
  sample.points = to_patch(face.points, square);
  return sample;
}

Sample make_varied_sample(GrayView picture, const MarkedFace& face, const training::VariationBounds& bounds,
                          Random& random, PatchSampler& sampler) {
  const training::Variation v = training::draw_variation(bounds, random);
  MarkedFace varied = face;
  const Point middle{face.box.x + face.box.width / 2, face.box.y + face.box.height / 2};
  const Turned turned{middle, std::cos(v.turn_z), std::sin(v.turn_z)};
  for (Point& point : varied.points) point = turned.target(point);
  const double width = face.box.width * v.zoom, height = face.box.height * v.zoom;
  varied.box = {middle.x + v.shift_x * face.box.height - width / 2,
                middle.y + v.shift_y * face.box.height - height / 2, width, height};
  const Image<std::uint8_t> seen = turn(picture, turned);
  Sample sample = make_sample(seen.view(), varied, sampler);

  const ImageView<std::uint8_t> pixels(sample.patch.data(), kPatchSide, kPatchSide, kPatchSide);
  training::relight(pixels, v, {kPatchSide / 2.0, kPatchSide / 2.0}, kBoxPixels);
  const Image<std::uint8_t> blurred = training::blurred(pixels, v.blur);
  for (int y = 0; y < kPatchSide; ++y) std::copy_n(blurred.view().row(y), kPatchSide, pixels.row(y));
  training::add_noise(pixels, v.noise, random);
  if (v.mirrored) mirror_sample(sample);
  return sample;
}

std::vector<Sample> make_samples(const training::ImageSet& pictures, const std::vector<MarkedFace>& faces,
                                 int copies, const training::VariationBounds& bounds, std::uint64_t seed,
                                 training::ProgressClock& clock) {
  std::vector<Sample> samples(faces.size() * static_cast<std::size_t>(copies));
  training::for_each_image(
      faces.size(), clock, [] { return std::make_unique<PatchSampler>(); },
      [&](std::size_t i, PatchSampler& sampler) {
        const Image<std::uint8_t> picture = pictures.load(i);
        Random random(seed, i);
        for (std::size_t copy = 0; copy < static_cast<std::size_t>(copies); ++copy) {
          samples[i * static_cast<std::size_t>(copies) + copy] =
              make_varied_sample(picture.view(), faces[i], bounds, random, sampler);
        }
      });
  return samples;
}

}  // namespace sightline::landmarks
