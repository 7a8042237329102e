#pragma once
/// Detectors that look at every window of every level of an octave pyramid (image/pyramid.hpp), pixel by
/// pixel, and merge what is left: their options, pyramid, partitions and boxes. A family adds the scan.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "detection/score_calibration.hpp"
#include "detection/sliding_window.hpp"
#include "image/pyramid.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline {

struct PixelWindowOptions {
  double scale_step = 1.1;  ///< ratio of neighbouring scales, above 1
  double min_size = 0;      ///< height in pixels of the smallest object; 0: of the model's window
  double max_size = 0;      ///< height in pixels of the largest object; 0: as the frame allows
  int border = 0;           ///< how far windows may lie beyond the frame's edge, in pixels of the window
  bool clip = true;         ///< boxes end at the frame's edge
  double threshold = 0;     ///< lowest score of an object
  /// Lowest score of a window. Windows below the threshold may make an object together.
  double window_threshold = 0;
  ScoreCalibration calibration;  ///< the model's
  double max_overlap = 0.4;      ///< of two objects, see merge_boxes
  int max_candidates = 100'000;  ///< windows of a frame that are grouped, the surest ones
  std::string label;             ///< of what is found; empty: the model's
  /// The variant of the kernels on OpenCL devices; empty: what is fastest. The result does not depend on it.
  std::string kernels;
};

/// Options from section [detector] of a configuration, whose keys have their names.
/// @param threshold    the model's own, where the section says nothing
/// @param calibration  the model's
/// @param step         of the scales, where the section says nothing
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
  Size windows;                   ///< how many there are; named by their corners, in pixels of the level
  std::int64_t image_offset = 0;  ///< bytes in the buffer of all images
  std::unique_ptr<Resizer> resizer;
  PaddedImage image;
  // The workspace's partition of the frame:
  Rows window_rows;
  Rows image_rows;  ///< that these windows see
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
  TaskLists<Candidate> scanned;  ///< by tile
};

/// Properties of the model that the detector needs.
struct PixelWindowModel {
  std::string family;    ///< for example "waldboost"
  std::string name;      ///< of the file
  std::string contents;  ///< in a few words, for people: "1000 weak classifiers"
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

  /// How many views are searched for at once, see PixelWindowModel.
  std::size_t views() const { return model_.views.size(); }
  /// The lowest score of a window that may be reported.
  double window_threshold() const { return options_.window_threshold; }

 protected:
  /// @param tile  windows across and down that one thread scans at a time
  /// Throws Error (usage) on options out of range.
  PixelWindowDetector(PixelWindowModel model, const PixelWindowOptions& options, Size tile);

  /// The stage between: fills the workspace's candidates, in order, as scan_tiles does.
  virtual void scan(PixelWindowWorkspace& workspace) const = 0;
  /// Calls `scan_tile(tile, image, found)` for all tiles of the workspace, on all threads; what it adds to
  /// `found` become the candidates. The images must be made.
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
  /// The stage that merges candidates, of all views together.
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
