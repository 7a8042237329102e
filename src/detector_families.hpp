#pragma once
/// All detector families there are.

#include <memory>

#include "base/config.hpp"
#include "detection/detector.hpp"

namespace sightline {

/// Makes the detector that section [detector] of a configuration describes; its key `family` says which kind.
/// Throws Error (usage) on an unknown family or bad options, Error (model) where the model cannot be used.
/// For its stages on a device, see Detector::make_device_stages.
std::unique_ptr<Detector> make_detector(const Config& config);

}  // namespace sightline
