#pragma once
/// Base of detectors that slide a window over all levels of a pyramid: plans and partitions a frame, cuts it
/// into bands for threads, and collects, limits and merges candidates.
///
/// A family derives its workspace and detector from the two classes below, lays out its own memory, and
/// orders its levels as it likes: only their numbers matter here.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "detection/candidate_limit.hpp"
#include "detection/detector.hpp"
#include "detection/window.hpp"
#include "image/pyramid.hpp"
#include "image/view.hpp"
#include "processing/frame_luma.hpp"
#include "processing/planned_frame.hpp"

namespace sightline {

/// Rows [begin, end) of something.
struct Rows {
  int begin = 0;
  int end = 0;
  bool empty() const { return end <= begin; }
  bool contains(int row) const { return begin <= row && row < end; }
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// A part of one stage's work that one thread does: rows [begin, end) of a level's images, blocks or windows,
/// as the stage says.
struct Band {
  int level = 0;
  int begin = 0;
  int end = 0;
};

/// Appends bands of `step` rows that cover the rows of a level; the last one may be shorter. `step` should be
/// worth a task, and small enough to occupy all threads.
void add_bands(std::vector<Band>& bands, int level, Rows rows, int step);

/// Runs `work(band)` for all bands, on all threads.
template <typename Work>
void for_each_band(const std::vector<Band>& bands, Workspace& workspace, const Work& work) {
  parallel_for_isolated(
      bands.size(), [&](std::size_t i) { work(bands[i]); }, &workspace.work);
}

/// One list of results per task, joined in the order of the tasks, so that the result does not depend on the
/// threads. Lists keep their memory. Thread-safety: one `run` at a time.
template <typename Found>
class TaskLists {
 public:
  /// Runs `work(task, found)` for all tasks, on all threads; `found` is the task's own list, empty at first.
  /// Afterwards `all` holds exactly the entries of these lists.
  template <typename Work>
  void run(std::size_t tasks, Workspace& workspace, std::vector<Found>& all, const Work& work) {
    if (lists_.size() < tasks) lists_.resize(tasks);
    const auto run_one = [&](std::size_t task) {
      lists_[task].clear();
      work(task, lists_[task]);
    };
    parallel_for_isolated(tasks, run_one, &workspace.work);
    all.clear();
    for (std::size_t task = 0; task < tasks; ++task)
      all.insert(all.end(), lists_[task].begin(), lists_[task].end());
  }

 private:
  std::vector<std::vector<Found>> lists_;
};

/// Cost of a level, for partitioning a frame.
struct LevelCost {
  double work = 0;      ///< work of the whole level, in one unit for all levels (pixels, windows); 0: none
  int window_rows = 0;  ///< rows of windows, where a partition can end
};

/// The rows of windows of each level that belong to a partition. The levels' work counts one after the other,
/// in the order of their numbers; a partition ends inside a level at the nearest row of windows. Neighbouring
/// partitions fit together without gap or overlap.
std::vector<Rows> partition_windows(std::span<const LevelCost> levels, Partition partition);

/// The scales at which objects of `smallest` to `largest` pixels of height are as high as the model's, which
/// has `natural`; 0: no limit of that kind, but none is enlarged. Throws Error (usage) on sizes, step or
/// border out of range.
PyramidOptions scales_for(double natural, double smallest, double largest, double step, int border);

/// Smallest integer whose score reaches a threshold. Scores rise with the integer; the estimate may be off by
/// a few.
template <typename ScoreOf>
std::int32_t lowest_reaching(double threshold, double estimate, const ScoreOf& score_of) {
  constexpr double kLowest = std::numeric_limits<std::int32_t>::min();
  constexpr double kHighest = std::numeric_limits<std::int32_t>::max();
  auto number = static_cast<std::int32_t>(std::clamp(estimate, kLowest, kHighest));
  while (number > kLowest && score_of(number - 1) >= threshold) --number;
  while (number < kHighest && score_of(number) < threshold) ++number;
  return number;
}

/// Throws Error (usage) with a remedy if a frame's pyramid is too large for the machine's memory.
/// @param pixels  total of all levels
void check_pyramid_size(Size frame, std::int64_t pixels);

/// One frame in flight of a sliding-window detector.
class SlidingWindowWorkspace : public Workspace {
 public:
  /// Begins a frame and clears the candidates. If the frame's size has changed, calls `lay_out()`, which
  /// plans geometry and memory of all levels; if size or partition has changed, calls `plan_partition()`,
  /// which plans rows and bands. If one of them throws, the next frame is planned from scratch.
  void begin(PictureView new_frame, Partition partition, const auto& lay_out, const auto& plan_partition) {
    frame = new_frame;
    luma_.begin(new_frame);
    has_octaves_ = false;
    candidates.clear();
    detections.clear();
    planned.update(frame.size(), partition, lay_out, plan_partition);
  }

  /// Makes the luma of a frame in colour, once a frame, on all threads.
  void make_luma() { luma_.make(*this); }
  /// The frame's luma: a gray frame itself, otherwise the result of `make_luma`.
  GrayView luma() const { return luma_.view(); }

  /// For pyramids that are resized from octaves (image/pyramid.hpp): the frame halved `count` times; for
  /// `lay_out`.
  void plan_octaves(int count);
  /// Makes luma and octaves of the frame, on all threads, where they are not there yet.
  void make_octaves();
  /// The frame halved `index` times, once octaves are there; 0: its luma.
  GrayView octave(int index) const { return index > 0 ? octaves_[index - 1].view() : luma(); }
  /// The sizes of the frame and of all its octaves.
  std::vector<Size> octave_sizes() const;

  PictureView frame;                  ///< not owned; valid until the last stage has run
  PlannedFrame planned;               ///< frame that geometry, rows and bands were made for
  std::vector<Candidate> candidates;  ///< sorted by level, y, x until `keep_top_k`
  std::vector<Detection> detections;  ///< the result, in pixels of the frame, by falling score

 private:
  FrameLuma luma_;
  std::vector<Image<std::uint8_t>> octaves_;  ///< the frame halved once, twice, ...
  bool has_octaves_ = false;                  ///< true once this frame's octaves exist
};

/// A detector whose workspaces are SlidingWindowWorkspaces. Thread-safety: like Detector.
class SlidingWindowDetector : public Detector {
 public:
  const DetectorInfo& info() const override { return info_; }
  void set_plan_key(std::string key) override { info_.plan_key = std::move(key); }
  /// Candidates of both partitions, by level, y, x.
  void merge(Workspace& workspace, Workspace& other) const override;
  std::vector<Detection> take_detections(Workspace& workspace) const override;

 protected:
  /// @param max_candidates  see CandidateLimit
  explicit SlidingWindowDetector(int max_candidates) : limit_(max_candidates) {}

  /// Drops the worst where there are more candidates than the limit; those that stay are then in the order of
  /// `higher_confidence`.
  void keep_top_k(SlidingWindowWorkspace& workspace) const {
    limit_.keep_top_k(workspace.candidates, higher_confidence);
  }

  DetectorInfo info_;  ///< the family's constructor fills it

 private:
  CandidateLimit limit_;
};

}  // namespace sightline
