#pragma once
/// The WaldBoost detector's stages on an OpenCL device; the kernels are under kernels/waldboost.
///
/// Images lie as on the CPU. The scan first makes the codes of all pixels, in a plane of bytes for each block
/// size that the model has, so that a weak classifier is two loads: of a code, and of its response. For LRP
/// and LRD, these are planes of the blocks' sums, for Haar features it is an integral image, from which a
/// code is made at each look. Windows then go through the weak classifiers as KernelTuning says. Sums are
/// whole numbers: they are the CPU's, however they were added up.
///
/// Lists have room for as many windows as turn out to be needed; where one was too short, the scan runs
/// again.

#include <algorithm>
#include <memory>

#include "detectors/waldboost/opencl/slot.hpp"
#include "detectors/waldboost/opencl/tuning.hpp"

namespace sightline::waldboost {

/// The kernels of one detector on one device: stages pyramid and scan. Spans have the names upload, pyramid,
/// codes, scan, finish (but for the naive variant), download.
class OpenClStages : public OpenClStagesOf<WaldboostWorkspace, OpenClSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (usage) for variants that do not exist.
  OpenClStages(const WaldboostDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
               const KernelTuning& tuning);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }

  /// As asked for, or changed to what the device allows.
  const KernelTuning& tuning() const { return tuning_; }
  /// The weak classifiers at which phases end.
  const std::vector<int>& phases() const { return ends_; }

  /// Copies the codes of the last frame into host memory, and waits: for tests. LBP only. Throws DeviceError.
  std::vector<std::uint8_t> read_codes(OpenClSlot& slot) const;
  /// Where in these the code of a pixel is, for blocks of this size.
  std::size_t code_at(const OpenClSlot& slot, std::size_t level, const Feature& blocks, int x, int y) const;

 private:
  friend class OpenClSlot;

  // stages.cpp
  void settle();
  void plan_planes();
  void build();
  void upload_model();
  cl_int place_of(const Feature& feature) const;
  // prepare.cpp
  void plan_geometry(OpenClSlot& slot, const WaldboostWorkspace& workspace) const override;
  void plan_integrals(OpenClSlot& slot) const;
  void plan_work(OpenClSlot& slot, const WaldboostWorkspace& workspace) const override;
  void make_scratch(OpenClSlot& slot, const WaldboostWorkspace& workspace, std::size_t stage) const override;
  // enqueue.cpp
  void enqueue(OpenClSlot& slot, const WaldboostWorkspace& workspace, std::size_t stage) const override;
  void take(OpenClSlot& slot, WaldboostWorkspace& workspace, std::size_t resource) const override;
  void enqueue_planes(OpenClSlot& slot) const;
  void enqueue_scan(OpenClSlot& slot) const;
  void enqueue_steps(OpenClSlot& slot) const;
  void enqueue_finish(OpenClSlot& slot) const;

  bool is_haar() const { return detector_->model().kind == FeatureKind::haar; }
  bool makes_codes() const { return detector_->model().kind == FeatureKind::lbp; }
  std::size_t element_bytes() const { return makes_codes() ? sizeof(cl_uchar) : sizeof(cl_ushort); }
  bool is_naive() const { return tuning_.scan == "naive"; }
  bool is_progressive() const { return tuning_.scan == "progressive"; }
  /// Windows of a row that a work-group of the first progressive step has.
  int step_columns() const { return std::min(tuning_.group, 32); }
  /// Work-groups of a later one, for so many slots that the step before has filled.
  std::size_t step_groups(std::size_t slots) const {
    const auto group = static_cast<std::size_t>(tuning_.group);
    return (slots + group - 1) / group;
  }
  /// Windows that a work-group of a progressive step hands on at most.
  std::size_t share(std::size_t step) const {
    return static_cast<std::size_t>(std::max(tuning_.group / steps_[step].divisor, 1));
  }

  const WaldboostDetector* detector_;
  KernelTuning tuning_;
  std::vector<int> ends_;
  std::vector<ProgressiveStep> steps_;
  int planes_ = 0;                           ///< of codes or sums, or one of integrals
  int place_of_[PackedModel::kPlanes] = {};  ///< among them, by PackedModel::plane_of; -1: not used
  opencl::Program pyramid_, planes_program_, scan_, finish_;
  opencl::Program first_step_, step_;
  opencl::IntegralProgram integral_;
  opencl::Buffer weak_, responses_, first_passes_, phase_ends_;
};

}  // namespace sightline::waldboost
