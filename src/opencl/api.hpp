#pragma once
/// OpenCL's C API at the version Sightline is written for, and owners of its handles. Only files of this
/// folder and
/// `*_opencl` files include this.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <utility>

namespace sightline::opencl {

/// Sole owner of one reference to an OpenCL object. Releasing never throws, since a failure cannot be
/// handled.
template <typename Handle, cl_int(CL_API_CALL* kRelease)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Owned() { reset(); }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  void reset() {
    if (handle_) kRelease(std::exchange(handle_, nullptr));
  }

 private:
  Handle handle_ = nullptr;
};

using OwnedContext = Owned<cl_context, clReleaseContext>;
using OwnedQueue = Owned<cl_command_queue, clReleaseCommandQueue>;
using OwnedMemory = Owned<cl_mem, clReleaseMemObject>;
using OwnedProgram = Owned<cl_program, clReleaseProgram>;
using OwnedKernel = Owned<cl_kernel, clReleaseKernel>;

}  // namespace sightline::opencl
