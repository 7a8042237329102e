#pragma once
/// The filter-bank detector's stages on an OpenCL device; the kernels are under kernels/filterbank.
///
/// Each kind of data has one buffer for all pyramid levels, and a stage is one launch over all of them, so a
/// frame takes about ten launches. Nothing waits for the host between stages. A stage's input comes from the
/// stage before if that ran on the device too, else from the workspace (layout.hpp); likewise for its output.
///
/// Arithmetic::floating_point runs the float method's kernels (float_method.cl), which no tuning touches.
/// They give the CPU's results bit for bit as well, provided that the CPU has fused multiply-add, and need
/// double precision on the device.

#include <memory>
#include <vector>

#include "detectors/filterbank/opencl/network.hpp"
#include "detectors/filterbank/opencl/slot.hpp"
#include "detectors/filterbank/opencl/tuning.hpp"

namespace sightline::filterbank {

/// The kernels of one detector on one device: stages pyramid to classify and, where a network verifies
/// windows, verify. Spans have the names upload, pyramid, filter, histogram and normalise (both of stage
/// histogram), classify and candidates (both of stage classify), peaks and verify (both of stage verify, with
/// octaves where the pyramid is the CPU's), download.
class OpenClStages : public OpenClStagesOf<FilterbankWorkspace, OpenClSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError.
  OpenClStages(const FilterbankDetector& detector, const opencl::Context& context,
               opencl::ProgramCache* cache, const KernelTuning& tuning);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }

  /// Copies intermediate results of the last frame into the workspace's levels, for comparison with the CPU.
  void download(OpenClSlot& slot, FilterbankWorkspace& workspace) const;

  /// The requested tuning, adapted to the device.
  const KernelTuning& tuning() const { return tuning_; }

 private:
  friend class OpenClSlot;

  // stages.cpp
  void settle();
  void build();
  void upload_model();
  // prepare.cpp
  void plan_geometry(OpenClSlot& slot, const FilterbankWorkspace& workspace) const override;
  void plan_work(OpenClSlot& slot, const FilterbankWorkspace& workspace) const override;
  void make_scratch(OpenClSlot& slot, const FilterbankWorkspace& workspace, std::size_t stage) const override;
  std::size_t bytes_of(const OpenClSlot& slot, FilterbankWorkspace& workspace,
                       std::size_t resource) const override;
  // enqueue.cpp
  void enqueue(OpenClSlot& slot, const FilterbankWorkspace& workspace, std::size_t stage) const override;
  void refill(OpenClSlot& slot, const FilterbankWorkspace& workspace, std::size_t resource) const override;
  opencl::Event read(OpenClSlot& slot, std::size_t resource) const override;
  void take(OpenClSlot& slot, FilterbankWorkspace& workspace, std::size_t resource) const override;
  void take_candidates(OpenClSlot& slot, FilterbankWorkspace& workspace) const;
  void enqueue_pyramid(OpenClSlot& slot) const;
  void enqueue_filter(OpenClSlot& slot) const;
  void enqueue_histogram(OpenClSlot& slot) const;
  void enqueue_classify(OpenClSlot& slot) const;
  void enqueue_candidates(OpenClSlot& slot) const;
  // verify.cpp
  void build_verify();
  void make_verify_scratch(OpenClSlot& slot) const;
  void enqueue_verify(OpenClSlot& slot) const;
  void take_verified(OpenClSlot& slot, FilterbankWorkspace& workspace) const;
  // float_method.cpp
  void build_float();
  void enqueue_in_float(OpenClSlot& slot, std::size_t stage) const;
  void take_in_float(OpenClSlot& slot, FilterbankWorkspace& workspace) const;
  void download_float(OpenClSlot& slot, FilterbankWorkspace& workspace) const;

  const FilterbankDetector* detector_;
  KernelTuning tuning_;
  bool exact_ = true;  ///< false: the float method
  int bins_ = 0;       ///< bins of a cell, as in class Grid
  int patterns_ = 0;   ///< likewise
  opencl::Program pyramid_;
  opencl::Program filter_, histogram_, normalise_, classify_, candidates_;  ///< the exact method's
  opencl::Program float_method_;
  opencl::Buffer dictionary_;
  std::vector<opencl::Buffer> weights_;  ///< one a template
  std::vector<std::int32_t> energies_;
  opencl::Buffer rejection_basis_, rejection_weights_;  ///< for pre-rejection
  // If a network verifies windows in exact arithmetic:
  bool verifies_ = false;
  DeviceNetwork network_;
  opencl::Program verify_;
  opencl::Buffer network_weights_, network_biases_, network_scales_;
  std::size_t network_groups_ = 0;  ///< work-groups that share a frame's windows
};

}  // namespace sightline::filterbank
