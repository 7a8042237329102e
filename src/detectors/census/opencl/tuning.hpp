#pragma once
/// How the kernels of census cascades can be built, and which of it is fastest on a device.

#include <string>
#include <string_view>

#include "detection/opencl/pixel_window_stages.hpp"
#include "detectors/census/model.hpp"
#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::census {

/// How the kernels are built for a device. Every choice gives the same results. Of `scan`, naive: a work-item
/// takes a window through all of the scan's stages. queue: what each stage leaves of a work-group's windows
/// waits in local memory and is shared out among its work-items anew. What the scan leaves is finished by a
/// work-group a window.
struct KernelTuning : PixelWindowTuning {
  int early_stages = 3;  ///< that the scan has, where nobody asks for others
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The same as data: parameters, defaults, and what the tuner tries.
const KernelTable& tuning_table();
/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device);

/// What the results of tuning a model are stored under.
std::string tuning_problem(const Model& model);
/// What has been stored for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Tunes the kernels of a CensusDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::census
