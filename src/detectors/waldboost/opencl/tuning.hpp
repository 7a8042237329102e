#pragma once
/// How WaldBoost's kernels can be built, and which of it is fastest on a device.

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

/// How the kernels are built for a device. Every choice gives the same results. Of `scan`, naive: a work-item
/// takes a window through all weak classifiers. progressive: steps hand fixed shares of a work-group's
/// windows to each other, see waldboost/steps.hpp. queue: after every phase of weak classifiers, what is left
/// of a work-group's windows waits in local memory and is shared out among its work-items anew. What these
/// two leave is finished by a work-group a window.
struct KernelTuning : PixelWindowTuning {
  KernelTuning() { tile_rows = 32; }
  int at_once = 4;  ///< weak classifiers that are looked up before the first of their sums is judged
  /// A phase ends where so many percent of the windows with which it began are left.
  int keep = 50;
  /// The last phase of `scan` ends where less than one window in so many is left.
  int late = 64;
  int repeats = 2;  ///< progressive: how often the second step runs
  /// Progressive: its steps, not tuned; empty: those that follow from the model, with the usual shares.
  std::vector<ProgressiveStep> steps;
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The same as data: parameters, defaults, and what the tuner tries.
const KernelTable& tuning_table();

/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device);

/// Where the phases of `scan` end, in weak classifiers: rising, the first one at 1. They follow the model's
/// survivors; a model that does not know these has phases that double.
std::vector<int> phase_ends(const Model& model, int keep, int late);

/// What the results of tuning a model are stored under.
std::string tuning_problem(const Model& model);
/// What has been stored for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Times the progressive scan of a WaldboostDetector by phases and by shares; see SweepFunction.
std::vector<KernelSweep> sweep(const FrameProcessor& detector, const ComputeDevice& device,
                               std::span<const PictureView> frames, const SweepOptions& options);

/// Tunes the kernels of a WaldboostDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::waldboost
