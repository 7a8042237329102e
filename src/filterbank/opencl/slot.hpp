#pragma once
/// Internal to this folder and to tests: what a frame in flight has on a device, and the structures shared
/// with the kernels.

#include <cstddef>
#include <functional>
#include <vector>

#include "filterbank/detector.hpp"
#include "opencl/work_list.hpp"
#include "processing/opencl_stages.hpp"

namespace sightline::filterbank {

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

// Makes octaves 1, 2, ... out of octave 0, at most six a launch, and hands every launch's event to
// `launched`. `table` holds `places` on the device; offsets and strides are multiples of 64.
void enqueue_octaves(opencl::Queue& queue, opencl::Kernel& halve, const opencl::Buffer& octaves,
                     const opencl::Buffer& table, const std::vector<DeviceOctave>& places,
                     const std::function<void(opencl::Event)>& launched);

// A window that may be reported, as kernels/filterbank/candidates.cl writes it.
struct DeviceCandidate {
  cl_int level, x, y;  // cells
  cl_int raw_score;
};

inline constexpr int kResizeTileX = 128;  ///< pixels of a work-group of `resize`: 32 work-items of four
inline constexpr int kResizeTileY = 4;

class OpenClStages;

/// The buffers of one frame in flight on one device.
class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  // Geometry of all levels, for one frame size. Octaves lie where the luma lies, which is octave 0.
  std::vector<DeviceLevel> levels;
  std::vector<DeviceOctave> octave_places;  ///< the frame at offset 0, then what it is halved to
  int widest_pitch = 0;
  struct {
    std::int64_t octaves = 0, roots = 0, totals = 0, features = 0, scores = 0;
  } sizes;  ///< elements of each kind of data
  opencl::Buffer level_buffer, octave_buffer, tables;
  opencl::WorkList resize_tiles, filter_tiles, histogram_tiles, classify_tiles;  ///< one a work-group
  opencl::WorkList cell_rows, block_rows, window_rows;                           ///< one a row

  // What passes between a stage's launches. The float method keeps histograms in `roots` and doubles in
  // `scores`.
  opencl::Buffer indices, roots, totals, scores, products, energies, components, estimates;
  opencl::CandidateList<DeviceCandidate> found;

  opencl::Kernel halve, resize, filter, histogram, normalise, classify, block_energies, keep_nearest,
      subtract_energies, project, estimate, candidates;
  std::vector<double> float_scores;  ///< on the host
};

}  // namespace sightline::filterbank
