#pragma once
/// Times the variants of a family's kernels on a frame, and chooses among them.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frame/frame_result.hpp"
#include "opencl/opened_device.hpp"
#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline {

/// Times of one frame on a device.
struct DeviceFrameTimes {
  struct Stage {
    std::string name;
    double seconds = 0;
  };
  std::vector<Stage> stages;  ///< upload, then the stages' parts in their order: on the device's clock
  double device = 0;          ///< from the start of the upload to the end of the last command
  double host = 0;  ///< from submission of the frame to its result, with transfers, CPU stages and waits
};

/// The fastest of `runs` runs (by the host's clock), after one to warm up; all stages that can be are on the
/// device. Of the context's first launches, those of this frame are left, for `kernel_resources`. Throws
/// Error (input) if the frame is too small, and DeviceError.
DeviceFrameTimes time_frame(const OpenClStageBase& stages, PictureView frame, int runs = 20);

/// Times variants of a processor's kernels on frames, and sees to it that they give the CPU's results.
/// Thread-safety: one thread at a time.
class VariantTimer {
 public:
  /// Seconds a frame, by DeviceSpan::name.
  using Parts = std::map<std::string, double, std::less<>>;

  /// The frames' pixels must stay valid. Throws Error (input) if one is too small.
  VariantTimer(const FrameProcessor& processor, std::span<const PictureView> frames);

  /// Time of each part of a frame: the fastest of several runs, after one to warm up; mean over the
  /// frames.
  /// @param variant   description for errors
  /// @param is_exact  compares the results with the CPU's; a difference is an Error (failed)
  /// @param each      called with the slot after every frame's last run; may be empty
  /// Throws DeviceError.
  Parts time(const OpenClStageBase& stages, const std::string& variant, bool is_exact = true,
             const std::function<void(const DeviceSlot&)>& each = {});

 private:
  const FrameProcessor& processor_;
  std::vector<PictureView> frames_;
  std::vector<FrameResult> expected_;  ///< expected results by frame
};

/// Options of kernel tuning.
struct TuneOptions {
  opencl::TuningReport report = {};  ///< called for every trial; may be empty
  /// Tries only the variants on a downhill walk from the start values, instead of all variants.
  bool quick = false;
  opencl::DeviceHints hints = {};  ///< source of the start values, if known
};

/// Input of a tuner.
struct TuningProblem {
  const FrameProcessor& processor;
  const opencl::Context& context;
  const opencl::TuningTable& table;
  opencl::TuningValues start;  ///< usually start_values; the table's defaults where kernels do not take them
  /// Stages with these values. May throw DeviceError: a variant that this device does not take.
  std::function<std::unique_ptr<OpenClStageBase>(const opencl::TuningValues&)> make_stages;
  /// Multiply-adds per frame by TunedStage::span; none for memory-bound stages.
  std::map<std::string, double, std::less<>> multiply_adds = {};
};

/// Times the variants of every stage of the table on the frame, one stage after the other, and returns the
/// fastest exact ones that were tried. Every variant's result is compared with the CPU's; one that differs
/// and claims to be exact is an Error (failed). Throws Error (input) if the frame is too small.
opencl::TuningValues tune(const TuningProblem& problem, PictureView frame, const TuneOptions& options);

/// Result of a family's TuneFunction.
struct TuningOutcome {
  std::string problem;  ///< key for TuningDatabase
  opencl::TuningValues best;
  DeviceFrameTimes frame;  ///< times with the best variants
};

/// Tunes the kernels of a detector: what most families' `tune` is.
/// @tparam Stages    the family's stages on a device, made of (detector, context, cache, settings)
/// @param table  of the family's settings, with which its stages are made
/// @param name   of the problem, for TuningDatabase
template <typename Stages, typename Settings>
TuningOutcome tune_kernels(const auto& detector, const opencl::Context& context, opencl::ProgramCache* cache,
                           const opencl::SettingsTable<Settings>& table, std::string name, PictureView frame,
                           const TuneOptions& options) {
  const TuningProblem problem{detector, context, table, start_values(table, context.device(), options.hints),
                              [&](const opencl::TuningValues& values) {
                                return std::make_unique<Stages>(detector, context, cache,
                                                                table.settings(values));
                              }};
  opencl::TuningValues best = tune(problem, frame, options);
  const std::unique_ptr<OpenClStageBase> stages = problem.make_stages(best);
  return {std::move(name), std::move(best), time_frame(*stages, frame)};
}

}  // namespace sightline
