#pragma once
/// The filter-bank detector: pyramid, filter, histogram, classify, verify, group.

#include <array>
#include <memory>
#include <span>

#include "detection/sliding_window.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "detectors/filterbank/model.hpp"
#include "detectors/filterbank/options.hpp"
#include "detectors/filterbank/workspace.hpp"
#include "params/config.hpp"

namespace sightline::filterbank {

class FilterbankDetector : public SlidingWindowDetector {
 public:
  /// Throws Error (usage) on options out of range.
  FilterbankDetector(Model model, const Options& options);

  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override { return stages_; }
  std::unique_ptr<Workspace> make_workspace() const override;
  std::unique_ptr<DeviceStages> make_stages_on(std::shared_ptr<ComputeDevice> device) const override;
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override;
  std::vector<WorkCount> count_work(PictureView frame) const override;

  const Model& model() const { return model_; }
  const Options& options() const { return options_; }

  /// Runs the stages before `verify`, so that every window has the classifier's score.
  void score_windows(FilterbankWorkspace& workspace) const;
  /// The classifier's score of a window whose first cell is (x, y) of the level, once scored.
  double score(const Level& level, int x, int y) const;
  /// The object's box in frame pixels for a window of the level.
  Box box(const Level& level, int x, int y, const BoxOffset& shift = {}) const;

  /// Appends the candidates of a band of windows whose scores are in the level.
  void collect_candidates(const Level& level, const Band& band, std::vector<Candidate>& found) const;
  /// Lowest classifier score that passes `classify`: the threshold, or the lowest score that the network
  /// could still lift to it.
  double first_threshold() const { return first_threshold_; }
  /// The same as a raw score: exactly the windows whose `score` reaches it.
  std::int32_t raw_threshold() const { return raw_threshold_; }
  /// Whether a network verifies windows.
  bool verifies() const { return verifies_; }
  /// Whether it also says where in them the object lies.
  bool refines() const { return verifies_ && !model_.network.box.empty(); }
  double score_of(std::int32_t raw) const {
    return (static_cast<double>(raw) + static_cast<double>(model_.bias)) * model_.scale;
  }
  /// Selects the candidates for the network: the best ones up to the limit, and of these the peaks or all.
  /// Ordered by level, row and column. Returns their number.
  std::size_t choose_windows(FilterbankWorkspace& workspace) const;
  /// The lowest final score that `verify` leaves.
  double lowest_verified() const;
  /// Gives a candidate that the network has looked at its final score, and its box's shift where the network
  /// says one: at most a third of the object's height.
  void take_verdict(const NetworkSums& sums, Candidate& candidate) const;
  /// Pre-rejection of windows: whether it is used, its model, and the smallest sum that passes.
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
  static void keep_peaks(FilterbankWorkspace& workspace);
  void make_network_input(FilterbankWorkspace& workspace) const;
  NetworkSums network_sums(const FilterbankWorkspace& workspace, const Candidate& candidate,
                           std::uint8_t* scratch) const;
  void verify(FilterbankWorkspace& workspace) const;
  void group(FilterbankWorkspace& workspace) const;

  Model model_;
  Options options_;
  std::array<StageInfo, 6> stages_;
  PyramidOptions pyramid_;
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

/// The model of a configuration that names none, relative to its file.
inline constexpr char kDefaultModel[] = "models/people.safetensors";

/// Default border: the margin of the model's window around the object in whole cells, plus one. A person who
/// touches the edge is then in the middle of a window, and half a head may be missing.
int default_border(const Model& model);

/// Filter counts that the configuration's model supports, rising. Throws Error (model).
std::vector<int> model_sizes(const Config& config);

/// Options and model from section [detector] of a configuration.
std::unique_ptr<FilterbankDetector> make_filterbank_detector(const Config& config);

}  // namespace sightline::filterbank
