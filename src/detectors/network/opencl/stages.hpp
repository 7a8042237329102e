#pragma once
/// The stages of a network on an OpenCL device; the kernels are under kernels/network.
///
/// Frames that are submitted together share the memory of the first one's slot: what segments read is copied
/// to it, each level is one launch for all frames, and results are copied back to each frame's slot.

#include <memory>
#include <span>

#include "detectors/network/detector.hpp"
#include "detectors/network/opencl/device_levels.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::network {

class OpenClStages;

class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  opencl::Kernel letterbox;
  DeviceLevels::Kernels levels;
  opencl::Buffer axes;   ///< of the letterbox
  opencl::Buffer arena;  ///< memory of the frames that are submitted together with this one as the first
};

/// Thread-safety: as DeviceStages.
class OpenClStages : public OpenClStagesOf<NetworkWorkspace, OpenClSlot> {
 public:
  /// Begins to build the kernels (DeviceLevels). Everything passed must outlive the object; `cache` may be
  /// null. Throws DeviceError.
  OpenClStages(const NetworkDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }
  bool is_ready() const override { return levels_.is_ready(); }
  void wait_until_ready(std::size_t frames) const override {
    levels_.wait_until_ready(static_cast<int>(frames));
  }
  std::size_t most_together() const override { return DeviceLevels::kMostFrames; }

 private:
  friend class OpenClSlot;

  InterStageBuffer* buffer_of(NetworkWorkspace& workspace, std::size_t resource) const override;
  void plan_geometry(OpenClSlot& slot, const NetworkWorkspace& workspace) const override;
  void enqueue(OpenClSlot& slot, const NetworkWorkspace& workspace, std::size_t stage) const override;
  bool enqueue_together(std::span<OpenClSlotBase* const> slots, std::size_t stage) const override;

  void enqueue_letterbox(OpenClSlot& slot, const NetworkWorkspace& workspace) const;
  void enqueue_segment(std::span<OpenClSlotBase* const> slots, std::size_t segment) const;

  const NetworkDetector* detector_;
  DeviceLevels levels_;
  opencl::Program letterbox_;
  opencl::Buffer values_;  // of the letterbox
};

}  // namespace sightline::network
