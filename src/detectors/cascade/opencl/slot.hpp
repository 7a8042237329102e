#pragma once
/// Internal to this folder: a frame's device data, and the structures shared with the kernels.

#include <cstddef>
#include <vector>

#include "detectors/cascade/detector.hpp"
#include "opencl/integrals.hpp"
#include "opencl/pyramids.hpp"
#include "opencl/work_list.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::cascade {

// Mirrors `CascadeLevel` in kernels/cascade/common.clh.
struct DeviceLevel {
  cl_int origin, step;
  cl_int windows_x, windows_y;
  cl_int bits_offset, bits_stride;
  cl_int last_row;
  cl_int unused;
};
static_assert(sizeof(DeviceLevel) == 8 * sizeof(cl_int));

inline constexpr int kTileX = 32;  ///< windows: a word of bits
inline constexpr int kFinishGroup = 64;
/// Variant `reduced`: rows of windows per work-group, and work-items per row.
inline constexpr int kReducedRows = 8, kReducedItems = 8;

/// A window that is left, as `scan` and `keep_visited` of kernels/cascade write it.
struct DeviceSurvivor {
  cl_int level, x, y;  ///< pixels of the level
  cl_int unused;
};
/// A window that has passed all stages, as `finish` writes it.
struct DevicePassed {
  cl_int level, x, y;
  cl_int unused;
  cl_long sum;  ///< sum of the last stage, see DeviceCascade::sum_of
  cl_long unused_too;
};

class OpenClStages;

/// The buffers of one frame in flight on one device.
class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  std::vector<DeviceLevel> levels;
  opencl::Buffer level_buffer;
  opencl::WorkList scan_tiles;
  std::size_t reduced_groups = 0;             ///< work-groups of `scan` in variant reduced
  opencl::Buffer nodes, corners;              ///< for `scan`
  opencl::Buffer frame_nodes, frame_corners;  ///< for `finish`, with the frame's layout of integrals
  std::int64_t bits_bytes = 0;
  opencl::Buffer bits;  ///< a bit a window, whether the first stage rejects it
  /// Windows that pass the early stages; of these, the ones that are not skipped; of these, the ones that
  /// pass all.
  opencl::CandidateList<DeviceSurvivor> found, visited;
  opencl::CandidateList<DevicePassed> passed;
  opencl::ResampledPyramid pyramid;
  opencl::Integrals integral;
  opencl::Kernel scan, keep_visited, finish;
};

}  // namespace sightline::cascade
