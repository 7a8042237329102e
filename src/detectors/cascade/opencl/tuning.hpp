#pragma once
/// How the cascade's kernels can be built, and which of it is fastest on a device.

#include <string>
#include <string_view>

#include "detectors/cascade/model.hpp"
#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::cascade {

/// How the kernels are built for a device. Every choice gives the same results.
struct KernelTuning {
  /// naive: a work-item runs a window through all stages. reduced: eight work-items for each row of windows
  /// of the largest level, which do all levels; slow, and never tuned to: for comparisons. compacted: after
  /// the first ones, what is left of a work-group's windows goes through queues in local memory and is shared
  /// out among its work-items anew.
  std::string scan = "compacted";
  /// Integrals of a work-group's windows are copied into local memory first; where they do not fit, they stay
  /// where they are.
  bool tiled = false;
  /// `scan` takes the cascade from constant memory: as many of the first stages as are small enough and fit.
  bool packed = false;
  /// compacted and tiled, Haar: so many of the first stages are code of their own, with the cascade's numbers
  /// in it, and what each leaves of a tile's windows waits for the next one column by column. Later stages,
  /// and those whose trees have many nodes, go through the other queue. 0: none.
  int unrolled = 0;
  int tile_rows = 32;          ///< of 32 windows each, that a work-group has; naive: 8 at most; reduced: 8
  int group = 256;             ///< work-items of a work-group; naive: one a window; reduced: 64
  int first_stages = 1;        ///< compacted, none unrolled: stages before the first queue
  int first_capacity = 16384;  ///< windows that a list has room for until it proves too short; not tuned
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The same as data, for cascades of a kind: parameters, defaults, and what the tuner tries.
const KernelTable& tuning_table(FeatureKind kind);

/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device, FeatureKind kind);

/// What the results of tuning a model are stored under.
std::string tuning_problem(const Model& model);
/// What has been stored for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Tunes the kernels of a CascadeDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::cascade
