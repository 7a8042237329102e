#pragma once
/// The filter-bank detector's intermediate results of one frame; layout.hpp says how they lie in memory.

#include <oneapi/tbb/enumerable_thread_specific.h>

#include <array>
#include <memory>
#include <vector>

#include "detection/sliding_window.hpp"
#include "detectors/filterbank/filtered_levels.hpp"
#include "detectors/filterbank/kernels.hpp"
#include "detectors/filterbank/layout.hpp"
#include "image/pyramid.hpp"
#include "processing/inter_stage_buffer.hpp"

namespace sightline::filterbank {

/// The detector's stages, in order.
enum StageIndex : std::size_t { kPyramid, kFilter, kHistogram, kClassify, kVerify, kGroup };

/// Resources between the stages; number 0 is the frame.
enum ResourceIndex : std::size_t {
  kOctaves = kFrameResource + 1,
  kImages,
  kResponses,
  kFeatures,
  kCandidates,
  kVerified,
  kDetections
};

/// The rows of each stage's results that a workspace's partition of the frame needs of a level.
struct LevelRows {
  Rows blocks, cells;
  Rows response_map, image;  ///< pixels of the level; none if the level has no responses of its own
};

/// One pyramid level's intermediate results; see layout.hpp.
struct Level {
  PyramidLevel plan;
  Grid grid;
  LevelLayout layout;
  int source_level = 0;     ///< the level whose responses its cells sum up
  bool is_computed = true;  ///< its own; otherwise it has neither image nor responses
  int first_cell = 0;       ///< start of its cells in its image, pixels along both axes; the border before it
                            ///< covers all levels that use its responses
  CellEdges edges;          ///< edges of its cells in those responses
  Rows windows;             ///< rows of windows in the workspace's partition of the frame; all, mostly
  LevelRows rows;
  std::unique_ptr<Resizer> resizer;   ///< for computed scales; for all if windows are verified
  PaddedImage image;                  ///< plan.size pixels
  Image<std::uint32_t> response_map;  ///< plan.size pixels, see pack_response
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

  Image<std::uint8_t> network_input;  ///< like `image`; only rows that `verify` needs and `image` lacks
};

/// Scratch memory of one thread between responses and features: two neighbouring rows of cells.
class CellScratch {
 public:
  void resize(const Grid& grid);
  /// Row y, which replaces row y - 2.
  CellRow row(int y);

 private:
  struct Row {
    AlignedBuffer<float> roots;
    AlignedBuffer<std::uint8_t> patterns;
    AlignedBuffer<std::int32_t> totals;
  };
  std::array<Row, 2> rows_;
};

/// One frame in flight. Bands are rows of pixels (images, filter), of cells, of blocks or of windows.
/// Candidates name windows by their first cell in the level.
class FilterbankWorkspace : public SlidingWindowWorkspace {
 public:
  /// Bind the levels' views to an inter-stage buffer's memory; each stage does so for its input and output.
  void bind_images();
  void bind_response_maps();
  void bind_features();

  bool has_images = false;  ///< true if the CPU made the partition's images of this frame
  std::vector<Level> levels;
  InterStageBuffer images, response_map, features;
  bool projected = false;  ///< the frame's components are there
  std::vector<Band> image_bands, filter_bands, cell_bands, block_bands, window_bands;
  oneapi::tbb::enumerable_thread_specific<CellScratch> scratch;
  oneapi::tbb::enumerable_thread_specific<AlignedBuffer<std::uint8_t>> network_scratch;
  std::vector<Band> network_input_bands;
  TaskLists<Candidate> classified;  ///< candidates by window band
  std::vector<Candidate> peaks;     ///< made of the candidates, then in their place
};

}  // namespace sightline::filterbank
