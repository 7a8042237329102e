#include "recognition/photos.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cctype>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "evaluation/text_rows.hpp"

namespace sightline::recognition {

PointsOfPhotos load_face_points(const std::filesystem::path& file) {
  constexpr std::size_t kNumbers = 2 * kFacePoints, kFields = 1 + kNumbers, kMarkedFields = 6 + kNumbers;
  PointsOfPhotos result;
  text_rows::for_each_row(file, "points of faces", [&](std::string_view text, const text_rows::Row& row) {
    const std::vector<std::string_view> fields = text_rows::split_at_blanks(text);
    if (fields.size() != kFields && fields.size() != kMarkedFields)
      row.refuse("a line has a photo's name and ten numbers of points, or a part and a box between them");
    FacePoints points;
    const std::size_t first = fields.size() - kNumbers;
    for (std::size_t i = 0; i < kFacePoints; ++i) {
      points[i] = {text_rows::number(fields[first + 2 * i], "a point's x", row) + 0.5,
                   text_rows::number(fields[first + 2 * i + 1], "a point's y", row) + 0.5};
    }
    result.insert_or_assign(std::string(fields[0]), points);
  });
  return result;
}

std::vector<FacePoints> points_of(const std::vector<std::string>& photos, const PointsOfPhotos& points,
                                  const std::filesystem::path& file) {
  std::vector<FacePoints> result;
  for (const std::string& photo : photos) {
    const auto found = points.find(photo);
    if (found == points.end())
      throw Error(ExitCode::input, "'" + file.string() + "' has no points of photo '" + photo + "'",
                  "give the points of all photos");
    result.push_back(found->second);
  }
  return result;
}

std::string person_of(const std::string& photo) {
  const std::size_t end = photo.find_last_not_of("0123456789");
  return end != std::string::npos && end > 0 && end + 1 < photo.size() && photo[end] == '_'
             ? photo.substr(0, end)
             : photo;
}

PhotoDescriber::PhotoDescriber(const FaceModel& model)
    : descriptor_(model.channels),
      format_(template_format(model)),
      crop_(kCropSize.width, kCropSize.height),
      counts_(static_cast<std::size_t>(descriptor_.values())) {
  if (model.projection) projector_.emplace(*model.projection);
}

ImageView<std::uint8_t> PhotoDescriber::crop(GrayView photo, const FacePoints& points) {
  cropper_.crop(photo, similarity_of(points), crop_.view());
  return crop_.view();
}

std::span<const std::uint16_t> PhotoDescriber::counts(GrayView crop) {
  descriptor_.count(crop, scratch_, counts_.data());
  return counts_;
}

std::vector<std::uint8_t> PhotoDescriber::make_template(std::span<const std::uint16_t> counts) {
  std::vector<std::uint8_t> bytes(bytes_per_template(format_));
  if (projector_) {
    projector_->project(counts.data(), projector_scratch_, reinterpret_cast<std::int8_t*>(bytes.data()));
  } else if (format_.kind == TemplateFormat::Kind::counts8) {
    std::ranges::transform(counts, bytes.begin(),
                           [](std::uint16_t n) { return static_cast<std::uint8_t>(n); });
  } else {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      bytes[2 * i] = static_cast<std::uint8_t>(counts[i]);
      bytes[2 * i + 1] = static_cast<std::uint8_t>(counts[i] >> 8);
    }
  }
  return bytes;
}

std::vector<std::vector<std::uint8_t>> templates_of(const FaceModel& model, const training::ImageSet& photos,
                                                    const std::vector<FacePoints>& points,
                                                    const std::function<void()>& throw_if_stopped) {
  std::vector<std::vector<std::uint8_t>> result(photos.size());
  oneapi::tbb::enumerable_thread_specific<PhotoDescriber> describers([&] { return PhotoDescriber(model); });
  parallel_for_isolated(photos.size(), [&](std::size_t i) {
    throw_if_stopped();
    PhotoDescriber& describer = describers.local();
    const Image<std::uint8_t> photo = photos.load(i);
    result[i] = describer.make_template(describer.counts(describer.crop(photo.view(), points[i])));
  });
  return result;
}

}  // namespace sightline::recognition
