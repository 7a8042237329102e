#pragma once
/// Points, describe and identify on an OpenCL device.

#include <memory>
#include <mutex>

#include "faces/landmarks/opencl/finder.hpp"
#include "faces/recognition/identification.hpp"
#include "faces/recognition/opencl/describer.hpp"
#include "faces/recognition/opencl/search.hpp"
#include "processing/opencl/opencl_stages.hpp"

namespace sightline::recognition {

class FaceStages;

/// One frame in flight on one device.
class FaceSlot : public OpenClSlotBase {
 public:
  explicit FaceSlot(const FaceStages& stages);

  landmarks::DeviceFinder points;
  DescribedFaces described;
  DeviceSearch search;
  std::shared_ptr<const DeviceTemplates> templates;  ///< templates of this frame's people
  opencl::Event found;                               ///< when the search is done; empty: there was none
};

/// Thread-safety: as DeviceStages.
class FaceStages : public OpenClStagesOf<FaceWorkspace, FaceSlot> {
 public:
  /// Builds the kernels. Everything passed must outlive the object; `cache` may be null. Throws DeviceError.
  FaceStages(const FaceIdentification& identification, const opencl::Context& context,
             opencl::ProgramCache* cache);

  std::unique_ptr<DeviceSlot> make_slot() const override { return std::make_unique<FaceSlot>(*this); }

 private:
  friend class FaceSlot;

  void enqueue(FaceSlot& slot, const FaceWorkspace& workspace, std::size_t stage) const override;
  opencl::Event read(FaceSlot& slot, std::size_t resource) const override;
  void take(FaceSlot& slot, FaceWorkspace& workspace, std::size_t resource) const override;
  std::shared_ptr<const DeviceTemplates> templates_of(FaceSlot& slot, const FaceWorkspace& workspace) const;

  const Recogniser* recogniser_;
  landmarks::DeviceModel points_;
  OpenClDescriber describer_;
  SearchProgram search_;
  /// People of the last search; they change with the gallery.
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const KnownPeople> people_;
  mutable std::shared_ptr<const DeviceTemplates> templates_;
};

}  // namespace sightline::recognition
