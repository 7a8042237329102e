// The detector's stages on a device that they own, with the kernels' forms that were found best for it.
#include "filterbank/opencl/stages.hpp"
#include "filterbank/opencl/tuner.hpp"
#include "processing/own_device.hpp"

namespace sightline::filterbank {

std::unique_ptr<DeviceStages> FilterbankDetector::make_device_stages(
    const opencl::ChosenDevice& device) const {
  const TuningDatabase database(TuningDatabase::default_file());
  const KernelTuning tuning =
      database.find(device.device, model_.dictionary.size()).value_or(default_tuning(device.device));
  return std::make_unique<StagesOnOwnDevice<OpenClStages>>(*this, device, tuning);
}

}  // namespace sightline::filterbank
