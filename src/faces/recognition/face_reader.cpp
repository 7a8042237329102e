#include "faces/recognition/face_reader.hpp"

#include <algorithm>

#include "faces/recognition/gallery_people.hpp"
#include "faces/recognition/search.hpp"
#include "image/gray.hpp"

namespace sightline::recognition {

double sharpness_of(GrayView crop) {
  std::int64_t sum = 0;
  for (int y = 1; y + 1 < crop.height(); ++y) {
    for (int x = 1; x + 1 < crop.width(); ++x) {
      const int laplacian =
          4 * crop.at(x, y) - crop.at(x - 1, y) - crop.at(x + 1, y) - crop.at(x, y - 1) - crop.at(x, y + 1);
      sum += std::int64_t{laplacian} * laplacian;
    }
  }
  const std::int64_t pixels = std::int64_t{crop.width() - 2} * (crop.height() - 2);
  return pixels > 0 ? static_cast<double>(sum) / static_cast<double>(pixels) : 0;
}

FaceReader::FaceReader(std::unique_ptr<Detector> faces, int face_label,
                       std::shared_ptr<const Recogniser> recogniser)
    : faces_(std::move(faces)),
      face_label_(face_label),
      recogniser_(std::move(recogniser)),
      kind_(template_kind(*recogniser_)),
      workspace_(faces_->make_workspace()) {}

FaceReader::~FaceReader() = default;

std::vector<gallery::FaceTemplate> FaceReader::find(PictureView picture) {
  GrayView luma = picture.is_gray() ? picture.gray() : GrayView();
  if (!picture.is_gray()) {
    luma_.resize(picture.width(), picture.height());
    to_gray(picture.colour(), luma_.view(), 0, picture.height());
    luma = std::as_const(luma_).view();
  }
  std::vector<gallery::FaceTemplate> found;
  const bool reads_colour = faces_->pixels() == FramePixels::luma_and_colour;
  for (Detection& face : detect(*faces_, *workspace_, reads_colour ? picture : PictureView(luma))) {
    if (face.label != face_label_) continue;
    const landmarks::Square square = recogniser_->square_of(face);
    const Similarity place =
        recogniser_->align(landmarks::frame_points(recogniser_->find_points(luma, square), square));
    gallery::FaceTemplate& one = found.emplace_back();
    one.face = std::move(face);
    one.bytes.resize(recogniser_->template_bytes());
    recogniser_->describe(luma, place, one.bytes);
    one.crop.resize(kCropSize.width, kCropSize.height);
    recogniser_->crop(luma, place, one.crop.view());
    one.sharpness = sharpness_of(std::as_const(one.crop).view());
  }
  return found;
}

std::int64_t FaceReader::distance(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) const {
  return reference::distance(recogniser_->format(), a, b);
}

double FaceReader::real_distance(std::int64_t distance) const {
  return recogniser_->real_distance(
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(distance, 0, UINT32_MAX)));
}

std::optional<std::int64_t> FaceReader::distance_of_strangers(double share) const {
  return recognition::distance_of_strangers(recogniser_->model(), share);
}

}  // namespace sightline::recognition
