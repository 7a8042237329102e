#pragma once
/// Pattern counting on an OpenCL device, with the kernels in kernels/texture. Each operator has its own
/// program, in which its points are constants. Counts are integers, so they equal the CPU's in any order.

#include <memory>
#include <vector>

#include "processing/opencl/opencl_stages.hpp"
#include "texture/opencl/tuning.hpp"
#include "texture/processor.hpp"

namespace sightline::texture {

class TextureStages;

/// The kernels and buffers of one frame in flight on one device.
class TextureSlot : public OpenClSlotBase {
 public:
  explicit TextureSlot(const TextureStages& stages);

  struct Operator {
    opencl::Kernel count, reduce, cells, contrasts;
  };
  opencl::Kernel reading;  ///< reads the frame, for measurements
  std::vector<Operator> operators;
  opencl::Buffer partial;  ///< uint32 [group][bin], of variant mapreduce
};

/// Stage `count` on one device. Spans have the names upload, count, cells, contrasts, download.
class TextureStages : public OpenClStagesOf<TextureWorkspace, TextureSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError,
  /// and Error (usage) for variants that do not exist.
  TextureStages(const TextureProcessor& processor, const opencl::Context& context,
                opencl::ProgramCache* cache, const KernelTuning& tuning);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<TextureSlot>(*this); }

  /// The requested tuning, adapted to the device.
  const KernelTuning& tuning() const { return tuning_; }

  /// Seconds of a kernel that only reads the frame of the slot's last `run`: the bound of the device's
  /// memory. Waits. Throws DeviceError.
  double seconds_to_read(TextureSlot& slot, const TextureWorkspace& workspace) const;

 private:
  friend class TextureSlot;

  void settle();
  void build();
  std::size_t work_groups() const;
  int counted_bins(std::size_t index) const;
  void make_scratch(TextureSlot& slot, const TextureWorkspace& workspace, std::size_t stage) const override;
  void enqueue(TextureSlot& slot, const TextureWorkspace& workspace, std::size_t stage) const override;
  void enqueue_operator(TextureSlot& slot, const TextureWorkspace& workspace, std::size_t index) const;

  const TextureProcessor* texture_;
  KernelTuning tuning_;
  std::vector<opencl::Program> programs_;  ///< programs by operator
  std::vector<opencl::Buffer> maps_;       ///< likewise: ushort [code], or nothing
};

}  // namespace sightline::texture
