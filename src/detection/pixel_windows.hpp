#pragma once
/// Detectors that scan every window of every level of an octave pyramid (image/pyramid.hpp) and merge the
/// remaining candidates: their options, pyramid, partitions and boxes. A family adds the scan.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detection/keys.hpp"
#include "detection/sliding_window.hpp"
#include "image/pyramid.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline {

struct PixelWindowOptions {
  double scale_step = 1.1;  ///< ratio of neighbouring scales, above 1
  double min_size = 0;      ///< height in pixels of the smallest object; 0: of the model's window
  double max_size = 0;      ///< height in pixels of the largest object; 0: as the frame allows
  int border = 0;           ///< how far windows may reach past the frame's edge, in window pixels
  bool clip = true;         ///< boxes end at the frame's edge
  double threshold = 0;     ///< lowest score of an object
  /// Lowest score of a window. Windows below the threshold may make an object together.
  double window_threshold = 0;
  ScoreCalibration calibration;  ///< the model's
  double max_overlap = 0.4;      ///< largest overlap of two objects, see merge_boxes
  int max_candidates = 100'000;  ///< windows of a frame that are grouped, the surest ones
  std::string label;             ///< label of the objects; empty: the model's
  /// Kernel variant on OpenCL devices; empty: the fastest. Does not change the result.
  std::string kernels;
};

inline constexpr keys::Whole kPixelWindowBorder(
    "border", {0, 64}, "--border PX",
    "Pixels of the model's window that may lie beyond the frame's edge, which is repeated there");

/// Options from section [detector] of a configuration. Keys have the members' names.
/// @param threshold    the model's own, used if the section sets none
/// @param calibration  the model's
/// @param step         default step of the scales
PixelWindowOptions read_pixel_window_options(const Config& config, double threshold,
                                             const ScoreCalibration& calibration, double step);

/// Windows [x, x + columns) by [y, y + rows) of a level, named by their corners.
struct WindowTile {
  int x = 0, y = 0;
  int columns = 0, rows = 0;
};

/// One level of a frame's pyramid.
struct PixelLevel {
  PyramidLevel plan;
  Size windows;                   ///< number of window positions, by top left corner in level pixels
  std::int64_t image_offset = 0;  ///< byte offset in the buffer of all images
  std::unique_ptr<Resizer> resizer;
  PaddedImage image;
  // The workspace's partition of the frame:
  Rows window_rows;
  Rows image_rows;  ///< image rows that these windows read
};

/// A part of a level that one thread scans.
struct LevelTile : WindowTile {
  int level = 0;
};

/// One frame in flight. Bands are rows of images.
class PixelWindowWorkspace : public SlidingWindowWorkspace {
 public:
  /// Makes the levels' images views of the buffer's memory.
  void bind_images();

  std::vector<PixelLevel> levels;
  InterStageBuffer images;
  std::vector<Band> image_bands;
  std::vector<LevelTile> tiles;
  TaskLists<Candidate> scanned;  ///< candidates by tile
};

/// Properties of the model that the detector needs.
struct PixelWindowModel {
  std::string family;    ///< such as "waldboost"
  std::string name;      ///< file name of the model
  std::string contents;  ///< short description: "1000 weak classifiers"
  std::string label;
  Size window;           ///< pixels
  double box_scale = 1;  ///< sides of an object's box in parts of its window's, about the same middle
  /// Views that are searched at once. A candidate's level is the level of the frame plus the view's index
  /// times the number of levels. Detections have the view's name where it has one.
  std::vector<std::string> views = std::vector<std::string>(1);
};

/// The detector without its scan: stages pyramid, scan, group. Thread-safety: as Detector.
class PixelWindowDetector : public SlidingWindowDetector {
 public:
  /// The stages, in order.
  enum StageIndex : std::size_t { kPyramid, kScan, kGroup };
  /// Resources that stages exchange; number 0 is the frame.
  enum ResourceIndex : std::size_t { kImages = kFrameResource + 1, kCandidates, kDetections };

  std::span<const std::string_view> resources() const override;
  std::span<const StageInfo> stages() const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::size_t partitionable_stages() const override { return kGroup; }
  bool prepare(Workspace& workspace, PictureView frame, Partition partition = {}) const override;

  /// Adds how many windows of a frame each of the model's steps that reject some leaves, to as many numbers;
  /// how many windows there are in all, which is per view. The frame must be prepared, and its images
  /// made.
  virtual std::int64_t count_left(PixelWindowWorkspace& workspace, std::span<std::int64_t> left) const = 0;

  /// Number of views searched together, see PixelWindowModel.
  std::size_t views() const { return model_.views.size(); }
  /// The lowest score of a window that may be reported.
  double window_threshold() const { return options_.window_threshold; }

 protected:
  /// @param tile  windows across and down that one thread scans at a time
  /// Throws Error (usage) on options out of range.
  PixelWindowDetector(PixelWindowModel model, const PixelWindowOptions& options, Size tile);

  /// The stage between: fills the workspace's candidates, in order, as scan_tiles does.
  virtual void scan(PixelWindowWorkspace& workspace) const = 0;
  /// Calls `scan_tile(tile, image, found)` for all tiles of the workspace, on all threads; entries added to
  /// `found` become the candidates. Needs the images.
  template <typename ScanTile>
  static void scan_tiles(PixelWindowWorkspace& workspace, const ScanTile& scan_tile) {
    PixelWindowWorkspace& w = workspace;
    w.bind_images();
    w.scanned.run(w.tiles.size(), w, w.candidates, [&](std::size_t i, std::vector<Candidate>& found) {
      const LevelTile& tile = w.tiles[i];
      scan_tile(tile, std::as_const(w.levels[static_cast<std::size_t>(tile.level)].image).view(), found);
    });
    std::sort(w.candidates.begin(), w.candidates.end());  // tiles lie side by side
  }

  /// The stage that makes the levels' images.
  void build_pyramid(PixelWindowWorkspace& workspace) const;
  /// Stage that merges the candidates of all views.
  void group(PixelWindowWorkspace& workspace) const;
  Box box(const PixelLevel& level, int x, int y) const;

  PixelWindowOptions options_;

 private:
  void lay_out(PixelWindowWorkspace& workspace) const;
  void plan_partition(PixelWindowWorkspace& workspace, Partition partition) const;

  PixelWindowModel model_;
  std::vector<SharedAttributes> view_attributes_;
  Size tile_;
  PyramidOptions pyramid_;
};

}  // namespace sightline
