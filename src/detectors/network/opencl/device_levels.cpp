#include "detectors/network/opencl/device_levels.hpp"

#include <algorithm>
#include <bit>

#include "detectors/network/opencl/level_source.hpp"
#include "opencl/data.hpp"

namespace sightline::network {
namespace {

using opencl::define;

// Measured on an H100: one frame wants many work-items for each of its few groups, several want many groups.
// Tiles for eight frames suit every number above one.
constexpr int kGroupOfOne = 256, kGroupOfSeveral = 128, kGroupOnCpu = 64;
constexpr int kSeveral = 8;
// Iterations that are unrolled: many where each group has to be fast, since they are few. On CPUs none,
// because PoCL 3.1 makes wrong code of unrolled loops.
constexpr int kUnrolledOfFew = 16, kUnrolledOfMany = 4;
constexpr int kMostPixels = 256;  // of a tile
constexpr std::uint64_t kLocalBytes = 44 << 10, kOtherLocalBytes = 4 << 10;

LaunchShape shape_for(const opencl::DeviceInfo& device, int groups, int frames) {
  const int wanted = device.type == opencl::DeviceType::cpu ? kGroupOnCpu
                     : frames == 1                          ? kGroupOfOne
                                                            : kGroupOfSeveral;
  const std::uint64_t local = std::max(device.local_memory_bytes, 2 * kOtherLocalBytes) - kOtherLocalBytes;
  LaunchShape shape;
  shape.group = static_cast<int>(
      std::bit_floor(std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(device.largest_work_group, 1))));
  shape.local_floats = static_cast<int>(std::min(local, kLocalBytes) / sizeof(float));
  shape.groups = groups;
  shape.frames = frames;
  shape.most_pixels = kMostPixels;
  return shape;
}

}  // namespace

DeviceLevels::Manner DeviceLevels::manner_for(const opencl::DeviceInfo& device) {
  return {device.type != opencl::DeviceType::cpu, std::max(device.compute_units, 1)};
}

DeviceLevels::DeviceLevels(const Plan& plan, const opencl::Context& context, opencl::ProgramCache* cache,
                           const Manner& manner)
    : plan_(&plan),
      context_(&context),
      cache_(cache),
      manner_(manner),
      placed_(weights_of(plan)),
      one_(make_variant(1)) {
  opencl::Queue queue(context);
  opencl::upload(queue, weights_, placed_.floats);
  placed_.floats = std::vector<float>();
}

DeviceLevels::Variant DeviceLevels::make_variant(int frames) const {
  const LaunchShape shape = shape_for(context_->device(), manner_.groups, frames);
  Variant made{make_level_tables(*plan_, placed_, shape), {}, {}, {}, {}, {}, shape.group};
  opencl::Queue queue(*context_);
  if (!manner_.by_level) {
    opencl::upload(queue, made.chains, made.host.chains);
    opencl::upload(queue, made.ops, made.host.ops);
  }
  opencl::upload(queue, made.places, made.host.places);
  opencl::upload(queue, made.numbers, made.host.tables);
  build(made, shape);
  return made;
}

void DeviceLevels::build(Variant& variant, const LaunchShape& shape) const {
  const auto program = [&](const std::string& options, const std::string& generated) {
    return opencl::Program(*context_, "network/level.cl", define("GROUP", shape.group) + options, cache_,
                           generated);
  };
  const bool is_cpu = context_->device().type == opencl::DeviceType::cpu;
  if (!manner_.by_level) {
    variant.programs = {program(
        define("LOCAL_FLOATS", shape.local_floats) + define("UNROLL", is_cpu ? 1 : kUnrolledOfFew), "")};
    return;
  }
  const std::vector<LevelTables::Launch>& launches = variant.host.launches;
  variant.programs.resize(launches.size());
  for (const bool has_few : {true, false}) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if ((shape.frames == 1 && launches[i].groups < shape.groups) == has_few) numbers.push_back(i);
    }
    if (numbers.empty()) continue;
    const int unrolled = is_cpu ? 1 : has_few ? kUnrolledOfFew : kUnrolledOfMany;
    const opencl::Program made = program(define("UNROLL", unrolled), level_source(variant.host, numbers));
    for (const std::size_t i : numbers) variant.programs[i] = made;
  }
}

const DeviceLevels::Variant& DeviceLevels::variant_for(int frames) const {
  if (frames == 1 || !manner_.by_level) return one_;
  std::call_once(several_made_, [&] { several_ = make_variant(kSeveral); });
  return several_;
}

std::size_t DeviceLevels::bytes(int frames) const {
  return static_cast<std::size_t>(frames) * static_cast<std::size_t>(variant_for(frames).host.frame_floats) *
         sizeof(float);
}

std::size_t DeviceLevels::place_of(std::size_t pool, int frames, int frame) const {
  const LevelTables& tables = variant_for(frames).host;
  return static_cast<std::size_t>(frame * tables.frame_floats + tables.pools[pool]) * sizeof(float);
}

std::size_t DeviceLevels::pool_bytes(std::size_t pool) const {
  return static_cast<std::size_t>(plan_->pool_floats[pool]) * sizeof(float);
}

void DeviceLevels::enqueue(opencl::Queue& queue, Kernels& kernels, const opencl::Buffer& arena, int frames,
                           std::size_t first, std::size_t last,
                           const std::function<void(opencl::Event)>& launched) const {
  const Variant& variant = variant_for(frames);
  const LevelTables& host = variant.host;
  std::vector<opencl::Kernel>& own = &variant == &one_ ? kernels.one : kernels.several;
  for (std::size_t i = own.size(); i < variant.programs.size(); ++i)
    own.emplace_back(variant.programs[i], manner_.by_level ? "level" + std::to_string(i) : "level");
  const auto frame_floats = static_cast<cl_long>(host.frame_floats);
  const std::size_t begin = host.first_launches[first], end = host.first_launches[last];
  for (std::size_t i = begin; i < end; ++i) {
    const LevelTables::Launch& launch = host.launches[i];
    opencl::Kernel& kernel = own[manner_.by_level ? i : 0];
    if (manner_.by_level) {
      kernel.arguments(arena, frame_floats, variant.places, variant.numbers, weights_);
    } else {
      kernel.arguments(arena, frame_floats, variant.places, variant.numbers, weights_, variant.chains,
                       variant.ops, launch.groups, launch.first_chain, launch.chains);
    }
    const opencl::NDRange range =
        opencl::groups(static_cast<std::size_t>(frames) * static_cast<std::size_t>(launch.groups),
                       static_cast<std::size_t>(variant.group));
    if (i == begin || i + 1 == end) {
      launched(kernel.enqueue(queue, range));
    } else {
      kernel.enqueue_unwatched(queue, range);
    }
  }
}

}  // namespace sightline::network
