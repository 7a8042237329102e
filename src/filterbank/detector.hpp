#pragma once
/// The filter-bank detector: pyramid, filter, histogram, classify, verify, group.

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "base/config.hpp"
#include "detection/candidate_limit.hpp"
#include "detection/detector.hpp"
#include "filterbank/computed_scales.hpp"
#include "filterbank/kernels.hpp"
#include "filterbank/model.hpp"
#include "image/pyramid.hpp"
#include "opencl/device.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline::filterbank {

/// The detector's stages, in order.
enum StageIndex : std::size_t { kPyramid, kFilter, kHistogram, kClassify, kVerify, kGroup };

/// Which arithmetic the stages use.
enum class Arithmetic {
  /// Integers and correctly rounded roots: the same bits everywhere. Of a model whose descriptor is not the
  /// standard one, this holds for the classifier alone: the float method makes the features, which are then
  /// rounded to the eight bits that the classifier was trained on.
  exact,
  floating_point,  ///< the method as published, with the float dictionary: the reference for accuracy, not
                   ///< for speed
};

struct Options {
  double scale_step = 1.1;  ///< ratio of neighbouring pyramid scales
  double min_size = 0;      ///< height in frame pixels of the smallest object; 0: the model's own, unenlarged
  double max_size = 0;      ///< of the largest; 0: as large as the frame allows
  double threshold = 0;     ///< lowest score that is reported
  /// Whether the model's network, where it has one, verifies what the classifier lets through.
  bool verify = true;
  /// It looks at all of these windows; otherwise, of windows that lie next to each other on a level, only at
  /// the best by the classifier's score, and the others are rejected. All is the plain method; a
  /// configuration has it with `exact`, or where it says so.
  bool verify_all = true;
  double max_overlap = 0.65;   ///< see suppress_non_maxima
  int max_candidates = 20000;  ///< windows that `classify` leaves to the stages after it, the best ones
  Arithmetic arithmetic = Arithmetic::exact;
  /// Levels an octave that are filtered; the others sum up the responses of the nearest one
  /// (computed_scales.hpp). 0: all are. Exact arithmetic only.
  int computed_scales = 0;
  /// Windows are rejected whose estimate (class PreRejection) is further than this below what `classify` lets
  /// through; infinite: none are. Linear classifier and exact arithmetic only.
  double rejection_margin = std::numeric_limits<double>::infinity();
};

/// The rows of each stage's results that a workspace's share of the frame needs of a level.
struct LevelRows {
  Rows blocks, cells;
  Rows response_map, image;  ///< none where the level has no responses of its own
};

/// One pyramid level's intermediate results; see layout.hpp.
struct Level {
  PyramidLevel plan;
  Grid grid;
  LevelLayout layout;
  int source_level = 0;     ///< the level whose responses its cells sum up
  bool is_computed = true;  ///< its own; otherwise it has neither image nor responses
  CellEdges edges;          ///< of its cells in those responses
  Rows windows;             ///< rows of windows that this workspace's share of the frame holds; all, mostly
  LevelRows rows;
  std::unique_ptr<Resizer> resizer;  ///< of computed scales, and of all where windows are verified
  PaddedImage image;
  Image<std::uint32_t> response_map;
  AlignedBuffer<std::uint8_t> features;
  AlignedBuffer<std::int32_t> scores;      ///< raw, [window y][pitch]; kRejected where it was pre-rejected
  AlignedBuffer<std::int32_t> components;  ///< [block y][pair][pitch], see project_row
  AlignedBuffer<std::int32_t>
      scratch;  ///< distance classifier: one template's products, and the blocks' energies

  // The float method's own: responses (a contrast-sensitive model's with their sign) and indices, histograms
  // [cell][bin], features [block][cell][bin].
  Image<float> responses;
  Image<std::uint8_t> indices;
  AlignedBuffer<float> float_histograms;
  AlignedBuffer<float> float_features;
  AlignedBuffer<double> float_scores;  ///< [window y][pitch], final

  int windows_x = 0;
  int windows_y = 0;

  Image<std::uint8_t> network_input;  ///< what `verify` looks at, as in the image; only rows that it needs
};

/// A part of one stage's work that one thread does: rows [begin, end) of one level.
struct Band {
  int level = 0;
  int begin = 0;
  int end = 0;
};

