#pragma once
/// Internal to this folder and to tests: a frame's device data, and the structures shared with the kernels.

#include <cstddef>
#include <vector>

#include "detectors/filterbank/detector.hpp"
#include "opencl/pyramids.hpp"
#include "opencl/work_list.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::filterbank {

// Mirrors `Level` in kernels/filterbank/common.clh.
struct DeviceLevel {
  cl_int width, height;
  cl_int image_offset, image_stride;
  cl_int response_map_offset, response_map_stride;
  cl_int cells_x, cells_y, pitch;
  cl_int roots_offset, totals_offset, features_offset, scores_offset;
  cl_int windows_x, windows_y;
  cl_int cell_columns_offset, cell_rows_offset;  // cells' edges in the responses, among the tables
  cl_int first_cell;  // start of the first cell in the level's image, pixels along both axes
};
static_assert(sizeof(DeviceLevel) == 18 * sizeof(cl_int));

// A window that may be reported, as kernels/filterbank/candidates.cl writes it.
struct DeviceCandidate {
  cl_int level, x, y;  // cells
  cl_int raw_score;
};

// A window that the network has looked at, as kernels/filterbank/network.cl writes it.
struct DeviceVerified {
  cl_int level, x, y;  // cells
  cl_int raw_score;
  // Sums of the network's heads, without their biases.
  cl_int logit_sum;
  cl_int box_sums[kBoxHeads];  // 0 if it has none
};
static_assert(sizeof(DeviceVerified) == 8 * sizeof(cl_int));

class OpenClStages;

/// The buffers of one frame in flight on one device.
class OpenClSlot : public OpenClSlotBase {
 public:
  explicit OpenClSlot(const OpenClStages& stages);

  // Geometry of all levels, for one frame size. Octaves lie where the luma lies, which is octave 0.
  std::vector<DeviceLevel> levels;
  int widest_pitch = 0;
  struct {
    std::int64_t roots = 0, totals = 0, features = 0, scores = 0;
  } sizes;  ///< elements of each kind of data
  opencl::OctavePyramid pyramid;
  opencl::Buffer level_buffer, tables;
  opencl::WorkList filter_tiles, histogram_tiles, classify_tiles;  ///< one a work-group
  opencl::WorkList cell_rows, block_rows, window_rows;             ///< one a row

  // Buffers between a stage's launches. The float method keeps histograms in `roots` and doubles in `scores`.
  opencl::Buffer indices, roots, totals, scores, products, energies, components, estimates;
  opencl::CandidateList<DeviceCandidate> found;
  opencl::CandidateList<DeviceCandidate> peaks;    ///< peaks of `found`; stays on the device
  opencl::CandidateList<DeviceVerified> verified;  ///< results for `peaks` or `found`
  opencl::Buffer network_scratch;

  opencl::Kernel filter, histogram, normalise, classify, block_energies, keep_nearest, subtract_energies,
      project, estimate, candidates, find_peaks, verify;
  std::vector<double> float_scores;  ///< copy on the host
};

}  // namespace sightline::filterbank
