#pragma once
/// How WaldBoost's kernels can be built, and which of it is fastest on a device.

#include <string>
#include <string_view>
#include <vector>

#include "opencl/tuning.hpp"
#include "processing/opencl_tuner.hpp"
#include "waldboost/model.hpp"

namespace sightline::waldboost {

/// How the kernels are built for a device. Every choice gives the same results.
struct KernelTuning {
  /// naive: a work-item takes a window through all weak classifiers. progressive: steps hand fixed shares of
  /// a work-group's windows to each other, see progressive_steps. queue: after every phase of weak
  /// classifiers, what is left of a work-group's windows waits in local memory and is shared out among its
  /// work-items anew. What these two leave is finished by a work-group a window.
  std::string scan = "queue";
  int tile_rows = 32;  ///< of kTileX windows each, that a work-group has
  int group = 256;     ///< work-items of a work-group
  int at_once = 4;     ///< weak classifiers that are looked up before the first of their sums is judged
  /// A phase ends where so many percent of the windows with which it began are left.
  int keep = 50;
  /// The last phase of `scan` ends where less than one window in so many is left.
  int late = 64;
  int repeats = 2;             ///< progressive: how often the second step runs
  int finish_group = 64;       ///< work-items that share a window, a power of two
  int code_rows = 4;           ///< rows of codes that a work-item makes
  int first_capacity = 65536;  ///< windows that a list has room for until it proves too short; not tuned
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};

/// The same as data: parameters, defaults, and what the tuner tries.
const opencl::TuningTable& tuning_table();
opencl::TuningValues values_of(const KernelTuning& tuning);
KernelTuning tuning_of(const opencl::TuningValues& values);

/// What works well on devices of this kind without having been tuned.
KernelTuning default_tuning(const opencl::DeviceInfo& device);

/// The best for these of a named variant, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view name, const opencl::DeviceInfo& device);

/// Where the phases of `scan` end, in weak classifiers: rising, the first one at 1. They follow the model's
/// survivors; a model that does not know these has phases that double.
std::vector<int> phase_ends(const Model& model, int keep, int late);

/// A step of the progressive variant. A work-group has kStepGroup windows; of these, it hands kFirstShare or
/// kShare of their number to the next.
struct ProgressiveStep {
  int fewest = 0;  ///< weak classifiers by which each window goes on, before those that are left are counted
  int target = 0;  ///< weak classifier that each has then come to at least
  friend bool operator==(const ProgressiveStep&, const ProgressiveStep&) = default;
};
inline constexpr int kStepGroup = 256;
inline constexpr int kFirstShare = 8, kShare = 4;  ///< a divisor each
/// The first step, the second one so many times, and the third one, which brings all windows to one weak
/// classifier. As many weak classifiers go uncounted as the model's survivors need to come down to twice the
/// share; those of a model that does not know these are M. Hruby's.
std::vector<ProgressiveStep> progressive_steps(const Model& model, int repeats);

/// What the results of tuning a model are stored under.
std::string tuning_problem(const Model& model);
/// What has been stored for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, const Model& model);

/// Tunes the kernels of a WaldboostDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const opencl::Context& context,
                   opencl::ProgramCache* cache, PictureView frame, const opencl::TuningReport& report);

}  // namespace sightline::waldboost
