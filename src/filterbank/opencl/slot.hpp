#pragma once
/// Internal to opencl_*.cpp of this folder: what slots and stages hold, and the structures shared with the
/// kernels.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "filterbank/opencl/stages.hpp"
#include "opencl/data.hpp"
#include "opencl/frame_input.hpp"
#include "opencl/shared_buffer.hpp"
#include "processing/planned_frame.hpp"

namespace sightline::filterbank {

using opencl::bytes_of;
using opencl::checked;
using opencl::define;
using opencl::upload;

// Mirrors `Level` in kernels/common.clh.
struct DeviceLevel {
  cl_int width, height;
  cl_int source_offset, source_stride;
  cl_int source_width, source_height;
  cl_int columns_offset, rows_offset;
  cl_int image_offset, image_stride;
  cl_int response_map_offset, response_map_stride;
  cl_int cells_x, cells_y, pitch;
  cl_int roots_offset, totals_offset, features_offset, scores_offset;
  cl_int windows_x, windows_y;
  cl_int cell_columns_offset, cell_rows_offset;  // cells' edges in the responses, among the tables
  cl_int unused;
};
static_assert(sizeof(DeviceLevel) == 24 * sizeof(cl_int));

// Mirrors `Octave` in kernels/filterbank/pyramid.cl: where an octave lies in its buffer, in bytes.
struct DeviceOctave {
  cl_int offset, stride, width, height;
};

// Mirrors `Tile`.
struct Tile {
  cl_int level, x, y, unused;
};

inline constexpr int kResizeTileX = 128;  // pixels: 32 work-items of four
inline constexpr int kResizeTileY = 4;
inline constexpr int kWeightPad = 16;  // weights a (block x, quad): BY_PAD in the kernel
inline constexpr int kDictionaryEntry = 12;
/// Candidates that are read back with their count in one transfer.
inline constexpr std::size_t kFirstCapacity = 4096;

// Everything a level needs, for one frame size.
struct OpenClSlot::Impl {
  explicit Impl(const opencl::Context& context) : queue(context) {}

  opencl::Queue queue;
  PlannedFrame planned;
  std::size_t last = 0;  ///< one past the last stage submitted
  std::vector<DeviceLevel> levels;
  std::vector<DeviceOctave> octave_places;  ///< the frame at offset 0, then what it is halved to
  int widest_pitch = 0;
  std::size_t scores_count = 0;
  struct {
    std::int64_t octaves = 0, indices = 0, roots = 0, totals = 0, features = 0, scores = 0;
  } sizes;  ///< elements of each kind of data
  std::size_t tiles_resize = 0, tiles_filter = 0, tiles_histogram = 0, tiles_classify = 0;
  std::size_t rows_cells = 0, rows_blocks = 0, rows_windows = 0;
  std::size_t capacity = 0;

  opencl::Buffer level_buffer, octave_buffer, tables, resize_tiles, filter_tiles, histogram_tiles,
      classify_tiles, cell_rows, block_rows, window_rows;
  // The float method keeps responses in `response_map`, histograms in `roots`, and doubles in `scores`.
  opencl::Buffer octaves, indices, roots, totals, scores, products, energies, components, estimates, found;
  opencl::SharedBuffer images, response_map, features;
  opencl::StagingBuffer found_staging;
  opencl::FrameInput input;
  opencl::Kernel halve, resize, filter, histogram, normalise, classify, block_energies, keep_nearest,
      subtract_energies, project, estimate, candidates;
  std::vector<double> float_scores;  ///< on the host

  /// What passes from `stage` to the next one.
  opencl::SharedBuffer& product(std::size_t stage) {
    return stage == kPyramid ? images : stage == kFilter ? response_map : features;
  }
};

// Makes octaves 1, 2, ... out of octave 0, at most six a launch, and hands every launch's event to
// `launched`. `table` holds `places` on the device; offsets and strides are multiples of 64.
void enqueue_octaves(opencl::Queue& queue, opencl::Kernel& halve, const opencl::Buffer& octaves,
                     const opencl::Buffer& table, const std::vector<DeviceOctave>& places,
                     const std::function<void(opencl::Event)>& launched);

struct OpenClStages::Impl {
  const FilterbankDetector* detector;
  const opencl::Context* context;
  KernelTuning tuning;
  bool exact = true;  ///< false: the float method
  int bins = 0;       ///< of a cell, as in class Grid
  int patterns = 0;   ///< likewise
  opencl::Program gray, pyramid, filter, histogram, normalise, classify, candidates;  ///< the exact method's
  opencl::Program float_method;
  opencl::Buffer dictionary;
  std::vector<opencl::Buffer> weights;  ///< one a template
  std::vector<std::int32_t> energies;
  opencl::Buffer rejection_basis, rejection_weights;  ///< where windows are pre_rejected
  int raw_threshold = 0;
};

/// Geometry and work lists for a frame and partition, where they have changed.
void plan(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot, const FilterbankWorkspace& workspace);
/// The buffers that a stage needs, where they are not there yet.
void make_buffers(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot,
                  const FilterbankWorkspace& workspace, std::size_t stage);

void enqueue_stage(const OpenClStages::Impl& stages, OpenClSlot& slot, OpenClSlot::Impl& impl,
                   const PictureView& frame, std::size_t stage);
/// The candidates of a completed frame, into the workspace.
void read_candidates(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot,
                     FilterbankWorkspace& workspace);

/// The float method's part of what OpenClStages does, from the filter on.
namespace float_method {
void build(OpenClStages::Impl& stages, opencl::ProgramCache* cache);
void make_kernels(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot);
/// Filter, histogram, classify, and the read of the scores, whose event is the result.
opencl::Event enqueue(const OpenClStages::Impl& stages, OpenClSlot& slot, OpenClSlot::Impl& impl);
void complete(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot, FilterbankWorkspace& workspace);
void download(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot, FilterbankWorkspace& workspace);
}  // namespace float_method

}  // namespace sightline::filterbank
