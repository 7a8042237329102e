#include "detectors/cascade/opencl/tuning.hpp"

#include "detectors/cascade/opencl/stages.hpp"

namespace sightline::cascade {
namespace {

using opencl::DeviceInfo;
using opencl::Follows;
using Devices = opencl::TuningSweep::Devices;

// Stages of few trees, which see most windows.
constexpr int kUnrolled = 7;

// A named variant, by its differences from the device's defaults.
struct NamedVariant {
  std::string_view name;
  std::string_view scan;
  bool tiled, packed, unrolled;
};
constexpr NamedVariant kVariants[] = {
    {"naive", "naive", false, false, false},
    {"reduced", "reduced", false, false, false},
    {"tiled", "naive", true, false, false},
    {"packed", "naive", false, true, false},
    {"compacted", "compacted", false, false, false},
    {"compacted-tiled", "compacted", true, false, false},
    {"compacted-packed", "compacted", false, true, false},
    {"unrolled", "compacted", true, false, true},
};
static_assert(std::size(kVariants) == std::size(kKernelVariants));

KernelTable make_table(FeatureKind kind) {
  const bool haar = kind == FeatureKind::haar;
  // On a CPU, one thread runs a work-group's items one after the other.
  KernelTable table({
      {{"scan", "compacted", "compacted", {"naive", "compacted"}}, &KernelTuning::scan},
      {{"tiled", 1, 0, {0, 1}, 0, 0, Follows::local_memory}, &KernelTuning::tiled},
      {{"packed", 0, 0, {0, 1}}, &KernelTuning::packed},
      {{"unrolled", haar ? kUnrolled : 0, 0, {}, 0, kMaxStages}, &KernelTuning::unrolled},
      {{"tile_rows", 32, 4, {}, 1, 64}, &KernelTuning::tile_rows},
      {{"group", haar ? 128 : 256, 32, {}, 1, 1024, Follows::work_group}, &KernelTuning::group},
      {{"first_stages", 1, 1, {}, 1, kMaxStages}, &KernelTuning::first_stages},
  });
  const auto sweep = [](Devices devices, const char* scan, int tiled, std::vector<opencl::TuningValue> packed,
                        std::vector<opencl::TuningValue> unrolled, std::vector<opencl::TuningValue> rows,
                        std::vector<opencl::TuningValue> groups, std::vector<opencl::TuningValue> first) {
    return opencl::TuningSweep{{{"scan", {scan}},
                                {"tiled", {tiled}},
                                {"packed", std::move(packed)},
                                {"unrolled", std::move(unrolled)},
                                {"tile_rows", std::move(rows)},
                                {"group", std::move(groups)},
                                {"first_stages", std::move(first)}},
                               devices};
  };
  opencl::TunedStage scan{
      "scan",
      "scan {scan}, tiled {tiled}, packed {packed}, unrolled {unrolled}, {tile_rows} rows, "
      "{group} work-items, {first_stages} before the queue",
      {sweep(Devices::cpu, "naive", 0, {0, 1}, {0}, {8}, {256}, {1}),
       sweep(Devices::cpu, "compacted", 0, {0, 1}, {0}, {2, 4, 8}, {16, 32, 64}, {1}),
       sweep(Devices::cpu, "compacted", 0, {0}, {0}, {4}, {32}, {2, 3}),
       sweep(Devices::others, "naive", 0, {0, 1}, {0}, {8}, {256}, {1}),
       sweep(Devices::others, "naive", 1, {0}, {0}, {8}, {256}, {1}),
       sweep(Devices::others, "compacted", 0, {0, 1}, {0}, {32}, {256}, {1})}};
  if (haar) {
    scan.sweeps.push_back(sweep(Devices::others, "compacted", 1, {0}, {0}, {32}, {256}, {1}));
    scan.sweeps.push_back(
        sweep(Devices::others, "compacted", 1, {0}, {4, 6, kUnrolled, 8}, {16, 32}, {64, 128, 256}, {1}));
  } else {
    scan.sweeps.push_back(
        sweep(Devices::others, "compacted", 1, {0}, {0}, {8, 16, 32, 64}, {64, 128, 256, 512}, {1, 2}));
  }
  table.stages.push_back(std::move(scan));
  return table;
}

}  // namespace

const KernelTable& tuning_table(FeatureKind kind) {
  static const KernelTable haar = make_table(FeatureKind::haar);
  static const KernelTable lbp = make_table(FeatureKind::lbp);
  return kind == FeatureKind::haar ? haar : lbp;
}

KernelTuning variant_tuning(std::string_view name, const DeviceInfo& device, FeatureKind kind) {
  KernelTuning tuning = tuning_table(kind).defaults(device);
  for (const NamedVariant& variant : kVariants) {
    if (variant.name != name) continue;
    tuning.scan = variant.scan;
    tuning.tiled = variant.tiled;
    tuning.packed = variant.packed;
    if (variant.unrolled) {
      tuning.unrolled = kUnrolled;
      break;
    }
    if (tuning.unrolled > 0)
      tuning.group = KernelTuning{}.group;  // the size for unrolled stages suits no other
    tuning.unrolled = 0;
    if (variant.scan == "naive") {
      tuning.tile_rows = 8;
      tuning.group = 256;
    }
  }
  return tuning;
}

std::string tuning_problem(const Model& model) {
  return "cascade, " + model.name + ", " + std::to_string(model.nodes.size()) + " nodes";
}

KernelTuning best_tuning(const DeviceInfo& device, const Model& model) {
  return tuning_table(model.kind).best(device, tuning_problem(model));
}

TuningOutcome tune(const FrameProcessor& processor, const ComputeDevice& device, PictureView frame,
                   const TuneOptions& options) {
  const opencl::OpenedDevice& opened = opencl::opened_from(device);
  const auto& detector = static_cast<const CascadeDetector&>(processor);
  return tune_kernels<OpenClStages>(detector, opened, &opened.cache, tuning_table(detector.model().kind),
                                    tuning_problem(detector.model()), frame, options);
}

}  // namespace sightline::cascade
