#pragma once
/// The filter-bank detector's stages on an OpenCL device; the kernels are under kernels/filterbank.
///
/// All pyramid levels lie one after the other in one buffer for each kind of data, and a stage is one launch
/// over all of them, so a frame costs about ten launches. Nothing waits for the host
/// between stages. What a stage reads comes from the stage before where that ran on the device too, else from
/// the workspace (layout.hpp), and the same holds for what it writes.
///
/// Arithmetic::floating_point runs the float method's kernels (float_method.cl), which no tuning touches.
/// They give the CPU's results bit for bit as well, provided that the CPU has fused multiply-add, and need
/// double precision on the device.

#include <memory>
#include <string>
#include <vector>

#include "filterbank/detector.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"
#include "processing/device_stages.hpp"

namespace sightline::filterbank {

/// How the kernels are built for a device. Every choice gives the same results (but `racy`).
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
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};

/// What works well on devices of this kind without having been tuned.
KernelTuning default_tuning(const opencl::DeviceInfo& device);

class OpenClStages;

/// The buffers of one frame in flight on one device.
class OpenClSlot : public DeviceSlot {
 public:
  explicit OpenClSlot(const OpenClStages& stages);
  ~OpenClSlot() override;

  struct Impl;

 private:
  friend class OpenClStages;
  std::unique_ptr<Impl> impl_;
};

/// The kernels of one detector on one device: stages pyramid to classify. Spans have the names upload,
/// pyramid, filter, histogram and normalise (both of stage histogram), classify and candidates (both of stage
/// classify), download.
class OpenClStages : public DeviceStages {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError.
  OpenClStages(const FilterbankDetector& detector, const opencl::Context& context,
               opencl::ProgramCache* cache, const KernelTuning& tuning);
  ~OpenClStages() override;

  const opencl::Context& context() const override;
  StageSet supported() const override;
  void check(const StageSet& on_device) const override;
  std::unique_ptr<DeviceSlot> make_slot() const override;
  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override;
  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override;
  void complete(DeviceSlot& slot, Workspace& workspace) const override;

  /// All stages of the frame that the workspace is prepared for, one after the other, up to the grouped
  /// detections: what tests and the tuner need.
  void run(OpenClSlot& slot, FilterbankWorkspace& workspace) const;
  /// Copies intermediate results of the last frame into the workspace's levels, for comparison with the CPU.
  void download(OpenClSlot& slot, FilterbankWorkspace& workspace) const;

  /// As asked for, or changed to what the device allows.
  const KernelTuning& tuning() const;
  struct Impl;

 private:
  friend class OpenClSlot;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::filterbank
