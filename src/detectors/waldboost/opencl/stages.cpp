// Kernels of a WaldBoost detector on a device: building them, and what of the model they read.
#include "detectors/waldboost/opencl/stages.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "opencl/data.hpp"

namespace sightline::waldboost {
namespace {

using opencl::define;
using opencl::define_variant;

constexpr std::size_t kFirstRead = 1024;  // windows that are read back with their number, to begin with

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages)
    : OpenClSlotBase(stages),
      late(sizeof(DeviceAccepted), static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      found(static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      pyramid(stages.pyramid_) {
  has_list(found, kCandidates);
  if (stages.is_haar()) {
    integral = opencl::Integrals(stages.integral_);
  } else {
    make_planes = opencl::Kernel(stages.planes_program_, stages.makes_codes() ? "codes" : "sums");
  }
  if (stages.is_progressive()) {
    first_step = opencl::Kernel(stages.first_step_, "run_step");
    step = opencl::Kernel(stages.step_, "run_step");
  } else {
    scan = opencl::Kernel(stages.scan_, "scan");
  }
  if (stages.is_naive()) return;
  has_list(late);
  finish = opencl::Kernel(stages.finish_, "finish");
}

OpenClStages::OpenClStages(const WaldboostDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : OpenClStagesOf(detector, context, cache, {kPyramid, kScan}), detector_(&detector), tuning_(tuning) {
  buffer(kImages, &WaldboostWorkspace::images);
  list(kCandidates);
  settle();
  plan_planes();
  ends_ = phase_ends(detector.model(), tuning_.keep, tuning_.late);
  steps_ = tuning_.steps;
  if (steps_.empty()) steps_ = progressive_steps(detector.model(), usual_shares(tuning_.repeats));
  pyramid_ = opencl::OctavePyramid::build(context, cache);
  if (is_haar()) integral_ = opencl::IntegralProgram(context, SheetContents(), cache);
  build();
  upload_model();
}

// Replaces what the variant or the device leave no choice in.
void OpenClStages::settle() {
  KernelTuning& t = tuning_;
  if (std::ranges::find(kKernelVariants, t.scan) == kKernelVariants.end()) {
    throw Error(ExitCode::usage, "there is no scan '" + t.scan + "'",
                "there are naive, progressive and queue");
  }
  const opencl::DeviceInfo& device = context().device();
  const auto most = static_cast<int>(std::clamp<std::uint64_t>(device.largest_work_group, 1, 1024));
  t.group = std::clamp(t.group, 1, most);
  t.finish_group =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp(t.finish_group, 1, most))));
  t.tile_rows = std::clamp(t.tile_rows, 1, kMostTileRows);
  if (is_naive()) t.tile_rows = std::max(t.group / kTileX, 1);  // a window a work-item
  if (is_progressive()) t.group = std::min(kStepGroup, most);
  t.repeats = std::max(t.repeats, 0);
  t.code_rows = std::max(t.code_rows, 1);
  t.at_once = std::max(t.at_once, 1);
  t.first_capacity = std::max(t.first_capacity, 1);
  const auto local_bytes = [&] {
    return static_cast<std::size_t>(t.tile_rows) * kTileX * 2 * (sizeof(cl_ushort) + sizeof(cl_int)) +
           kCodes / 8 + 4 * sizeof(cl_int);
  };
  while (local_bytes() > device.local_memory_bytes && t.tile_rows > 1) t.tile_rows /= 2;
}

void OpenClStages::plan_planes() {
  const PackedModel packed(detector_->model());
  for (int plane = 0; plane < PackedModel::kPlanes; ++plane)
    place_of_[plane] = packed.uses_plane(plane) ? planes_++ : -1;
  planes_ = std::max(planes_, 1);  // the integrals
}

void OpenClStages::build() {
  const KernelTuning& t = tuning_;
  constexpr const char* kNames[PackedModel::kPlanes] = {"PLANE_11", "PLANE_21", "PLANE_12", "PLANE_22"};
  const FeatureKind kind = detector_->model().kind;
  const std::string planes = define_variant("FEATURES", to_string(kind)) + define("PLANES", planes_);
  std::string own = planes + define("ROWS", t.code_rows) + define("GROUP", kCodesGroup) +
                    define("GROUP_ROWS", kCodesGroupRows);
  for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
    if (place_of_[plane] >= 0) own += define(kNames[plane], place_of_[plane]);
  }
  if (!is_haar()) planes_program_ = program(makes_codes() ? "waldboost/codes.cl" : "waldboost/sums.cl", own);
  const std::string group = planes + define("GROUP", t.group);
  if (is_progressive()) {
    first_step_ =
        program("waldboost/progressive.cl", group + define("TILE_X", step_columns()) + " -DFROM_TILES");
    step_ = program("waldboost/progressive.cl", group);
  } else {
    scan_ =
        program("waldboost/scan.cl", group + define("TILE_X", kTileX) + define("TILE_Y", t.tile_rows) +
                                         define("AT_ONCE", t.at_once) + define_variant("VARIANT", t.scan));
  }
  if (!is_naive()) finish_ = program("waldboost/finish.cl", planes + define("FINISH_GROUP", t.finish_group));
}

void OpenClStages::upload_model() {
  const Model& model = detector_->model();
  std::vector<DeviceWeak> weak;
  for (int t = 0; t < model.size(); ++t) {
    const auto i = static_cast<std::size_t>(t);
    weak.push_back({place_of(model.features[i]), model.thresholds[i]});
  }
  std::vector<cl_uint> first(kCodes / 32, 0);
  const PackedModel packed(model);
  for (int code = 0; code < kCodes; ++code) {
    const cl_uint passes = packed.first_passes()[static_cast<std::size_t>(code) / 8] >> code % 8 & 1;
    first[static_cast<std::size_t>(code) / 32] |= passes << code % 32;
  }
  opencl::Queue queue(context());
  upload(queue, weak_, weak);
  upload(queue, responses_, model.responses);
  upload(queue, first_passes_, first);
  upload(queue, phase_ends_, ends_);
}

// As code_at in kernels/waldboost/common.clh takes it.
cl_int OpenClStages::place_of(const Feature& f) const {
  if (is_haar()) return f.x | f.y << 6 | f.block_width << 12 | f.block_height << 19 | f.first << 26;
  const int row = f.y * planes_ + place_of_[PackedModel::plane_of(f)];
  if (makes_codes()) return f.x | row << 8;
  return f.x | row << 8 | f.first << 17 | f.second << 21 | (f.block_width - 1) << 25 |
         (f.block_height - 1) << 26;
}

std::vector<std::uint8_t> OpenClStages::read_codes(OpenClSlot& slot) const {
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(slot.plane_bytes));
  slot.queue.wait(slot.queue.read(slot.planes, codes.data(), codes.size()));
  return codes;
}

std::size_t OpenClStages::code_at(const OpenClSlot& slot, std::size_t level, const Feature& blocks, int x,
                                  int y) const {
  const DeviceLevel& d = slot.levels[level];
  const std::int64_t row = std::int64_t{y} * planes_ + place_of_[PackedModel::plane_of(blocks)];
  return static_cast<std::size_t>(std::int64_t{d.planes_offset} * kLine + row * d.planes_stride + x);
}

}  // namespace sightline::waldboost
