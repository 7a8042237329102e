#pragma once
/// Section [recognition] of a configuration: identification of the detector's faces.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "faces/recognition/gallery_people.hpp"
#include "faces/recognition/identification.hpp"
#include "params/parameter.hpp"

namespace sightline::recognition {

inline constexpr const char* kSection = "recognition";

/// Parameters of the section. The paths are read by Config::path and model_path.
namespace keys {
using namespace sightline::keys;

inline constexpr Text kModel("model", "", "Model of faces", {.section = kSection});
inline constexpr Text kPoints("points", "", "Model of facial points", {.section = kSection});
inline constexpr Text kGallery(
    "gallery", "--gallery FILE",
    "Gallery of people to recognise, made by `sightline faces` (default: your own)", {.section = kSection});
inline constexpr Number kLimit("limit", {0, 1e9}, "", "Maximum distance of a known face",
                               {.section = kSection});
inline constexpr Number kFalseAccepts(
    "false_accepts", {0, 1}, "--false-accepts SHARE",
    "Maximum share of strangers who are mistaken for somebody in the gallery; a lower one leaves more "
    "faces unknown (default: the gallery's calibration)",
    {.shows_range = true, .section = kSection});
inline constexpr Flag kFollow("follow", "", "Whether changes of the gallery count at once",
                              {.section = kSection});

}  // namespace keys

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
