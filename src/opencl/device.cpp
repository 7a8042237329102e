#include "opencl/device.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <regex>
#include <tuple>

#include "base/fault.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "opencl/api.hpp"
#include "opencl/driver_check.hpp"
#include "opencl/error.hpp"
#include "opencl/opened_device.hpp"

namespace sightline::opencl {
namespace {

// PoCL calls a processor "pthread-skylake-avx512-Intel(R) Xeon(R) Processor", or "pthread-skylake-" where the
// machine hides its brand: the brand is what people know, and then the kind of processor.
std::string readable_name(const std::string& name) {
  std::smatch parts;
  static const std::regex pocl("(?:pthread|cpu|basic)-([a-z0-9_-]*?)-?((?:[A-Z].*)?)");
  if (!std::regex_match(name, parts, pocl)) return name;
  return parts[2].length() > 0 ? parts[2].str() : parts[1].str() + " processor";
}

template <typename T>
T number(cl_device_id device, cl_device_info what) {
  T value{};
  return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

template <typename Object, typename Query>
std::string text(Object object, cl_uint what, const Query& query) {
  std::size_t size = 0;
  if (query(object, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string value(size, '\0');
  if (query(object, what, size, value.data(), nullptr) != CL_SUCCESS) return "";
  value.resize(value.find('\0') == std::string::npos ? value.size() : value.find('\0'));
  return value;
}

DeviceType type_of(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return DeviceType::gpu;
  if (type & CL_DEVICE_TYPE_CPU) return DeviceType::cpu;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return DeviceType::accelerator;
  return DeviceType::other;
}

DeviceInfo describe(cl_platform_id platform, cl_device_id device) {
  DeviceInfo info;
  info.platform = text(platform, CL_PLATFORM_NAME, clGetPlatformInfo);
  info.name = readable_name(text(device, CL_DEVICE_NAME, clGetDeviceInfo));
  info.vendor = text(device, CL_DEVICE_VENDOR, clGetDeviceInfo);
  info.version = text(device, CL_DEVICE_VERSION, clGetDeviceInfo);
  info.driver_version = text(device, CL_DRIVER_VERSION, clGetDeviceInfo);
  info.extensions = text(device, CL_DEVICE_EXTENSIONS, clGetDeviceInfo);
  info.type = type_of(number<cl_device_type>(device, CL_DEVICE_TYPE));
  info.compute_units = static_cast<int>(number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  info.clock_mhz = static_cast<int>(number<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY));
  info.memory_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.largest_buffer_bytes = number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.local_memory_bytes = number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.local_memory_is_ordinary =
      number<cl_device_local_mem_type>(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_GLOBAL;
  info.cache_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  info.largest_work_group = number<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  info.preferred_float_width =
      static_cast<int>(number<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT));
  info.native_float_width = static_cast<int>(number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
  info.unified_memory = number<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  info.integer_dot_product = info.extensions.find("cl_khr_integer_dot_product") != std::string::npos;
  const auto floats = number<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG);
  info.correctly_rounded_divide_sqrt = (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  info.fused_multiply_add = (floats & CL_FP_FMA) != 0 && (floats & CL_FP_DENORM) != 0;
  info.timer_resolution_ns = number<std::size_t>(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION);
  info.compiler_available = number<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE;
  info.platform_handle = platform;
  info.handle = device;
  return info;
}

std::string lower(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
  return value;
}

// Without these, a device cannot give the results that Sightline promises.
std::string unusable_because(const DeviceInfo& device) {
  if (!device.compiler_available) return "it has no kernel compiler";
  if (!device.correctly_rounded_divide_sqrt) return "its square roots are not correctly rounded";
  return "";
}

std::string names_of(const std::vector<DeviceInfo>& devices) {
  std::string names;
  for (const DeviceInfo& d : devices) {
    names += (names.empty() ? "" : ", ") + std::to_string(d.index) + " '" + d.name + "'";
  }
  const std::string there =
      names.empty() ? "no OpenCL device was found; " + no_device_text() : "there are: " + names;
  return there + driver_problems();
}

bool are_same(const DeviceInfo& a, const DeviceInfo& b) {
  const auto facts = [](const DeviceInfo& d) {
    return std::tie(d.platform, d.name, d.vendor, d.version, d.driver_version, d.compute_units,
                    d.memory_bytes);
  };
  return facts(a) == facts(b);
}

// Of a driver that is registered twice, under one name or another, the devices count once. A driver has all
// of its devices in one platform, so that two platforms with the same devices are one driver.
void add_platform(std::vector<DeviceInfo>& all, cl_platform_id platform,
                  const std::vector<cl_device_id>& devices) {
  std::vector<DeviceInfo> own;
  for (const cl_device_id device : devices) own.push_back(describe(platform, device));
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::find_if(
        first, all.end(), [&](const DeviceInfo& d) { return d.platform_handle != first->platform_handle; });
    if (std::equal(first, end, own.begin(), own.end(), are_same)) {
      logger().debug("OpenCL platform '{}' is registered twice; its devices count once", first->platform);
      return;
    }
    first = end;
  }
  for (DeviceInfo& device : own) {
    device.index = static_cast<int>(all.size());
    all.push_back(std::move(device));
  }
}

}  // namespace

std::vector<DeviceInfo> list_devices() {
  driver_report();
  return list_devices_unchecked();
}

std::vector<DeviceInfo> list_devices_unchecked() {
  std::vector<DeviceInfo> result;
  cl_uint count = 0;
  // Without any driver the loader answers with an error: that is no error here.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return result;
  if (fault::strikes(fault::Kind::opencl, "clGetPlatformIDs")) return result;
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (const cl_platform_id platform : platforms) {
    cl_uint devices_count = 0;
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices_count);
    if (fault::strikes(fault::Kind::opencl, "clGetDeviceIDs")) code = CL_OUT_OF_HOST_MEMORY;
    if (code != CL_SUCCESS) {
      if (code != CL_DEVICE_NOT_FOUND) {
        logger().warn("OpenCL platform '{}' was skipped: {}",
                      text(platform, CL_PLATFORM_NAME, clGetPlatformInfo), error_name(code));
      }
      continue;
    }
    std::vector<cl_device_id> devices(devices_count);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices_count, devices.data(), nullptr);
    add_platform(result, platform, devices);
  }
  return result;
}

DeviceChoice parse_device_choice(const std::string& text) {
  DeviceChoice choice{text, 0};
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    const char* const begin = text.data() + colon + 1;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, choice.compute_units);
    if (error != std::errc() || stop != end || choice.compute_units < 1) {
      throw Error(ExitCode::usage, "device '" + text + "' is not understood",
                  "give the number of compute units after the colon, such as cpu:1");
    }
    choice.what = text.substr(0, colon);
  }
  if (choice.what.empty()) {
    throw Error(ExitCode::usage, "device '" + text + "' is not understood",
                "use auto, none, cpu, gpu, an index or a part of a name");
  }
  return choice;
}

