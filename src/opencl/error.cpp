#include "opencl/error.hpp"

#include <atomic>
#include <mutex>

#include "base/fault.hpp"
#include "opencl/api.hpp"

namespace sightline::opencl {
namespace {

Message remedy(int code) {
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return "the device may be out of memory or lost: use smaller frames, a larger --min-size, or "
             "--device=none"_message;
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
      return "the driver could not build a kernel: update it, or use --device=none"_message;
    case CL_INVALID_COMMAND_QUEUE:
    case CL_DEVICE_NOT_AVAILABLE:
      return "the device was lost: run again, or use --device=none"_message;
    default:
      return "try --device=none"_message;
  }
}

struct Fault {
  std::mutex mutex;
  std::string call;
  int skip = 0;
  int count = 0;
  std::atomic<bool> armed{false};
};

Fault& fault() {
  static Fault instance;
  return instance;
}

bool injected(const char* call) {
  Fault& f = fault();
  if (!f.armed.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(f.mutex);
  if (!f.call.empty() && f.call != call) return false;
  if (f.skip > 0 && --f.skip > 0) return false;
  if (f.count == 0) return false;
  if (f.count > 0) --f.count;
  return true;
}

}  // namespace

DeviceError::DeviceError(int code, const std::string& call, const std::string& device)
    : Error(Fields{.code = ExitCode::failed,
                   .object = device,
                   .problem = call + " failed on device '" + device + "' with " + error_name(code) + " (" +
                              std::to_string(code) + ")",
                   .remedy = remedy(code)}),
      number_(code) {}

void check(int code, const char* call, const std::string& device) {
  if (injected(call) || fault::strikes(fault::Kind::opencl, call)) code = CL_OUT_OF_RESOURCES;
  if (code != CL_SUCCESS) throw DeviceError(code, call, device);
}

void fail_calls_for_test(const std::string& call, int n, int count) {
  Fault& f = fault();
  const std::lock_guard lock(f.mutex);
  f.call = call;
  f.skip = n;
  f.count = count;
  f.armed = n > 0;
}

const char* error_name(int code) {
#define SIGHTLINE_NAME(name) \
  case name:                 \
    return #name
  switch (code) {
    SIGHTLINE_NAME(CL_SUCCESS);
    SIGHTLINE_NAME(CL_DEVICE_NOT_FOUND);
    SIGHTLINE_NAME(CL_DEVICE_NOT_AVAILABLE);
    SIGHTLINE_NAME(CL_COMPILER_NOT_AVAILABLE);
    SIGHTLINE_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    SIGHTLINE_NAME(CL_OUT_OF_RESOURCES);
    SIGHTLINE_NAME(CL_OUT_OF_HOST_MEMORY);
    SIGHTLINE_NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
    SIGHTLINE_NAME(CL_MEM_COPY_OVERLAP);
    SIGHTLINE_NAME(CL_BUILD_PROGRAM_FAILURE);
    SIGHTLINE_NAME(CL_MAP_FAILURE);
    SIGHTLINE_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    SIGHTLINE_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    SIGHTLINE_NAME(CL_COMPILE_PROGRAM_FAILURE);
    SIGHTLINE_NAME(CL_DEVICE_PARTITION_FAILED);
    SIGHTLINE_NAME(CL_INVALID_VALUE);
    SIGHTLINE_NAME(CL_INVALID_DEVICE_TYPE);
    SIGHTLINE_NAME(CL_INVALID_PLATFORM);
    SIGHTLINE_NAME(CL_INVALID_DEVICE);
    SIGHTLINE_NAME(CL_INVALID_CONTEXT);
    SIGHTLINE_NAME(CL_INVALID_QUEUE_PROPERTIES);
    SIGHTLINE_NAME(CL_INVALID_COMMAND_QUEUE);
    SIGHTLINE_NAME(CL_INVALID_HOST_PTR);
    SIGHTLINE_NAME(CL_INVALID_MEM_OBJECT);
    SIGHTLINE_NAME(CL_INVALID_BINARY);
    SIGHTLINE_NAME(CL_INVALID_BUILD_OPTIONS);
    SIGHTLINE_NAME(CL_INVALID_PROGRAM);
    SIGHTLINE_NAME(CL_INVALID_PROGRAM_EXECUTABLE);
    SIGHTLINE_NAME(CL_INVALID_KERNEL_NAME);
    SIGHTLINE_NAME(CL_INVALID_KERNEL_DEFINITION);
    SIGHTLINE_NAME(CL_INVALID_KERNEL);
    SIGHTLINE_NAME(CL_INVALID_ARG_INDEX);
    SIGHTLINE_NAME(CL_INVALID_ARG_VALUE);
    SIGHTLINE_NAME(CL_INVALID_ARG_SIZE);
    SIGHTLINE_NAME(CL_INVALID_KERNEL_ARGS);
    SIGHTLINE_NAME(CL_INVALID_WORK_DIMENSION);
    SIGHTLINE_NAME(CL_INVALID_WORK_GROUP_SIZE);
    SIGHTLINE_NAME(CL_INVALID_WORK_ITEM_SIZE);
    SIGHTLINE_NAME(CL_INVALID_GLOBAL_OFFSET);
    SIGHTLINE_NAME(CL_INVALID_EVENT_WAIT_LIST);
    SIGHTLINE_NAME(CL_INVALID_EVENT);
    SIGHTLINE_NAME(CL_INVALID_OPERATION);
    SIGHTLINE_NAME(CL_INVALID_BUFFER_SIZE);
    SIGHTLINE_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
    SIGHTLINE_NAME(CL_INVALID_PROPERTY);
    case -1001:
      return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
      return "an unknown error";
  }
#undef SIGHTLINE_NAME
}

}  // namespace sightline::opencl
