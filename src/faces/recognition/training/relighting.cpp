#include "faces/recognition/training/relighting.hpp"

namespace sightline::recognition {
namespace {

constexpr int kCutLeft = 21, kCutTop = 34, kCutWidth = 88, kCutHeight = 104;  // shown part of a crop
constexpr double kBeside = 0.04, kMoved = 0.01;                               // relative to the eye distance

void displace(FacePoints& points, double deviation, Random& random) {
  for (Point& point : points) {
    point.x += deviation * normal(random);
    point.y += deviation * normal(random);
  }
}

}  // namespace

ImageView<std::uint8_t> Relighter::copy(GrayView photo, const FacePoints& points, FlashRig rig,
                                        FlashPlace place, std::uint64_t person, Random& random) {
  const double eyes = CropGeometry().eye_distance;
  cropper_.crop(photo, similarity_of(points), lit_.view());
  light_by_lamp(lit_.view(), draw_flash_scene(rig, place, Random(person), random), random);
  FacePoints said = kCropPoints;
  for (Point& point : said) point = {point.x - kCutLeft, point.y - kCutTop};
  Random own(person, 1);
  displace(said, kBeside * eyes, own);
  if (rig == FlashRig::noisy) displace(said, kMoved * eyes, random);
  const ImageView<std::uint8_t> lit = lit_.view();
  const GrayView close(lit.row(kCutTop) + kCutLeft, kCutWidth, kCutHeight, lit.stride());
  cropper_.crop(close, similarity_of(said, points_), crop_.view());
  return crop_.view();
}

}  // namespace sightline::recognition
