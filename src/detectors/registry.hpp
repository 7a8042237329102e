#pragma once
/// All detector families there are, and detectors of any of them.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "detection/extended_detector.hpp"
#include "family/family.hpp"

namespace sightline {

/// In the order in which they are listed; the first is what a configuration has that names none.
std::span<const Family* const> families();

/// Throws std::out_of_range for a name that no family has.
const Family& family_named(std::string_view name);

/// The family that a configuration's key `family` names. From here on the configuration takes the former
/// names of the family's keys as well, with a warning for each that it uses. Throws Error (usage) where there
/// is no such family.
const Family& family_of(const Config& config);

/// The first family that takes a file or a name for one of its models; null where none does, and for an
/// empty name.
const Family* family_of_model(const std::string& model);

/// Throws Error (usage) where configurations have more than 16 detectors together, those of
/// [[detector.inside]] included. Reads no file.
void check_number_of_detectors(std::span<const Config> configs);

/// Throws Error (usage) where there are too many detectors, or where the family, a section or a key is not
/// known. Reads no file.
/// @param extensions  whose sections are known, too
void check_detector_config(const Config& config, std::span<const DetectorExtension> extensions = {});

/// Makes the detector that section [detector] of a configuration describes; its key `family` says which kind.
/// Sections [[detector.inside]] describe others in the same way, of any family, that search inside the boxes
/// of the first (NestedDetector); their key `part` = [left, top, right, bottom] says in which part of them.
/// @param extensions  stages that other sections may ask for; they run behind the detector's
/// Throws Error (usage) as check_detector_config does and on bad options, Error (model) where the model
/// cannot be used. For its stages on a device, see FrameProcessor::make_stages_on.
std::unique_ptr<Detector> make_detector(const Config& config,
                                        std::span<const DetectorExtension> extensions = {});
/// One of the settings that a run turns between.
struct ConfiguredSetting {
  Config config;           ///< all of the detector's, with what the setting changes
  SettingChanges changes;  ///< what that is
};

/// As make_detector for one that turns between settings (AdjustableDetector), from the most accurate to the
/// fastest; at least one. What is inside it, and its extensions, are those of the configuration itself. The
/// settings are named by what tells them apart, "25 filters, step 1.1".
/// @param configuration  what frames are searched with at first: the setting of the same name, or else the
/// first
/// @param made  what the family's detector of that configuration says of itself
/// Throws besides Error (usage) where settings differ in more than speed and accuracy.
std::unique_ptr<Detector> make_detector(const Config& configuration, const DetectorInfo& made,
                                        std::span<const ConfiguredSetting> settings,
                                        std::span<const DetectorExtension> extensions = {});
/// As make_detector for several configurations: detectors that search the same frames as one
/// (CombinedDetector). At least one. Throws besides Error (usage) where there are too many.
std::unique_ptr<Detector> make_detector(std::span<const Config> configs,
                                        std::span<const DetectorExtension> extensions = {});

}  // namespace sightline
