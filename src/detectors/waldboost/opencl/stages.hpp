#pragma once
/// The WaldBoost detector's stages on an OpenCL device; the kernels are under kernels/waldboost.
///
/// All pixels have codes, in one plane of bytes for each of the model's block sizes, so a weak classifier
/// takes two loads: a code and its response. For LRP and LRD, these are planes of the blocks' sums, for Haar
/// features it is an integral image, from which a code is made at each look. Windows then go through the weak
/// classifiers as KernelTuning says. Sums are integers, so they equal the CPU's in any order.

#include <algorithm>
#include <memory>
#include <vector>

#include "detection/opencl/pixel_window_stages.hpp"
#include "detectors/waldboost/detector.hpp"
#include "detectors/waldboost/opencl/tuning.hpp"
#include "opencl/integrals.hpp"

namespace sightline::waldboost {

class OpenClStages;

/// The buffers of one frame in flight on one device. Records of `late` are of level and next weak classifier,
/// x, y, and sum.
class OpenClSlot : public PixelWindowSlot {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  opencl::Buffer kept[2];           ///< alternating lists of the progressive steps: slots, records like those
                                    ///< of `late`
  opencl::Buffer excess;            ///< progressive: see OpenClStages::read_excess
  opencl::Integrals integral;       ///< Haar: replaces `make_codes`
  opencl::Kernel first_step, step;  ///< progressive: replaces `scan`
};

/// The kernels of one detector on one device. The naive variant has no span finish.
class OpenClStages : public PixelWindowStages {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (usage) for variants that do not exist.
  OpenClStages(const WaldboostDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
               const KernelTuning& tuning);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }
  const KernelTuning& tuning() const override { return tuning_; }
  /// The weak classifiers at which phases end.
  const std::vector<int>& phases() const { return ends_; }

  /// Windows of the last frame that found no room in each progressive step's share; they were finished all
  /// the same. The last step has no share, and so none. Waits. Throws DeviceError.
  std::vector<cl_int> read_excess(const OpenClSlot& slot) const;
  /// Copies the codes of the last frame into host memory, and waits: for tests. LBP only. Throws DeviceError.
  std::vector<std::uint8_t> read_codes(OpenClSlot& slot) const { return read_planes<std::uint8_t>(slot); }
  /// Position of a pixel's code in these, for blocks of this size.
  std::size_t code_at(const OpenClSlot& slot, std::size_t level, const Feature& blocks, int x, int y) const {
    return element_at(slot, level, y * layout_.stacked + place_of_[PackedModel::plane_of(blocks)], x);
  }

 private:
  friend class OpenClSlot;

  // stages.cpp
  void settle();
  void plan_planes();
  void build();
  void upload_model();
  cl_int place_of(const Feature& feature) const;
  void plan_integrals(OpenClSlot& slot) const;
  void plan_geometry(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace) const override;
  void plan_work(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace) const override;
  void make_scratch(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace,
                    std::size_t stage) const override;
  // enqueue.cpp
  void enqueue_codes(PixelWindowSlot& slot) const override;
  void enqueue_scan(PixelWindowSlot& slot, const PixelWindowWorkspace& workspace) const override;
  void enqueue_steps(OpenClSlot& slot) const;
  double score(int /*view*/, cl_int units) const override { return detector_->score(units); }

  bool is_haar() const { return detector_->model().kind == FeatureKind::haar; }
  bool makes_codes() const { return detector_->model().kind == FeatureKind::lbp; }
  bool is_naive() const { return tuning_.scan == "naive"; }
  bool is_progressive() const { return tuning_.scan == "progressive"; }
  /// Windows of a row that a work-group of the first progressive step has.
  int step_columns() const { return std::min(tuning_.group, 32); }
  Size scan_tile() const override {
    if (!is_progressive()) return PixelWindowStages::scan_tile();
    return {step_columns(), tuning_.group / step_columns()};
  }
  /// Work-groups of a later step, for the slots filled by the step before.
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
  int place_of_[PackedModel::kPlanes] = {};  ///< among the planes, by PackedModel::plane_of; -1: not used
  opencl::Program first_step_, step_;
  opencl::IntegralProgram integral_;
  opencl::Buffer weak_, responses_, first_passes_, phase_ends_;
};

}  // namespace sightline::waldboost
