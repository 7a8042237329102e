#pragma once
/// The stages of a network on an OpenCL device; the kernels are under kernels/network.
///
/// Frames that are submitted together share the memory of the first one's slot: what segments read is copied
/// to it, each launch computes all frames, and results are copied back to each frame's slot.

#include <memory>
#include <span>

#include "detectors/network/detector.hpp"
#include "detectors/network/opencl/device_parts.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::network {

class OpenClStages;

class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  opencl::Kernel letterbox;
  /// Launches of a part, made when they are first asked for.
  nn::DeviceLaunches& launches_of(const DeviceParts::SharedVariant& variant, std::size_t part);

  opencl::Buffer axes;   ///< of the letterbox
  opencl::Buffer sizes;  ///< pool kSizesPool
  opencl::Buffer arena;  ///< memory of the frames that are submitted together with this one as the first

 private:
  std::map<std::pair<DeviceParts::SharedVariant, std::size_t>, nn::DeviceLaunches> launches_;
};

/// Thread-safety: as DeviceStages.
class OpenClStages : public OpenClStagesOf<NetworkWorkspace, OpenClSlot> {
 public:
  /// Begins to build the kernels (DeviceParts). Everything passed must outlive the object; `cache` may be
  /// null. Throws DeviceError, and as DeviceParts.
  OpenClStages(const NetworkDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }
  bool is_ready() const override { return parts_.is_ready(); }
  void wait_until_ready(std::size_t frames) const override {
    parts_.wait_until_ready(static_cast<int>(frames));
  }
  std::size_t most_together() const override { return DeviceParts::kMostFrames; }

 private:
  friend class OpenClSlot;

  InterStageBuffer* buffer_of(NetworkWorkspace& workspace, std::size_t resource) const override;
  void plan_geometry(OpenClSlot& slot, const NetworkWorkspace& workspace) const override;
  void enqueue(OpenClSlot& slot, const NetworkWorkspace& workspace, std::size_t stage) const override;
  bool enqueue_together(std::span<OpenClSlotBase* const> slots, std::size_t stage) const override;

  void enqueue_letterbox(OpenClSlot& slot, const NetworkWorkspace& workspace) const;
  void enqueue_part(std::span<OpenClSlotBase* const> slots, std::size_t part) const;
  void copy_inputs(OpenClSlot& slot, const opencl::Buffer& arena, std::int64_t start, const Part& part,
                   const nn::DevicePlan& plan) const;

  const NetworkDetector* detector_;
  DeviceParts parts_;
  opencl::Program letterbox_;
  opencl::Buffer values_;  // of the letterbox
};

}  // namespace sightline::network
