// Kernels of a census detector on a device: building them, what of the model they read, and the scan.
#include "detectors/census/opencl/stages.hpp"

#include <algorithm>

#include "opencl/data.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::census {
namespace {

using opencl::define;

constexpr int kLine = 32;  // LINE of kernels/census/common.clh

// Mirrors `Stage` in kernels/census/common.clh.
struct DeviceStage {
  cl_int begin, end, limit, padding;
};
static_assert(sizeof(DeviceStage) == 4 * sizeof(cl_int));

// Mirrors `Weak` there.
struct DeviceWeak {
  cl_int place, weight;
};
static_assert(sizeof(DeviceWeak) == 2 * sizeof(cl_int));

}  // namespace

OpenClStages::OpenClStages(const CensusDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : PixelWindowStages(detector, context, cache), detector_(&detector), tuning_(tuning) {
  layout_ = {.line = kLine,
             .element_bytes = sizeof(cl_ushort),
             .interleaved = detector.packed().most_cell(),
             .rows_below = kCensusSide - 1};
  settle();
  build();
  upload_model();
}

void OpenClStages::settle() {
  PixelWindowStages::settle(tuning_, kKernelVariants);
  tuning_.early_stages = std::max(tuning_.early_stages, 1);
  fit_tile(tuning_, 2 * sizeof(cl_ushort), 3 * sizeof(cl_int));
}

void OpenClStages::build() {
  const std::string planes = define("PLANES", layout_.interleaved);
  codes_ = program("census/codes.cl", planes + codes_options());
  scan_ = program("census/scan.cl", planes + scan_options());
  finish_ = program("census/finish.cl", planes + define("FINISH_GROUP", tuning_.finish_group));
}

void OpenClStages::upload_model() {
  const Model& model = detector_->model();
  std::vector<DeviceWeak> weak;
  std::vector<std::uint8_t> sets;
  for (const WeakClassifier& w : model.weak) {
    weak.push_back({w.y << 8 | (w.x * layout_.interleaved + w.cell - 1), w.weight});
    sets.insert(sets.end(), w.codes.begin(), w.codes.end());  // devices are little-endian: words of 32 bits
  }
  std::vector<DeviceStage> stages;
  for (int s = 0; s < static_cast<int>(model.stages.size()); ++s) {
    const Stage& stage = model.stages[static_cast<std::size_t>(s)];
    stages.push_back({model.first_weak(s), stage.end, detector_->packed().limit(s), 0});
  }
  std::vector<cl_int> views{0}, thresholds;
  for (const View& view : model.views) {
    views.push_back(view.end);
    thresholds.push_back(model.stages[static_cast<std::size_t>(view.end) - 1].threshold);
  }
  opencl::Queue queue(context());
  upload(queue, weak_, weak);
  upload(queue, sets_, sets);
  upload(queue, stages_, stages);
  upload(queue, views_, views);
  upload(queue, thresholds_, thresholds);
}

void OpenClStages::enqueue_scan(OpenClSlot& slot, const PixelWindowWorkspace& workspace) const {
  const int wanted = static_cast<const CensusWorkspace&>(workspace).early_stages;
  const cl_int early = wanted > 0 ? wanted : tuning_.early_stages;
  const auto level_count = static_cast<cl_int>(slot.levels.size());
  slot.finish.arguments(slot.planes, slot.level_buffer, level_count, weak_, sets_, stages_, views_,
                        thresholds_, early, slot.late.capacity(), slot.late.buffer(), slot.found.buffer());
  slot.scan.arguments(slot.planes, slot.level_buffer, level_count, slot.scan_tiles.buffer(), weak_, sets_,
                      stages_, views_, static_cast<cl_int>(detector_->model().views.size()), early,
                      slot.late.capacity(), slot.late.buffer());
  slot.launch(slot.scan, opencl::groups(slot.scan_tiles.size(), static_cast<std::size_t>(tuning_.group)));
}

std::unique_ptr<DeviceStages> CensusDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  const KernelTuning tuning =
      kernels().empty() ? best_tuning(opened->device(), model_) : variant_tuning(kernels(), opened->device());
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened, tuning);
}

}  // namespace sightline::census
