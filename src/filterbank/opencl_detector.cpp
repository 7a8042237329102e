// The detector's stages on a device that they own, with the kernels' forms that were found best for it.
#include "filterbank/opencl_stages.hpp"
#include "filterbank/tuner.hpp"

namespace sightline::filterbank {
namespace {

struct OwnDevice {
  opencl::Context context;
  opencl::ProgramCache cache;
};

// A base, so that the device is there before the stages.
class StagesOnOwnDevice : private OwnDevice, public OpenClStages {
 public:
  StagesOnOwnDevice(const FilterbankDetector& detector, const opencl::ChosenDevice& device,
                    const KernelTuning& tuning)
      : OwnDevice{opencl::Context(device), opencl::ProgramCache(opencl::ProgramCache::default_folder())},
        OpenClStages(detector, OwnDevice::context, &cache, tuning) {}
};

}  // namespace

std::unique_ptr<DeviceStages> FilterbankDetector::make_device_stages(
    const opencl::ChosenDevice& device) const {
  const TuningDatabase database(TuningDatabase::default_file());
  const KernelTuning tuning =
      database.find(device.device, model_.dictionary.size()).value_or(default_tuning(device.device));
  return std::make_unique<StagesOnOwnDevice>(*this, device, tuning);
}

}  // namespace sightline::filterbank
