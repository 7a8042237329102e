#include "media/page_locked.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <new>
#include <type_traits>

// FFmpeg's header wants CUDA's, of which it uses the names of two pointers.
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
#ifndef CUDA_VERSION
#define CUDA_VERSION 0
#endif
extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
}

#include "media/hardware_device.hpp"

namespace sightline::media {
namespace {

/// Functions of libcuda.so.1, which FFmpeg has loaded already; all null where it has not.
struct CudaHostMemory {
  int (*push_context)(CUcontext) = nullptr;
  int (*pop_context)(CUcontext*) = nullptr;
  int (*allocate)(void**, std::size_t, unsigned) = nullptr;
  int (*release)(void*) = nullptr;

  static const CudaHostMemory& get() {
    static const CudaHostMemory functions = load();
    return functions;
  }

 private:
  static CudaHostMemory load() {
    CudaHostMemory functions;
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return functions;
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool is_complete = find("cuCtxPushCurrent_v2", functions.push_context) &&
                             find("cuCtxPopCurrent_v2", functions.pop_context) &&
                             find("cuMemHostAlloc", functions.allocate) &&
                             find("cuMemFreeHost", functions.release);
    return is_complete ? functions : CudaHostMemory();
  }
};

/// Calls a function while the device's context is current.
template <typename Call>
bool in_context(const AVBufferRef& device, Call call) {
  const auto& context = *reinterpret_cast<const AVHWDeviceContext*>(device.data);
  const CudaHostMemory& cuda = CudaHostMemory::get();
  if (context.type != AV_HWDEVICE_TYPE_CUDA || !cuda.push_context) return false;
  if (cuda.push_context(static_cast<const AVCUDADeviceContext*>(context.hwctx)->cuda_ctx) != 0) return false;
  const bool is_done = call(cuda) == 0;
  CUcontext popped = nullptr;
  cuda.pop_context(&popped);
  return is_done;
}

void release_page_locked(void* device, std::uint8_t* data) {
  in_context(*static_cast<AVBufferRef*>(device),
             [=](const CudaHostMemory& cuda) { return cuda.release(data); });
}

AVBufferRef* allocate_for_device(void* device, std::size_t bytes) {
  constexpr unsigned kForAllContexts = 1;  // CU_MEMHOSTALLOC_PORTABLE
  void* data = nullptr;
  const bool is_locked = in_context(*static_cast<AVBufferRef*>(device), [&](const CudaHostMemory& cuda) {
    return cuda.allocate(&data, bytes, kForAllContexts);
  });
  if (!is_locked) return av_buffer_alloc(bytes);
  AVBufferRef* const buffer =
      av_buffer_create(static_cast<std::uint8_t*>(data), bytes, release_page_locked, device, 0);
  if (!buffer) release_page_locked(device, static_cast<std::uint8_t*>(data));
  return buffer;
}

void release_device(void* device) {
  auto* reference = static_cast<AVBufferRef*>(device);
  av_buffer_unref(&reference);
}

}  // namespace

BufferPoolPtr make_host_pool(const AVBufferRef& device, std::size_t bytes) {
  BufferPtr reference(av_buffer_ref(const_cast<AVBufferRef*>(&device)));
  if (!reference) throw std::bad_alloc();
  BufferPoolPtr pool(av_buffer_pool_init2(bytes, reference.get(), allocate_for_device, release_device));
  if (!pool) throw std::bad_alloc();
  reference.release();  // NOLINT(bugprone-unused-return-value): the pool's from here on
  return pool;
}

}  // namespace sightline::media
