#include "detectors/network/opencl/device_levels.hpp"

#include <algorithm>
#include <bit>

#include "opencl/data.hpp"

namespace sightline::network {
namespace {

using opencl::define;

// Measured on an H100: one frame wants many work-items for each of its few groups, several want many groups.
constexpr int kGroupOfOne = 256, kGroupOfSeveral = 128, kGroupOnCpu = 64;
constexpr int kMostPixels = 256;  // of a tile
constexpr std::uint64_t kLocalBytes = 44 << 10, kOtherLocalBytes = 4 << 10;

}  // namespace

LaunchShape DeviceLevels::shape_for(int frames) const {
  const opencl::DeviceInfo& device = context_->device();
  const int wanted = device.type == opencl::DeviceType::cpu ? kGroupOnCpu
                     : frames == 1                          ? kGroupOfOne
                                                            : kGroupOfSeveral;
  const std::uint64_t local = std::max(device.local_memory_bytes, 2 * kOtherLocalBytes) - kOtherLocalBytes;
  LaunchShape shape;
  shape.group = static_cast<int>(
      std::bit_floor(std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(device.largest_work_group, 1))));
  shape.local_floats = static_cast<int>(std::min(local, kLocalBytes) / sizeof(float));
  shape.groups = std::max(device.compute_units, 1);
  shape.frames = frames;
  shape.most_pixels = kMostPixels;
  return shape;
}

DeviceLevels::DeviceLevels(const Plan& plan, const opencl::Context& context, opencl::ProgramCache* cache)
    : plan_(&plan), context_(&context) {
  const bool is_cpu = context.device().type == opencl::DeviceType::cpu;
  const auto build = [&](int frames) {
    const LaunchShape shape = shape_for(frames);
    return opencl::Program(context, "network/level.cl",
                           define("GROUP", shape.group) + define("LOCAL_FLOATS", shape.local_floats) +
                               define("UNROLL", is_cpu ? 1 : 2),
                           cache);
  };
  one_ = build(1);
  if (!is_cpu) several_ = build(2);
  tables_for(1);
  opencl::Queue queue(context);
  opencl::upload(queue, weights_, tables_.front()->host.weights);
  tables_.front()->host.weights = {};
}

DeviceLevels::Kernels DeviceLevels::make_kernels() const {
  return {{one_, "level"}, {several_.get() ? several_ : one_, "level"}};
}

std::size_t DeviceLevels::bytes(int frames) const {
  return static_cast<std::size_t>(frames) * static_cast<std::size_t>(tables_for(frames).host.frame_floats) *
         sizeof(float);
}

std::size_t DeviceLevels::place_of(std::size_t pool, int frames, int frame) const {
  const LevelTables& tables = tables_for(frames).host;
  return static_cast<std::size_t>(frame * tables.frame_floats + tables.pools[pool]) * sizeof(float);
}

std::size_t DeviceLevels::pool_bytes(std::size_t pool) const {
  return static_cast<std::size_t>(plan_->pool_floats[pool]) * sizeof(float);
}

void DeviceLevels::enqueue(opencl::Queue& queue, Kernels& kernels, const opencl::Buffer& arena, int frames,
                           std::size_t first, std::size_t last,
                           const std::function<void(opencl::Event)>& launched) const {
  const Tables& tables = tables_for(frames);
  opencl::Kernel& kernel = frames == 1 ? kernels.one : kernels.several;
  const auto group = static_cast<std::size_t>(shape_for(frames).group);
  for (std::size_t l = first; l < last; ++l) {
    const LevelTables::Level& level = tables.host.levels[l];
    if (level.groups == 0) continue;
    kernel.arguments(arena, static_cast<cl_long>(tables.host.frame_floats), level.groups, tables.chains,
                     level.first_chain, level.chains, tables.ops, tables.places, tables.numbers, weights_);
    launched(kernel.enqueue(
        queue,
        opencl::groups(static_cast<std::size_t>(frames) * static_cast<std::size_t>(level.groups), group)));
  }
}

const DeviceLevels::Tables& DeviceLevels::tables_for(int frames) const {
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(frames - 1)));
  std::unique_ptr<Tables>& tables = tables_[size];
  if (!tables) {
    tables = std::make_unique<Tables>();
    opencl::Queue queue(*context_);
    tables->host = make_level_tables(*plan_, shape_for(1 << size));
    opencl::upload(queue, tables->chains, tables->host.chains);
    opencl::upload(queue, tables->ops, tables->host.ops);
    opencl::upload(queue, tables->places, tables->host.places);
    opencl::upload(queue, tables->numbers, tables->host.tables);
    if (size > 0) tables->host.weights = {};  // as of one frame
  }
  return *tables;
}

}  // namespace sightline::network
