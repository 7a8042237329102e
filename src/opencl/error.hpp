#pragma once
/// Errors of OpenCL calls, and a switch for tests that makes calls fail.

#include <string>

#include "base/error.hpp"

namespace sightline::opencl {

/// A call to the device failed while running. Carries OpenCL's code; the message names the call, the device
/// and the remedy.
class DeviceError : public Error {
 public:
  DeviceError(int code, const std::string& call, const std::string& device);
  int code_number() const noexcept { return number_; }

 private:
  int number_;
};

/// OpenCL's name of an error code, for example "CL_OUT_OF_RESOURCES".
const char* error_name(int code);

/// Throws DeviceError unless `code` is CL_SUCCESS. Every call to OpenCL passes through here with its own
/// name.
void check(int code, const char* call, const std::string& device);

/// For tests: from the n-th checked call on that is called `call` (empty: any call), counted from 1 and from
/// now, calls fail as if the device had run out of resources; `count` of them, or all for -1. 0 for `n`
/// switches it off. Thread-safety: any thread.
void fail_calls_for_test(const std::string& call, int n, int count = -1);

}  // namespace sightline::opencl
