// Kernels of a cascade on a device: building them, and what of the model they read.
#include "detectors/cascade/opencl/stages.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "processing/opencl/shared_device.hpp"

namespace sightline::cascade {
namespace {

using opencl::define;
using opencl::define_if;

constexpr std::size_t kFirstRead = 1024;  // windows that are read back with their number, to begin with

bool has_doubles(const opencl::DeviceInfo& device) {
  return device.extensions.find("cl_khr_fp64") != std::string::npos;
}

}  // namespace

std::size_t OpenClStages::local_bytes() const {
  const KernelTuning& t = tuning_;
  const auto windows = static_cast<std::size_t>(t.tile_rows) * kTileX;
  std::size_t bytes = static_cast<std::size_t>(t.tile_rows) * sizeof(cl_uint);
  if (t.unrolled > 0) bytes += (2 * kTileX + 2) * sizeof(cl_int);
  if (t.scan == "compacted")
    bytes += windows * (2 * sizeof(cl_ushort) + sizeof(cl_float)) +
             static_cast<std::size_t>(t.group) * sizeof(cl_long);
  if (t.tiled) {
    bytes += static_cast<std::size_t>(local_stride_) * static_cast<std::size_t>(local_rows_) *
             static_cast<std::size_t>(contents_.element_bytes * local_planes());
  }
  return bytes;
}

void OpenClStages::measure_tile() {
  const Size window = detector_->model().window;
  local_stride_ = 2 * (kTileX + window.width / 2 + 1);
  if (tuning_.unrolled > 0) {
    // All rows begin in the same bank of local memory, so windows of different columns never conflict.
    constexpr int kBanks = 32;
    local_stride_ = (local_stride_ + kBanks - 1) / kBanks * kBanks;
  }
  local_rows_ = 2 * tuning_.tile_rows + window.height;
}

// Sets parameters that the variant or the device determines.
void OpenClStages::settle() {
  KernelTuning& t = tuning_;
  if (t.scan != "naive" && t.scan != "reduced" && t.scan != "compacted") {
    throw Error(ExitCode::usage, "there is no scan '" + t.scan + "'", "use naive, reduced or compacted");
  }
  const opencl::DeviceInfo& device = context().device();
  constexpr int kMostRows = 64;
  t.tile_rows = std::clamp(t.tile_rows, 1, kMostRows);
  const auto most = static_cast<int>(std::min<std::uint64_t>(device.largest_work_group, 1024));
  t.group = std::clamp(t.group, 1, most);
  if (t.scan == "naive") {
    t.tile_rows = std::max(std::min(t.tile_rows * kTileX, t.group) / kTileX, 1);
    t.group = std::min(t.tile_rows * kTileX, most);
  }
  if (t.scan == "reduced") {
    t.tiled = false;
    t.tile_rows = kReducedRows;
    t.group = kReducedRows * kReducedItems;
  }
  const bool unrolls = t.scan == "compacted" && t.tiled && detector_->model().kind == FeatureKind::haar;
  t.unrolled = unrolls ? std::max(t.unrolled, 0) : 0;
  // A work-item keeps to a column.
  if (t.unrolled > 0 && most < kTileX) t.unrolled = 0;
  if (t.unrolled > 0) t.group = std::max(t.group / kTileX * kTileX, kTileX);
  t.first_capacity = std::max(t.first_capacity, 1);
  measure_tile();
  const std::size_t limit = device.local_memory_bytes;
  while (local_bytes() > limit && t.tile_rows > 1) {
    t.tile_rows /= 2;
    measure_tile();
  }
  if (local_bytes() > limit) {
    t.tiled = false;
    t.unrolled = 0;
  }
}

std::string OpenClStages::cascade_options() const {
  constexpr const char* kKinds[] = {" -DHAAR", " -DHAAR_RECTS", " -DLBP"};
  return kKinds[static_cast<int>(cascade_.kind)] + define_if(cascade_.fixed_point, "SUM_LONG") +
         define_if(!cascade_.fixed_point, "SUM_DOUBLE");
}

std::string OpenClStages::scan_options() const {
  const KernelTuning& t = tuning_;
  std::string options = define("TILE_X", kTileX) + define("TILE_Y", t.tile_rows) + define("GROUP", t.group);
  if (t.scan == "reduced") {
    options += " -DREDUCED";
  } else if (t.scan == "naive") {
    options += define("FIRST", kMaxStages);
  } else {
    options += " -DQUEUE" + define("FIRST", std::max(t.first_stages, 1));
  }
  options += define_if(t.packed, "PACKED");
  if (t.unrolled > 0) options += define("UNROLLED", t.unrolled);
  if (t.tiled) {
    options += " -DTILED" + define("LOCAL_PLANES", local_planes()) + define("LOCAL_STRIDE", local_stride_) +
               define("LOCAL_ROWS", local_rows_);
  }
  return options;
}

OpenClSlot::OpenClSlot(const OpenClStages& stages)
    : OpenClSlotBase(stages),
      found(static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      visited(static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      passed(static_cast<std::size_t>(stages.tuning_.first_capacity), kFirstRead),
      pyramid(stages.pyramid_),
      integral(stages.integral_),
      scan(stages.scan_, "scan"),
      keep_visited(stages.scan_, "keep_visited"),
      finish(stages.finish_, "finish") {
  has_list(found);
  has_list(visited, kSurvivors);
  has_list(passed, kCandidates);
}

OpenClStages::OpenClStages(const CascadeDetector& detector, const opencl::Context& context,
                           opencl::ProgramCache* cache, const KernelTuning& tuning)
    : OpenClStagesOf(detector, context, cache, {kPyramid, kIntegral, kScan, kFinish}),
      detector_(&detector),
      tuning_(tuning) {
  const Model& model = detector.model();
  buffer(kImages, &CascadeWorkspace::images);
  buffer(kIntegrals, &CascadeWorkspace::integrals);
  list(kSurvivors);
  list(kCandidates);
  const Layout smallest = plan_layout(model.window, model, {});
  contents_ = smallest;
  settle();
  // Only nodes and corners depend on a frame's layout; they are rebuilt with it.
  cascade_ = pack_cascade(model, smallest);
  cascade_.nodes.clear();
  cascade_.corners.clear();
  if (!has_doubles(context.device()) && (!cascade_.fixed_point || model.kind == FeatureKind::haar)) {
    throw Error(ExitCode::model,
                "'" + context.name() + "' has no double precision, which this cascade needs on devices",
                "use --device=none"_message);
  }
  const PackedStages packed = tuning_.packed ? pack_stages(model) : PackedStages{};
  packed_stages_ = packed.stages;
  tuning_.packed = packed.stages > 0;
  const std::string element = contents_.element_bytes == 2 ? " -DELEMENT=ushort" : " -DELEMENT=uint";
  pyramid_ = opencl::ResampledPyramid::build(context, cache);
  integral_ = opencl::IntegralProgram(context, contents_, cache);
  UnrolledStages unrolled;
  if (tuning_.unrolled > 0) unrolled = unroll_stages(model, layout_of_tile(), tuning_.unrolled);
  tuning_.unrolled = unrolled.stages;
  const std::string cascade = element + cascade_options();
  scan_ = program("cascade/scan.cl", cascade + scan_options(), unrolled.source);
  finish_ = program("cascade/finish.cl", cascade + define("FINISH_GROUP", kFinishGroup));

  opencl::Queue queue(context);
  upload(queue, stages_, cascade_.stages);
  upload(queue, roots_, cascade_.roots);
  upload(queue, leaves_, cascade_.leaves);
  if (!tuning_.packed) return;
  upload(queue, packed_nodes_, packed.nodes);
  upload(queue, packed_trees_, packed.trees);
}

Layout OpenClStages::layout_of_tile() const {
  Layout tile;
  tile.stride = local_stride_;
  // Tilted sums lie kTilted planes after the others; there is nothing in between.
  tile.plane = static_cast<std::int64_t>(local_stride_) * local_rows_ / Layout::kTilted;
  static_cast<SheetContents&>(tile) = contents_;
  return tile;
}

std::unique_ptr<DeviceStages> CascadeDetector::make_stages_on(std::shared_ptr<ComputeDevice> device) const {
  const auto opened = opencl::opened_from(device);
  if (!opened) return nullptr;
  const KernelTuning tuning = options_.kernels.empty()
                                  ? best_tuning(opened->device(), model_)
                                  : variant_tuning(options_.kernels, opened->device(), model_.kind);
  return std::make_unique<StagesOnDevice<OpenClStages>>(*this, opened, tuning);
}

}  // namespace sightline::cascade
