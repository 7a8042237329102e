#pragma once
/// A network's parts on an OpenCL device.

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <vector>

#include "detectors/network/parts.hpp"
#include "network/opencl/device_runner.hpp"

namespace sightline::network {

/// Kernels are built by threads of the object, since GPUs' compilers take seconds for them.
/// Thread-safety: any number of threads, each with launches and a queue of its own.
class DeviceParts {
 public:
  static constexpr int kMostFrames = 64;  ///< of one launch

  /// Kernels of all parts that suit devices, for a number of frames; any number can run with them.
  struct Variant {
    struct One {
      nn::DevicePlan plan;
      nn::DeviceKernelsOf kernels;
      One(nn::DevicePlan planned, const opencl::Context& context, opencl::ProgramCache* cache)
          : plan(std::move(planned)), kernels(plan, context, cache) {}
    };
    std::map<std::size_t, std::unique_ptr<const One>> parts;  ///< by number
    /// Bytes that a number of frames of any part need.
    std::size_t bytes(int frames) const;
  };
  using SharedVariant = std::shared_ptr<const Variant>;

  /// Begins to build the kernels, and waits a moment: the cache's are there then. Everything passed must
  /// outlive the object; `cache` may be null. Throws DeviceError, and nn::Problem where a part is too large
  /// for the kernels' indices.
  DeviceParts(const Parts& parts, const opencl::Context& context, opencl::ProgramCache* cache);
  DeviceParts(const DeviceParts&) = delete;
  DeviceParts& operator=(const DeviceParts&) = delete;
  /// Waits for kernels that are being built: the cache gets them.
  ~DeviceParts();

  /// Whether the kernels for one frame are built. Throws what building them threw.
  bool is_ready() const;
  /// Waits for the kernels for one frame and, if there are more frames, for those for several. Throws as
  /// `is_ready`.
  void wait_until_ready(int frames) const;
  /// The kernels for a number of frames. Those for several are built when they are first asked for; until
  /// they are, those for one frame serve. Waits until these are built. Throws as `is_ready`.
  SharedVariant variant_for(int frames) const;

 private:
  using Building = std::shared_future<SharedVariant>;

  Building begin_to_build(int frames) const;
  const Building& several() const;

  const Parts* parts_;
  const opencl::Context* context_;
  opencl::ProgramCache* cache_;
  mutable std::mutex mutex_;
  // Last: their threads use the others.
  Building one_;
  mutable Building several_;  // guarded by the mutex; once asked for
};

}  // namespace sightline::network
