// Kernels of a census detector on a device: building them, and what of the model they read.
#include "detectors/census/opencl/stages.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "opencl/data.hpp"

namespace sightline::census {
namespace {

using opencl::define;
using opencl::define_variant;

constexpr std::size_t kFirstRead = 1024;  // windows that are read back with their number, to begin with

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages)
    : OpenClSlotBase(stages),
      late(sizeof(DeviceAccepted), static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      found(static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      pyramid(stages.pyramid_),
      make_codes(stages.codes_, "codes"),
      scan(stages.scan_, "scan"),
      finish(stages.finish_, "finish") {
  has_list(found, kCandidates);
  has_list(late);
}

OpenClStages::OpenClStages(const CensusDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : OpenClStagesOf(detector, context, cache, {kPyramid, kScan}), detector_(&detector), tuning_(tuning) {
  buffer(kImages, &CensusWorkspace::images);
  list(kCandidates);
  settle();
  pyramid_ = opencl::OctavePyramid::build(context, cache);
  build();
  upload_model();
}

// Replaces what the variant or the device leave no choice in.
void OpenClStages::settle() {
  KernelTuning& t = tuning_;
  if (std::ranges::find(kKernelVariants, t.scan) == kKernelVariants.end())
    throw Error(ExitCode::usage, "there is no scan '" + t.scan + "'", "there are naive and queue");
  const opencl::DeviceInfo& device = context().device();
  const auto most = static_cast<int>(std::clamp<std::uint64_t>(device.largest_work_group, 1, 1024));
  t.group = std::clamp(t.group, 1, most);
  t.finish_group =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(t.finish_group, 1, most))));
  t.tile_rows = std::clamp(t.tile_rows, 1, kMostTileRows);
  t.early_stages = std::max(t.early_stages, 1);
  t.code_rows = std::max(t.code_rows, 1);
  t.first_capacity = std::max(t.first_capacity, 1);
  const auto local_bytes = [&] {
    return static_cast<std::size_t>(t.tile_rows) * kTileX * 2 * sizeof(cl_ushort) + 3 * sizeof(cl_int);
  };
  while (local_bytes() > device.local_memory_bytes && t.tile_rows > 1) t.tile_rows /= 2;
}

void OpenClStages::build() {
  const KernelTuning& t = tuning_;
  const std::string planes = define("PLANES", detector_->packed().most_cell());
  codes_ = program("census/codes.cl", planes + define("ROWS", t.code_rows) + define("GROUP", kCodesGroup) +
                                          define("GROUP_ROWS", kCodesGroupRows));
  scan_ = program("census/scan.cl", planes + define("TILE_X", kTileX) + define("TILE_Y", t.tile_rows) +
                                        define("GROUP", t.group) + define_variant("VARIANT", t.scan));
  finish_ = program("census/finish.cl", planes + define("FINISH_GROUP", t.finish_group));
}

void OpenClStages::upload_model() {
  const Model& model = detector_->model();
  const int planes = detector_->packed().most_cell();
  std::vector<DeviceWeak> weak;
  std::vector<std::uint8_t> sets;
  for (const WeakClassifier& w : model.weak) {
    weak.push_back({w.y << 8 | (w.x * planes + w.cell - 1), w.weight});
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

std::vector<std::uint16_t> OpenClStages::read_codes(OpenClSlot& slot) const {
  std::vector<std::uint16_t> codes(static_cast<std::size_t>(slot.code_bytes) / sizeof(std::uint16_t));
  slot.queue.wait(slot.queue.read(slot.codes, codes.data(), codes.size() * sizeof(std::uint16_t)));
  return codes;
}

std::size_t OpenClStages::code_at(const OpenClSlot& slot, std::size_t level, int x, int y, int cell) const {
  const DeviceLevel& d = slot.levels[level];
  return static_cast<std::size_t>(std::int64_t{d.codes_offset} * kLine + std::int64_t{y} * d.codes_stride +
                                  x * detector_->packed().most_cell() + cell - 1);
}

}  // namespace sightline::census
