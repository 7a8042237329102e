#pragma once
/// Frame processor: an ordered chain of stages over a workspace, with one result per frame. The pipeline runs
/// it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/work_meter.hpp"
#include "image/picture_view.hpp"
#include "processing/stage_contract.hpp"

namespace sightline {

class ComputeDevice;
class DeviceStages;
struct FrameResult;

/// Description of a frame processor, for users.
struct ProcessorInfo {
  std::string family;    ///< such as "filterbank"; empty for several families
  std::string model;     ///< file name and short description
  std::string plan_key;  ///< part of the key of stored plans: model and configuration
  std::string variant;   ///< size of the model ("25 filters"); empty if there is only one
  std::string accuracy;  ///< text from a stored evaluation; empty: none
  std::string cpu_only;  ///< why no stage can run on an OpenCL device; empty if some can
  /// Miss rate in the evaluation of `accuracy` at 1e-5 false positives per window, 0 to 1; none without one.
  std::optional<double> missed = std::nullopt;
};

/// Operating point of a processor: one trade-off between accuracy and speed.
struct OperatingPoint {
  std::string name;              ///< such as "25 filters, step 1.1"; unique within a processor
  std::string accuracy;          ///< see ProcessorInfo::accuracy
  std::optional<double> missed;  ///< see ProcessorInfo::missed
};

/// Named count of work items in one frame: "windows left after boosting stage 3".
struct WorkCount {
  std::string what;
  std::int64_t count = 0;
};

/// Part of a frame's work, from `begin` to `end`, 0 to 1. The processor chooses the exact cut (for example at
/// a row of windows); neighbouring partitions join without gap or overlap of results.
struct Partition {
  double begin = 0;
  double end = 1;
  bool whole() const { return begin <= 0 && end >= 1; }
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// Pixels of a frame that a processor reads.
enum class FramePixels { luma, luma_and_colour };

/// Integer parameter that divides a processor's work between its stages, for example how much one stage
/// leaves to the next. It changes the cost of a frame on each processor, never the result. It is part of the
/// schedule.
struct Tunable {
  std::string_view name;     ///< name in `--map`; differs from all stage names
  int largest = 0;           ///< maximum; the minimum is 1
  std::vector<int> choices;  ///< values to try, increasing; 0 (processor's default) is always tried
};

/// Intermediate results of one frame in flight, made by the processor that uses it. Buffers grow to the
/// largest frame seen and are then reused: in steady state a frame allocates only its result. Thread-safety:
/// one frame, and so one thread of control, at a time.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  virtual ~Workspace() = default;

  WorkMeter work;  ///< busy time of threads, recorded by run_stage
  int tuned = 0;   ///< value of the tunable, set before `prepare`; 0: processor's default
  /// Index of the frame's operating point in `operating_points`, set before `prepare`; negative: the
  /// configured one.
  int setting = -1;
};

/// A model and the stages that apply it. Immutable after construction, so one processor serves any number of
/// frames in flight, each with its own workspace.
///
/// The result depends only on the frame, the processor and the operating point: not on the number of threads,
/// the workspace's history or the instruction set. Only a stage that is not exact (StageInfo::exact) may give
/// other results on another CPU or device.
///
/// Exceptions of `prepare`, `run_stage`, `merge` and `take_result` fail the frame: the pipeline delivers a
/// failed FrameResult with their message.
class FrameProcessor {
 public:
  FrameProcessor() = default;
  FrameProcessor(const FrameProcessor&) = delete;
  FrameProcessor& operator=(const FrameProcessor&) = delete;
  virtual ~FrameProcessor() = default;

  virtual const ProcessorInfo& info() const = 0;
  /// Names of the resources that stages pass on, by number; number 0 is the frame. See stage_contract.hpp.
  virtual std::span<const std::string_view> resources() const = 0;
  virtual std::span<const StageInfo> stages() const = 0;
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;
  /// Sources keep colour only for processors that read it (media::ReadOptions::keep_colour).
  virtual FramePixels pixels() const { return FramePixels::luma; }

  /// Prepares the workspace for a frame, whose pixels must stay valid and unchanged until the last stage has
  /// run. Luma of packed colour is that of image/gray.hpp, colour that of image/colour.hpp. Returns false if
  /// the frame is too small to contain an object; then no stage may be run on it.
  /// @param partition  part of the frame's work for this workspace; see partitionable_stages
  virtual bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const = 0;

  /// Runs one stage on the CPU with the threads of the calling TBB arena. Run the stages of a frame in order.
  /// While it waits, the calling thread runs no unrelated tasks of the caller's arena (base/parallel.hpp).
  virtual void run_stage(std::size_t stage, Workspace& workspace) const = 0;

  /// Number of leading stages that can work on one partition of a frame, in its own workspace. 0: frames
  /// cannot be divided.
  virtual std::size_t partitionable_stages() const { return 0; }
  /// Moves the results of the partitionable stages from `other`, prepared for another partition of the same
  /// frame, into `workspace`. The later stages then see the whole frame.
  virtual void merge(Workspace& /*workspace*/, Workspace& /*other*/) const {}

  /// Parameter that a schedule may tune; null if there is none.
  virtual const Tunable* tunable() const { return nullptr; }

  /// Operating points, from the most accurate to the fastest; empty if there is only one. All have the same
  /// stages.
  virtual std::span<const OperatingPoint> operating_points() const { return {}; }
  /// Index of the configured operating point.
  virtual std::size_t configured_setting() const { return 0; }

  /// The processor's stages on a device, which may be shared with other processors; null if the processor has
  /// none for this kind of device. The processor must outlive them. Throws DeviceError if the device cannot
  /// build the kernels.
  virtual std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const;

  /// Remaining work of a frame after each rejecting step; empty if the family does not count it. Searches the
  /// frame on the CPU, possibly several times: for reports, not for every frame.
  virtual std::vector<WorkCount> count_work(PictureView /*frame*/) const { return {}; }

  /// Moves the frame's result out of the workspace. Call it once all stages have run.
  virtual void take_result(Workspace& workspace, FrameResult& result) const = 0;
};

/// Whether the processor reads colour.
inline bool reads_colour(const FrameProcessor& processor) {
  return processor.pixels() == FramePixels::luma_and_colour;
}

/// Runs all stages on one frame in order, on the CPU. Returns false, without running any, if the frame is too
/// small.
bool run_stages(const FrameProcessor& processor, Workspace& workspace, PictureView frame);

}  // namespace sightline
