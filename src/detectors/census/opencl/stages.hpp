#pragma once
/// The census detector's stages on an OpenCL device; the kernels are under kernels/census.
///
/// All pixels have codes, so a weak classifier takes one load of a code and one of a word of its set. `scan`
/// takes windows through the first stages of each view, `finish` through the others. Sums are integers and
/// equal the CPU's.

#include <vector>

#include "detection/opencl/pixel_window_stages.hpp"
#include "detectors/census/detector.hpp"
#include "detectors/census/opencl/tuning.hpp"

namespace sightline::census {

using OpenClSlot = PixelWindowSlot;

/// The kernels of one detector on one device.
class OpenClStages : public PixelWindowStages {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (usage) for variants that do not exist.
  OpenClStages(const CensusDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
               const KernelTuning& tuning);

  const KernelTuning& tuning() const override { return tuning_; }

  /// Copies the codes of the last frame into host memory, and waits: for tests. Throws DeviceError.
  std::vector<std::uint16_t> read_codes(OpenClSlot& slot) const { return read_planes<std::uint16_t>(slot); }
  /// Position of the code of a pixel's cells of a size in these.
  std::size_t code_at(const OpenClSlot& slot, std::size_t level, int x, int y, int cell) const {
    return element_at(slot, level, y, x * layout_.interleaved + cell - 1);
  }

 private:
  void settle();
  void build();
  void upload_model();
  void enqueue_scan(OpenClSlot& slot, const PixelWindowWorkspace& workspace) const override;
  double score(int view, cl_int units) const override { return detector_->score(view, units); }

  const CensusDetector* detector_;
  KernelTuning tuning_;
  opencl::Buffer weak_, sets_, stages_, views_, thresholds_;
};

}  // namespace sightline::census
