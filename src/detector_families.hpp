#pragma once
/// All detector families there are.

#include <memory>
#include <optional>

#include "base/config.hpp"
#include "detection/detector.hpp"
#include "opencl/device.hpp"

namespace sightline {

/// Makes the detector that section [detector] of a configuration describes; its key `family` says which kind.
/// Throws Error (usage) on an unknown family or bad options, Error (model) where the model cannot be used,
/// DeviceError where the device cannot be opened or does not take the kernels.
///
/// @param device  runs the stages; without one, the CPU does
std::unique_ptr<Detector> make_detector(const Config& config,
                                        const std::optional<opencl::ChosenDevice>& device = std::nullopt);

}  // namespace sightline
