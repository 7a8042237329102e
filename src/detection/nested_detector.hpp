#pragma once
/// Detectors inside the boxes of another: eyes in faces, plates on cars.

#include <memory>
#include <string>
#include <vector>

#include "detection/candidate_limit.hpp"
#include "detection/detector.hpp"

namespace sightline {

/// A part of a box, in parts of its width and height from its top left corner; below 0 and above 1 lie its
/// surroundings.
struct BoxPart {
  double left = -0.1;
  double top = -0.1;
  double right = 1.1;
  double bottom = 1.1;
  friend bool operator==(const BoxPart&, const BoxPart&) = default;
};

/// A detector that searches a part of every box of another one.
struct InsideDetector {
  std::unique_ptr<Detector> detector;
  BoxPart part;
};

/// Pixels of a frame.
struct Crop {
  int x = 0;
  int y = 0;
  Size size;
};

/// The part of a box that lies in the frame, as whole pixels: all that the part touches. May be empty.
Crop crop_of(const Box& box, const BoxPart& part, Size frame);
/// The pixels themselves, not copied. The crop lies in the picture.
PictureView view_of(PictureView picture, const Crop& crop);

/// A detector with others inside: its own stages, wherever they run, and a last one on the CPU, `inside`,
/// which runs the others on the pixels of each box as they are, without resizing. Sizes of the others are
/// therefore frame pixels, too.
///
/// What is found inside has labels of its own, and stands behind the boxes in which it was sought, label by
/// label, by falling score. Where boxes overlap, so that two of them hold the same object, it is reported
/// once: of two boxes of a label from different outer boxes that share more than half of the smaller one, the
/// surer stays (ties: that of the surer outer box).
class NestedDetector : public Detector {
 public:
  /// Throws Error (usage) where a part is empty.
  NestedDetector(std::unique_ptr<Detector> outer, std::vector<InsideDetector> inside);
  ~NestedDetector() override;

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override { return outer_->partitionable_stages(); }
  void merge(Workspace& workspace, Workspace& other) const override;
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<opencl::OpenedDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override { return outer_->count_work(frame); }
  const Tunable* tunable() const override { return outer_->tunable(); }
  std::vector<Detection> take_detections(Workspace& workspace) const override;

  const Detector& outer() const { return *outer_; }

 private:
  class NestedWorkspace;
  class OuterStages;

  void search_inside(NestedWorkspace& workspace) const;
  std::vector<Detection> search_crop(std::size_t inside, const Crop& crop, NestedWorkspace& workspace) const;

  std::unique_ptr<Detector> outer_;
  std::vector<InsideDetector> inside_;
  std::vector<std::vector<int>> labels_;     ///< of each detector inside: what its labels are here
  std::vector<std::string_view> resources_;  ///< the outer detector's, and what is found inside
  std::vector<StageInfo> stages_;
  DetectorInfo info_;
  CandidateLimit limit_;
};

}  // namespace sightline
