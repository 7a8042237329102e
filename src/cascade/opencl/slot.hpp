#pragma once
/// Internal to opencl_*.cpp of this folder: what slots and stages hold, and the structures shared with the
/// kernels.

#include <cstddef>
#include <string>
#include <vector>

#include "cascade/opencl/stages.hpp"
#include "opencl/data.hpp"
#include "opencl/frame_input.hpp"
#include "opencl/shared_buffer.hpp"
#include "processing/planned_frame.hpp"

namespace sightline::cascade {

using opencl::bytes_of;
using opencl::checked;
using opencl::define;
using opencl::upload;

// Mirrors `CascadeLevel` in kernels/cascade/common.clh.
struct DeviceLevel {
  cl_int width, height;
  cl_int image_offset, image_stride;
  cl_int origin, step;
  cl_int columns_offset, rows_offset;
  cl_int windows_x, windows_y;
  cl_int bits_offset, bits_stride;
  cl_int first_row, last_row;
  cl_int unused[2];
};
static_assert(sizeof(DeviceLevel) == 16 * sizeof(cl_int));

// Mirrors `Tile`; `end` is one past the last row of windows.
struct Tile {
  cl_int level, x, y, end;
};

inline constexpr int kTileX = 32;        ///< windows: a word of bits
inline constexpr int kResizeGroup = 32;  ///< work-items of four pixels
inline constexpr int kResizeRows = 4;
inline constexpr int kColumnGroup = 64;
inline constexpr int kFinishGroup = 64;
inline constexpr std::size_t kWindowBytes = 4 * sizeof(cl_int);     ///< a window in a list
inline constexpr std::size_t kCandidateBytes = 8 * sizeof(cl_int);  ///< a candidate in one
/// Windows that are read back with their number in one transfer, to begin with.
inline constexpr std::size_t kFirstRead = 1024;

/// A cascade as the kernels take it: arrays of the structures in kernels/cascade/scan.cl.
struct DeviceCascade {
  enum class Kind { haar, haar_rects, lbp };
  Kind kind = Kind::haar;
  bool fixed_point = true;  ///< sums are whole multiples of 2^-fraction_bits; else double
  int fraction_bits = 0;
  std::vector<cl_int> nodes;    ///< of step 1, then of step 2
  std::vector<cl_int> corners;  ///< Haar: pairs of offset and weight, likewise
  std::vector<cl_int> roots;
  std::vector<cl_long> stages;  ///< pairs of first tree and trees (a half each), and threshold
  std::vector<cl_long> leaves;  ///< fixed point, or the bits of doubles

  /// A stage's sum as the device gives it.
  double sum_of(cl_long bits) const;
};

/// The first stages for constant memory, see PackedNode in kernels/cascade/scan.cl.
struct PackedStages {
  int stages = 0;
  std::vector<std::byte> nodes;
  std::vector<cl_ushort> trees;  ///< pairs of first node and first leaf
};
PackedStages pack_stages(const Model& model);

/// The first stages of a Haar cascade as functions in OpenCL C, for integrals in local memory that lie as the
/// layout says: as many of `most` as have small trees and are not too much code. Cascades whose sums are not
/// exact have none.
struct UnrolledStages {
  int stages = 0;
  std::string source;  ///< defines unrolled_sum of kernels/cascade/scan.cl
};
UnrolledStages unroll_stages(const Model& model, const Layout& layout, int most);

/// Distances are in integrals that lie as the layout says; it may be that of a tile.
DeviceCascade pack_cascade(const Model& model, const Layout& layout);

struct OpenClSlot::Impl {
  explicit Impl(const opencl::Context& context) : queue(context) {}

  opencl::Queue queue;
  PlannedFrame planned;
  std::size_t last = 0;  ///< one past the last stage submitted
  std::vector<DeviceLevel> levels;
  std::size_t tiles_resize = 0, tiles_rows = 0, tiles_columns = 0, tiles_anti = 0, tiles_diagonal = 0,
              tiles_scan = 0;
  std::size_t bits_bytes = 0;
  std::size_t windows = 0;    ///< of the frame
  std::size_t capacity = 0;   ///< of the lists
  std::size_t read_back = 0;  ///< windows that come back with their number

  opencl::Buffer level_buffer, tables, resize_tiles, row_tiles, column_tiles, anti_tiles, diagonal_tiles,
      scan_tiles;
  opencl::Buffer nodes, corners;              ///< for `scan`
  opencl::Buffer frame_nodes, frame_corners;  ///< for `finish`: in integrals that lie as the frame's
  opencl::Buffer frame, anti, bits, found, visited, passed;
  opencl::SharedBuffer images, integrals;
  opencl::StagingBuffer list_staging;
  opencl::FrameInput input;
  opencl::Kernel resize, row_sums, column_sums, anti_diagonals, diagonals, scan, keep_visited, finish;

  cl_int frame_stride() const { return (planned.size().width + 63) / 64 * 64; }  ///< bytes
  opencl::SharedBuffer& product(std::size_t stage) { return stage == kPyramid ? images : integrals; }
};

struct OpenClStages::Impl {
  const CascadeDetector* detector = nullptr;
  const opencl::Context* context = nullptr;
  KernelTuning tuning;
  DeviceCascade::Kind kind = DeviceCascade::Kind::haar;
  bool tilted = false;
  int planes = 1;        ///< upright ones
  int row_items = 64;    ///< that make a row of integrals
  int row_pixels = 8;    ///< of a work-item at a time
  int local_stride = 0;  ///< elements of a tile's row, where tiled
  int local_rows = 0;
  opencl::Program gray, pyramid, integral, scan;
  opencl::Buffer stages, roots, leaves;
  opencl::Buffer packed_nodes, packed_trees;
  int packed_stages = 0;
  DeviceCascade cascade;  ///< without nodes and corners
};

/// The integrals of a work-group's windows, as if they were a level's of their own.
Layout layout_of_tile(const OpenClStages::Impl& stages);

/// Geometry and work lists for a frame and partition, where they have changed.
void plan(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot, const CascadeWorkspace& workspace);
/// The buffers that a stage needs, where they are not there yet.
void make_buffers(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot, CascadeWorkspace& workspace,
                  std::size_t stage);
/// Room for so many windows.
void make_lists(OpenClSlot::Impl& slot, std::size_t capacity);
void enqueue_stage(const OpenClStages::Impl& stages, OpenClSlot& slot, OpenClSlot::Impl& impl,
                   const CascadeWorkspace& workspace, std::size_t stage);
/// Enqueues the read of what `scan` or `finish` found, with its number.
opencl::Event read_list(OpenClSlot::Impl& slot, std::size_t stage);
/// What has been read, into the workspace; again with more room where it was too much.
void take_list(const OpenClStages::Impl& stages, OpenClSlot::Impl& slot, CascadeWorkspace& workspace,
               std::size_t stage);

}  // namespace sightline::cascade
