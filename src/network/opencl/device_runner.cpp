#include "network/opencl/device_runner.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "opencl/data.hpp"

namespace sightline::nn {
namespace {

// Measured on an H100: one frame wants many work-items for each of its few work-groups, several want many
// groups.
constexpr int kGroupOfOne = 256, kGroupOfSeveral = 128, kGroupOnCpu = 64;
constexpr std::uint64_t kLocalBytes = 44 << 10, kOtherLocalBytes = 4 << 10;

bool is_cpu(const opencl::DeviceInfo& device) {
  return device.type == opencl::DeviceType::cpu;
}

}  // namespace

DeviceShape shape_for(const opencl::DeviceInfo& device, int frames) {
  const int wanted = is_cpu(device) ? kGroupOnCpu : frames == 1 ? kGroupOfOne : kGroupOfSeveral;
  const std::uint64_t local = std::max(device.local_memory_bytes, 2 * kOtherLocalBytes) - kOtherLocalBytes;
  DeviceShape shape;
  shape.group = static_cast<int>(std::bit_floor(
      std::clamp<std::uint64_t>(device.largest_work_group, 1, static_cast<std::uint64_t>(wanted))));
  shape.local_floats = static_cast<int>(std::min(local, kLocalBytes) / sizeof(float));
  shape.groups = std::max(device.compute_units, 1);
  shape.frames = frames;
  // PoCL 3.1 makes wrong code of unrolled loops, and of barriers behind conditions.
  if (is_cpu(device)) {
    shape.unrolled_few = shape.unrolled_many = 1;
    shape.mixes_tasks = false;
  }
  return shape;
}

DeviceKernelsOf::DeviceKernelsOf(const DevicePlan& plan, const opencl::Context& context,
                                 opencl::ProgramCache* cache)
    : plan_(&plan), context_(&context) {
  std::map<std::pair<std::string, int>, opencl::Program> built;
  for (const DeviceLaunch& launch : plan.launches) {
    opencl::Program& program = built[{launch.source, launch.unrolled}];
    if (!program.get()) {
      const std::string options = opencl::define("GROUP", plan.shape.group) +
                                  opencl::define("UNROLL", launch.unrolled) +
                                  opencl::define_if(!is_cpu(context.device()), "UNROLLS");
      program = opencl::Program(context, "network/group.clh", options, cache, launch.source);
    }
    programs_.push_back(program);
  }
  distinct_ = built.size();
  opencl::Queue queue(context);
  opencl::upload(queue, weights_, plan.weights);
  opencl::upload(queue, tables_, plan.tables);
}

DeviceLaunches::DeviceLaunches(const DeviceKernelsOf& kernels) : on_device_(&kernels) {
  const DevicePlan& plan = kernels.plan();
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    opencl::Kernel& kernel = kernels_.emplace_back(kernels.programs_[i], "run");
    kernel.argument(1, static_cast<cl_long>(plan.frame_bytes / 4));
    kernel.argument(2, kernels.weights_);
    kernel.argument(3, kernels.tables_);
    cl_uint next = 4;
    for (const std::int32_t value : plan.launches[i].arguments) kernel.argument(next++, cl_int{value});
  }
}

opencl::NDRange DeviceLaunches::range_of(std::size_t launch, int frames) const {
  const DevicePlan& plan = on_device_->plan();
  return opencl::groups(
      static_cast<std::size_t>(frames) * static_cast<std::size_t>(plan.launches[launch].groups),
      static_cast<std::size_t>(plan.shape.group));
}

void DeviceLaunches::enqueue(opencl::Queue& queue, const opencl::Buffer& memory, int frames,
                             const std::function<void(opencl::Event)>& launched) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    kernels_[i].argument(0, memory);
    const bool is_told = launched && (i == 0 || i + 1 == kernels_.size());
    if (is_told) {
      launched(kernels_[i].enqueue(queue, range_of(i, frames)));
    } else {
      kernels_[i].enqueue_unwatched(queue, range_of(i, frames));
    }
  }
}

std::vector<double> DeviceLaunches::seconds(opencl::Queue& queue, const opencl::Buffer& memory, int frames) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    kernels_[i].argument(0, memory);
    const opencl::Event event = kernels_[i].enqueue(queue, range_of(i, frames));
    queue.wait(event);
    const auto times = event.times(queue.device_name());
    seconds.push_back(1e-9 * static_cast<double>(times.ended - times.started));
  }
  return seconds;
}

DeviceRunner::DeviceRunner(const Graph& graph, const DeviceKernelsOf& kernels, int most)
    : graph_(graph),
      on_device_(kernels),
      queue_(kernels.context()),
      memory_(kernels.context(), static_cast<std::size_t>(kernels.plan().frame_bytes * most)),
      launches_(kernels) {}

std::vector<std::vector<Tensor>> DeviceRunner::run(const std::vector<Inputs>& frames) {
  const DevicePlan& plan = on_device_.plan();
  std::vector<std::vector<Tensor>> results(frames.size());
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const auto start = static_cast<std::int64_t>(f) * plan.frame_bytes;
    for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
      const auto bytes = frames[f][i]->bytes();
      if (!bytes.empty())
        queue_.write(memory_, bytes.data(), bytes.size(), static_cast<std::size_t>(start + plan.inputs[i]));
    }
  }
  enqueue(static_cast<int>(frames.size()));
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const auto start = static_cast<std::int64_t>(f) * plan.frame_bytes;
    for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
      Tensor& output = results[f].emplace_back(graph_.type(graph_.outputs()[i]));
      const auto bytes = output.bytes();
      if (!bytes.empty())
        queue_.read(memory_, bytes.data(), bytes.size(), static_cast<std::size_t>(start + plan.outputs[i]));
    }
  }
  queue_.finish();
  return results;
}

}  // namespace sightline::nn
