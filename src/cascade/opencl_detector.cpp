// The detector's stages on a device that they own.
#include "cascade/opencl_stages.hpp"

namespace sightline::cascade {
namespace {

struct OwnDevice {
  opencl::Context context;
  opencl::ProgramCache cache;
};

// A base, so that the device is there before the stages.
class StagesOnOwnDevice : private OwnDevice, public OpenClStages {
 public:
  StagesOnOwnDevice(const CascadeDetector& detector, const opencl::ChosenDevice& device)
      : OwnDevice{opencl::Context(device), opencl::ProgramCache(opencl::ProgramCache::default_folder())},
        OpenClStages(detector, OwnDevice::context, &cache, default_tuning(device.device)) {}
};

}  // namespace

std::unique_ptr<DeviceStages> CascadeDetector::make_device_stages(const opencl::ChosenDevice& device) const {
  return std::make_unique<StagesOnOwnDevice>(*this, device);
}

}  // namespace sightline::cascade
