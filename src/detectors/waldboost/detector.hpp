#pragma once
/// The WaldBoost detector: pyramid, scan, group.

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <memory>
#include <vector>

#include "detection/pixel_windows.hpp"
#include "detectors/waldboost/model.hpp"
#include "detectors/waldboost/scan.hpp"
#include "detectors/waldboost/steps.hpp"
#include "params/config.hpp"

namespace sightline::waldboost {

using enum PixelWindowDetector::StageIndex;
using enum PixelWindowDetector::ResourceIndex;

/// Variants of the kernel `scan`, see KernelTuning (opencl/tuning.hpp).
inline constexpr std::array kKernelVariants = {"naive", "progressive", "queue"};

inline constexpr keys::Text kShares(
    "shares", "--shares N,N,...",
    "On OpenCL devices: use the progressive kernels with these shares; 8,4,4,4: the first step passes at "
    "most 1 window in 8 to the second, and each further step 1 in 4");
inline constexpr keys::Text kPhases("phases", "--phases N,N,...",
                                    "On OpenCL devices: use the progressive kernels with steps that end "
                                    "after these numbers of weak classifiers, such as 4,12,20,28");

struct Options : PixelWindowOptions {  // kernels: one of kKernelVariants
  /// Steps of the progressive kernels, see steps.hpp: divisors, and weak classifiers per step. Empty: derived
  /// from the model. If one is set and no variant, the progressive kernels run.
  std::vector<int> shares = {}, phases = {};
};
using Level = PixelLevel;

/// One frame in flight.
class WaldboostWorkspace : public PixelWindowWorkspace {
 public:
  oneapi::tbb::enumerable_thread_specific<ScanScratch> scratch;
};

class WaldboostDetector : public PixelWindowDetector {
 public:
  /// Throws Error (usage) on options out of range.
  WaldboostDetector(Model model, const Options& options);

  std::unique_ptr<Workspace> make_workspace() const override;
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;

  const Model& model() const { return model_; }
  const Options& options() const { return own_options_; }
  /// The sum from which a window is a candidate, in units of the model.
  std::int32_t lowest_sum() const { return lowest_sum_; }
  /// The score of a sum.
  double score(std::int32_t sum) const { return sum * model_.unit; }
  /// Steps of the progressive kernels.
  std::vector<ProgressiveStep> steps() const {
    return steps_for(model_, own_options_.shares, own_options_.phases);
  }

  std::int64_t count_left(PixelWindowWorkspace& workspace, std::span<std::int64_t> left) const override;

 private:
  void scan(PixelWindowWorkspace& workspace) const override;

  Model model_;
  PackedModel packed_;
  Options own_options_;
  std::int32_t lowest_sum_ = 0;
};

/// Options and model from section [detector] of a configuration.
std::unique_ptr<WaldboostDetector> make_waldboost_detector(const Config& config);
/// The detector with its scan in plain scalar code. Throws as make_waldboost_detector does.
std::unique_ptr<Detector> make_reference(const Config& config);

}  // namespace sightline::waldboost
