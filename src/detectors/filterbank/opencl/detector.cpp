// The detector's stages on a device that they own, with the kernels' variants that were found best for it.
#include "detectors/filterbank/opencl/stages.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::filterbank {

std::unique_ptr<DeviceStages> FilterbankDetector::make_stages_on(
    std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  return std::make_unique<StagesOnDevice<OpenClStages>>(
      *this, opened, best_tuning(opened->device(), model_.dictionary.size()));
}

}  // namespace sightline::filterbank
