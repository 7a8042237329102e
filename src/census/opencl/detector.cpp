// The detector's stages on a device that they own, with the kernels' variants that were asked for or found
// best for it.
#include "census/opencl/stages.hpp"
#include "processing/own_device.hpp"

namespace sightline::census {

std::unique_ptr<DeviceStages> CensusDetector::make_device_stages(const opencl::ChosenDevice& device) const {
  const KernelTuning tuning =
      kernels().empty() ? best_tuning(device.device, model_) : variant_tuning(kernels(), device.device);
  return std::make_unique<StagesOnOwnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::census
