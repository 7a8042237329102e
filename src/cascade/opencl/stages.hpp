#pragma once
/// The cascade detector's stages on an OpenCL device; the kernels are under kernels/cascade.
///
/// A stage is one launch over all levels, or a few; images and integrals lie as on the CPU (layout.hpp), and
/// windows get the same result there, to the last bit.
///
/// A stage's trees add up in 64-bit fixed point where that is exact, which it is for all of OpenCV's
/// cascades: then neither the order of the sum nor the device's double precision matters. Other cascades
/// need doubles, and so do all windows of a Haar cascade for their norm.
///
/// `scan` is the device's where `finish` is: what it leaves does not come back in between.

#include <memory>
#include <string>
#include <string_view>

#include "cascade/detector.hpp"
#include "opencl/context.hpp"
#include "opencl/program_cache.hpp"
#include "processing/device_stages.hpp"

namespace sightline::cascade {

/// How the kernels are built for a device. Every choice gives the same results.
struct KernelTuning {
  /// naive: a work-item runs a window through all stages. compacted: after the first ones, what is left of a
  /// work-group's windows goes through queues in local memory and is shared out among its work-items anew.
  std::string scan = "compacted";
  /// Integrals of a work-group's windows are copied into local memory first; where they do not fit, they stay
  /// where they are.
  bool tiled = false;
  /// `scan` takes the cascade from constant memory: as many of the first stages as are small enough and fit.
  bool packed = false;
  /// compacted and tiled, Haar: so many of the first stages are code of their own, with the cascade's numbers
  /// in it, and what each leaves of a tile's windows waits for the next one column by column. Later stages,
  /// and those whose trees have many nodes, go through the other queue. 0: none.
  int unrolled = 0;
  int tile_rows = 32;          ///< of 32 windows each, that a work-group has; naive: 8 at most
  int group = 256;             ///< work-items of a work-group; naive: one a window
  int first_stages = 1;        ///< compacted, none unrolled: stages before the first queue
  int first_capacity = 16384;  ///< windows that a list has room for until it proves too short
  friend bool operator==(const KernelTuning&, const KernelTuning&) = default;
};

/// What works well on devices of this kind, for cascades of this one.
KernelTuning default_tuning(const opencl::DeviceInfo& device, FeatureKind kind);

/// The best for these of a form, one of kKernelVariants.
KernelTuning variant_tuning(std::string_view form, const opencl::DeviceInfo& device, FeatureKind kind);

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

/// The kernels of one detector on one device: stages pyramid to finish. Spans have the names upload, pyramid,
/// integral, scan, finish, download.
class OpenClStages : public DeviceStages {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (model) where the cascade needs what the device has not.
  OpenClStages(const CascadeDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
               const KernelTuning& tuning);
  ~OpenClStages() override;

  const opencl::Context& context() const override;
  StageSet supported() const override;
  void check(const StageSet& on_device) const override;
  std::unique_ptr<DeviceSlot> make_slot() const override;
  void prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const override;
  void submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const override;
  void complete(DeviceSlot& slot, Workspace& workspace) const override;

  /// Stages [first, last) of the frame that the workspace is prepared for, and waits: what tests and
  /// benchmarks need. The others run on the CPU, before and after.
  void run(OpenClSlot& slot, CascadeWorkspace& workspace, std::size_t first, std::size_t last) const;

  /// As asked for, or changed to what the device allows.
  const KernelTuning& tuning() const;
  struct Impl;

 private:
  friend class OpenClSlot;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sightline::cascade
