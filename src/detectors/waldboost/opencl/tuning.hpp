#pragma once
/// Tuning parameters of WaldBoost's kernels, and the best values for a device.

#include <string>
#include <string_view>
#include <vector>

#include "detection/opencl/pixel_window_stages.hpp"
#include "detectors/waldboost/model.hpp"
#include "detectors/waldboost/steps.hpp"
#include "opencl/tuning.hpp"
#include "processing/opencl/kernel_sweep.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::waldboost {

/// Build options of the kernels for a device. No choice changes the results. Variants of `scan`: naive: a
/// work-item takes a window through all weak classifiers. progressive: steps pass fixed shares of a
/// work-group's windows to each other, see waldboost/steps.hpp. queue: after every phase of weak classifiers,
/// a work-group's remaining windows are redistributed to its work-items through local memory. After these
/// two, a work-group finishes each remaining window.
struct KernelTuning : PixelWindowTuning {
  KernelTuning() { tile_rows = 32; }
  int at_once = 4;  ///< weak classifiers that are looked up before the first of their sums is judged
  /// A phase ends when this percentage of its initial windows is left.
  int keep = 50;
  /// The last phase of `scan` ends when less than 1 window in `late` is left.
  int late = 64;
  std::string responses = "buffer";  ///< memory of the responses: "buffer" or "image" (texture memory)
  int repeats = 2;                   ///< progressive: how often the second step runs
  /// Progressive: its steps, not tuned; empty: those that follow from the model, with the usual shares.
  std::vector<ProgressiveStep> steps;
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The tuning table: parameters, defaults, and combinations for the tuner.
const KernelTable& tuning_table();

/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device);

/// Ends of the phases of `scan`, in weak classifiers: rising, the first one at 1. Derived from the model's
/// survivors; without these, phases double.
std::vector<int> phase_ends(const Model& model, int keep, int late);

/// Key of a model's stored tuning results.
std::string tuning_problem(const Model& model);
/// Stored tuning for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Times the progressive scan of a WaldboostDetector by phases and by shares; see SweepFunction.
std::vector<KernelSweep> sweep(const FrameProcessor& detector, const ComputeDevice& device,
                               std::span<const PictureView> frames, const SweepOptions& options);

/// Tunes the kernels of a WaldboostDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::waldboost
