#pragma once
/// Frame processor: an ordered chain of stages over a workspace, with a result per frame. The pipeline runs
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
  std::string family;    ///< for example "filterbank"; empty where it is several processors' of their own
  std::string model;     ///< file and a few words about it
  std::string cost_key;  ///< names all that decides what a frame of a size costs, but for the machine
  std::string
      variant;  ///< which of the model's sizes it runs, for people ("25 filters"); empty where there is one
  std::string accuracy;  ///< of a stored evaluation, for people; empty where there is none
  std::string cpu_only;  ///< why no stage can run on an OpenCL device; empty where some can
  /// Share of the objects that the same evaluation misses at 1e-5 false positives per window.
  std::optional<double> missed = std::nullopt;
};

/// One of several ways in which a processor can search a frame, from accurate to fast.
struct ProcessorSetting {
  std::string name;              ///< for people: "25 filters, step 1.1"; each of a processor's is another
  std::string accuracy;          ///< as ProcessorInfo has it
  std::optional<double> missed;  ///< likewise
};

/// How many of something one frame has, for people: "windows left after boosting stage 3".
struct WorkCount {
  std::string what;
  std::int64_t count = 0;
};

/// A part of a frame's work: from `begin` to `end` of it, 0 to 1. Cut where a processor finds it best (rows
/// of windows); neighbouring partitions fit together without gap or overlap of results.
struct Partition {
  double begin = 0;
  double end = 1;
  bool whole() const { return begin <= 0 && end >= 1; }
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// A whole number that divides a processor's work between its stages, for example how much one of them
/// leaves to the next. It decides what a frame costs on which processor, never what is found, and is a part
/// of the schedule.
struct Tunable {
  std::string_view name;     ///< as `--map` takes it; no stage's
  int largest = 0;           ///< from 1 on
  std::vector<int> choices;  ///< worth trying, rising; 0, the processor's own choice, is always tried
};

/// The intermediate results of one frame in flight, made by the processor that uses it. Buffers grow to the
/// largest frame seen and are then reused: in steady state a frame allocates nothing but its result.
/// Thread-safety: one frame, and so one thread of control, at a time.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  virtual ~Workspace() = default;

  WorkMeter work;  ///< told by run_stage how long threads were busy
  int tuned = 0;   ///< the processor's tunable, set before `prepare`; 0: its own choice
  /// Which of the processor's settings the frame is searched with, set before `prepare`; below 0: the one
  /// that it is configured with.
  int setting = -1;
};

/// A model, and the stages that apply it. Immutable after construction, so one processor serves any number of
/// frames in flight, each with a workspace of its own.
///
/// The result for a frame depends on the frame, the processor and the setting alone: not on the number of
/// threads, the workspace's history or the instruction set.
class FrameProcessor {
 public:
  FrameProcessor() = default;
  FrameProcessor(const FrameProcessor&) = delete;
  FrameProcessor& operator=(const FrameProcessor&) = delete;
  virtual ~FrameProcessor() = default;

  virtual const ProcessorInfo& info() const = 0;
  /// Names of what stages hand to each other, by number; the first is the frame. See stage_contract.hpp.
  virtual std::span<const std::string_view> resources() const = 0;
  virtual std::span<const StageInfo> stages() const = 0;
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;

  /// Readies the workspace for a frame, whose pixels must stay valid and unchanged until the last stage has
  /// run. Colour is searched by its luma (image/gray.hpp). False where the frame is too small for anything to
  /// be found; then no stage may be run on it.
  /// @param partition  the part of the frame's work that this workspace is for; see partitionable_stages
  virtual bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const = 0;

  /// Runs one stage on the CPU, on as many threads as the calling TBB arena offers. Stages of one frame run
  /// in order. While it waits, the calling thread takes no tasks of the caller's (base/parallel.hpp).
  virtual void run_stage(std::size_t stage, Workspace& workspace) const = 0;

  /// How many of the first stages can each work on a partition of the frame in a workspace of its own. 0:
  /// frames are not divided.
  virtual std::size_t partitionable_stages() const { return 0; }
  /// Takes what the partitionable stages found in another workspace, for another partition of the same frame,
  /// into this one: the stages after them then see the whole frame.
  virtual void merge(Workspace& /*workspace*/, Workspace& /*other*/) const {}

  /// Parameter that a schedule may tune; null where there is none.
  virtual const Tunable* tunable() const { return nullptr; }

  /// The settings that frames can be searched with, from the most accurate to the fastest; empty where there
  /// is only one. All have the same stages.
  virtual std::span<const ProcessorSetting> run_settings() const { return {}; }
  /// The number of the one that the processor is configured with.
  virtual std::size_t configured_setting() const { return 0; }

  /// The processor's stages on a device, which others may share; null where it has none for this kind of
  /// device. The processor must outlive them. Throws DeviceError where the device does not take the kernels.
  virtual std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const;

  /// Remaining work of a frame after each rejecting step; empty where the family does not count. Searches the
  /// frame on the CPU, possibly several times: for reports, not for every frame.
  virtual std::vector<WorkCount> count_work(PictureView /*frame*/) const { return {}; }

  /// Moves the result of all stages out of the workspace.
  virtual void take_result(Workspace& workspace, FrameResult& result) const = 0;
};

/// All stages of one frame in order, on the CPU. False, and no stage has run, where the frame is too small.
bool run_stages(const FrameProcessor& processor, Workspace& workspace, PictureView frame);

}  // namespace sightline
