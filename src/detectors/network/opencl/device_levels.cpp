#include "detectors/network/opencl/device_levels.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "base/log.hpp"
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
constexpr auto kMoment = std::chrono::seconds(1);
constexpr std::uint64_t kLocalBytes = 44 << 10, kOtherLocalBytes = 4 << 10;

template <typename T>
bool is_over(const std::shared_future<T>& building) {
  return building.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

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
    : plan_(&plan), context_(&context), cache_(cache), manner_(manner), placed_(weights_of(plan)) {
  opencl::Queue queue(context);
  opencl::upload(queue, weights_, placed_.floats);
  placed_.floats = std::vector<float>();
  one_ = begin_to_build(1);
  if (!manner.by_level) one_.wait();
  if (one_.wait_for(kMoment) == std::future_status::ready) {
    one_.get();  // throws
  } else {
    logger().debug("'{}' compiles the network's kernels; until they are ready, the CPU searches frames",
                   context.name());
  }
}

DeviceLevels::~DeviceLevels() {
  const auto is_done = [](const Building& one) { return !one.valid() || is_over(one); };
  if (!is_done(one_) || !is_done(several_))
    logger().info("waiting for the kernels that '{}' compiles: later runs use them", context_->name());
}

DeviceLevels::Building DeviceLevels::begin_to_build(int frames) const {
  const LaunchShape shape = shape_for(context_->device(), manner_.groups, frames);
  const auto make = [this, shape, tables = make_level_tables(*plan_, placed_, shape)] {
    return make_variant(tables, shape);
  };
  return std::async(manner_.by_level ? std::launch::async : std::launch::deferred, make).share();
}

DeviceLevels::Variant DeviceLevels::make_variant(const LevelTables& tables, const LaunchShape& shape) const {
  const auto start = std::chrono::steady_clock::now();
  Variant made{tables, {}, {}, {}, {}, {}, shape};
  opencl::Queue queue(*context_);
  if (!manner_.by_level) {
    opencl::upload(queue, made.chains, made.host.chains);
    opencl::upload(queue, made.ops, made.host.ops);
  }
  opencl::upload(queue, made.places, made.host.places);
  opencl::upload(queue, made.numbers, made.host.tables);
  build(made);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  logger().debug("'{}' has the network's kernels for {} after {:.1f} s", context_->name(),
                 shape.frames == 1 ? "one frame" : "several frames", spent.count());
  return made;
}

void DeviceLevels::build(Variant& variant) const {
  const LaunchShape& shape = variant.shape;
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

bool DeviceLevels::is_ready() const {
  if (!is_over(one_)) return false;
  one_.get();  // throws
  return true;
}

void DeviceLevels::wait_until_ready(int frames) const {
  one_.get();
  if (frames > 1 && manner_.by_level) several().get();
}

const DeviceLevels::Variant& DeviceLevels::variant_for(int frames) const {
  if (frames > 1 && manner_.by_level && is_over(several())) return several().get();
  return one_.get();
}

const DeviceLevels::Building& DeviceLevels::several() const {
  const std::lock_guard lock(mutex_);
  if (!several_.valid()) several_ = begin_to_build(kSeveral);
  return several_;
}

std::size_t DeviceLevels::pool_bytes(std::size_t pool) const {
  return static_cast<std::size_t>(plan_->pool_floats[pool]) * sizeof(float);
}

void DeviceLevels::enqueue(const Variant& variant, opencl::Queue& queue, Kernels& kernels,
                           const opencl::Buffer& arena, int frames, std::size_t first, std::size_t last,
                           const std::function<void(opencl::Event)>& launched) const {
  const LevelTables& host = variant.host;
  std::vector<opencl::Kernel>& own = variant.shape.frames == 1 ? kernels.one : kernels.several;
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
                       static_cast<std::size_t>(variant.shape.group));
    if (i == begin || i + 1 == end) {
      launched(kernel.enqueue(queue, range));
    } else {
      kernel.enqueue_unwatched(queue, range);
    }
  }
}

}  // namespace sightline::network
