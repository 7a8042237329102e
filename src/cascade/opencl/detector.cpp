// The detector's stages on a device that they own.
#include "cascade/opencl/stages.hpp"
#include "processing/own_device.hpp"

namespace sightline::cascade {

std::unique_ptr<DeviceStages> CascadeDetector::make_device_stages(const opencl::ChosenDevice& device) const {
  const KernelTuning tuning = options_.kernels.empty()
                                  ? default_tuning(device.device, model_.kind)
                                  : variant_tuning(options_.kernels, device.device, model_.kind);
  return std::make_unique<StagesOnOwnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::cascade
