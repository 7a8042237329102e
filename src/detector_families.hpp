#pragma once
/// All detector families there are.

#include <memory>

#include "base/config.hpp"
#include "detection/detector.hpp"

namespace sightline {

/// Throws Error (usage) where the family, a section or a key is not known. Reads no file.
void check_detector_config(const Config& config);

/// Makes the detector that section [detector] of a configuration describes; its key `family` says which kind.
/// Sections [[detector.inside]] describe others in the same way, of any family, that search inside the boxes
/// of the first (NestedDetector); their key `part` = [left, top, right, bottom] says in which part of them.
/// Throws Error (usage) as check_detector_config does and on bad options, Error (model) where the model
/// cannot be used. For its stages on a device, see Detector::make_device_stages.
std::unique_ptr<Detector> make_detector(const Config& config);

}  // namespace sightline
