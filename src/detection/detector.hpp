#pragma once
/// What every detector family offers to whoever runs it: an ordered chain of stages over a workspace.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detection/detection.hpp"
#include "image/view.hpp"

namespace sightline {

/// One step of a detector. Stages run in order; each reads what earlier ones wrote into the workspace.
struct StageInfo {
  std::string_view name;    ///< the field's word, for example "filter"
  std::string_view reads;   ///< what it takes from the workspace
  std::string_view writes;  ///< what it leaves there
};

/// What a user wants to know about a detector before it runs.
struct DetectorInfo {
  std::string family;               ///< for example "filterbank"
  std::string model;                ///< file and a few words about it
  std::vector<std::string> labels;  ///< what a Detection's label means
  double smallest_object = 0;       ///< height in frame pixels of the smallest object that is searched for
  double threshold = 0;             ///< lowest score that is reported
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

  /// Readies the workspace for a frame, whose pixels must stay valid and unchanged until the first stage has
  /// run. False where the frame is too small for anything to be found; then no stage may be run on it.
  virtual bool prepare(Workspace& workspace, GrayView frame) const = 0;

  /// Runs one stage on the CPU, on as many threads as the calling TBB arena offers. Stages of one frame run
  /// in order. While it waits, the calling thread takes no tasks of the caller's (base/parallel.hpp).
  virtual void run_stage(std::size_t stage, Workspace& workspace) const = 0;

  /// Seconds that a stage kept its processor busy for the frame just finished, where that is not the time
  /// run_stage took: stages that run on a device while the caller goes on.
  virtual std::optional<double> busy_seconds(const Workspace& /*workspace*/, std::size_t /*stage*/) const {
    return std::nullopt;
  }

  /// The frame's objects by falling score, once all stages have run. Moves them out of the workspace.
  virtual std::vector<Detection> take_detections(Workspace& workspace) const = 0;
};

/// All stages of one frame in order. Empty where the frame is too small.
std::vector<Detection> detect(const Detector& detector, Workspace& workspace, GrayView frame);

}  // namespace sightline
