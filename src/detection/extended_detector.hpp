#pragma once
/// A detector with further stages behind its own, which work on what it finds.

#include <memory>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "detection/detector.hpp"
#include "detection/known_names.hpp"

namespace sightline {

/// Stages that work on the objects of a detector: search inside their boxes, or say who they are. They run
/// behind the detector's, by an ExtendedDetector. Thread-safety: as FrameProcessor.
class ObjectProcessor : public FrameProcessor {
 public:
  /// The objects are its resource behind the frame; none of its stages writes them.
  static constexpr std::size_t kObjectsResource = 1;

  /// Takes the objects of the frame that the workspace is prepared for, before its first stage runs.
  virtual void set_objects(Workspace& workspace, std::vector<Detection> objects) const = 0;
  /// Objects after all stages. Moves them out of the workspace.
  virtual std::vector<Detection> take_objects(Workspace& workspace) const = 0;
  /// Changes what is to be known of the detector by what these stages add to it. Called once, before any
  /// workspace is made.
  virtual void extend(DetectorInfo& info) = 0;
  /// Names that the stages may give to objects; null for stages that give none.
  virtual std::shared_ptr<const KnownNames> known_names() const { return nullptr; }

  const ProcessorInfo& info() const final;
  void take_result(Workspace& workspace, FrameResult& result) const final;
};

/// Stages behind a detector's own that a section of its configuration asks for.
struct DetectorExtension {
  /// Whether the configuration asks for them.
  bool (*wanted)(const Config& config);
  /// Marks all keys of the section as known. Throws Error (usage). Reads no file.
  void (*check)(const Config& config);
  /// Makes them; null where they cannot work on the detector's objects. Throws Error (usage, model, input).
  std::unique_ptr<ObjectProcessor> (*make)(const Config& config, const DetectorInfo& detector);
};

/// A detector and what is done with its objects, as one detector: frames are divided, tuned and counted as by
/// the first. Where the detector's last stage runs on a device, the first behind it runs on the CPU.
/// Thread-safety: as Detector.
class ExtendedDetector : public Detector, public NamingDetector {
 public:
  /// Throws Error (usage) where both have too many stages together.
  ExtendedDetector(std::unique_ptr<Detector> outer, std::unique_ptr<ObjectProcessor> further);
  ~ExtendedDetector() override;

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override { return outer_->partitionable_stages(); }
  void merge(Workspace& workspace, Workspace& other) const override;
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override { return outer_->count_work(frame); }
  const Tunable* tunable() const override { return outer_->tunable(); }
  std::span<const ProcessorSetting> run_settings() const override { return outer_->run_settings(); }
  std::size_t configured_setting() const override { return outer_->configured_setting(); }
  std::vector<Detection> take_detections(Workspace& workspace) const override;

  std::shared_ptr<const KnownNames> known_names() const override;

  const Detector& outer() const { return *outer_; }

 private:
  class PairWorkspace;
  class PairSlot;
  class PairStages;

  void hand_over(PairWorkspace& workspace) const;

  std::unique_ptr<Detector> outer_;
  std::unique_ptr<ObjectProcessor> further_;
  std::vector<std::string_view> resources_;  ///< the outer detector's, and the further ones
  std::vector<StageInfo> stages_;
  DetectorInfo info_;
};

}  // namespace sightline
