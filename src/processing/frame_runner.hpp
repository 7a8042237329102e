#pragma once
/// Runs a processor on one frame at a time, outside a pipeline.

#include <memory>
#include <vector>

#include "frame/frame_result.hpp"
#include "processing/device_stages.hpp"

namespace sightline {

/// A workspace, and a slot if stages run on a device, through which frames go one after the other. It waits
/// for the device. Processor and device must outlive it. Thread-safety: one thread at a time.
class FrameRunner {
 public:
  /// @param device     null: all stages run on the CPU
  /// @param on_device  stages that run on the device
  explicit FrameRunner(const FrameProcessor& processor, const DeviceStages* device = nullptr,
                       const StageSet& on_device = {});

  /// Changes the stages that run on the device, from the next `prepare_slot` on.
  void map(const StageSet& on_device);
  const std::vector<DeviceSegment>& segments() const { return segments_; }
  Workspace& workspace() { return *workspace_; }
  /// Only with a device.
  DeviceSlot& slot() { return *slot_; }

  /// Prepares the workspace for a frame. Returns false if the frame is too small.
  bool prepare(PictureView frame, Partition partition = {}) {
    return processor_.prepare(*workspace_, frame, partition);
  }
  void prepare_slot();
  /// Runs stages [first, last), which cut no segment. Throws DeviceError.
  void run(std::size_t first, std::size_t last);
  /// Prepares the slot and runs all stages. Throws DeviceError.
  void run();
  FrameResult take_result();
  /// Runs a frame, and returns its result; FrameStatus::skipped if it is too small. Throws DeviceError.
  FrameResult process(PictureView frame);

 private:
  const FrameProcessor& processor_;
  const DeviceStages* const device_;
  StageSet on_device_;
  std::vector<DeviceSegment> segments_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<DeviceSlot> slot_;
};

}  // namespace sightline
