// The detector's stages on a device that they own, with the kernels' variants that were asked for or found
// best for it.
#include "detectors/census/opencl/stages.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::census {

std::unique_ptr<DeviceStages> CensusDetector::make_stages_on(
    std::shared_ptr<opencl::OpenedDevice> device) const {
  const KernelTuning tuning = kernels().empty() ? best_tuning(device->context.device(), model_)
                                                : variant_tuning(kernels(), device->context.device());
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::census
