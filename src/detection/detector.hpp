#pragma once
/// A frame processor whose result is boxes.

#include <string>
#include <vector>

#include "processing/frame_processor.hpp"
#include "processing/frame_result.hpp"

namespace sightline {

/// Description of a detector, in addition to that of its processor.
struct DetectorInfo : ProcessorInfo {
  std::vector<std::string> labels;  ///< names of Detection::label
  /// By label: height in frame pixels of the smallest object that is searched for; 0, and none for labels at
  /// the end, where that depends on the object that it is inside of.
  std::vector<double> smallest_objects;
  double threshold = 0;        ///< lowest score that is reported
  bool names_objects = false;  ///< says who objects are: worth asking of several frames (IdentityPool)
  double scale_step = 0;       ///< ratio of neighbouring scales; 0: it searches no scales of its own

  /// The smallest of smallest_objects.
  double smallest_object() const;
};

/// Interface of all detector families. Thread-safety: as FrameProcessor.
class Detector : public FrameProcessor {
 public:
  const DetectorInfo& info() const override = 0;

  /// The frame's objects as FrameResult has them, once all stages have run. Moves them out of the workspace.
  virtual std::vector<Detection> take_detections(Workspace& workspace) const = 0;
  void take_result(Workspace& workspace, FrameResult& result) const final;
};

/// All stages of one frame in order. Empty where the frame is too small.
std::vector<Detection> detect(const Detector& detector, Workspace& workspace, PictureView frame);

}  // namespace sightline
