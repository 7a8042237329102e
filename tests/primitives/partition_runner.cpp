#include "primitives/partition_runner.hpp"

#include <optional>

namespace sightline::nn {

struct PartitionRunner::Part {
  // On a device:
  std::optional<DevicePlan> device_plan;
  std::optional<DeviceKernelsOf> kernels;
  std::optional<DeviceRunner> on_device;
  // On the CPU:
  std::optional<CpuPlan> cpu_plan;
  std::optional<CpuRunner> on_cpu;
};

PartitionRunner::PartitionRunner(const Graph& graph, const opencl::Context& context,
                                 opencl::ProgramCache* cache, const DeviceShape& shape)
    : partitions_(partitions_of(graph)) {
  for (const Partition& one : partitions_.parts) {
    Part& part = *parts_.emplace_back(std::make_unique<Part>());
    if (one.on_device) {
      part.device_plan = plan_for_device(one.graph, shape);
      part.kernels.emplace(*part.device_plan, context, cache);
      part.on_device.emplace(one.graph, *part.kernels, 1);
    } else {
      part.cpu_plan = plan_for_cpu(one.graph);
      part.on_cpu.emplace(*part.cpu_plan);
    }
  }
}

PartitionRunner::~PartitionRunner() = default;

std::vector<Tensor> PartitionRunner::run(Inputs inputs) {
  const Graph& graph = partitions_.graph;
  std::vector<const Tensor*> values;
  for (const GraphTensor& tensor : graph.tensors()) values.push_back(tensor.constant.get());
  const auto value = [&](int tensor) -> const Tensor*& { return values[static_cast<std::size_t>(tensor)]; };
  for (std::size_t i = 0; i < inputs.size(); ++i) value(graph.inputs()[i]) = inputs[i];
  std::vector<std::vector<Tensor>> made;
  made.reserve(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Partition& part = partitions_.parts[p];
    std::vector<const Tensor*> operands;
    for (const int input : part.inputs) operands.push_back(value(input));
    made.push_back(part.on_device ? std::move(parts_[p]->on_device->run({operands})[0])
                                  : parts_[p]->on_cpu->run(operands));
    for (std::size_t i = 0; i < part.outputs.size(); ++i) value(part.outputs[i]) = &made.back()[i];
  }
  std::vector<Tensor> outputs;
  for (const int output : graph.outputs()) outputs.push_back(*value(output));
  return outputs;
}

}  // namespace sightline::nn
