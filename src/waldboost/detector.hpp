#pragma once
/// The WaldBoost detector: pyramid, scan, group.

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "detection/sliding_window.hpp"
#include "image/pyramid.hpp"
#include "processing/inter_stage_buffer.hpp"
#include "waldboost/model.hpp"
#include "waldboost/scan.hpp"
#include "waldboost/steps.hpp"

namespace sightline::waldboost {

/// The detector's stages, in order.
enum StageIndex : std::size_t { kPyramid, kScan, kGroup };

/// What they leave for each other; number 0 is the frame.
enum ResourceIndex : std::size_t { kImages = kFrameResource + 1, kCandidates, kDetections };

/// Variants of the kernel `scan`, see KernelTuning (opencl/tuning.hpp).
inline constexpr std::array kKernelVariants = {"naive", "progressive", "queue"};

struct Options {
  double scale_step = 1.1;  ///< ratio of neighbouring scales, above 1
  double min_size = 0;      ///< height in pixels of the smallest object; 0: of the model's window
  double max_size = 0;      ///< height in pixels of the largest object; 0: as the frame allows
  int border = 0;           ///< how far windows may lie beyond the frame's edge, in pixels of the window
  bool clip = true;         ///< boxes end at the frame's edge
  double threshold = 0;     ///< lowest score of an object
  /// Lowest score of a window. Windows below the threshold may make an object together.
  double window_threshold = 0;
  double max_overlap = 0.4;      ///< of two objects, see merge_boxes
  int max_candidates = 100'000;  ///< windows of a frame that are grouped, the surest ones
  std::string label;             ///< of what is found; empty: the model's
  /// The variant of the kernels on OpenCL devices, one of kKernelVariants; empty: what is fastest. The result
  /// does not depend on it.
  std::string kernels;
  /// Of the progressive kernels, see steps.hpp: divisors, and the weak classifiers that steps come to before
  /// they count. Empty: what follows from the model. Where one is given and no variant, these kernels run.
  std::vector<int> shares, phases;
};

/// One level of a frame's pyramid.
struct Level {
  PyramidLevel plan;
  Size windows;                   ///< how many there are; named by their corners, in pixels of the level
  std::int64_t image_offset = 0;  ///< bytes in the buffer of all images
  std::unique_ptr<Resizer> resizer;
  PaddedImage image;
  // The workspace's partition of the frame:
  Rows window_rows;
  Rows image_rows;  ///< that these windows see
};

/// A part of a level that one thread scans.
struct LevelTile : Tile {
  int level = 0;
};

/// One frame in flight. Bands are rows of images.
class WaldboostWorkspace : public SlidingWindowWorkspace {
 public:
  /// Makes the levels' images views of the buffer's memory.
  void bind_images();

  std::vector<Level> levels;
  InterStageBuffer images;
  std::vector<Band> image_bands;
  std::vector<LevelTile> tiles;
  oneapi::tbb::enumerable_thread_specific<ScanScratch> scratch;
  TaskLists<Candidate> scanned;  ///< by tile
};

class WaldboostDetector : public SlidingWindowDetector {
 public:
  /// Throws Error (usage) on options out of range.
  WaldboostDetector(Model model, const Options& options);

  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override;
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override { return kGroup; }
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<opencl::OpenedDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;

  const Model& model() const { return model_; }
  const Options& options() const { return options_; }
  /// The sum from which a window is a candidate, in units of the model.
  std::int32_t lowest_sum() const { return lowest_sum_; }
  /// The score of a sum.
  double score(std::int32_t sum) const { return sum * model_.unit; }
  /// Of the progressive kernels.
  std::vector<ProgressiveStep> steps() const { return steps_for(model_, options_.shares, options_.phases); }

  /// Adds how many windows of a frame each weak classifier leaves; how many there are in all. The frame must
  /// be prepared, and its images made.
  std::int64_t count_left(WaldboostWorkspace& workspace, std::span<std::int64_t> left) const;

 private:
  void lay_out(WaldboostWorkspace& workspace) const;
  void plan_partition(WaldboostWorkspace& workspace, Partition partition) const;
  void build_pyramid(WaldboostWorkspace& workspace) const;
  void scan(WaldboostWorkspace& workspace) const;
  void group(WaldboostWorkspace& workspace) const;
  Box box(const Level& level, int x, int y) const;

  Model model_;
  PackedModel packed_;
  Options options_;
  PyramidOptions pyramid_;
  std::int32_t lowest_sum_ = 0;
};

/// What make_waldboost_detector reads of section [detector].
inline constexpr const char* kConfigKeys[] = {
    "model",       "scale_step", "min_size",       "max_size",       "threshold", "border", "clip",
    "max_overlap", "label",      "max_candidates", "max_model_size", "kernels",   "shares", "phases"};
/// Options and model from section [detector] of a configuration.
std::unique_ptr<WaldboostDetector> make_waldboost_detector(const Config& config);

}  // namespace sightline::waldboost
