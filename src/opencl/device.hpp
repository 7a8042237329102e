#pragma once
/// The OpenCL devices of this machine.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "processing/device.hpp"

namespace sightline::opencl {

using sightline::DeviceType;

/// What a device can do besides. A plain value; 0 or empty means unknown or unsupported.
struct DeviceInfo : sightline::DeviceInfo {
  int index = 0;  ///< as `--device` takes it
  int clock_mhz = 0;
  std::uint64_t largest_buffer_bytes = 0;
  std::uint64_t local_memory_bytes = 0;   ///< a work-group
  bool local_memory_is_ordinary = false;  ///< local memory is main memory: tiling into it gains nothing
  std::uint64_t cache_bytes = 0;          ///< of global memory
  std::uint64_t largest_work_group = 0;
  int preferred_float_width = 0;  ///< vector width that kernels should be written in
  int native_float_width = 0;
  bool integer_dot_product = false;
  bool correctly_rounded_divide_sqrt = false;  ///< needed for results equal to the CPU's
  std::uint64_t timer_resolution_ns = 0;
  bool compiler_available = false;
  std::string extensions;

  /// OpenCL's handles of the platform and the device; valid for the life of the process.
  void* platform_handle = nullptr;
  void* handle = nullptr;
};

/// All devices of all platforms, in the loader's order. Empty where there is no platform or no device; a
/// platform that fails is left out with a warning, and so is a driver that would take the process with it
/// (see left_out_drivers). Never throws for a machine's state.
std::vector<DeviceInfo> list_devices();
/// The same of whatever drivers the loader is told of, at the process's own risk.
std::vector<DeviceInfo> list_devices_unchecked();

/// What the user asked for with `--device`: one item of its list.
struct DeviceChoice {
  std::string what;       ///< "auto", "none", "all", "gpus", "cpu", "gpu", an index, or a part of a name
  int compute_units = 0;  ///< above 0: a sub-device of so many compute units ("cpu:1")
};

/// Parses "WHAT" or "WHAT:UNITS". Throws Error (usage).
DeviceChoice parse_device_choice(const std::string& text);
/// The same for a list: "0,1", "gpu,cpu:1,cpu:1". Throws Error (usage).
std::vector<DeviceChoice> parse_device_choices(const std::string& text);

/// How memory that host and device both use changes hands: mapped into the host's memory, or copied from and
/// to it. `automatic` maps where they share memory, which is the faster way there, and copies elsewhere; the
/// others are for comparisons. Results do not depend on it.
enum class BufferUse { automatic, copied, mapped };
/// Of "auto", "copied" or "mapped"; empty is auto. Throws Error (usage).
BufferUse parse_buffer_use(const std::string& text);

struct ChosenDevice {
  DeviceInfo device;
  int compute_units = 0;  ///< of the sub-device to make; 0: the whole device
  std::string why;        ///< for people
  /// Compute units of the sub-devices that come before it, where the device is used in several parts: parts
  /// do not overlap.
  std::vector<int> parts_before = {};
  BufferUse buffers = BufferUse::automatic;

  /// Whether buffers that the host uses too are mapped, not copied.
  bool maps_buffers() const {
    return buffers == BufferUse::automatic ? device.unified_memory : buffers == BufferUse::mapped;
  }
};

/// The device of a choice; none for "none", and for "auto" where there is no usable device. `auto` takes the
/// GPU with the most compute units; without one, none: the CPU's own SIMD stages are faster than OpenCL on a
/// CPU. Throws Error (device) where a device was named that is not there or cannot be used, listing those
/// that are.
std::optional<ChosenDevice> choose_device(const DeviceChoice& choice, const std::vector<DeviceInfo>& devices);

/// The devices of a list of choices, in its order; "all" stands for every usable device and "gpus" for every
/// usable GPU. Throws as choose_device does, and Error (usage) where a device is named twice, or "none" or
/// "auto" beside others, or parts of a device are more than it has.
std::vector<ChosenDevice> choose_devices(const std::vector<DeviceChoice>& choices,
                                         const std::vector<DeviceInfo>& devices);

/// Opens a device, with the user's cache of programs. Throws DeviceError where it cannot be used.
std::shared_ptr<ComputeDevice> open_device(const ChosenDevice& chosen);

}  // namespace sightline::opencl
