// The detector's stages on a device that they own, with the kernels' variants that were asked for or found
// best for it.
#include "detectors/cascade/opencl/stages.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::cascade {

std::unique_ptr<DeviceStages> CascadeDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  const KernelTuning tuning = options_.kernels.empty()
                                  ? best_tuning(opened->device(), model_)
                                  : variant_tuning(options_.kernels, opened->device(), model_.kind);
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened, tuning);
}

}  // namespace sightline::cascade
