#pragma once
/// The stages of a network on an OpenCL device; the kernels are under kernels/network. A frame's memory there
/// is laid out as the plan's pools; see level_tables.hpp.

#include <array>
#include <memory>
#include <mutex>

#include "detectors/network/detector.hpp"
#include "detectors/network/opencl/level_tables.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::network {

class OpenClStages;

/// One frame in flight, and the memory of all frames that run together with it.
class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  opencl::Kernel letterbox, level;
  opencl::Buffer axes;   ///< of the letterbox
  opencl::Buffer arena;  ///< memory of the frames
};

/// Thread-safety: as DeviceStages.
class OpenClStages : public OpenClStagesOf<NetworkWorkspace, OpenClSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError.
  OpenClStages(const NetworkDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }

 private:
  friend class OpenClSlot;

  // Tables on the device, for so many frames at once.
  struct Tables {
    LevelTables host;  // without weights
    opencl::Buffer chains, ops, places, numbers;
  };

  InterStageBuffer* buffer_of(NetworkWorkspace& workspace, std::size_t resource) const override;
  void plan_geometry(OpenClSlot& slot, const NetworkWorkspace& workspace) const override;
  void enqueue(OpenClSlot& slot, const NetworkWorkspace& workspace, std::size_t stage) const override;

  void enqueue_letterbox(OpenClSlot& slot, const NetworkWorkspace& workspace) const;
  void enqueue_segment(OpenClSlot& slot, std::size_t segment) const;
  const Tables& tables_for(opencl::Queue& queue, int frames) const;

  const NetworkDetector* detector_;
  LaunchShape shape_;
  opencl::Program letterbox_, level_;
  opencl::Buffer weights_, values_;
  mutable std::mutex mutex_;
  static constexpr std::size_t kSizes = 8;  // numbers of frames: 1, 2, 4, ... 128
  mutable std::array<std::unique_ptr<Tables>, kSizes> tables_;
};

}  // namespace sightline::network
