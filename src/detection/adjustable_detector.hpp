#pragma once
/// A detector in several settings, from accurate to fast, of which each frame says which one searches it.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "detection/detector.hpp"

namespace sightline {

/// One detector for each setting, all with the same stages: what a frame gives is what the detector of its
/// setting (Workspace::setting) gives alone.
///
/// The models of all settings, and their kernels on a device, are there from the beginning, so that turning
/// costs nothing and what fails does so at the start. Buffers, on the host and on devices, are made for a
/// setting when the first frame needs it, in each slot. Thread-safety: as Detector.
class AdjustableDetector : public Detector {
 public:
  struct Named {
    std::string name;  ///< as ProcessorSetting has it
    std::unique_ptr<Detector> detector;
  };

  /// @param settings    from the most accurate to the fastest; at least one
  /// @param configured  the one that frames have unless they say otherwise, and that `info` speaks of
  /// Throws Error (usage) where settings differ in their stages, labels or what can be tuned, or two have one
  /// name.
  AdjustableDetector(std::vector<Named> settings, std::size_t configured);
  ~AdjustableDetector() override;

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return configured().resources(); }
  std::span<const StageInfo> stages() const override { return configured().stages(); }
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override { return configured().partitionable_stages(); }
  /// Merges two workspaces that were prepared with the same setting.
  void merge(Workspace& workspace, Workspace& other) const override;
  const Tunable* tunable() const override { return configured().tunable(); }
  std::span<const ProcessorSetting> run_settings() const override { return settings_; }
  std::size_t configured_setting() const override { return configured_; }
  /// Stages run on the device where they can with every setting; null where none can.
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override {
    return configured().count_work(frame);
  }
  std::vector<Detection> take_detections(Workspace& workspace) const override;

 private:
  class AdjustableWorkspace;
  class AdjustableSlot;
  class AdjustableStages;

  const Detector& configured() const { return *detectors_[configured_]; }
  std::size_t number_of(const Workspace& workspace) const;

  std::vector<std::unique_ptr<Detector>> detectors_;  ///< by setting
  std::vector<ProcessorSetting> settings_;
  std::size_t configured_;
  DetectorInfo info_;
};

}  // namespace sightline
