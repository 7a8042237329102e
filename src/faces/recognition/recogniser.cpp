#include "faces/recognition/recogniser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/fingerprint.hpp"

namespace sightline::recognition {
namespace {

std::string hash_of(const landmarks::Model& points, const FaceModel& model) {
  Fingerprint hash;
  for (const std::int32_t coordinate : points.mean) hash.add(coordinate);
  for (const int number : {points.depth, points.stages, points.trees, points.pixels}) hash.add(number);
  for (const landmarks::PixelPlace& place : points.places) {
    hash.add(place.anchor);
    hash.add(place.x);
    hash.add(place.y);
  }
  hash.add_all(points.shifts);
  hash.add_all(points.splits);
  hash.add_all(points.leaves);
  for (const Point& target : crop_points(model.geometry)) {
    hash.add(target.x);
    hash.add(target.y);
  }
  for (const Channel& channel : model.channels) {
    const DescriptorSettings& d = channel.descriptor;
    for (const int number :
         {channel.normalisation.inner, channel.normalisation.outer, d.margin, static_cast<int>(d.mapping),
          d.crop.width, d.crop.height, d.region.width, d.region.height, d.step.width, d.step.height})
      hash.add(number);
    // Only then, so that galleries of older models stay valid.
    if (channel.normalisation.is_relative) hash.add(1);
    if (!channel.is_folded) hash.add(2);
    for (const Circle& circle : d.circles) {
      hash.add(circle.points);
      hash.add(circle.radius);
    }
  }
  hash.add_all(model.region_weights);
  if (model.projection) {
    hash.add(model.projection->length);
    hash.add_all(model.projection->weights);
    hash.add_all(model.projection->bias);
    hash.add_all(model.projection->scale);
  }
  return hash.text();
}

}  // namespace

Recogniser::Recogniser(landmarks::Model points, FaceModel model)
    : points_(std::move(points)),
      model_(std::move(model)),
      crop_points_(crop_points(model_.geometry)),
      finder_(points_),
      descriptor_(model_.channels),
      format_(template_format(model_)),
      bytes_(bytes_per_template(format_)),
      hash_(hash_of(points_, model_)) {
  if (model_.projection) projector_.emplace(*model_.projection);
}

std::string Recogniser::description() const {
  return fmt::format("{}, points by {}", model_.name, points_.name);
}

double Recogniser::real_distance(std::uint32_t distance) const {
  return static_cast<double>(distance) / distance_unit(model_);
}

std::uint32_t Recogniser::distance_within(double real) const {
  constexpr double kLargest = std::numeric_limits<std::uint32_t>::max();
  auto distance = static_cast<std::uint32_t>(std::clamp(real * distance_unit(model_), 0.0, kLargest));
  while (distance > 0 && real_distance(distance) > real) --distance;
  while (distance < kLargest && real_distance(distance + 1) <= real) ++distance;
  return distance;
}

landmarks::Shape Recogniser::find_points(GrayView frame, const landmarks::Square& box) const {
  return finder_.find(frame, box, memory_.local().sampler);
}

Similarity Recogniser::align(landmarks::Points points) const {
  for (Point& point : points) {
    for (double* const coordinate : {&point.x, &point.y})
      *coordinate = std::clamp(*coordinate, -double{kFarthest}, double{kFarthest});
  }
  return similarity_of(points, crop_points_);
}

void Recogniser::crop(GrayView frame, const Similarity& place, ImageView<std::uint8_t> target) const {
  memory_.local().cropper.crop(frame, place, target);
}

void Recogniser::describe(GrayView frame, const Similarity& place, std::span<std::uint8_t> target) const {
  Memory& memory = memory_.local();
  const Size size = descriptor_.crop_size();
  memory.crop.resize(size.width, size.height);
  memory.cropper.crop(frame, place, memory.crop.view());
  memory.counts.resize(static_cast<std::size_t>(descriptor_.values()));
  descriptor_.count(std::as_const(memory.crop).view(), memory.descriptor, memory.counts.data());
  write_template(format_, projector(), memory.counts, memory.projection, target);
}

}  // namespace sightline::recognition
