#pragma once
/// Several detectors that search the same frames: people and faces.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "detection/detector.hpp"
#include "detection/known_names.hpp"

namespace sightline {

/// Detectors side by side as one: each with its own model, stages and labels, all with the same frame. What
/// the detectors find stands one after the other, in their order; what they find does not depend on each
/// other.
///
/// Stages are named after the first label of their detector: "person.filter", "face.scan". They come in an
/// order in which a device gets as much as possible in one go: first the stages of all detectors that can
/// divide a frame, then the others, and last each detector's last. Labels that several detectors have are
/// told apart by a number: "face", "face 2".
///
/// Where detectors have several settings, all are turned together, step by step from what each is configured
/// with; one that has no further setting stays. Thread-safety: as Detector.
class CombinedDetector : public Detector, public NamingDetector {
 public:
  /// @param detectors  at least one. Throws Error (usage) where they have more stages together than a
  /// processor may
  explicit CombinedDetector(std::vector<std::unique_ptr<Detector>> detectors);
  ~CombinedDetector() override;

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  /// False where the frame is too small for all of them. Those for which it is find nothing.
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  /// Partitionable stages of all detectors; 0 unless each one can divide a frame.
  std::size_t partitionable_stages() const override { return partitionable_; }
  void merge(Workspace& workspace, Workspace& other) const override;
  std::span<const ProcessorSetting> run_settings() const override { return settings_; }
  std::size_t configured_setting() const override { return configured_; }
  /// Tunable of the first detector that has one.
  const Tunable* tunable() const override;
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;
  std::vector<Detection> take_detections(Workspace& workspace) const override;
  /// Union of all detectors' names.
  std::shared_ptr<const KnownNames> known_names() const override;

 private:
  class CombinedWorkspace;
  class CombinedSlot;
  class CombinedStages;

  /// Which detector's a stage is, and which of its stages.
  struct Place {
    std::size_t detector = 0;
    std::size_t stage = 0;
  };

  void join_settings();
  int setting_of(std::size_t detector, int setting) const;

  std::vector<std::unique_ptr<Detector>> detectors_;
  std::vector<Place> places_;             ///< by stage
  std::vector<std::vector<int>> labels_;  ///< by detector: what its labels are here
  std::vector<std::string> names_;        ///< by detector: its first label
  std::vector<std::string> texts_;        ///< that stages and resources are named by
  std::vector<std::string_view> resources_;
  std::vector<StageInfo> stages_;
  std::vector<ProcessorSetting> settings_;
  std::size_t configured_ = 0;
  std::size_t partitionable_ = 0;
  DetectorInfo info_;
};

}  // namespace sightline
