// The detector's stages on a device that they own, with the kernels' variants that were found best for it.
#include "filterbank/opencl/stages.hpp"
#include "processing/own_device.hpp"

namespace sightline::filterbank {

std::unique_ptr<DeviceStages> FilterbankDetector::make_device_stages(
    const opencl::ChosenDevice& device) const {
  return std::make_unique<StagesOnOwnDevice<OpenClStages>>(
      *this, device, best_tuning(device.device, model_.dictionary.size()));
}

}  // namespace sightline::filterbank
