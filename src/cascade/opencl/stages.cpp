// Kernels of a cascade on a device: building them, and a frame's way through them.
#include "cascade/opencl/stages.hpp"

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "cascade/opencl/impl.hpp"

namespace sightline::cascade {

// Stages of few trees, which see most windows.
constexpr int kUnrolled = 7;

KernelTuning default_tuning(const opencl::DeviceInfo& device, FeatureKind kind) {
  KernelTuning tuning;
  if (device.type == opencl::DeviceType::cpu) {
    // One thread runs a work-group's items one after the other.
    tuning.tile_rows = 4;
    tuning.group = 32;
    return tuning;
  }
  tuning.tiled = true;
  if (kind == FeatureKind::haar) {
    tuning.unrolled = kUnrolled;
    tuning.group = 128;
  }
  return tuning;
}

KernelTuning variant_tuning(std::string_view form, const opencl::DeviceInfo& device, FeatureKind kind) {
  KernelTuning tuning = default_tuning(device, kind);
  const auto has = [&](std::string_view word) { return form.find(word) != std::string_view::npos; };
  if (has("unrolled")) {
    tuning.tiled = true;
    tuning.unrolled = kUnrolled;
    return tuning;
  }
  if (tuning.unrolled > 0) tuning.group = KernelTuning{}.group;  // what suits that form suits no other
  tuning.unrolled = 0;
  tuning.tiled = has("tiled");
  tuning.packed = has("packed");
  if (!has("compacted")) {
    tuning.scan = "naive";
    tuning.tile_rows = 8;
    tuning.group = 256;
  }
  return tuning;
}

namespace {

std::size_t local_bytes(const OpenClStages::Impl& s) {
  const KernelTuning& t = s.tuning;
  const auto windows = static_cast<std::size_t>(t.tile_rows) * kTileX;
  std::size_t bytes = static_cast<std::size_t>(t.tile_rows) * sizeof(cl_uint);
  if (t.unrolled > 0) bytes += (2 * kTileX + 2) * sizeof(cl_int);
  if (t.scan == "compacted")
    bytes += windows * (2 * sizeof(cl_ushort) + sizeof(cl_float)) +
             static_cast<std::size_t>(t.group) * sizeof(cl_long);
  if (t.tiled) {
    const std::size_t element = has_small_sums(s.detector->model()) ? 2 : 4;
    bytes += static_cast<std::size_t>(s.local_stride) * static_cast<std::size_t>(s.local_rows) * element *
             (s.tilted ? 2 : 1);
  }
  return bytes;
}

void measure_tile(OpenClStages::Impl& s) {
  const Size window = s.detector->model().window;
  s.local_stride = 2 * (kTileX + window.width / 2 + 1);
  if (s.tuning.unrolled > 0) {
    // All rows begin in the same bank of local memory: work-items with windows of different columns never
    // meet in one.
    constexpr int kBanks = 32;
    s.local_stride = (s.local_stride + kBanks - 1) / kBanks * kBanks;
  }
  s.local_rows = 2 * s.tuning.tile_rows + window.height;
}

// Replaces what the variant or the device leave no choice in.
void settle(OpenClStages::Impl& s) {
  KernelTuning& t = s.tuning;
  if (t.scan != "naive" && t.scan != "compacted") {
    throw Error(ExitCode::usage, "there is no scan '" + t.scan + "'", "there are naive and compacted");
  }
  const opencl::DeviceInfo& device = s.context->device();
  constexpr int kMostRows = 64;
  t.tile_rows = std::clamp(t.tile_rows, 1, kMostRows);
  const auto most = static_cast<int>(std::min<std::uint64_t>(device.largest_work_group, 1024));
  t.group = std::clamp(t.group, 1, most);
  if (t.scan == "naive") {
    t.tile_rows = std::max(std::min(t.tile_rows * kTileX, t.group) / kTileX, 1);
    t.group = std::min(t.tile_rows * kTileX, most);
  }
  const bool unrolls = t.scan == "compacted" && t.tiled && s.detector->model().kind == FeatureKind::haar;
  t.unrolled = unrolls ? std::max(t.unrolled, 0) : 0;
  // A work-item keeps to a column.
  if (t.unrolled > 0 && most < kTileX) t.unrolled = 0;
  if (t.unrolled > 0) t.group = std::max(t.group / kTileX * kTileX, kTileX);
  t.first_capacity = std::max(t.first_capacity, 1);
  measure_tile(s);
  const std::size_t limit = device.local_memory_bytes;
  while (local_bytes(s) > limit && t.tile_rows > 1) {
    t.tile_rows /= 2;
    measure_tile(s);
  }
  if (local_bytes(s) > limit) {
    t.tiled = false;
    t.unrolled = 0;
  }
}

bool has_doubles(const opencl::DeviceInfo& device) {
  return device.extensions.find("cl_khr_fp64") != std::string::npos;
}

std::string scan_options(const OpenClStages::Impl& s) {
  const KernelTuning& t = s.tuning;
  constexpr const char* kKinds[] = {" -DHAAR", " -DHAAR_RECTS", " -DLBP"};
  std::string options = kKinds[static_cast<int>(s.kind)];
  options += s.cascade.fixed_point ? " -DSUM_LONG" : " -DSUM_DOUBLE";
  options += define("TILE_X", kTileX) + define("TILE_Y", t.tile_rows) + define("GROUP", t.group) +
             define("FINISH_GROUP", kFinishGroup);
  if (t.scan == "naive") {
    options += define("FIRST", kMaxStages);
  } else {
    options += " -DQUEUE" + define("FIRST", std::max(t.first_stages, 1));
  }
  if (t.packed) options += " -DPACKED";
  if (t.unrolled > 0) options += define("UNROLLED", t.unrolled);
  if (t.tiled) {
    options += " -DTILED" + define("LOCAL_PLANES", s.tilted ? 2 : 1) +
               define("LOCAL_STRIDE", s.local_stride) + define("LOCAL_ROWS", s.local_rows);
  }
  return options;
}

}  // namespace

OpenClSlot::OpenClSlot(const OpenClStages& stages) : impl_(std::make_unique<Impl>(*stages.impl_->context)) {
  const OpenClStages::Impl& s = *stages.impl_;
  Impl& i = *impl_;
  i.input = opencl::FrameInput(s.gray);
  i.pyramid = opencl::ResampledPyramid(s.pyramid);
  i.integral = opencl::Integrals(s.integral);
  i.scan = opencl::Kernel(s.scan, "scan");
  i.keep_visited = opencl::Kernel(s.scan, "keep_visited");
  i.finish = opencl::Kernel(s.scan, "finish");
}
OpenClSlot::~OpenClSlot() = default;

OpenClStages::OpenClStages(const CascadeDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  const Model& model = detector.model();
  s.detector = &detector;
  s.context = &context;
  s.tuning = tuning;
  s.tilted = model.has_tilted;
  s.planes = model.kind == FeatureKind::lbp ? 1 : 2;
  settle(s);
  // Only nodes and corners depend on a frame's layout; these are made anew with it.
  const Layout smallest = plan_layout(model.window, model, {});
  s.cascade = pack_cascade(model, smallest);
  s.cascade.nodes.clear();
  s.cascade.corners.clear();
  s.kind = s.cascade.kind;
  if (!has_doubles(context.device()) && (!s.cascade.fixed_point || model.kind == FeatureKind::haar)) {
    throw Error(ExitCode::model,
                "'" + context.name() + "' has no double precision, which this cascade needs there",
                "use --device none");
  }
  const PackedStages packed = s.tuning.packed ? pack_stages(model) : PackedStages{};
  s.packed_stages = packed.stages;
  s.tuning.packed = packed.stages > 0;
  const std::string element = has_small_sums(model) ? " -DELEMENT=ushort" : " -DELEMENT=uint";
  s.gray = opencl::GrayKernels::build(context, cache);
  s.pyramid = opencl::ResampledPyramid::build(context, cache);
  s.integral = opencl::IntegralProgram(context, smallest, cache);
  UnrolledStages unrolled;
  if (s.tuning.unrolled > 0) unrolled = unroll_stages(model, layout_of_tile(s), s.tuning.unrolled);
  s.tuning.unrolled = unrolled.stages;
  s.scan = opencl::Program(context, "cascade/scan.cl", element + scan_options(s), cache, unrolled.source);

  opencl::Queue queue(context);
  upload(queue, s.stages, s.cascade.stages);
  upload(queue, s.roots, s.cascade.roots);
  upload(queue, s.leaves, s.cascade.leaves);
  if (!s.tuning.packed) return;
  upload(queue, s.packed_nodes, packed.nodes);
  upload(queue, s.packed_trees, packed.trees);
}
OpenClStages::~OpenClStages() = default;

const KernelTuning& OpenClStages::tuning() const {
  return impl_->tuning;
}
const opencl::Context& OpenClStages::context() const {
  return *impl_->context;
}

StageSet OpenClStages::supported() const {
  StageSet all;
  for (const std::size_t stage : {kPyramid, kIntegral, kScan, kFinish}) all.set(stage);
  return all;
}

void OpenClStages::check(const StageSet& on_device) const {
  if (on_device[kFinish] && !on_device[kScan]) {
    throw Error(ExitCode::usage, "stage 'finish' runs on the device only after 'scan' has run there",
                "use --map scan=gpu,finish=gpu or --map finish=cpu");
  }
}

std::unique_ptr<DeviceSlot> OpenClStages::make_slot() const {
  return std::make_unique<OpenClSlot>(*this);
}

void OpenClStages::prepare(DeviceSlot& slot, Workspace& workspace, const StageSet& on_device) const {
  auto& w = static_cast<CascadeWorkspace&>(workspace);
  OpenClSlot::Impl& i = *static_cast<OpenClSlot&>(slot).impl_;
  plan(*impl_, i, w);
  for (std::size_t stage = kPyramid; stage <= kFinish; ++stage) {
    if (on_device[stage]) make_buffers(*impl_, i, w, stage);
  }
  // Where the CPU hands over to the device, it writes right into memory that the device takes it from.
  for (std::size_t stage = kPyramid; stage < kScan; ++stage) {
    opencl::SharedBuffer& product = i.product(stage);
    InterStageBuffer& memory = stage == kPyramid ? w.images : w.integrals;
    if (!on_device[stage] && on_device[stage + 1]) {
      memory.bind(product.host_writes());
    } else if (on_device[stage]) {
      product.to_device_unwritten();
    }
  }
}

void OpenClStages::submit(DeviceSlot& slot, Workspace& workspace, std::size_t first, std::size_t last) const {
  const Impl& s = *impl_;
  auto& own = static_cast<OpenClSlot&>(slot);
  auto& w = static_cast<CascadeWorkspace&>(workspace);
  OpenClSlot::Impl& i = *own.impl_;
  own.spans.clear();
  own.done = {};
  i.last = last;
  const auto bring = [&](opencl::Event event) {
    own.add(DeviceSpan::Kind::upload, first, "upload", std::move(event));
  };
  bring(first == kPyramid ? i.input.upload(i.queue, w.frame, i.frame, i.frame_stride())
                          : i.product(first - 1).to_device());
  for (std::size_t stage = first; stage < last; ++stage) enqueue_stage(s, own, i, w, stage);

  const auto take = [&](opencl::Event event) {
    own.add(DeviceSpan::Kind::download, last - 1, "download", event);
    own.done = std::move(event);
  };
  if (last <= kScan) {
    take(i.product(last - 1).to_host());
    (last == kIntegral ? w.images : w.integrals).bind(i.product(last - 1).host());
  } else {
    if (last == kFinish) {  // the CPU goes on with the same integrals
      take(i.integrals.to_host());
      w.integrals.bind(i.integrals.host());
    }
    take(read_list(i, last - 1));
  }
  i.queue.flush();
}

void OpenClStages::complete(DeviceSlot& slot, Workspace& workspace) const {
  auto& w = static_cast<CascadeWorkspace&>(workspace);
  OpenClSlot::Impl& i = *static_cast<OpenClSlot&>(slot).impl_;
  if (i.last > kScan) take_list(*impl_, i, w, i.last - 1);
}

void OpenClStages::run(OpenClSlot& slot, CascadeWorkspace& workspace, std::size_t first,
                       std::size_t last) const {
  StageSet on_device;
  for (std::size_t stage = first; stage < last; ++stage) on_device.set(stage);
  prepare(slot, workspace, on_device);
  for (std::size_t stage = kPyramid; stage < first; ++stage) impl_->detector->run_stage(stage, workspace);
  submit(slot, workspace, first, last);
  slot.impl_->queue.wait(slot.done);
  complete(slot, workspace);
  for (std::size_t stage = last; stage <= kGroup; ++stage) impl_->detector->run_stage(stage, workspace);
}

}  // namespace sightline::cascade
