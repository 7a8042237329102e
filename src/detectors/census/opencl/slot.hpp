#pragma once
/// Internal to this folder: what a frame in flight has on a device, and the structures shared with the
/// kernels.

#include <cstddef>
#include <vector>

#include "detectors/census/detector.hpp"
#include "opencl/pyramids.hpp"
#include "opencl/work_list.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::census {

// Mirrors `CensusLevel` in kernels/census/common.clh.
struct DeviceLevel {
  cl_int width, height;
  cl_int image_offset, image_stride;
  cl_int windows_x;
  cl_int codes_offset, codes_stride;
  cl_int padding;
};
static_assert(sizeof(DeviceLevel) == 8 * sizeof(cl_int));

// Mirrors `Stage` there.
struct DeviceStage {
  cl_int begin, end, limit, padding;
};
static_assert(sizeof(DeviceStage) == 4 * sizeof(cl_int));

// Mirrors `Weak` there.
struct DeviceWeak {
  cl_int place, weight;
};
static_assert(sizeof(DeviceWeak) == 2 * sizeof(cl_int));

inline constexpr int kTileX = 64;         ///< windows
inline constexpr int kMostTileRows = 64;  ///< so that a window of a tile has a number of 16 bits
inline constexpr int kLine = 32;  ///< codes of two bytes: where a level's codes and each of its rows begin
inline constexpr int kCodesGroup = 32;  ///< work-items of `codes` side by side, of four pixels each
inline constexpr int kCodesGroupRows = 4;

/// A window that passes all stages, as the kernels write it.
struct DeviceAccepted {
  cl_int level;  ///< and view, as a candidate's
  cl_int x, y;   ///< pixels of the level
  cl_int margin;
};

class OpenClStages;

/// The buffers of one frame in flight on one device.
class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  std::vector<DeviceLevel> levels;
  opencl::Buffer level_buffer;
  opencl::WorkList code_tiles, scan_tiles;
  std::int64_t code_bytes = 0;
  opencl::Buffer codes;     ///< [level][y][x][plane], two bytes each
  opencl::AppendList late;  ///< windows that the scan leaves; records as those of `found`, without a margin
  opencl::CandidateList<DeviceAccepted> found;
  opencl::OctavePyramid pyramid;
  opencl::Kernel make_codes, scan, finish;
};

}  // namespace sightline::census
