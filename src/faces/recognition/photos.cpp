#include "faces/recognition/photos.hpp"

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text_rows.hpp"
#include "faces/landmarks/finder.hpp"

namespace sightline::recognition {

PointsOfPhotos load_face_points(const std::filesystem::path& file) {
  constexpr std::size_t kNumbers = 2 * kFacePoints, kFields = 1 + kNumbers, kMarkedFields = 6 + kNumbers;
  PointsOfPhotos result;
  text_rows::for_each_row(file, "points of faces", [&](std::string_view text, const text_rows::Row& row) {
    const std::vector<std::string_view> fields = text_rows::split_at_blanks(text);
    if (fields.size() != kFields && fields.size() != kMarkedFields)
      row.refuse(
          "a line must have a photo's name and ten numbers of points, optionally with a part and a box in "
          "between");
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

namespace {

// The face that a photo is of; none if there is no face.
std::optional<Detection> middle_face(const std::vector<Detection>& found, int face_label, Size photo) {
  std::optional<Detection> best;
  double least = 0;
  for (const Detection& one : found) {  // by falling score
    if (one.label != face_label) continue;
    const double x = one.box.x + (one.box.width - photo.width) / 2;
    const double y = one.box.y + (one.box.height - photo.height) / 2;
    const double distance = x * x + y * y;
    if (best && distance >= least) continue;
    best = one;
    least = distance;
  }
  return best;
}

Box middle_of(Size photo) {
  const double side = 2.0 / 3 * std::min(photo.width, photo.height);
  return {(photo.width - side) / 2, (photo.height - side) / 2, side, side};
}

struct PointSearch {
  explicit PointSearch(const Detector& faces) : workspace(faces.make_workspace()) {}
  std::unique_ptr<Workspace> workspace;
  landmarks::PatchSampler sampler;
};

}  // namespace

FoundPoints find_face_points(const Detector& faces, int face_label, const landmarks::Model& points,
                             const training::ImageSet& photos,
                             const std::function<void()>& throw_if_stopped) {
  FoundPoints result{std::vector<FacePoints>(photos.size()), 0};
  std::atomic<std::size_t> without_face = 0;
  const landmarks::Finder finder(points);
  oneapi::tbb::enumerable_thread_specific<PointSearch> searches([&] { return PointSearch(faces); });
  parallel_for_isolated(photos.size(), [&](std::size_t i) {
    throw_if_stopped();
    PointSearch& search = searches.local();
    const Image<std::uint8_t> photo = photos.load(i);
    const Size size = photo.view().size();
    const std::optional<Detection> face =
        middle_face(detect(faces, *search.workspace, photo.view()), face_label, size);
    if (!face) ++without_face;
    const landmarks::Square square =
        face ? finder.square_of(face->box, face->attributes) : landmarks::square_of(middle_of(size));
    result.points[i] = landmarks::frame_points(finder.find(photo.view(), square, search.sampler), square);
  });
  result.without_face = without_face;
  return result;
}

std::string person_of(const std::string& photo) {
  const std::size_t end = photo.find_last_not_of("0123456789");
  return end != std::string::npos && end > 0 && end + 1 < photo.size() && photo[end] == '_'
             ? photo.substr(0, end)
             : photo;
}

PhotoDescriber::PhotoDescriber(const FaceModel& model)
    : points_(crop_points(model.geometry)),
      descriptor_(model.channels),
      format_(template_format(model)),
      crop_(kCropSize.width, kCropSize.height),
      counts_(static_cast<std::size_t>(descriptor_.values())) {
  if (model.projection) projector_.emplace(*model.projection);
}

ImageView<std::uint8_t> PhotoDescriber::crop(GrayView photo, const FacePoints& points) {
  cropper_.crop(photo, similarity_of(points, points_), crop_.view());
  return crop_.view();
}

std::span<const std::uint16_t> PhotoDescriber::counts(GrayView crop) {
  descriptor_.count(crop, scratch_, counts_.data());
  return counts_;
}

std::vector<std::uint8_t> PhotoDescriber::make_template(std::span<const std::uint16_t> counts) {
  std::vector<std::uint8_t> bytes(bytes_per_template(format_));
  write_template(format_, projector_ ? &*projector_ : nullptr, counts, projector_scratch_, bytes);
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
