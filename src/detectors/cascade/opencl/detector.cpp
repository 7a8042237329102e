// The detector's stages on a device that they own, with the kernels' variants that were asked for or found
// best for it.
#include "detectors/cascade/opencl/stages.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::cascade {

std::unique_ptr<DeviceStages> CascadeDetector::make_stages_on(
    std::shared_ptr<opencl::OpenedDevice> device) const {
  const KernelTuning tuning = options_.kernels.empty()
                                  ? best_tuning(device->context.device(), model_)
                                  : variant_tuning(options_.kernels, device->context.device(), model_.kind);
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::cascade
