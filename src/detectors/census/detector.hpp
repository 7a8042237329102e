#pragma once
/// The census detector: pyramid, scan, group.

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <memory>
#include <vector>

#include "detection/pixel_windows.hpp"
#include "detectors/census/model.hpp"
#include "detectors/census/scan.hpp"
#include "params/config.hpp"

namespace sightline::census {

using enum PixelWindowDetector::StageIndex;
using enum PixelWindowDetector::ResourceIndex;

/// Variants of the kernel `scan`, see KernelTuning (opencl/tuning.hpp).
inline constexpr std::array kKernelVariants = {"naive", "queue"};

inline constexpr keys::Whole kEarlyStages("early_stages", {0, kMaxStages}, "", "Leading stages in SIMD");
inline constexpr keys::Flag kTurned(
    "turned", "--turned", "Also find objects turned sideways or upside down; results name the rotation");

struct Options : PixelWindowOptions {
  Options() { scale_step = 1.15; }
  /// Leading stages that evaluate adjacent windows in SIMD, before the remaining windows are gathered for the
  /// others; 0: the processor's best value. Does not change the result.
  int early_stages = 0;
};

/// One frame in flight. A candidate's level is (view * levels + level).
class CensusWorkspace : public PixelWindowWorkspace {
 public:
  int early_stages = 0;  ///< for the frame: as tuned, or the detector's own; 0: the processor's best value
  oneapi::tbb::enumerable_thread_specific<ScanScratch> scratch;
};

class CensusDetector : public PixelWindowDetector {
 public:
  /// Throws Error (usage) on options out of range.
  CensusDetector(Model model, const Options& options);

  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  const Tunable* tunable() const override { return &tunable_; }
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;

  const Model& model() const { return model_; }
  const PackedModel& packed() const { return packed_; }
  const std::string& kernels() const { return options_.kernels; }
  /// The score of a margin.
  double score(int view, std::int32_t margin) const {
    return margin * model_.views[static_cast<std::size_t>(view)].unit;
  }

  std::int64_t count_left(PixelWindowWorkspace& workspace, std::span<std::int64_t> left) const override;

 private:
  void scan(PixelWindowWorkspace& workspace) const override;

  Model model_;
  PackedModel packed_;
  int early_stages_ = 0;
  Tunable tunable_;
};

/// Options and model from section [detector] of a configuration.
std::unique_ptr<CensusDetector> make_census_detector(const Config& config);

}  // namespace sightline::census
