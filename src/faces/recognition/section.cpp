#include "faces/recognition/section.hpp"

#include <algorithm>

#include "model/size_limit.hpp"

namespace sightline::recognition {
namespace {

constexpr double kFarthestDistance = 1e9;

}  // namespace

std::optional<int> face_label_of(const DetectorInfo& detector) {
  const auto face = std::ranges::find(detector.labels, kFaceLabel);
  if (face == detector.labels.end()) return std::nullopt;
  return static_cast<int>(face - detector.labels.begin());
}

bool recognises(const Config& config) {
  return !config.text(kSection, "model", "").empty();
}

Settings read_section(const Config& config) {
  Settings settings;
  settings.model = config.model_path(kSection, "model", "");
  settings.points = config.model_path(kSection, "points", "");
  settings.gallery = config.path(kSection, "gallery", "");
  settings.limit.distance = config.optional_number(kSection, "limit", 0, kFarthestDistance);
  settings.limit.false_accepts = config.optional_number(kSection, "false_accepts", 0, 1);
  settings.follow = config.flag(kSection, "follow", false);
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
