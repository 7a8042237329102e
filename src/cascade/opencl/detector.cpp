// The detector's stages on a device that they own, with the kernels' variants that were asked for or found
// best for it.
#include "cascade/opencl/stages.hpp"
#include "processing/own_device.hpp"

namespace sightline::cascade {

std::unique_ptr<DeviceStages> CascadeDetector::make_device_stages(const opencl::ChosenDevice& device) const {
  const KernelTuning tuning = options_.kernels.empty()
                                  ? best_tuning(device.device, model_)
                                  : variant_tuning(options_.kernels, device.device, model_.kind);
  return std::make_unique<StagesOnOwnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::cascade
