// The detector's stages on a device, with the kernels' variants that were asked for or found best for it.
#include "detectors/waldboost/opencl/stages.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::waldboost {

std::unique_ptr<DeviceStages> WaldboostDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  const opencl::DeviceInfo& info = opened->device();
  const bool has_steps = !own_options_.shares.empty() || !own_options_.phases.empty();
  const std::string variant = has_steps && options_.kernels.empty() ? "progressive" : options_.kernels;
  KernelTuning tuning = variant.empty() ? best_tuning(info, model_) : variant_tuning(variant, info);
  if (has_steps) tuning.steps = steps();
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened, tuning);
}

}  // namespace sightline::waldboost
