#pragma once
/// The filter-bank detector's stages on an OpenCL device; the kernels are under kernels/filterbank.
///
/// All pyramid levels lie one after the other in one buffer for each kind of data, and a stage is one launch
/// over all of them, so a frame costs about ten launches. Nothing waits for the host
/// between stages.
///
/// Arithmetic::floating_point runs the float method's kernels (float_method.cl), which no tuning touches.
/// They give the CPU's results bit for bit as well, provided that the CPU has fused multiply-add, and need
/// double precision on the device.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "filterbank/detector.hpp"
#include "opencl/context.hpp"
#include "opencl/program.hpp"
#include "opencl/program_cache.hpp"

namespace sightline::filterbank {

/// How the kernels are built for a device. Every choice gives the same results (but `racy`).
struct KernelTuning {
  std::string filter = "local";      ///< plain, unrolled, vector, local
  int filter_width = 4;              ///< pixels a work-item along x: 1, 2, 4, 8, 16
  int filter_rows = 4;               ///< along y: 1..8
  int filter_group = 32;             ///< work-items along x
  int filter_group_rows = 4;         ///< work-items along y
  std::string histogram = "atomic";  ///< owner, atomic, racy (inexact)
  int histogram_cells = 16;          ///< cells a work-group: 16 or 32
  std::string normalise = "blocks";  ///< blocks, cells
  int normalise_width = 2;           ///< blocks or cells a work-item: 1, 2, 4, 8, 16
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
class OpenClSlot {
 public:
  explicit OpenClSlot(const OpenClStages& stages);
  ~OpenClSlot();
  OpenClSlot(OpenClSlot&&) noexcept;

  /// What the launches of the last frame took on the device, by stage: upload, pyramid, filter, histogram,
  /// normalise, classify, candidates. Valid after `finish`.
  struct StageEvents {
    std::string name;
    opencl::Event first, last;
    /// From the start of the first launch to the end of the last.
    double seconds(const std::string& device) const;
  };
  const std::vector<StageEvents>& events() const;
  /// From the start of the upload to the end of the last kernel.
  double frame_seconds(const std::string& device) const;

  struct Impl;

 private:
  friend class OpenClStages;
  std::unique_ptr<Impl> impl_;
};

/// The kernels of one detector on one device. Thread-safety: slots are independent; one thread at a time a
/// slot.
class OpenClStages {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError.
  OpenClStages(const FilterbankDetector& detector, const opencl::Context& context,
               opencl::ProgramCache* cache, const KernelTuning& tuning);
  ~OpenClStages();

  /// Readies a slot for frames like the one that the workspace is prepared for.
  void prepare(OpenClSlot& slot, const FilterbankWorkspace& workspace) const;
  /// Copies the frame in and enqueues all stages up to `candidates`; returns at once.
  void enqueue(OpenClSlot& slot, const FilterbankWorkspace& workspace) const;
  /// Waits until the device is done with the frame.
  void wait(OpenClSlot& slot) const;
  /// Waits, and leaves the grouped detections in the workspace.
  void finish(OpenClSlot& slot, FilterbankWorkspace& workspace) const;

  /// Copies intermediate results of the last frame into the workspace's levels, for comparison with the CPU.
  void download(OpenClSlot& slot, FilterbankWorkspace& workspace) const;

  const KernelTuning& tuning() const;
  struct Impl;

 private:
  friend class OpenClSlot;
  std::unique_ptr<Impl> impl_;
};

/// A filter-bank detector whose stages run on an OpenCL device. When the device fails, the frame is done
/// again on the CPU, and so are all that follow; the log says so once.
class OpenClFilterbankDetector : public Detector {
 public:
  OpenClFilterbankDetector(std::unique_ptr<FilterbankDetector> cpu, const opencl::ChosenDevice& device,
                           const KernelTuning& tuning);
  ~OpenClFilterbankDetector() override;

  const DetectorInfo& info() const override { return cpu_->info(); }
  std::span<const StageInfo> stages() const override { return cpu_->stages(); }
  std::unique_ptr<Workspace> make_workspace() const override;
  bool prepare(Workspace& workspace, GrayView frame) const override;
  void run_stage(std::size_t stage, Workspace& workspace) const override;
  std::optional<double> busy_seconds(const Workspace& workspace, std::size_t stage) const override;
  std::vector<Detection> take_detections(Workspace& workspace) const override;

  const FilterbankDetector& cpu() const { return *cpu_; }

 private:
  struct DeviceWorkspace;
  void take_out(const std::exception& error) const;
  std::size_t stage_of(const std::string& launches) const;

  std::unique_ptr<FilterbankDetector> cpu_;
  std::unique_ptr<opencl::Context> context_;
  std::unique_ptr<opencl::ProgramCache> cache_;
  std::unique_ptr<OpenClStages> stages_;
  mutable std::atomic<bool> device_lost_{false};
};

}  // namespace sightline::filterbank
