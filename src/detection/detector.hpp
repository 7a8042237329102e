#pragma once
/// What every detector family offers to whoever runs it: an ordered chain of stages over a workspace.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "detection/detection.hpp"
#include "image/picture_view.hpp"

namespace sightline::opencl {
struct ChosenDevice;
}

namespace sightline {

class DeviceStages;

/// One step of a detector. Stages run in order; each reads what earlier ones wrote into the workspace.
struct StageInfo {
  std::string_view name;    ///< the field's word, for example "filter"
  std::string_view reads;   ///< what it takes from the workspace
  std::string_view writes;  ///< what it leaves there
  bool suits_device =
      false;  ///< wide and regular: usually better on a GPU than on the CPU, where there is one
};

/// What a user wants to know about a detector before it runs.
struct DetectorInfo {
  std::string family;               ///< for example "filterbank"
  std::string model;                ///< file and a few words about it
  std::vector<std::string> labels;  ///< what a Detection's label means
  std::string cost_key;        ///< names all that decides what a frame of a size costs, but for the machine
  int filters = 0;             ///< size of the dictionary, where the family has one
  std::string accuracy;        ///< of a stored evaluation, for people; empty where there is none
  double smallest_object = 0;  ///< height in frame pixels of the smallest object that is searched for
  double threshold = 0;        ///< lowest score that is reported
  std::string cpu_only{};      ///< why no stage can run on an OpenCL device; empty where some can
};

/// How many of something one frame has, for people: "windows left after stage 3".
struct WorkCount {
  std::string what;
  std::int64_t count = 0;
};

/// A part of a frame's work: from `begin` to `end` of it, 0 to 1. Cut where a detector finds it best (rows of
/// windows); neighbouring shares fit together without gap or overlap of results.
struct Share {
  double begin = 0;
  double end = 1;
  bool whole() const { return begin <= 0 && end >= 1; }
  friend bool operator==(const Share&, const Share&) = default;
};

/// A whole number that shares out a detector's work between its stages, for example how much one of them
/// leaves to the next. It decides what a frame costs on which processor, never what is found, and is a part
/// of the schedule.
struct Tunable {
  std::string_view name;     ///< as `--map` takes it; no stage's
  int largest = 0;           ///< from 1 on
  std::vector<int> choices;  ///< worth trying, rising; 0, the detector's own choice, is always tried
};

/// The intermediate results of one frame in flight, made by the detector that uses it. Buffers grow to the
/// largest frame seen and are then reused: in steady state a frame allocates nothing but its result.
/// Thread-safety: one frame, and so one thread of control, at a time.
class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  virtual ~Workspace() = default;

  WorkMeter work;  ///< told by run_stage how long threads were busy
  int tuned = 0;   ///< the detector's tunable, set before `prepare`; 0: its own choice
};

/// A detector: a model, and the stages that apply it. Immutable after construction, so one detector serves
/// any number of frames in flight, each with a workspace of its own.
///
/// The result for a frame depends on the frame and the detector alone: not on the number of threads, the
/// workspace's history or the instruction set.
class Detector {
 public:
  Detector() = default;
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;
  virtual ~Detector() = default;

  virtual const DetectorInfo& info() const = 0;
  virtual std::span<const StageInfo> stages() const = 0;
  virtual std::unique_ptr<Workspace> make_workspace() const = 0;

  /// Readies the workspace for a frame, whose pixels must stay valid and unchanged until the last stage has
  /// run. Colour is searched by its luma (image/gray.hpp). False where the frame is too small for anything to
  /// be found; then no stage may be run on it.
  /// @param share  the part of the frame's work that this workspace is for; see divisible_stages
  virtual bool prepare(Workspace& workspace, PictureView frame, Share share = {}) const = 0;

  /// Runs one stage on the CPU, on as many threads as the calling TBB arena offers. Stages of one frame run
  /// in order. While it waits, the calling thread takes no tasks of the caller's (base/parallel.hpp).
  virtual void run_stage(std::size_t stage, Workspace& workspace) const = 0;

  /// How many of the first stages can each work on a share of the frame in a workspace of its own. 0: frames
  /// are not divided.
  virtual std::size_t divisible_stages() const { return 0; }
  /// Takes what the divisible stages found in another workspace, for another share of the same frame, into
  /// this one: the stages after them then see the whole frame.
  virtual void join(Workspace& /*workspace*/, Workspace& /*other*/) const {}

  /// What a schedule may tune; null where there is nothing.
  virtual const Tunable* tunable() const { return nullptr; }

  /// The detector's stages on an OpenCL device; null where the family has none. The detector must outlive
  /// them. Throws DeviceError where the device cannot be opened or does not take the kernels.
  virtual std::unique_ptr<DeviceStages> make_device_stages(const opencl::ChosenDevice& device) const;

  /// What a frame's work comes down to, in the order in which it becomes less; empty where the family does
  /// not count. Searches the frame on the CPU, several times where it must: for people, not for every frame.
  virtual std::vector<WorkCount> count_work(PictureView /*frame*/) const { return {}; }

  /// The frame's objects as FrameResult has them, once all stages have run. Moves them out of the workspace.
  virtual std::vector<Detection> take_detections(Workspace& workspace) const = 0;
};

/// All stages of one frame in order. Empty where the frame is too small.
std::vector<Detection> detect(const Detector& detector, Workspace& workspace, PictureView frame);

}  // namespace sightline
