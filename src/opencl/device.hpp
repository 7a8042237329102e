#pragma once
/// The OpenCL devices of this machine.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"

namespace sightline::opencl {

using sightline::DeviceType;

/// Further properties of an OpenCL device. A plain value; 0 or empty means unknown or unsupported.
struct DeviceInfo : sightline::DeviceInfo {
  int index = 0;  ///< index for `--device`
  int clock_mhz = 0;
  std::uint64_t largest_buffer_bytes = 0;
  std::uint64_t local_memory_bytes = 0;   ///< a work-group
  bool local_memory_is_ordinary = false;  ///< local memory is main memory: tiling into it gains nothing
  std::uint64_t cache_bytes = 0;          ///< cache of global memory
  std::uint64_t largest_work_group = 0;
  int preferred_float_width = 0;  ///< vector width that kernels should be written in
  int native_float_width = 0;
  bool integer_dot_product = false;
  bool correctly_rounded_divide_sqrt = false;  ///< needed for results equal to the CPU's
  bool fused_multiply_add = false;             ///< fast, with denormal numbers: networks need it
  std::uint64_t timer_resolution_ns = 0;
  bool compiler_available = false;
  std::string extensions;

  /// OpenCL's handles of the platform and the device; valid for the life of the process.
  void* platform_handle = nullptr;
  void* handle = nullptr;
};

/// All devices of all platforms, in the loader's order. Empty without a platform or device. Platforms that
/// fail and drivers that would crash the process (see driver_report) are left out with a warning. Never
/// throws because of the machine's state.
std::vector<DeviceInfo> list_devices();
/// The same without testing the loader's drivers, which may crash the process.
std::vector<DeviceInfo> list_devices_unchecked();

/// One item of the list of `--device`.
struct DeviceChoice {
  std::string what;       ///< "auto", "none", "all", "gpus", "cpu", "gpu", an index, or a part of a name
  int compute_units = 0;  ///< above 0: compute units of a sub-device ("cpu:1")
};

/// Parses "WHAT" or "WHAT:UNITS". Throws Error (usage).
DeviceChoice parse_device_choice(const std::string& text);
/// The same for a list: "0,1", "gpu,cpu:1,cpu:1". Throws Error (usage).
std::vector<DeviceChoice> parse_device_choices(const std::string& text);

/// Transfer of memory between host and device: mapped or copied. `automatic` maps if they share memory, which
/// is faster, and copies otherwise; the others are for comparisons. Results do not depend on it.
enum class BufferUse { automatic, copied, mapped };
/// Parses "auto", "copied" or "mapped"; empty is auto. Throws Error (usage).
BufferUse parse_buffer_use(const std::string& text);

struct ChosenDevice {
  DeviceInfo device;
  int compute_units = 0;  ///< units of the sub-device to make; 0: the whole device
  std::string why;        ///< reason, for messages
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
/// CPU. Throws Error (device) if a device was named that is not there or cannot be used, listing those
/// that are.
std::optional<ChosenDevice> choose_device(const DeviceChoice& choice, const std::vector<DeviceInfo>& devices);

/// The devices of a list of choices, in its order; "all" stands for every usable device and "gpus" for every
/// usable GPU. Throws as choose_device does, and Error (usage) if a device is listed twice, "none" or "auto"
/// is combined with others, or the parts of a device exceed it.
std::vector<ChosenDevice> choose_devices(const std::vector<DeviceChoice>& choices,
                                         const std::vector<DeviceInfo>& devices);

/// Opens a device, with the user's cache of programs. Throws DeviceError if it cannot be used.
std::shared_ptr<ComputeDevice> open_device(const ChosenDevice& chosen);

}  // namespace sightline::opencl
