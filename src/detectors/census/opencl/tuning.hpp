#pragma once
/// Tuning parameters of the census kernels, and the best values for a device.

#include <string>
#include <string_view>

#include "detection/opencl/pixel_window_stages.hpp"
#include "detectors/census/model.hpp"
#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::census {

/// Build options of the kernels for a device. No choice changes the results. Variants of `scan`: naive: a
/// work-item takes a window through all of the scan's stages. queue: after each stage, a work-group's
/// remaining windows are redistributed to its work-items through local memory. After the scan, a work-group
/// finishes each remaining window.
struct KernelTuning : PixelWindowTuning {
  int early_stages = 3;  ///< default number of the scan's stages
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The tuning table: parameters, defaults, and combinations for the tuner.
const KernelTable& tuning_table();
/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device);

/// Key of a model's stored tuning results.
std::string tuning_problem(const Model& model);
/// Stored tuning for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Tunes the kernels of a CensusDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::census
