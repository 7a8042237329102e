#pragma once
/// Tuning parameters of the filter bank's kernels, and the best values for a device.

#include <string>

#include "opencl/tuning.hpp"
#include "processing/opencl/opencl_tuner.hpp"

namespace sightline::filterbank {

class FilterbankDetector;

/// Build options of the kernels for a device. No choice but `racy` changes the results.
struct KernelTuning {
  std::string filter = "local";      ///< plain, unrolled, vector, local
  int filter_width = 4;              ///< pixels a work-item along x: 1, 2, 4, 8, 16
  int filter_rows = 4;               ///< along y: 1..8
  int filter_group = 32;             ///< work-items along x
  int filter_group_rows = 4;         ///< work-items along y
  std::string histogram = "atomic";  ///< owner, atomic, racy (inexact)
  int histogram_cells = 32;          ///< cells a work-group: 16 or 32; fewer where local memory is short
  std::string normalise = "cells";   ///< blocks, cells
  int normalise_width = 1;           ///< blocks or cells a work-item: 1, 2, 4, 8, 16
  std::string classify = "vector";   ///< plain, unrolled, vector, local
  std::string dot = "auto";  ///< four products' sum: ptx, khr, float, integer; auto: the device's best
  int classify_width = 1;    ///< windows a work-item: 1, 2, 4, 8, 16; 1 with ptx and khr
  int classify_rows = 16;    ///< rows of windows a work-item
  int classify_group = 32;   ///< work-items along x
  std::string network_dot = "auto";  ///< see `dot`: ptx, khr, integer; auto: the device's best
  int network_pixels = 8;            ///< pixels a work-item: 4, 8
  int network_outputs = 4;           ///< output channels per pixel: 4, 8, 16
  int network_group = 128;           ///< work-items a window
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};
using KernelTable = opencl::SettingsTable<KernelTuning>;

/// The tuning table: parameters, defaults, and combinations for the tuner.
const KernelTable& tuning_table();

/// Key of the stored tuning results; models with the same number of filters share them.
std::string tuning_problem(int filters);
/// Stored tuning for a device, or else the default.
KernelTuning best_tuning(const opencl::DeviceInfo& device, int filters);

/// Tunes the kernels of a FilterbankDetector; see TuneFunction.
TuningOutcome tune(const FrameProcessor& detector, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options);

}  // namespace sightline::filterbank
