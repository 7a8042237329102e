#pragma once
/// The census detector's stages on an OpenCL device; the kernels are under kernels/census.
///
/// Images lie as on the CPU. The scan first makes the codes of all pixels, so that a weak classifier is one
/// load of a code and one of a word of its set. Windows then go through the first stages of each view in one
/// kernel, which gathers what is left, and through the others in a second one. Sums are whole numbers: they
/// are the CPU's.
///
/// Lists have room for as many windows as turn out to be needed; where one was too short, the scan runs
/// again.

#include <memory>

#include "detectors/census/opencl/slot.hpp"
#include "detectors/census/opencl/tuning.hpp"

namespace sightline::census {

/// The kernels of one detector on one device: stages pyramid and scan. Spans have the names upload, pyramid,
/// codes, scan, finish, download.
class OpenClStages : public OpenClStagesOf<CensusWorkspace, OpenClSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (usage) for variants that do not exist.
  OpenClStages(const CensusDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
               const KernelTuning& tuning);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }

  /// As asked for, or changed to what the device allows.
  const KernelTuning& tuning() const { return tuning_; }

  /// Copies the codes of the last frame into host memory, and waits: for tests. Throws DeviceError.
  std::vector<std::uint16_t> read_codes(OpenClSlot& slot) const;
  /// Where in these the code of cells of a size at a pixel is.
  std::size_t code_at(const OpenClSlot& slot, std::size_t level, int x, int y, int cell) const;

 private:
  friend class OpenClSlot;

  // stages.cpp
  void settle();
  void build();
  void upload_model();
  // prepare.cpp
  void plan_geometry(OpenClSlot& slot, const CensusWorkspace& workspace) const override;
  void plan_work(OpenClSlot& slot, const CensusWorkspace& workspace) const override;
  void make_scratch(OpenClSlot& slot, const CensusWorkspace& workspace, std::size_t stage) const override;
  // enqueue.cpp
  void enqueue(OpenClSlot& slot, const CensusWorkspace& workspace, std::size_t stage) const override;
  void take(OpenClSlot& slot, CensusWorkspace& workspace, std::size_t resource) const override;
  void enqueue_scan(OpenClSlot& slot, const CensusWorkspace& workspace) const;

  const CensusDetector* detector_;
  KernelTuning tuning_;
  opencl::Program pyramid_, codes_, scan_, finish_;
  opencl::Buffer weak_, sets_, stages_, views_, thresholds_;
};

}  // namespace sightline::census
