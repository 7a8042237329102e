#pragma once
/// Internal to this folder: what a frame in flight has on a device, and the structures shared with the
/// kernels.

#include <cstddef>
#include <vector>

#include "detectors/waldboost/detector.hpp"
#include "opencl/integrals.hpp"
#include "opencl/pyramids.hpp"
#include "opencl/work_list.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::waldboost {

// Mirrors `WaldboostLevel` in kernels/waldboost/common.clh.
struct DeviceLevel {
  cl_int width, height;
  cl_int image_offset, image_stride;
  cl_int windows_x;
  cl_int planes_offset, planes_stride;
  cl_int last_row;
};
static_assert(sizeof(DeviceLevel) == 8 * sizeof(cl_int));

// Mirrors `Weak` there.
struct DeviceWeak {
  cl_int place, threshold;
};
static_assert(sizeof(DeviceWeak) == 8);

inline constexpr int kTileX = 64;         ///< windows
inline constexpr int kMostTileRows = 64;  ///< so that a window of a tile has a number of 16 bits
inline constexpr int kLine = 64;          ///< elements: where a level's planes and each one's rows begin
inline constexpr int kCodesGroup = 32;    ///< work-items of `codes` side by side, of four pixels each
inline constexpr int kCodesGroupRows = 4;

/// A window that passes all weak classifiers, as the kernels write it.
struct DeviceAccepted {
  cl_int level, x, y;  ///< pixels of the level
  cl_int sum;
};

class OpenClStages;

/// The buffers of one frame in flight on one device.
class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  /// Windows of the last frame that found no room in a progressive step's share; they were finished all the
  /// same.
  std::size_t excess() const { return found.source_length(2); }

  std::vector<DeviceLevel> levels;
  opencl::Buffer level_buffer;
  opencl::WorkList code_tiles, scan_tiles;
  opencl::Buffer kept[2];  ///< of the progressive steps in turn: slots, records as those of `late`
  std::int64_t plane_bytes = 0;
  opencl::Buffer planes;  ///< [level][row][plane][column]; with Haar features, a sheet of integrals
  /// Windows that `finish` is to finish; records of level and next weak classifier, x, y, and sum.
  opencl::AppendList late;
  opencl::CandidateList<DeviceAccepted> found;
  opencl::OctavePyramid pyramid;
  opencl::Integrals integral;  ///< Haar, in the place of `make_planes`
  opencl::Kernel make_planes, scan, finish;
  opencl::Kernel first_step, step;  ///< progressive, in the place of `scan`
};

}  // namespace sightline::waldboost
