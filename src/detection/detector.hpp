#pragma once
/// Detector: a frame processor whose result is a list of objects with boxes.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frame/frame_result.hpp"
#include "processing/frame_processor.hpp"

namespace sightline {

class KnownNames;

/// Description of a detector, in addition to that of its processor.
struct DetectorInfo : ProcessorInfo {
  std::vector<std::string> labels;  ///< names of Detection::label
  /// Height of the smallest object searched for, by label, in frame pixels. 0 if it depends on an enclosing
  /// object; trailing labels of that kind may be missing.
  std::vector<double> smallest_objects;
  double threshold = 0;        ///< lowest reported score
  bool names_objects = false;  ///< names people, pooled over several frames (IdentityPool)
  /// Objects are classes of the whole frame: their boxes are the frame.
  bool classifies_frames = false;
  double scale_step = 0;  ///< ratio of neighbouring scales, above 1; 0: no scales of its own

  /// Smallest of smallest_objects, in frame pixels.
  double smallest_object() const;
};

/// Interface of all detector families. Thread-safety: like FrameProcessor.
class Detector : public FrameProcessor {
 public:
  const DetectorInfo& info() const override = 0;
  /// Sets DetectorInfo::plan_key, if the detector keeps one. For its maker (Family::make).
  virtual void set_plan_key(std::string /*key*/) {}

  /// Names of the people that the detector recognises; null for a detector without recognition.
  virtual std::shared_ptr<const KnownNames> known_names() const { return nullptr; }

  /// Moves the frame's objects, in the order of FrameResult::objects, out of the workspace. Call it once all
  /// stages have run.
  virtual std::vector<Detection> take_detections(Workspace& workspace) const = 0;
  void take_result(Workspace& workspace, FrameResult& result) const final;
};

/// Throws Error (usage) for a detector that classifies whole frames.
/// @param parameter  that needs boxes of objects: "track"
void require_boxes(const DetectorInfo& info, std::string_view parameter);

/// Runs all stages on one frame, on the CPU. Returns no objects if the frame is too small.
std::vector<Detection> detect(const Detector& detector, Workspace& workspace, PictureView frame);

}  // namespace sightline