BufferUse parse_buffer_use(const std::string& text) {
  if (text.empty() || text == "auto") return BufferUse::automatic;
  if (text == "copied") return BufferUse::copied;
  if (text == "mapped") return BufferUse::mapped;
  throw Error(ExitCode::usage, "there are no '" + text + "' buffers", "use auto, copied or mapped");
}

std::vector<DeviceChoice> parse_device_choices(const std::string& text) {
  std::vector<DeviceChoice> choices;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    choices.push_back(parse_device_choice(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return choices;
}

std::vector<ChosenDevice> choose_devices(const std::vector<DeviceChoice>& choices,
                                         const std::vector<DeviceInfo>& devices) {
  std::vector<ChosenDevice> chosen;
  const auto add = [&](ChosenDevice one) {
    int units = one.compute_units;
    for (const ChosenDevice& other : chosen) {
      if (other.device.index != one.device.index) continue;
      if (one.compute_units == 0 || other.compute_units == 0) {
        throw Error(
            ExitCode::usage,
            "device " + std::to_string(one.device.index) + " '" + one.device.name + "' is listed twice",
            "name each device once, or its parts, such as cpu:1,cpu:1");
      }
      one.parts_before.push_back(other.compute_units);
      units += other.compute_units;
    }
    if (units > one.device.compute_units) {
      throw Error(ExitCode::usage,
                  "device '" + one.device.name + "' has " +
                      counted(one.device.compute_units, "compute unit") + ", fewer than the sum of its parts",
                  "use smaller or fewer parts");
    }
    chosen.push_back(std::move(one));
  };
  for (const DeviceChoice& choice : choices) {
    const std::string what = lower(choice.what);
    if (choices.size() > 1 && (what == "auto" || what == "none")) {
      throw Error(ExitCode::usage, option("device", choice.what) + " cannot be combined with other devices",
                  "name the devices, or use only " + option("device", choice.what));
    }
    if (what != "all" && what != "gpus") {
      if (auto one = choose_device(choice, devices)) add(std::move(*one));
      continue;
    }
    const std::size_t before = chosen.size();
    for (const DeviceInfo& device : devices) {
      if (!unusable_because(device).empty() || (what == "gpus" && device.type != DeviceType::gpu)) continue;
      add({device, choice.compute_units, what == "all" ? "one of all" : "one of all GPUs"});
    }
    if (chosen.size() == before) {
      throw Error(ExitCode::device,
                  what == "all" ? "there is no usable OpenCL device" : "there is no usable OpenCL GPU",
                  names_of(devices));
    }
  }
  return chosen;
}

std::optional<ChosenDevice> choose_device(const DeviceChoice& choice,
                                          const std::vector<DeviceInfo>& devices) {
  const std::string what = lower(choice.what);
  if (what == "none") return std::nullopt;
  const auto usable = [](const DeviceInfo& d) { return unusable_because(d).empty(); };

  if (what == "auto") {
    const DeviceInfo* best = nullptr;
    for (const DeviceInfo& d : devices) {
      if (d.type == DeviceType::gpu && usable(d) && (!best || d.compute_units > best->compute_units))
        best = &d;
    }
    if (!best) return std::nullopt;
    return ChosenDevice{*best, choice.compute_units, "the GPU with the most compute units"};
  }

  const DeviceInfo* found = nullptr;
  std::string why;
  int index = -1;
  const auto [stop, error] = std::from_chars(what.data(), what.data() + what.size(), index);
  const bool is_index = error == std::errc() && stop == what.data() + what.size();
  for (const DeviceInfo& d : devices) {
    const bool type_matches =
        (what == "gpu" && d.type == DeviceType::gpu) || (what == "cpu" && d.type == DeviceType::cpu);
    const bool name_matches =
        what != "gpu" && what != "cpu" && !is_index && lower(d.name).find(what) != std::string::npos;
    if (!type_matches && !name_matches && !(is_index && d.index == index)) continue;
    // The first usable one; where there is none, the first one, for the message.
    if (found && (usable(*found) || !usable(d))) continue;
    found = &d;
    why = type_matches ? "the first " + std::string(to_string(d.type)) : "asked for";
  }
  if (!found)
    throw Error(ExitCode::device, "there is no OpenCL device '" + choice.what + "'", names_of(devices));
  if (!usable(*found)) {
    throw Error(ExitCode::device, "device '" + found->name + "' cannot be used: " + unusable_because(*found),
                names_of(devices));
  }
  if (choice.compute_units > found->compute_units) {
    throw Error(ExitCode::device, "device '" + found->name + "' has " +
                                      counted(found->compute_units, "compute unit") + ", not " +
                                      std::to_string(choice.compute_units));
  }
  return ChosenDevice{*found, choice.compute_units, why};
}

std::shared_ptr<ComputeDevice> open_device(const ChosenDevice& chosen) {
  return std::make_shared<OpenedDevice>(chosen);
}

}  // namespace sightline::opencl
