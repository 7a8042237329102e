#pragma once
/// The cascade detector: pyramid, integral, scan, finish, group.

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "detection/keys.hpp"
#include "detection/sliding_window.hpp"
#include "detectors/cascade/grouping.hpp"
#include "detectors/cascade/kernels.hpp"
#include "detectors/cascade/layout.hpp"
#include "detectors/cascade/model.hpp"
#include "image/resample.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline::cascade {

/// The detector's stages, in order.
enum StageIndex : std::size_t { kPyramid, kIntegral, kScan, kFinish, kGroup };

/// Resources between the stages; number 0 is the frame.
enum ResourceIndex : std::size_t {
  kImages = kFrameResource + 1,
  kIntegrals,
  kSurvivors,
  kCandidates,
  kDetections
};

/// Variants of the kernel `scan`, see KernelTuning.
inline constexpr std::array kKernelVariants = {
    "naive", "reduced", "tiled", "packed", "compacted", "compacted-tiled", "compacted-packed", "unrolled"};

inline constexpr keys::Whole kMinNeighbors("min_neighbors", {0, 1'000'000}, "--min-neighbors N",
                                           "Minimum number of agreeing windows per object, minus one; 0: "
                                           "report every window (OpenCV's minNeighbors)",
                                           {.sign = Option::Sign::not_negative});
inline constexpr keys::Whole kEarlyStages("early_stages", {0, kMaxStages}, "",
                                          "Boosting stages on all windows", {.former = "scan_stages"});

inline constexpr keys::Flag kMirrored("mirrored", "", "Whether to search with the cascade's mirror image");

struct Options {
  Search search;
  int min_neighbors = 3;  ///< OpenCV's minNeighbors: larger groups are reported; 0: all windows are
  double threshold = 0;   ///< lowest score that is reported; see group_boxes
  /// Boosting stages that `scan` runs on all windows; `finish` runs the others on the remaining windows. 0:
  /// all, which is fastest on the CPU. Does not change the result.
  int early_stages = 0;
  int max_candidates = 100'000;  ///< windows of a frame that are grouped, the surest ones
  std::string label;             ///< label of the objects; empty: the model's name
  /// Kernel variant on OpenCL devices, one of kKernelVariants; empty: the fastest. Does not change the
  /// result.
  std::string kernels;
};

/// One level's part of the workspace's partition of the frame.
struct LevelWork {
  SamplePlan samples;
  Rows windows;  ///< rows of windows
  Rows image;    ///< rows of pixels that these see
};

/// One frame in flight. Bands are rows of images or of windows; for integrals, planes.
class CascadeWorkspace : public SlidingWindowWorkspace {
 public:
  int early_stages = 1;  ///< for the frame: as tuned, or the detector's own
  Layout layout;
  PackedCascade cascade;
  std::vector<LevelWork> levels;
  InterStageBuffer images, integrals;
  std::vector<Band> image_bands, integral_bands, window_bands;
  std::vector<Survivor> survivors;  ///< sorted by level, y, x
  TaskLists<Survivor> scanned;      ///< survivors by window band
  TaskLists<Candidate> finished;    ///< candidates by chunk of survivors

  /// A level's image in the buffer of all images.
  ImageView<std::uint8_t> image(int level) {
    const Level& l = layout.levels[level];
    return {reinterpret_cast<std::uint8_t*>(images.data()) + l.image, l.size.width, l.size.height,
            l.image_stride};
  }
};

class CascadeDetector : public SlidingWindowDetector {
 public:
  /// Throws Error (usage) on options out of range.
  CascadeDetector(Model model, const Options& options);

  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override;
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override { return kGroup; }
  const Tunable* tunable() const override { return &tunable_; }
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;

  const Model& model() const { return model_; }
  const Options& options() const { return options_; }
  /// Default without a schedule's value: 1 to the number of boosting stages.
  int early_stages() const { return early_stages_; }

 private:
  void lay_out(CascadeWorkspace& workspace) const;
  void plan_partition(CascadeWorkspace& workspace, Partition partition) const;
  // The stages, of which another form of the detector may have its own.
  virtual void build_pyramid(CascadeWorkspace& workspace) const;
  virtual void integrate_all(CascadeWorkspace& workspace) const;
  virtual void scan(CascadeWorkspace& workspace) const;
  virtual void finish_survivors(CascadeWorkspace& workspace) const;
  void group(CascadeWorkspace& workspace) const;

  Model model_;
  Options options_;
  int early_stages_ = 1;
  Tunable tunable_;
};

/// The file of a model: a path, or the name of a cascade that ships with OpenCV, with or without `.xml`,
/// which is looked for in OpenCV's folders. Throws Error (model) if there is none, naming the Debian
/// package.
std::filesystem::path find_model(const std::filesystem::path& path, const std::string& name);
/// The names of the cascades in OpenCV's folders, in alphabetical order.
std::vector<std::string> names_shipped_with_opencv();
/// Whether a cascade of this name is in OpenCV's folders.
bool ships_with_opencv(const std::string& name);

/// Settings in section [detector] of a configuration.
struct Settings {
  std::filesystem::path file;  ///< file of the model
  Model model;                 ///< mirrored, where that is wanted
  bool is_mirrored = false;
  Options options;
};
/// Throws Error (usage) on values out of range, and Error (model).
Settings read_settings(const Config& config);
/// Options and model from section [detector] of a configuration.
std::unique_ptr<CascadeDetector> make_cascade_detector(const Config& config);

}  // namespace sightline::cascade
