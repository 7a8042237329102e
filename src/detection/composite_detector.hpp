#pragma once
/// Detector composed of several detectors that search the same frames. Each has its own operating points, and
/// may have processors that work on the objects it finds.

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "detection/detector.hpp"
#include "detection/known_names.hpp"
#include "params/config.hpp"

namespace sightline {

/// Stages that process the objects of a detector: they search inside its boxes, or name its faces. A
/// CompositeDetector runs them after the detector's stages. Thread-safety: as FrameProcessor.
class ObjectProcessor : public FrameProcessor {
 public:
  /// Resource that holds the objects; none of these stages writes it. Resources with higher numbers belong to
  /// these stages.
  static constexpr std::size_t kObjectsResource = 1;

  /// Stores the detector's objects in a prepared workspace. Call it before the first stage runs.
  virtual void set_objects(Workspace& workspace, std::vector<Detection> objects) const = 0;
  /// Moves the processed objects out of the workspace. Call it once all stages have run.
  virtual std::vector<Detection> take_objects(Workspace& workspace) const = 0;
  /// Updates the detector's description with the changes that these stages make. Called once, before any
  /// workspace is made.
  virtual void extend(DetectorInfo& info) = 0;
  /// People whom the stages can name; null if they name nobody.
  virtual std::shared_ptr<const KnownNames> known_names() const { return nullptr; }

  const ProcessorInfo& info() const final;
  void take_result(Workspace& workspace, FrameResult& result) const final;
};

/// Factory of an ObjectProcessor that a section of the detector's configuration requests.
struct DetectorExtension {
  /// Whether the configuration requests it.
  bool (*wanted)(const Config& config);
  /// Marks all keys of the section as known. Throws Error (usage). Reads no file.
  void (*check)(const Config& config);
  /// Makes the ObjectProcessor; null if it cannot process the detector's objects. Throws Error (usage, model,
  /// input).
  std::unique_ptr<ObjectProcessor> (*make)(const Config& config, const DetectorInfo& detector);
};

/// A detector at one operating point.
struct NamedDetector {
  std::string name;  ///< as OperatingPoint has it; empty if the detector has no other operating point
  std::unique_ptr<Detector> detector;
};

/// Branch of a CompositeDetector: a detector, its operating points, and the processors that work on its
/// objects in turn.
class CompositeBranch {
 public:
  explicit CompositeBranch(std::unique_ptr<Detector> detector,
                           std::unique_ptr<ObjectProcessor> behind = nullptr);
  /// @param points      from the most accurate to the fastest; at least one
  /// @param configured  index of the default operating point, which `info` describes
  /// Throws Error (usage) if points differ in stages, labels or tunables, or if two have the same name.
  CompositeBranch(std::vector<NamedDetector> points, std::size_t configured);

  /// Appends a processor, which receives the output of the processor before it.
  void add(std::unique_ptr<ObjectProcessor> behind);

  /// Description of the detector with all processors behind it.
  const DetectorInfo& info() const { return info_; }
  const Detector& detector() const { return *points_[configured_].detector; }

 private:
  friend class CompositeDetector;

  std::vector<NamedDetector> points_;
  std::size_t configured_ = 0;
  std::vector<std::unique_ptr<ObjectProcessor>> behind_;
  DetectorInfo info_;
};

/// Detector that runs all branches on each frame. The branches are independent. The result lists the objects
/// branch by branch.
///
/// With one branch, stages keep their names and order. With several, names start with the branch's first
/// label: "person.filter", "face.scan". A label that several branches share gets a number: "face", "face 2".
///
/// Stages are ordered so that a device runs as many as possible in one submission: first the partitionable
/// stages of all branches, then the others, and last the final stage of each branch.
///
/// All models, and their device kernels, are loaded at the start, so that changing the operating point needs
/// no loading. Buffers of an operating point are allocated when the first frame uses it. With several
/// branches, all operating points change together, step by step from the configured ones; a branch that has
/// no further point stays at its last.
///
/// Objects pass from a detector to its processors through host memory. If the detector's last stage runs on a
/// device, the processor's first stage therefore runs on the CPU.
///
/// Thread-safety: as Detector.
class CompositeDetector final : public Detector {
 public:
  /// @param branches  at least one
  /// Throws Error (usage) if all branches together have more than kMostStages stages or resources.
  explicit CompositeDetector(std::vector<CompositeBranch> branches);
  explicit CompositeDetector(CompositeBranch branch);
  ~CompositeDetector() override;

  /// Makes a CompositeDetector. A single detector with one operating point and no processors is returned
  /// unchanged.
  static std::unique_ptr<Detector> compose(std::vector<CompositeBranch> branches);
  static std::unique_ptr<Detector> compose(CompositeBranch branch);

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  FramePixels pixels() const override;
  /// False if the frame is too small for all branches. A branch for which it is too small finds nothing.
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  /// With several branches, 0 unless each of them can divide a frame.
  std::size_t partitionable_stages() const override { return partitionable_; }
  /// Both workspaces must be prepared for the same operating point.
  void merge(Workspace& workspace, Workspace& other) const override;
  std::span<const OperatingPoint> operating_points() const override { return settings_; }
  std::size_t configured_setting() const override { return configured_; }
  /// Tunable of the first detector that has one.
  const Tunable* tunable() const override;
  /// A stage runs on the device if it can do so at every operating point.
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;
  std::vector<Detection> take_detections(Workspace& workspace) const override;
  std::shared_ptr<const KnownNames> known_names() const override;

 private:
  class CompositeWorkspace;
  class CompositeSlot;
  class CompositeStages;

  /// A branch's detector, or one of the processors that work on its objects, with its own stages.
  struct Member {
    std::size_t branch = 0;
    std::vector<const FrameProcessor*> points;
    std::size_t configured = 0;
    const ObjectProcessor* behind = nullptr;  ///< null: this is the detector
    std::vector<std::size_t> stages;          ///< by own stage: stage number in the CompositeDetector

    const FrameProcessor& processor() const { return *points[configured]; }
    /// Number of the first resource that its own stages write.
    std::size_t first_resource() const {
      return behind ? ObjectProcessor::kObjectsResource + 1 : kFrameResource + 1;
    }
  };
  struct Place {
    std::size_t member = 0;
    std::size_t stage = 0;  ///< stage number in the member
  };

  bool several() const { return branches_.size() > 1; }
  bool is_last_of_branch(std::size_t member) const {
    return member + 1 == members_.size() || members_[member + 1].branch != members_[member].branch;
  }
  void add_members();
  void join_infos();
  void check_size() const;
  void add_stages();
  void join_settings();
  std::size_t point_of(const CompositeBranch& branch, int setting) const;
  void hand_over(CompositeWorkspace& workspace, std::size_t member, std::size_t stage) const;
  std::vector<Detection> take_objects(CompositeWorkspace& workspace, std::size_t member) const;

  std::vector<CompositeBranch> branches_;
  std::vector<Member> members_;           ///< branch by branch, in the order in which they hand objects over
  std::vector<Place> places_;             ///< by stage
  std::vector<std::vector<int>> labels_;  ///< by branch, if several: its labels' indices in info_.labels
  std::vector<std::string> names_;        ///< by branch, if several: its first label
  std::deque<std::string> texts_;         ///< names of stages and resources, if several branches
  std::vector<std::string_view> resources_;
  std::vector<StageInfo> stages_;
  std::vector<OperatingPoint> settings_;
  std::size_t configured_ = 0;
  std::size_t partitionable_ = 0;
  std::size_t tuned_ = 0;  ///< index of the member with the tunable; members_.size(): none
  DetectorInfo info_;
};

}  // namespace sightline
