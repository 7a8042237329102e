#pragma once
/// Detector composed of others: several that search the same frames, each with operating points of its own
/// and with processors behind it that work on its objects.

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.hpp"
#include "detection/detector.hpp"
#include "detection/known_names.hpp"

namespace sightline {

/// Stages that work on the objects of a detector: they search inside its boxes, or name its faces. A
/// CompositeDetector runs them behind the detector's own. Thread-safety: as FrameProcessor.
class ObjectProcessor : public FrameProcessor {
 public:
  /// Resource that holds the objects; none of these stages writes it. The following ones are its own.
  static constexpr std::size_t kObjectsResource = 1;

  /// Takes the objects of the frame that the workspace is prepared for, before its first stage runs.
  virtual void set_objects(Workspace& workspace, std::vector<Detection> objects) const = 0;
  /// Moves the changed objects out of the workspace, once all stages have run.
  virtual std::vector<Detection> take_objects(Workspace& workspace) const = 0;
  /// Adds what these stages change to the detector's description. Called once, before any workspace is made.
  virtual void extend(DetectorInfo& info) = 0;
  /// People whom the stages can name; null if they name nobody.
  virtual std::shared_ptr<const KnownNames> known_names() const { return nullptr; }

  const ProcessorInfo& info() const final;
  void take_result(Workspace& workspace, FrameResult& result) const final;
};

/// Factory of stages behind a detector that a section of its configuration asks for.
struct DetectorExtension {
  /// Whether the configuration asks for them.
  bool (*wanted)(const Config& config);
  /// Marks all keys of the section as known. Throws Error (usage). Reads no file.
  void (*check)(const Config& config);
  /// Makes them; null if they cannot work on the detector's objects. Throws Error (usage, model, input).
  std::unique_ptr<ObjectProcessor> (*make)(const Config& config, const DetectorInfo& detector);
};

/// A detector at one operating point.
struct NamedDetector {
  std::string name;  ///< as ProcessorSetting has it; empty if the detector has no other operating point
  std::unique_ptr<Detector> detector;
};

/// One of the searches of a CompositeDetector: a detector, its operating points, and the processors behind
/// it.
class CompositeBranch {
 public:
  explicit CompositeBranch(std::unique_ptr<Detector> detector,
                           std::unique_ptr<ObjectProcessor> behind = nullptr);
  /// @param points      from the most accurate to the fastest; at least one
  /// @param configured  the point of frames that ask for none; `info` describes it
  /// Throws Error (usage) if points differ in stages, labels or tunables, or if two have the same name.
  CompositeBranch(std::vector<NamedDetector> points, std::size_t configured);

  /// Appends a processor, which gets the objects as those before it leave them.
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

/// Detector that runs all branches on each frame. It returns the objects of one branch after those of
/// another, in the order of the branches; no branch depends on another one.
///
/// With one branch, stages keep their names and their order. With several, the first label of a branch stands
/// before the names: "person.filter", "face.scan"; a label that several branches have gets a number: "face",
/// "face 2". Their order lets a device run as many stages as possible in one submission: first the stages of
/// all branches that can divide a frame, then the others, and last the final stage of each branch.
///
/// All models, and their kernels on a device, are loaded at the start, so that a change of the operating
/// point costs nothing. Buffers of a point are made when the first frame needs it. With several branches, all
/// points change together, step by step from the configured ones; a branch without a further point keeps its
/// last.
///
/// Objects reach the processors behind a detector through the host: if the last stage before such a processor
/// runs on a device, its first stage runs on the CPU.
///
/// Thread-safety: as Detector.
class CompositeDetector final : public Detector, public NamingDetector {
 public:
  /// @param branches  at least one. Throws Error (usage) if they have more stages together than a processor
  /// may
  explicit CompositeDetector(std::vector<CompositeBranch> branches);
  explicit CompositeDetector(CompositeBranch branch);
  ~CompositeDetector() override;

  /// A CompositeDetector; a detector alone, with one operating point and nothing behind it, stays as it is.
  static std::unique_ptr<Detector> compose(std::vector<CompositeBranch> branches);
  static std::unique_ptr<Detector> compose(CompositeBranch branch);

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override { return resources_; }
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  /// False if the frame is too small for all branches. A branch for which it is too small finds nothing.
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  /// With several branches, 0 unless each of them can divide a frame.
  std::size_t partitionable_stages() const override { return partitionable_; }
  /// Both workspaces must be prepared for the same operating point.
  void merge(Workspace& workspace, Workspace& other) const override;
  std::span<const ProcessorSetting> run_settings() const override { return settings_; }
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

  /// A branch's detector, or a processor behind it, with stages of its own.
  struct Member {
    std::size_t branch = 0;
    std::vector<const FrameProcessor*> points;
    std::size_t configured = 0;
    const ObjectProcessor* behind = nullptr;  ///< null: the detector
    std::vector<std::size_t> stages;          ///< by own stage: its number in the CompositeDetector

    const FrameProcessor& processor() const { return *points[configured]; }
    /// Number of the first resource that its own stages write.
    std::size_t first_resource() const {
      return behind ? ObjectProcessor::kObjectsResource + 1 : kFrameResource + 1;
    }
  };
  struct Place {
    std::size_t member = 0;
    std::size_t stage = 0;  ///< of the member
  };
  /// A stage of a branch, with the numbers that its resources have in the CompositeDetector.
  struct Step {
    Place place;
    StageInfo info;
  };
  using Chain = std::vector<Step>;

  void add_members();
  void join_infos();
  void check_size() const;
  std::vector<Chain> make_chains();
  void add_stages(const std::vector<Chain>& chains);
  void join_settings();
  std::size_t point_of(const CompositeBranch& branch, int setting) const;
  void hand_over(CompositeWorkspace& workspace, std::size_t member, std::size_t stage) const;
  std::vector<Detection> take_objects(CompositeWorkspace& workspace, std::size_t member) const;

  std::vector<CompositeBranch> branches_;
  std::vector<Member> members_;           ///< branch by branch, in the order in which they hand objects over
  std::vector<Place> places_;             ///< by stage
  std::vector<std::vector<int>> labels_;  ///< with several branches, by branch: numbers of its labels here
  std::vector<std::string> names_;        ///< with several branches, by branch: its first label
  std::deque<std::string> texts_;         ///< names of stages and resources, with several branches
  std::vector<std::string_view> resources_;
  std::vector<StageInfo> stages_;
  std::vector<ProcessorSetting> settings_;
  std::size_t configured_ = 0;
  std::size_t partitionable_ = 0;
  std::size_t tuned_ = 0;  ///< member that has the tunable; behind all: none
  DetectorInfo info_;
};

}  // namespace sightline