/// A window that may be reported: window (x, y) of a level. Ordered by level, y, x.
struct Candidate {
  std::int32_t level = 0;
  std::int32_t x = 0;
  std::int32_t y = 0;
  double score = 0;  ///< the classifier's; once verified, the final one
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.level, a.y, a.x) < std::tie(b.level, b.y, b.x);
  }
};

/// What one thread needs between responses and features: the roots and totals of a band's cells.
struct CellScratch {
  AlignedBuffer<float> roots;
  AlignedBuffer<std::int32_t> totals;
};

class FilterbankWorkspace : public Workspace {
 public:
  /// Make the levels' views of a product those of its memory; a stage does so for what it reads and writes.
  void bind_images();
  void bind_response_maps();
  void bind_features();

  Size frame_size;
  Partition partition;
  PictureView frame;
  Image<std::uint8_t> converted;             ///< luma of a frame in colour
  std::vector<Image<std::uint8_t>> octaves;  ///< the frame halved once, twice, ...
  bool has_octaves = false;                  ///< of this frame, and its luma
  /// The frame halved so many times, once that is there.
  GrayView octave(int index) const;
  std::vector<Level> levels;
  InterStageBuffer images, response_map, features;
  bool projected = false;  ///< the frame's components are there
  /// What `stage` (pyramid, filter or histogram) writes.
  InterStageBuffer& product(std::size_t stage) {
    return stage == kPyramid ? images : stage == kFilter ? response_map : features;
  }
  std::vector<Band> image_bands, filter_bands, cell_bands, block_bands, window_bands;
  oneapi::tbb::enumerable_thread_specific<CellScratch> scratch;
  oneapi::tbb::enumerable_thread_specific<AlignedBuffer<std::uint8_t>> network_scratch;
  std::vector<Band> network_input_bands;
  std::vector<Candidate> peaks;                         ///< made of the candidates, then in their place
  std::vector<std::vector<Candidate>> band_candidates;  ///< by window band
  std::vector<Candidate> candidates;
  std::vector<Detection> detections;
};

class FilterbankDetector : public Detector {
 public:
  /// Throws Error (usage) on options out of range.
  FilterbankDetector(Model model, const Options& options);

  const DetectorInfo& info() const override { return info_; }
  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override;
  std::unique_ptr<Workspace> make_workspace() const override;
  std::unique_ptr<DeviceStages> make_device_stages(const opencl::ChosenDevice& device) const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override;
  void merge(Workspace& workspace, Workspace& other) const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;
  std::vector<Detection> take_detections(Workspace& workspace) const override;

  const Model& model() const { return model_; }
  const Options& options() const { return options_; }

  /// Runs the stages before `verify`, so that every window has the classifier's score.
  void score_windows(FilterbankWorkspace& workspace) const;
  /// The classifier's score of a window whose first cell is (x, y) of the level, once scored.
  double score(const Level& level, int x, int y) const;
  /// The object's box in frame pixels for a window of the level.
  Box box(const Level& level, int x, int y) const;

  /// Appends the candidates of a band of windows whose scores are in the level.
  void collect_candidates(const Level& level, const Band& band, std::vector<Candidate>& found) const;
  /// The lowest of the classifier's scores that `classify` lets through: the threshold, or what the network
  /// is to look at that could still reach it.
  double first_threshold() const { return first_threshold_; }
  /// The same as a raw score: exactly the windows whose `score` reaches it.
  std::int32_t raw_threshold() const { return raw_threshold_; }
  /// Whether a network verifies windows.
  bool verifies() const { return verifies_; }
  double score_of(std::int32_t raw) const {
    return (static_cast<double>(raw) + static_cast<double>(model_.bias)) * model_.scale;
  }
  /// Whether windows are pre_rejected, by what, and the smallest of its sums that is not rejected.
  bool pre_rejects() const { return pre_rejects_; }
  const PreRejection& pre_rejection() const { return pre_rejection_; }
  std::int32_t rejection_threshold() const { return rejection_threshold_; }
  const PackedWeights& packed_weights(int template_index) const { return weights_[template_index]; }
  /// Squared length of a template.
  std::int32_t template_energy(int template_index) const { return template_energies_[template_index]; }

  /// The features of one window, [block y][block x][cell][bin]; `features` has
  /// model().weights_per_template() elements. For training; the stages up to histogram must have run.
  void copy_features(const Level& level, int x, int y, std::span<std::uint8_t> features) const;

