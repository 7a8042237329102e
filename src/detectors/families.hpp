#pragma once
/// All detector families, and detectors of several families as branches of a CompositeDetector.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "detection/composite_detector.hpp"
#include "detectors/registry.hpp"
#include "family/family.hpp"

namespace sightline {

/// All families in order; the first is the default of a configuration without `family`.
std::span<const Family* const> families();

/// Throws std::out_of_range for a name that no family has.
const Family& family_named(std::string_view name);

/// The family that a configuration's key `family` names. From here on the configuration takes the former
/// names of the family's keys as well, with a warning for each that it uses. Throws Error (usage) if there
/// is no such family.
const Family& family_of(const Config& config);

/// The first family that takes a file or a name for one of its models; null if none does, and for an
/// empty name.
const Family* family_of_model(const std::string& model);

/// The configuration of a family whose model files describe their detectors completely.
Config config_of_model(const Family& family, const std::string& model);
/// Replaces the model of a configuration, with the values that belong to its former model.
void use_model(Config& config, const std::string& model);

/// Throws Error (usage) where configurations have more than 16 detectors together, those of
/// [[detector.inside]] included. Reads no file.
void check_number_of_detectors(std::span<const Config> configs);

/// Throws Error (usage) if there are too many detectors, or where the family, a section or a key is not
/// known. Reads no file.
/// @param extensions  whose sections are known, too
void check_detector_config(const Config& config, std::span<const DetectorExtension> extensions = {});

/// As make_detector of a configuration alone.
/// @param extensions  stages that other sections may ask for; they run behind the detector's
/// Throws Error (usage) as check_detector_config does and on bad options, Error (model) where a model cannot
/// be used.
std::unique_ptr<Detector> make_detector(const Config& config, std::span<const DetectorExtension> extensions);

/// The same as a branch of a CompositeDetector, which may have several.
/// @param made  the family's detector for that configuration; null: it is made
CompositeBranch make_branch(const Config& config, std::span<const DetectorExtension> extensions = {},
                            std::unique_ptr<Detector> made = nullptr);

/// One of the operating points that a run turns between.
struct ConfiguredSetting {
  Config config;                  ///< the detector's configuration with the changes
  OperatingPointChanges changes;  ///< changes of this operating point
};

/// The same with several operating points, from the most accurate to the fastest; at least one. Detectors
/// inside it, and its extensions, are those of the configuration itself. The points are named by what
/// distinguishes them, "25 filters, step 1.1".
/// @param configuration  its operating point is the configured one: the point of the same name, or else the
/// first
/// @param made  description of the family's detector for that configuration
/// Throws besides Error (usage) if points differ in more than speed and accuracy.
CompositeBranch make_branch(const Config& configuration, const DetectorInfo& made,
                            std::span<const ConfiguredSetting> settings,
                            std::span<const DetectorExtension> extensions = {});

}  // namespace sightline
