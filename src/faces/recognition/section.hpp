#pragma once
/// Section [recognition] of a configuration: identification of the detector's faces.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/config.hpp"
#include "faces/recognition/gallery_people.hpp"
#include "faces/recognition/identification.hpp"

namespace sightline::recognition {

inline constexpr const char* kSection = "recognition";
/// The label of detectors' objects that can be recognised.
inline constexpr const char* kFaceLabel = "face";

/// The label of a detector's faces; none if it finds no faces.
std::optional<int> face_label_of(const DetectorInfo& detector);

/// Whether a configuration recognises: whether it has key `model` in the section.
bool recognises(const Config& config);

/// Settings of the section. Reads no file.
struct Settings {
  std::filesystem::path model;
  std::filesystem::path points;
  std::filesystem::path gallery;
  LimitOptions limit;
  bool follow = false;
};
/// Marks all of its keys as known. Throws Error (usage).
Settings read_section(const Config& config);

/// Throws Error (model).
std::shared_ptr<const Recogniser> load_recogniser(const Settings& settings);

/// The stages that name a detector's faces.
/// @param face_label  of the detector
/// Throws Error (usage, model, input).
std::unique_ptr<ObjectProcessor> make_identification(const Settings& settings, int face_label);

/// The same for make_detector: the extension of detectors of faces that the section asks for.
std::span<const DetectorExtension> detector_extensions();

}  // namespace sightline::recognition