 private:
  void build_pyramid(FilterbankWorkspace& workspace) const;
  void project(FilterbankWorkspace& workspace) const;
  /// Whether the float method makes the features.
  bool describes_in_float() const {
    return options_.arithmetic == Arithmetic::floating_point || !model_.descriptor.exact();
  }
  void filter_band(Level& level, const Band& band) const;
  void filter_in_float(Level& level, const Band& band) const;
  void describe_in_float(FilterbankWorkspace& workspace) const;
  void describe_band(FilterbankWorkspace& workspace, Level& level, const Band& band) const;
  void classify_band(Level& level, int y_begin, int y_end) const;
  void classify_row(Level& level, int y) const;
  void classify_band_by_distance(Level& level, int y_begin, int y_end) const;
  void lay_out(FilterbankWorkspace& workspace) const;
  void plan_partition(FilterbankWorkspace& workspace, Partition partition) const;
  void classify(FilterbankWorkspace& workspace) const;
  void keep_best(FilterbankWorkspace& workspace) const;
  static void keep_peaks(FilterbankWorkspace& workspace);
  void make_network_input(FilterbankWorkspace& workspace) const;
  void verify(FilterbankWorkspace& workspace) const;
  void group(FilterbankWorkspace& workspace) const;

  Model model_;
  Options options_;
  PyramidOptions pyramid_;
  DetectorInfo info_;
  CandidateLimit limit_;
  double first_threshold_ = 0;
  std::int32_t raw_threshold_ = 0;
  bool verifies_ = false;
  PackedNetwork network_;
  bool pre_rejects_ = false;
  PreRejection pre_rejection_;
  std::int32_t rejection_threshold_ = 0;
  std::vector<PackedWeights> weights_;           ///< one a template
  std::vector<std::int32_t> template_energies_;  ///< squared length of each template
};

/// The float method's stages, each for one row; see Arithmetic and Descriptor.
namespace float_method {
void histogram_row(Level& level, const Model& model, int cell_y);
/// What is added to the sum of a block's histograms, in units of the float dictionary's responses.
float normalisation_epsilon(int epsilon);
/// Float features of one row of blocks.
void normalise_row(Level& level, const Model& model, int block_y);
/// The same rounded to eight bits, where and as the exact classifier wants them (layout.hpp).
void quantise_row(Level& level, const Model& model, int block_y);
void classify_row(Level& level, const Model& model, int window_y);
}  // namespace float_method

/// The window in the middle of a picture of one object.
struct CentredWindow {
  GrayView view;  ///< the picture, less up to seven columns and rows, so that the window lies on whole cells
  int x = 0;      ///< the window's first cell in that view
  int y = 0;
};

/// None where the picture is smaller than the window. Pictures larger than the window give it its real
/// surroundings.
std::optional<CentredWindow> centre_window(GrayView picture, const WindowShape& window);

/// What a configuration has unless it says otherwise, or `exact = true`: the plain method, in which every
/// level is filtered and every window classified.
///
/// Chosen by agreement with the plain method on a street (16 frames of 960x540, scale step 1.1, 171
/// detections) and on 481 enlarged training people. Computed scales 4 an octave keep 170 of the detections
/// and add 10, scores differ by 0.09 (root mean square); 2, which are faster: 167, 21 and 0.14; 1: 170, 35
/// and 0.14. Scores rise by 0.03 to 0.06 on average, so that some windows more reach a threshold. The margin
/// loses none of detections and people; 0.5 loses one detection.
inline constexpr int kComputedScales = 4;
inline constexpr double kRejectionMargin = 0.75;
/// Where a network verifies windows, `classify` lets through much that is no object, and the margin below
/// that may be smaller: on a street (16 frames of 1920x1080) it loses 2 of 367 detections.
inline constexpr double kVerifiedRejectionMargin = 0.4;

/// What make_filterbank_detector reads of section [detector].
inline constexpr const char* kConfigKeys[] = {
    "model",     "filters",        "scale_step",     "min_size",        "max_size",
    "threshold", "max_overlap",    "arithmetic",     "computed_scales", "rejection_margin",
    "exact",     "max_candidates", "max_model_size", "verify",          "verify_all"};
/// Options and model from section [detector] of a configuration.
std::unique_ptr<FilterbankDetector> make_filterbank_detector(const Config& config);

}  // namespace sightline::filterbank
