#include "detectors/network/opencl/device_parts.hpp"

#include <algorithm>
#include <chrono>

#include "base/log.hpp"

namespace sightline::network {
namespace {

// Tiles for eight frames suit every number above one.
constexpr int kSeveral = 8;
constexpr auto kMoment = std::chrono::seconds(1);

template <typename T>
bool is_over(const std::shared_future<T>& building) {
  return building.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

std::size_t DeviceParts::Variant::bytes(int frames) const {
  std::int64_t most = 0;
  for (const auto& [number, one] : parts) most = std::max(most, one->plan.frame_bytes);
  return static_cast<std::size_t>(most * frames);
}

DeviceParts::DeviceParts(const Parts& parts, const opencl::Context& context, opencl::ProgramCache* cache)
    : parts_(&parts), context_(&context), cache_(cache) {
  one_ = begin_to_build(1);
  if (one_.wait_for(kMoment) == std::future_status::ready) {
    one_.get();  // throws
  } else {
    logger().debug("'{}' compiles the network's kernels; until they are ready, the CPU searches frames",
                   context.name());
  }
}

DeviceParts::~DeviceParts() {
  const auto is_done = [](const Building& one) { return !one.valid() || is_over(one); };
  if (!is_done(one_) || !is_done(several_))
    logger().info("waiting for the kernels that '{}' compiles: later runs use them", context_->name());
}

DeviceParts::Building DeviceParts::begin_to_build(int frames) const {
  const nn::DeviceShape shape = nn::shape_for(context_->device(), frames);
  std::map<std::size_t, nn::DevicePlan> plans;
  for (std::size_t i = 0; i < parts_->parts.size(); ++i) {
    const nn::Partition& partition = parts_->parts[i].partition;
    if (partition.on_device) plans.emplace(i, nn::plan_for_device(partition.graph, shape));
  }
  const auto build = [this, frames, plans = std::move(plans)]() mutable -> SharedVariant {
    const auto start = std::chrono::steady_clock::now();
    auto made = std::make_shared<Variant>();
    for (auto& [number, plan] : plans)
      made->parts[number] = std::make_unique<const Variant::One>(std::move(plan), *context_, cache_);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    logger().debug("'{}' has the network's kernels for {} after {:.1f} s", context_->name(),
                   frames == 1 ? "one frame" : "several frames", spent.count());
    return made;
  };
  return std::async(std::launch::async, build).share();
}

bool DeviceParts::is_ready() const {
  if (!is_over(one_)) return false;
  one_.get();  // throws
  return true;
}

void DeviceParts::wait_until_ready(int frames) const {
  one_.get();
  if (frames > 1) several().get();
}

DeviceParts::SharedVariant DeviceParts::variant_for(int frames) const {
  if (frames > 1 && is_over(several())) return several().get();
  return one_.get();
}

const DeviceParts::Building& DeviceParts::several() const {
  const std::lock_guard lock(mutex_);
  if (!several_.valid()) several_ = begin_to_build(kSeveral);
  return several_;
}

}  // namespace sightline::network
