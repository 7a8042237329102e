#pragma once
/// One stage of a frame processor by itself, again and again on the same frame: what measuring its time and
/// its energy needs.

#include <cstdint>
#include <memory>

#include "frame/frame_result.hpp"
#include "processing/device_stages.hpp"

namespace sightline::pipeline {

/// A stage, or a copy, on one processor, with its inputs made beforehand. One thread at a time.
class StageAlone {
 public:
  virtual ~StageAlone() = default;
  StageAlone(const StageAlone&) = delete;
  StageAlone& operator=(const StageAlone&) = delete;

  /// Runs it so many times and waits. Returns how long the processor was busy with it: core-seconds of all
  /// threads, or seconds on the device's clock. Throws what the stage does, and DeviceError.
  virtual double run(std::int64_t count) = 0;
  /// Whether it changes what it works on, so that all before it must be done anew each time, within `run`. To
  /// be measured with `make_ready` and taken off.
  virtual bool needs_making_ready() const = 0;
  /// Does so many times what `run` does besides the stage. Returns seconds as `run` does.
  virtual double make_ready(std::int64_t count) = 0;
  /// The frame's remaining stages, and its result: that of a run in which each stage had its turn once. The
  /// stage has to be made again afterwards.
  virtual FrameResult finish() = 0;

 protected:
  StageAlone() = default;
};

/// A stage on the CPU, with so many threads, in an arena of its own. Null where the frame is too small to be
/// worked on. Throws Error (failed) where repeating it, with all before it done anew each time, leaves
/// another result than a run does. All that is passed must outlive the stage.
std::unique_ptr<StageAlone> stage_on_cpu(const FrameProcessor& processor, PictureView frame,
                                         std::size_t stage, int threads);

/// The same on a device that can run it, without copies: what the stage reads is there, and what it writes
/// stays there. Null also where the device's stages cannot be had one by one
/// (DeviceStages::divisible), or not together with those that make what it reads. Stages before it that
/// run on the CPU have all its threads.
std::unique_ptr<StageAlone> stage_on_device(const FrameProcessor& processor, const DeviceStages& device,
                                            PictureView frame, std::size_t stage);

enum class Copy {
  upload,   ///< of the frame, with all that the host does for it
  download  ///< of the output of the last stage in the first run of stages on the device
};
/// A copy between host and device. Null as above, and where the first stage does not run on the device.
std::unique_ptr<StageAlone> copy_alone(const FrameProcessor& processor, const DeviceStages& device,
                                       PictureView frame, Copy copy);

}  // namespace sightline::pipeline
