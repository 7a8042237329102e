// Kernels of a WaldBoost detector on a device: building, model data and frame data.
#include "detectors/waldboost/opencl/stages.hpp"

#include <algorithm>

#include "opencl/data.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::waldboost {
namespace {

using opencl::define;
using opencl::define_variant;

constexpr int kLine = 64;  // LINE of kernels/waldboost/common.clh

// Mirrors `Weak` there.
struct DeviceWeak {
  cl_int place, threshold;
};
static_assert(sizeof(DeviceWeak) == 8);

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages) : PixelWindowSlot(stages) {
  if (stages.is_haar()) integral = opencl::Integrals(stages.integral_);
  if (!stages.is_progressive()) return;
  first_step = opencl::Kernel(stages.first_step_, "run_step");
  step = opencl::Kernel(stages.step_, "run_step");
}

OpenClStages::OpenClStages(const WaldboostDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : PixelWindowStages(detector, context, cache), detector_(&detector), tuning_(tuning) {
  settle();
  plan_planes();
  ends_ = phase_ends(detector.model(), tuning_.keep, tuning_.late);
  steps_ = tuning_.steps;
  if (steps_.empty()) steps_ = progressive_steps(detector.model(), usual_shares(tuning_.repeats));
  if (is_haar()) integral_ = opencl::IntegralProgram(context, SheetContents(), cache);
  build();
  upload_model();
}

// Sets parameters that the variant or the device determines.
void OpenClStages::settle() {
  KernelTuning& t = tuning_;
  if (is_progressive()) t.group = kStepGroup;
  PixelWindowStages::settle(t, kKernelVariants);
  if (is_naive()) t.tile_rows = std::max(t.group / kTileX, 1);  // a window a work-item
  t.repeats = std::max(t.repeats, 0);
  t.at_once = std::max(t.at_once, 1);
  fit_tile(t, 2 * (sizeof(cl_ushort) + sizeof(cl_int)), kCodes / 8 + 4 * sizeof(cl_int));
}

void OpenClStages::plan_planes() {
  const PackedModel packed(detector_->model());
  int planes = 0;
  for (int plane = 0; plane < PackedModel::kPlanes; ++plane)
    place_of_[plane] = packed.uses_plane(plane) ? planes++ : -1;
  // With Haar features, there is one plane, of integrals. A code is of three rows at least; a sum may be of
  // one.
  layout_ = {.line = kLine,
             .element_bytes = makes_codes() ? sizeof(cl_uchar) : sizeof(cl_ushort),
             .stacked = std::max(planes, 1),
             .rows_below = makes_codes() ? kGrid - 1 : 0};
}

void OpenClStages::build() {
  const KernelTuning& t = tuning_;
  constexpr const char* kNames[PackedModel::kPlanes] = {"PLANE_11", "PLANE_21", "PLANE_12", "PLANE_22"};
  const FeatureKind kind = detector_->model().kind;
  const std::string planes = define_variant("FEATURES", to_string(kind)) + define("PLANES", layout_.stacked) +
                             define_variant("RESPONSES", t.responses);
  std::string own = planes + codes_options();
  for (int plane = 0; plane < PackedModel::kPlanes; ++plane) {
    if (place_of_[plane] >= 0) own += define(kNames[plane], place_of_[plane]);
  }
  if (!is_haar()) codes_ = program(makes_codes() ? "waldboost/codes.cl" : "waldboost/sums.cl", own);
  if (!makes_codes()) codes_kernel_ = "sums";
  if (is_progressive()) {
    const std::string group = planes + define("GROUP", t.group);
    first_step_ =
        program("waldboost/progressive.cl", group + define("TILE_X", step_columns()) + " -DFROM_TILES");
    step_ = program("waldboost/progressive.cl", group);
  } else {
    scan_ = program("waldboost/scan.cl", planes + scan_options() + define("AT_ONCE", t.at_once));
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
  if (tuning_.responses == "image") {
    responses_ = opencl::Buffer::image(context(), model.responses, kCodes);
  } else {
    upload(queue, responses_, model.responses);
  }
  upload(queue, first_passes_, first);
  upload(queue, phase_ends_, ends_);
}

// Format of code_at in kernels/waldboost/common.clh.
cl_int OpenClStages::place_of(const Feature& f) const {
  if (is_haar()) return f.x | f.y << 6 | f.block_width << 12 | f.block_height << 19 | f.first << 26;
  const int row = f.y * layout_.stacked + place_of_[PackedModel::plane_of(f)];
  if (makes_codes()) return f.x | row << 8;
  return f.x | row << 8 | f.first << 17 | f.second << 21 | (f.block_width - 1) << 25 |
         (f.block_height - 1) << 26;
}

void OpenClStages::plan_geometry(PixelWindowSlot& slot, const PixelWindowWorkspace& w) const {
  PixelWindowStages::plan_geometry(slot, w);
  if (is_haar()) plan_integrals(static_cast<OpenClSlot&>(slot));
}

// Plans the levels' integral images, which replace planes.
void OpenClStages::plan_integrals(OpenClSlot& slot) const {
  std::vector<SheetLevel> places;
  for (const DevicePixelLevel& d : slot.levels) places.push_back({.size = {d.width, d.height}});
  const IntegralSheet sheet = plan_sheet(places, SheetContents());
  for (std::size_t l = 0; l < places.size(); ++l) {
    DevicePixelLevel& d = slot.levels[l];
    places[l].image = d.image_offset;
    places[l].image_stride = d.image_stride;
    d.planes_offset = opencl::checked(places[l].origin);
    d.planes_stride = opencl::checked(sheet.stride);
  }
  slot.plane_bytes = sheet.integral_bytes();
  slot.integral.plan(slot.queue, sheet, places);
}

void OpenClStages::plan_work(PixelWindowSlot& slot, const PixelWindowWorkspace& w) const {
  PixelWindowStages::plan_work(slot, w);
  if (is_haar()) static_cast<OpenClSlot&>(slot).integral.plan_rows(slot.queue, slot.image_rows);
}

void OpenClStages::make_scratch(PixelWindowSlot& slot, const PixelWindowWorkspace& w,
                                std::size_t stage) const {
  PixelWindowStages::make_scratch(slot, w, stage);
  if (stage != kScan || !is_progressive()) return;
  auto& kept = static_cast<OpenClSlot&>(slot).kept;
  slot.fit(static_cast<OpenClSlot&>(slot).excess, static_cast<std::int64_t>(steps_.size() * sizeof(cl_int)));
  std::size_t groups = slot.scan_tiles.size();
  for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
    const std::size_t slots = groups * share(i);
    slot.fit(kept[i % 2], static_cast<std::int64_t>(slots * sizeof(DeviceAccepted)));
    groups = step_groups(slots);
  }
}

std::vector<cl_int> OpenClStages::read_excess(const OpenClSlot& slot) const {
  std::vector<cl_int> excess(steps_.size());
  opencl::Queue queue(context());
  queue.wait(queue.read(slot.excess, excess.data(), excess.size() * sizeof(cl_int)));
  return excess;
}

std::unique_ptr<DeviceStages> WaldboostDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  const opencl::DeviceInfo& info = opened->device();
  const bool has_steps = !own_options_.shares.empty() || !own_options_.phases.empty();
  const std::string variant = has_steps && options_.kernels.empty() ? "progressive" : options_.kernels;
  KernelTuning tuning = variant.empty() ? best_tuning(info, model_) : variant_tuning(variant, info);
  if (has_steps) tuning.steps = steps();
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened, tuning);
}

}  // namespace sightline::waldboost
