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
/// `finish` is the device's only where `scan` is: survivors do not go there.

#include <memory>

#include "detectors/cascade/opencl/device_cascade.hpp"
#include "detectors/cascade/opencl/slot.hpp"
#include "detectors/cascade/opencl/tuning.hpp"

namespace sightline::cascade {

/// The kernels of one detector on one device: stages pyramid to finish. Spans have the names upload, pyramid,
/// integral, scan, finish, download.
class OpenClStages : public OpenClStagesOf<CascadeWorkspace, OpenClSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (model) if the device lacks a feature that the cascade needs.
  OpenClStages(const CascadeDetector& detector, const opencl::Context& context, opencl::ProgramCache* cache,
               const KernelTuning& tuning);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<OpenClSlot>(*this); }

  /// The requested tuning, adapted to the device.
  const KernelTuning& tuning() const { return tuning_; }

 private:
  friend class OpenClSlot;

  // stages.cpp
  void settle();
  void measure_tile();
  std::size_t local_bytes() const;
  std::string cascade_options() const;
  std::string scan_options() const;
  /// Planes of integrals that a tile has in local memory: sums, and tilted sums where there are any.
  int local_planes() const { return contents_.planes > Layout::kTilted ? 2 : 1; }
  /// The integrals of a work-group's windows, as if they were a level's of their own.
  Layout layout_of_tile() const;
  // prepare.cpp
  void plan_geometry(OpenClSlot& slot, const CascadeWorkspace& workspace) const override;
  void plan_work(OpenClSlot& slot, const CascadeWorkspace& workspace) const override;
  void make_scratch(OpenClSlot& slot, const CascadeWorkspace& workspace, std::size_t stage) const override;
  // enqueue.cpp
  void enqueue(OpenClSlot& slot, const CascadeWorkspace& workspace, std::size_t stage) const override;
  void take(OpenClSlot& slot, CascadeWorkspace& workspace, std::size_t resource) const override;
  void enqueue_pyramid(OpenClSlot& slot) const;
  void enqueue_integral(OpenClSlot& slot) const;
  void enqueue_scan(OpenClSlot& slot, const CascadeWorkspace& workspace) const;
  void enqueue_finish(OpenClSlot& slot, const CascadeWorkspace& workspace) const;

  const CascadeDetector* detector_;
  KernelTuning tuning_;
  SheetContents contents_;  ///< contents of the integrals
  int local_stride_ = 0;    ///< elements of a tile's row, where tiled
  int local_rows_ = 0;
  opencl::Program pyramid_, scan_, finish_;
  opencl::IntegralProgram integral_;
  DeviceCascade cascade_;  ///< without nodes and corners, which depend on a frame's layout
  opencl::Buffer stages_, roots_, leaves_;
  opencl::Buffer packed_nodes_, packed_trees_;
  int packed_stages_ = 0;
};

}  // namespace sightline::cascade
