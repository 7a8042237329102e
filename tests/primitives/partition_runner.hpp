#pragma once
/// Runs a graph on a device, and what the device has no kernels for on the CPU.

#include <memory>

#include "network/opencl/device_runner.hpp"
#include "network/opencl/partitions.hpp"
#include "network/plan/cpu_runner.hpp"

namespace sightline::nn {

/// Thread-safety: one run at a time.
class PartitionRunner {
 public:
  /// Plans all partitions and builds their kernels. What is passed must outlive it; `cache` may be null.
  /// Throws DeviceError.
  PartitionRunner(const Graph& graph, const opencl::Context& context, opencl::ProgramCache* cache,
                  const DeviceShape& shape);
  ~PartitionRunner();

  const Partitions& partitions() const { return partitions_; }

  /// The outputs. Throws DeviceError, and what a node throws.
  std::vector<Tensor> run(Inputs inputs);

 private:
  struct Part;

  Partitions partitions_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace sightline::nn
