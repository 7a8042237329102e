#pragma once
/// Runners: run a plan on an OpenCL device.

#include <functional>

#include "network/opencl/device_plan.hpp"
#include "network/primitives/primitive.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::nn {

/// The shape of plans that suits a device. @param frames  that most launches compute at once
DeviceShape shape_for(const opencl::DeviceInfo& device, int frames);

/// A plan's kernels and constants on a device. Thread-safety: immutable.
class DeviceKernelsOf {
 public:
  /// Builds the kernels: equal ones once. All must outlive it; `cache` may be null. Throws DeviceError.
  DeviceKernelsOf(const DevicePlan& plan, const opencl::Context& context, opencl::ProgramCache* cache);

  const DevicePlan& plan() const { return *plan_; }
  const opencl::Context& context() const { return *context_; }
  /// Number of different kernels.
  std::size_t kernels() const { return built_.size(); }

 private:
  friend class DeviceLaunches;
  void build(opencl::ProgramCache* cache);

  const DevicePlan* plan_;
  const opencl::Context* context_;
  struct BuiltKernel {
    opencl::Program program;
    std::string name;
  };
  std::vector<std::size_t> kernel_of_;  ///< by launch
  std::vector<BuiltKernel> built_;
  opencl::Buffer weights_, tables_;
};

/// A plan's kernels with their arguments. Thread-safety: one thread at a time.
class DeviceLaunches {
 public:
  /// @param kernels  must outlive it
  explicit DeviceLaunches(const DeviceKernelsOf& kernels);

  /// Enqueues all for frames in memory, each at a multiple of the plan's frame_bytes. Throws DeviceError.
  /// @param launched  is told of the first command and of the last
  void enqueue(opencl::Queue& queue, const opencl::Buffer& memory, int frames,
               const std::function<void(opencl::Event)>& launched = {});
  /// Seconds of each launch of some frames, run one by one. Throws DeviceError.
  std::vector<double> seconds(opencl::Queue& queue, const opencl::Buffer& memory, int frames);

 private:
  opencl::NDRange range_of(std::size_t launch, int frames) const;

  const DeviceKernelsOf* on_device_;
  std::vector<opencl::Kernel> kernels_;  ///< by launch
};

/// Runs frames one behind the other, or several at once. Thread-safety: one thread at a time.
class DeviceRunner {
 public:
  /// @param most  frames of a run
  DeviceRunner(const Graph& graph, const DeviceKernelsOf& kernels, int most);

  /// Computes the outputs of some frames: results[frame][output]. Throws DeviceError.
  /// @param frames  inputs of each, in the graph's order, of its types
  std::vector<std::vector<Tensor>> run(const std::vector<Inputs>& frames);

  /// Enqueues the launches for the frames that the memory holds, without transfers.
  void enqueue(int frames) { launches_.enqueue(queue_, memory_, frames); }
  opencl::Queue& queue() { return queue_; }
  std::vector<double> launch_seconds(int frames) { return launches_.seconds(queue_, memory_, frames); }

 private:
  const Graph& graph_;
  const DeviceKernelsOf& on_device_;
  opencl::Queue queue_;
  opencl::Buffer memory_;
  DeviceLaunches launches_;
};

}  // namespace sightline::nn
