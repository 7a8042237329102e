#include "faces/recognition/section.hpp"

#include <algorithm>

namespace sightline::recognition {

std::optional<int> face_label_of(const DetectorInfo& detector) {
  const auto face = std::ranges::find(detector.labels, kFaceLabel);
  if (face == detector.labels.end()) return std::nullopt;
  return static_cast<int>(face - detector.labels.begin());
}

bool recognises(const Config& config) {
  return !keys::kModel.read(config, "").empty();
}

Settings read_section(const Config& config) {
  Settings settings;
  settings.model = config.model_path(kSection, keys::kModel.key, "");
  settings.points = config.model_path(kSection, keys::kPoints.key, "");
  settings.gallery = config.path(kSection, keys::kGallery.key, "");
  settings.limit.distance = keys::kLimit.read(config);
  settings.limit.false_accepts = keys::kFalseAccepts.read(config);
  settings.follow = keys::kFollow.read(config, false);
  if (settings.gallery.empty()) settings.gallery = gallery::Gallery::default_file();
  config.depends_on(settings.gallery);
  return settings;
}

std::shared_ptr<const Recogniser> load_recogniser(const Settings& settings) {
  return std::make_shared<Recogniser>(
      landmarks::load_model(settings.points, std::uint64_t{landmarks::kMaxModelSize} << 20),
      load_face_model(settings.model, std::uint64_t{kMaxFaceModelSize} << 20));
}

std::unique_ptr<ObjectProcessor> make_identification(const Settings& settings, int face_label) {
  auto recogniser = load_recogniser(settings);
  auto people = people_of(settings.gallery, recogniser, settings.limit, settings.follow);
  return std::make_unique<FaceIdentification>(std::move(recogniser), std::move(people), face_label);
}

std::span<const DetectorExtension> detector_extensions() {
  static constexpr DetectorExtension kRecognition{
      &recognises, [](const Config& config) { read_section(config); },
      [](const Config& config, const DetectorInfo& detector) -> std::unique_ptr<ObjectProcessor> {
        const std::optional<int> face_label = face_label_of(detector);
        return face_label ? make_identification(read_section(config), *face_label) : nullptr;
      }};
  return {&kRecognition, 1};
}

}  // namespace sightline::recognition
