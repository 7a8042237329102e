#include "network/opencl/device_runner.hpp"

#include <algorithm>
#include <bit>
#include <future>
#include <map>

#include <fmt/format.h>

#include "opencl/data.hpp"

namespace sightline::nn {
namespace {

// Measured on an H100: one frame wants many work-items for each of its few work-groups, several want many
// groups.
constexpr int kGroupOfOne = 256, kGroupOfSeveral = 128, kGroupOnCpu = 64;
constexpr std::size_t kPrograms = 8;  // that are built side by side, each with some kernels
// Less local memory lets more work-groups of several frames run on a compute unit.
constexpr std::uint64_t kLocalOfOne = 44 << 10, kLocalOfSeveral = 32 << 10, kOtherLocalBytes = 4 << 10;

bool is_cpu(const opencl::DeviceInfo& device) {
  return device.type == opencl::DeviceType::cpu;
}

using KernelTexts = std::map<std::pair<int, std::string>, std::size_t>;  // numbers, by unrolling and text

/// Kernels that are built together.
struct ProgramText {
  int unrolled = 1;
  std::string text;
  std::vector<std::size_t> kernels;  ///< numbers of `run0`, `run1`...
};

// Divides kernels among programs that take about as long to build.
std::vector<ProgramText> programs_of(const KernelTexts& kernels, std::size_t count) {
  std::size_t all = 0;
  for (const auto& [key, number] : kernels) all += key.second.size();
  std::vector<ProgramText> programs;
  for (const auto& [key, number] : kernels) {
    const auto& [unrolled, text] = key;
    if (programs.empty() || programs.back().unrolled != unrolled ||
        programs.back().text.size() + text.size() / 2 > all / count)
      programs.push_back({unrolled, "", {}});
    ProgramText& own = programs.back();
    own.text += fmt::format("#undef NAME\n#define NAME run{}\n{}", own.kernels.size(), text);
    own.kernels.push_back(number);
  }
  return programs;
}

}  // namespace

DeviceShape shape_for(const opencl::DeviceInfo& device, int frames) {
  const int wanted = is_cpu(device) ? kGroupOnCpu : frames == 1 ? kGroupOfOne : kGroupOfSeveral;
  const std::uint64_t local = std::max(device.local_memory_bytes, 2 * kOtherLocalBytes) - kOtherLocalBytes;
  DeviceShape shape;
  shape.group = static_cast<int>(std::bit_floor(
      std::clamp<std::uint64_t>(device.largest_work_group, 1, static_cast<std::uint64_t>(wanted))));
  shape.local_floats = static_cast<int>(std::min(local, frames == 1 ? kLocalOfOne : kLocalOfSeveral) / sizeof(float));
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
  build(cache);
  opencl::Queue queue(context);
  opencl::upload(queue, weights_, plan.weights);
  opencl::upload(queue, tables_, plan.tables);
}

void DeviceKernelsOf::build(opencl::ProgramCache* cache) {
  KernelTexts kernels;
  for (const DeviceLaunch& launch : plan_->launches)
    kernel_of_.push_back(kernels.try_emplace({launch.unrolled, launch.source}, kernels.size()).first->second);
  built_.resize(kernels.size());
  const bool on_cpu = is_cpu(context_->device());
  const std::vector<ProgramText> programs = programs_of(kernels, on_cpu ? kernels.size() : kPrograms);
  const auto make = [&](const ProgramText& one) {
    const std::string options = opencl::define("GROUP", plan_->shape.group) +
                                opencl::define("UNROLL", one.unrolled) +
                                opencl::define_if(!on_cpu, "UNROLLS");
    return opencl::Program(*context_, "network/group.clh", options, cache, one.text);
  };
  // GPUs' drivers build several programs side by side.
  std::vector<std::future<opencl::Program>> building;
  for (const ProgramText& one : programs)
    building.push_back(std::async(on_cpu ? std::launch::deferred : std::launch::async, make, std::cref(one)));
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const opencl::Program program = building[p].get();
    for (std::size_t k = 0; k < programs[p].kernels.size(); ++k)
      built_[programs[p].kernels[k]] = {program, fmt::format("run{}", k)};
  }
}

DeviceLaunches::DeviceLaunches(const DeviceKernelsOf& kernels) : on_device_(&kernels) {
  const DevicePlan& plan = kernels.plan();
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const auto& [program, name] = kernels.built_[kernels.kernel_of_[i]];
    opencl::Kernel& kernel = kernels_.emplace_back(program, name);
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
