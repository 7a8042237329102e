#pragma once
/// Tuning parameters of the cascade's kernels, and the best values for a device.

#include <string>
#include <string_view>

#include "detectors/cascade/model.hpp"
#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::cascade {

/// Build options of the kernels for a device. No choice changes the results.
struct KernelTuning {
  /// naive: a work-item runs a window through all stages. reduced: eight work-items for each row of windows
  /// of the largest level process all levels; slow, only for comparisons, never chosen by the tuner.
  /// compacted: after the first stages, a work-group's remaining windows are redistributed to its work-items
  /// through queues in local memory.
  std::string scan = "compacted";
  /// Integrals of a work-group's windows are copied into local memory first; where they do not fit, they stay
  /// where they are.
  bool tiled = false;
  /// `scan` reads the first stages, as many as fit, from constant memory.
  bool packed = false;
  /// compacted and tiled, Haar: number of leading stages compiled as code with the cascade's numbers as
  /// constants. The remaining windows of a tile wait for the next stage column by column. Later stages and
  /// those with many nodes per tree use the other queue. 0: none.
  int unrolled = 0;
  int tile_rows = 32;          ///< rows of 32 windows per work-group; naive: at most 8; reduced: 8
  int group = 256;             ///< work-items of a work-group; naive: one a window; reduced: 64
  int first_stages = 1;        ///< compacted, none unrolled: stages before the first queue
  int first_capacity = 16384;  ///< windows that a list has room for until it proves too short; not tuned
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The tuning table for cascades of a kind: parameters, defaults, and combinations for the tuner.
const KernelTable& tuning_table(FeatureKind kind);

/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device, FeatureKind kind);

/// Key of a model's stored tuning results.
std::string tuning_problem(const Model& model);
/// Stored tuning for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Tunes the kernels of a CascadeDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::cascade
