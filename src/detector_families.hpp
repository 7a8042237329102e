#pragma once
/// All detector families there are.

#include <memory>
#include <optional>

#include "base/config.hpp"
#include "detection/detector.hpp"
#include "opencl/device.hpp"

namespace sightline {

/// Throws Error (usage) where the family, a section or a key is not known. Reads no file.
void check_detector_config(const Config& config);

/// Makes the detector that section [detector] of a configuration describes; its key `family` says which kind.
/// Throws Error (usage) as check_detector_config does and on bad options, Error (model) where the model
/// cannot be used, DeviceError where the device cannot be opened or does not take the kernels.
///
/// @param device  runs the stages; without one, the CPU does
std::unique_ptr<Detector> make_detector(const Config& config,
                                        const std::optional<opencl::ChosenDevice>& device = std::nullopt);

}  // namespace sightline
