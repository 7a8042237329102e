// The detector's stages on a device that they own, with the kernels' variants that were asked for or found
// best for it.
#include "processing/own_device.hpp"
#include "waldboost/opencl/stages.hpp"

namespace sightline::waldboost {

std::unique_ptr<DeviceStages> WaldboostDetector::make_device_stages(
    const opencl::ChosenDevice& device) const {
  const KernelTuning tuning = options_.kernels.empty() ? best_tuning(device.device, model_)
                                                       : variant_tuning(options_.kernels, device.device);
  return std::make_unique<StagesOnOwnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::waldboost
